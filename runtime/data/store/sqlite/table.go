package sqlite

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/store/internal/field"
	"github.com/burngen/burngen/runtime/rt"
)

const page = 64

// Table is a data set of the rows of a table; see [Open]. Close it after use.
type Table[T any] struct {
	connections *pool
	name        string // of the file and the table, for errors
	n           int
	first       int64   // id of the first row, if ids is nil
	ids         []int64 // of all rows, if they are not consecutive
	cells       []cell  // nil if items are serialized
	unpack      func(v reflect.Value, packed []byte) error
}

// Open opens a table of an SQLite file. Item i is the row with the i-th smallest row id. There are two
// forms of tables:
//
//   - A table with the columns row_id, of type INTEGER, and item, of type BLOB, holds serialized items:
//     MessagePack, as Burn's SqliteDataset writes it. T may be any type of bools, numbers, strings,
//     structs, slices, arrays and pointers. A struct is a list with an element for each of its
//     [data.Columns], in order, or a map. If T itself has a column named item, the table is of the other
//     form.
//   - Any other table has a column for each of T's [data.Columns]. Other columns are ignored.
//
// A value must fit its field. An INTEGER fits an integer field and, if it is 0 or 1, a bool. An INTEGER
// or a REAL fits a float and is rounded. A TEXT fits a string. A BLOB fits a slice or an array of bytes,
// or of other numbers of a fixed size; it holds the numbers in order, little-endian. A NULL is a missing
// value.
//
// Items are read from the file when they are asked for. [Table.Many] reads 64 at a time. The table keeps
// up to 512 MiB of the file in memory, and, unless row ids are consecutive, 8 bytes for each row. The file stays locked against changes until
// Close. SQLite does not lock a file in WAL mode, but it must not be changed either.
//
// Open returns an error if the file or the table does not exist, or if a column that is not optional is
// missing. It also returns an error for a view, for a virtual table, and for a table without row ids.
func Open[T any](path, table string) (*Table[T], error) {
	t := new(Table[T])
	err := t.open(path, table)
	if err != nil {
		if t.connections != nil {
			t.connections.Close()
		}
		return nil, fmt.Errorf("sqlite: %s: %w", path, err)
	}
	return t, nil
}

func (t *Table[T]) open(path, table string) error {
	if _, err := os.Stat(path); err != nil {
		return errors.Unwrap(err)
	}
	address, err := addressOf(path, "ro")
	if err != nil {
		return err
	}
	t.connections = &pool{address: address}
	c, err := t.connections.get()
	if err != nil {
		return err
	}
	defer t.connections.put(c)
	s, err := schemaOf(c, table)
	if err != nil {
		return err
	}
	t.name = fmt.Sprintf("%s: table %q", path, s.table)
	selected := ""
	if s.serialized(reflect.TypeFor[T]()) {
		if t.unpack, err = unpacker(reflect.TypeFor[T]()); err != nil {
			return err
		}
		selected = `, +"item"`
	} else if t.cells, err = cellsOf[T](s); err != nil {
		return err
	}
	for _, c := range t.cells {
		selected += ", " + c.selected
	}
	t.connections.read = "select " + s.id + selected + " from " + quoted(s.table) + " where " + s.id + " in (?"
	for range page - 1 {
		t.connections.read += ", ?"
	}
	t.connections.read += ")"
	return t.count(c, s)
}

// count sets the number of rows and their ids.
func (t *Table[T]) count(c *connection, s schema) error {
	from := " from " + quoted(s.table)
	rows, err := c.query("select count(*), coalesce(min(" + s.id + "), 0), coalesce(max(" + s.id + "), -1)" + from)
	if err != nil {
		return err
	}
	n, first, last := rows[0][0].(int64), rows[0][1].(int64), rows[0][2].(int64)
	if n > math.MaxInt {
		return fmt.Errorf("%d rows: too many", n)
	}
	t.n, t.first = int(n), first
	if n == 0 || last-first == n-1 {
		return nil
	}
	if err := rt.CheckSize[int64](t.n); err != nil {
		return err
	}
	err = c.each("select "+s.id+from+" order by "+s.id, func(row []driver.Value) error {
		id, ok := row[0].(int64)
		if !ok || len(t.ids) == t.n {
			return errors.New("the rows differ from their number")
		}
		t.ids = append(t.ids, id)
		return nil
	})
	if err == nil && len(t.ids) != t.n {
		err = errors.New("the rows differ from their number")
	}
	return err
}

