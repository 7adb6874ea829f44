package parquet

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/burngen/burngen/runtime/rt"
)

// decode returns the rows of a group. A panic of the library becomes an error.
func (g *group[T]) decode() (rows []T, err error) {
	defer rescue(&err)
	n := int(g.rows.NumRows())
	if err := rt.CheckSize[T](n); err != nil {
		return nil, err
	}
	// Memory grows with the rows that are there, whatever the file says.
	rows = make([]T, 0, min(n, 1+1<<20/(1+int(unsafe.Sizeof(g.plan.row)))))
	if len(g.plan.leaves) == 0 {
		for range n {
			rows = append(rows, g.plan.row)
		}
		return rows, nil
	}
	values := make([]parquet.Value, 512)
	for k := range g.plan.leaves {
		d := decoder[T]{leaf: &g.plan.leaves[k], blank: &g.plan.row, rows: rows, n: n, first: k == 0, row: -1}
		d.at, d.pending = make([]int, d.leaf.lists), make([]int, d.leaf.lists)
		for i := range d.pending {
			d.pending[i] = -1
		}
		if err := d.chunk(g.rows.ColumnChunks()[d.leaf.column], values); err != nil {
			return nil, fmt.Errorf("row %d: %s: %w", g.before+int64(max(d.row, 0)), d.leaf.name, err)
		}
		rows = d.rows
	}
	return rows, nil
}

// decoder sets one column's part of the rows of a group.
type decoder[T any] struct {
	leaf  *leaf
	blank *T
	rows  []T
	n     int // number of rows in the group
	// the column is the first one; it appends the rows
	first bool
	// the current row, or -1 before the first one
	row int
	// for each list, the index of the current element
	at []int
	// for each list, the number of elements set in an array that is not complete, or -1
	pending []int
}

// chunk decodes all values of a column chunk. values is a buffer.
func (d *decoder[T]) chunk(c parquet.ColumnChunk, values []parquet.Value) error {
	pages := c.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		err = d.page(page, values)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
	if err := d.complete(0); err != nil {
		return err
	}
	if d.row+1 != d.n {
		return fmt.Errorf("%d rows: the group has %d", d.row+1, d.n)
	}
	return nil
}

func (d *decoder[T]) page(page parquet.Page, values []parquet.Value) error {
	r := page.Values()
	for {
		n, err := r.ReadValues(values)
		for _, x := range values[:n] {
			if err := d.value(x); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n == 0:
			return errors.New("a page without an end")
		}
	}
}

// complete ends the lists that a value with this repetition level does not continue. These are the
// lists nested deeper than the level. It returns an error if one of them is an array that has too
// few elements.
func (d *decoder[T]) complete(repetition int) error {
	for k := range d.leaf.steps {
		s := &d.leaf.steps[k]
		if !s.element || s.repeated <= repetition {
			continue
		}
		if n := d.pending[s.list]; n >= 0 {
			return fmt.Errorf("a list of %d elements is too short", n)
		}
		d.at[s.list] = 0
	}
	return nil
}

func (d *decoder[T]) value(x parquet.Value) error {
	r := x.RepetitionLevel()
	if err := d.complete(r); err != nil {
		return err
	}
	if r == 0 {
		d.row++
		if d.row == d.n {
			return fmt.Errorf("more than %d rows", d.n)
		}
		if d.first {
			d.rows = append(d.rows, *d.blank)
		}
	} else if d.row < 0 {
		return errors.New("the first value continues a row")
	}
	return d.walk(reflect.ValueOf(&d.rows[d.row]).Elem(), x, r)
}

// walk follows the steps of the column from row v to a part of the row, and sets this part to x.
// repetition is the repetition level of x; see [leaf].
func (d *decoder[T]) walk(v reflect.Value, x parquet.Value, repetition int) error {
	defined := x.DefinitionLevel()
	for k := range d.leaf.steps {
		s := &d.leaf.steps[k]
		part := v
		if s.element {
			if s.repeated == repetition {
				d.at[s.list]++
			}
			if ended, err := d.element(v, s, defined); ended || err != nil {
				return err
			}
			part = v.Index(d.at[s.list])
		} else {
			part = v.Field(s.field.Field)
		}
		if defined < s.level {
			switch {
			case s.element && part.Kind() != reflect.Pointer:
				return fmt.Errorf("element %d is null", d.at[s.list])
			case !s.element && !s.field.Optional:
				return errors.New("the value is null")
			case !s.element:
				s.field.SetMissing(v)
			}
			return nil
		}
		if part.Kind() == reflect.Pointer {
			if part.IsNil() {
				part.Set(reflect.New(part.Type().Elem()))
				if s.blank.IsValid() {
					part.Elem().Set(*s.blank)
				}
			}
			part = part.Elem()
		}
		v = part
	}
	return d.leaf.set(v, x)
}

// element makes v, a list, long enough to have an element with the index d.at[s.list], unless the
// file has an empty list there. defined is the definition level of the value that is being stored;
// see [leaf]. empty reports whether the list in the file is empty.
func (d *decoder[T]) element(v reflect.Value, s *step, defined int) (empty bool, err error) {
	i, fixed := d.at[s.list], v.Kind() == reflect.Array
	empty = defined < s.exists
	n := i + 1
	if empty {
		n = 0
	}
	switch {
	case fixed && (n > v.Len() || empty && v.Len() > 0):
		return empty, fmt.Errorf("a list of %d elements is not a %v", n, v.Type())
	case fixed && n < v.Len():
		d.pending[s.list] = n
	case fixed:
		d.pending[s.list] = -1
	case empty && v.IsNil():
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	case !empty && i > v.Len(), empty && v.Len() > 0:
		return empty, errors.New("the lists of a group have different lengths")
	case !empty && i == v.Len():
		if v.Len() == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n)
		if s.blank.IsValid() && v.Index(i).Kind() != reflect.Pointer {
			v.Index(i).Set(*s.blank)
		}
	}
	return empty, nil
}