// Len returns the number of rows.
func (t *Table[T]) Len() int { return t.n }

// At reads an item. It returns an error if the row does not fit T, or the table has been closed.
func (t *Table[T]) At(i int) (T, error) {
	var x [1]T
	if err := t.Many(x[:], []int{i}); err != nil {
		return *new(T), err
	}
	return x[0], nil
}

// Many reads items, 64 in a query. It returns an error if a row does not fit T, or the table has been
// closed.
func (t *Table[T]) Many(dst []T, at []int) error {
	if len(dst) != len(at) {
		return fmt.Errorf("room for %d items: %d indices", len(dst), len(at))
	}
	for _, i := range at {
		if i < 0 || i >= t.n {
			return fmt.Errorf("index %d: there are %d items", i, t.n)
		}
	}
	if len(at) == 0 {
		return nil
	}
	c, err := t.connections.get()
	if err != nil {
		return err
	}
	defer t.connections.put(c)
	for from := 0; from < len(at); from += page {
		to := min(from+page, len(at))
		if err := t.readPage(c, dst[from:to], at[from:to]); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

type wanted struct {
	id    int64
	place int
}

func (t *Table[T]) readPage(c *connection, dst []T, at []int) error {
	list := c.wanted[:len(at)]
	for k, i := range at {
		id := t.first + int64(i)
		if t.ids != nil {
			id = t.ids[i]
		}
		list[k] = wanted{id, k}
	}
	slices.SortFunc(list, func(a, b wanted) int { return cmp.Compare(a.id, b.id) })
	for k := range c.arguments {
		c.arguments[k].Value = list[min(k, len(list)-1)].id
	}
	rows, err := c.readRows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for done := 0; done < len(list); {
		switch err := rows.Next(c.row); {
		case err == io.EOF:
			return fmt.Errorf("row %d is missing: the file has changed", list[done].id)
		case err != nil:
			return err
		case c.row[0] != list[done].id:
			return fmt.Errorf("row %v in the place of row %d: the file has changed", c.row[0], list[done].id)
		}
		first := &dst[list[done].place]
		if err := t.decode(first, c.row[1:]); err != nil {
			return fmt.Errorf("row %d: %w", list[done].id, err)
		}
		for id := list[done].id; done < len(list) && list[done].id == id; done++ {
			dst[list[done].place] = *first
		}
	}
	return nil
}

// decode sets *x to the values of a row.
func (t *Table[T]) decode(x *T, values []driver.Value) error {
	*x = *new(T)
	v := reflect.ValueOf(x).Elem()
	if t.unpack != nil {
		packed, ok := values[0].([]byte)
		if !ok {
			return fmt.Errorf("item is %s: BLOB expected", typeOf(values[0]))
		}
		return t.unpack(v, packed)
	}
	for k, c := range t.cells {
		switch {
		case values[k] == nil && c.Optional:
			c.SetMissing(v)
		case values[k] == nil:
			return fmt.Errorf("%s is NULL", c.Name)
		default:
			if err := c.decode(field.Deref(v.Field(c.Field)), values[k]); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// Close closes the file. Items cannot be read afterwards.
func (t *Table[T]) Close() error { return t.connections.Close() }

var _ interface {
	data.Dataset[int]
	data.ManyReader[int]
	io.Closer
} = (*Table[int])(nil)

var errClosed = fmt.Errorf("the table is closed: %w", fs.ErrClosed)
