package parquet

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/store/internal/field"
)

// plan maps the columns of a file to the fields of T.
type plan[T any] struct {
	leaves []leaf
	// a row before its fields are set; optional floats that the file lacks are NaN
	row T
}

// leaf is a column of values. The values set one part of each row; steps is the path from the row
// to this part.
//
// The levels are defined in S. Melnik et al., Dremel: interactive analysis of web-scale datasets,
// 2010. The definition level of a value is the number of optional and repeated nodes on its path
// that exist. Its repetition level says which list the value continues; at 0 it begins a row.
type leaf struct {
	column int // index of the column in a row group
	name   string
	steps  []step
	lists  int // number of steps that are lists
	set    func(v reflect.Value, x parquet.Value) error
}

// step leads from a value to one of its parts: a field of a struct, or an element of a list.
type step struct {
	// the struct field; not set if element is true
	field   data.Column
	element bool // an element of a slice or an array
	// index of the list among the lists of the leaf
	list     int
	repeated int // repetition level of the list's elements
	// smallest definition level at which the list has elements
	exists int
	// smallest definition level at which the part is not null
	level int
	// the value with which the part begins, before its fields are set
	blank *reflect.Value
}

// newPlan plans how T is read from a file whose columns are the children of root.
func newPlan[T any](root *parquet.Column) (*plan[T], error) {
	t := reflect.TypeFor[T]()
	switch columns, err := data.ColumnsOf(t); {
	case err != nil:
		return nil, err
	case len(columns) == 0:
		return nil, fmt.Errorf("%v has no columns", t)
	}
	p := &planner{}
	blank := p.group(t, root, nil, "")
	if p.errs != nil {
		return nil, errors.Join(p.errs...)
	}
	return &plan[T]{p.leaves, blank.Interface().(T)}, nil
}

type planner struct {
	leaves []leaf
	errs   []error
}

func (p *planner) failf(format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf(format, args...))
}

// group plans how the children of column c set the fields of struct type t. steps is the path from
// a row to the struct, and name is the path's name in errors. group returns the value with which a
// t begins before columns set its fields: optional fields that have no column are missing. It
// returns an invalid reflect.Value if this is the zero value of t.
func (p *planner) group(t reflect.Type, c *parquet.Column, steps []step, name string) reflect.Value {
	blank := reflect.New(t).Elem()
	columns, err := data.ColumnsOf(t)
	if err != nil {
		p.failf("%s%w", prefix(name), err)
	}
	names := make([]string, len(c.Columns()))
	for i, child := range c.Columns() {
		names[i] = child.Name()
	}
	for _, column := range columns {
		i := column.Index(names)
		switch {
		case i >= 0:
			child := c.Columns()[i]
			s := step{field: column, level: child.MaxDefinitionLevel()}
			if child.Repeated() {
				s.level-- // a list without a group around it is empty, not null
			}
			if inner := p.value(column.Type, child, false, s, steps, prefix(name)+names[i]); inner.IsValid() {
				blank.Field(column.Field).Set(inner)
			}
		case column.Optional:
			column.SetMissing(blank)
		default:
			p.failf("%sno column %q", prefix(name), column.Name)
		}
	}
	return blank
}

func prefix(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

// value plans how column c sets a value of type t. The path from a row to the value is `steps`,
// followed by s. If isElement is true, c is a repeated column whose list has been planned already.
// name is the path's name in errors. value returns the value with which a t begins, see group, or
// an invalid reflect.Value if it is the zero value of t.
func (p *planner) value(t reflect.Type, c *parquet.Column, isElement bool, s step, steps []step, name string) reflect.Value {
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	blank := new(reflect.Value)
	s.blank = blank
	steps = append(steps[:len(steps):len(steps)], s)
	switch {
	case c.Repeated() && !isElement:
		*blank = p.list(t, c, c, steps, name)
	case !c.Leaf() && isType[*format.ListType](c) && len(c.Columns()) == 1 && c.Columns()[0].Repeated():
		*blank = p.list(t, c.Columns()[0], elementOf(c.Columns()[0]), steps, name)
	case c.Leaf():
		set, err := setter(t, c)
		if err != nil {
			p.failf("%s%w", prefix(name), err)
		}
		l := leaf{column: c.Index(), name: name, steps: steps, set: set}
		for _, s := range steps {
			if s.element {
				l.lists++
			}
		}
		p.leaves = append(p.leaves, l)
	case t.Kind() == reflect.Struct && !isType[*format.MapType](c):
		*blank = p.group(t, c, steps, name)
	default:
		p.failf("%sa group is not a %v", prefix(name), t)
	}
	if pointer {
		return reflect.Value{}
	}
	return *blank
}

// list plans a list of type t. In the file, `repeated` is the repeated column of the list, and
// `element` is the column of its elements. steps is the path from a row to the list. blank is the
// list with which a t begins, see group, or an invalid reflect.Value if it is the zero value of t.
func (p *planner) list(t reflect.Type, repeated, element *parquet.Column, steps []step, name string) (blank reflect.Value) {
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		p.failf("%sa list is not a %v", prefix(name), t)
		return blank
	}
	s := step{element: true, repeated: repeated.MaxRepetitionLevel(), exists: repeated.MaxDefinitionLevel(), level: element.MaxDefinitionLevel()}
	for _, outer := range steps {
		if outer.element {
			s.list++
		}
	}
	inner := p.value(t.Elem(), element, element == repeated, s, steps, name)
	if t.Kind() == reflect.Slice || !inner.IsValid() {
		return blank
	}
	blank = reflect.New(t).Elem()
	for i := range t.Len() {
		blank.Index(i).Set(inner)
	}
	return blank
}

// elementOf returns the column of the elements of a list. c is the repeated column. The rules for
// lists of old writers are in github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists.
func elementOf(c *parquet.Column) *parquet.Column {
	if c.Leaf() || len(c.Columns()) != 1 || c.Name() == "array" {
		return c
	}
	return c.Columns()[0]
}

func isType[L format.LogicalTypeValue](c *parquet.Column) bool {
	l := c.Type().LogicalType()
	if l == nil {
		return false
	}
	_, ok := l.Value.(L)
	return ok
}

// setter returns a function that stores values of column c in values of type t. It returns an error
// if the column does not fit the type.
func setter(t reflect.Type, c *parquet.Column) (func(v reflect.Value, x parquet.Value) error, error) {
	kind, number := c.Type().Kind(), false
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		number = kind == parquet.Int32 || kind == parquet.Int64
	case reflect.Float32, reflect.Float64:
		number = kind == parquet.Int32 || kind == parquet.Int64 || kind == parquet.Float || kind == parquet.Double
	}
	unsigned := false
	if l := c.Type().LogicalType(); l != nil {
		i, ok := l.Value.(*format.IntType)
		unsigned = ok && !i.IsSigned
	}
	bytes := field.IsBytes(t)
	switch {
	case isType[*format.DecimalType](c):
	case number && kind == parquet.Int32 && unsigned:
		return func(v reflect.Value, x parquet.Value) error { return field.SetUint(v, uint64(x.Uint32())) }, nil
	case number && kind == parquet.Int32:
		return func(v reflect.Value, x parquet.Value) error { return field.SetInt(v, int64(x.Int32())) }, nil
	case number && kind == parquet.Int64 && unsigned:
		return func(v reflect.Value, x parquet.Value) error { return field.SetUint(v, x.Uint64()) }, nil
	case number && kind == parquet.Int64:
		return func(v reflect.Value, x parquet.Value) error { return field.SetInt(v, x.Int64()) }, nil
	case number && kind == parquet.Float:
		return func(v reflect.Value, x parquet.Value) error { return field.SetFloat(v, float64(x.Float())) }, nil
	case number && kind == parquet.Double:
		return func(v reflect.Value, x parquet.Value) error { return field.SetFloat(v, x.Double()) }, nil
	case t.Kind() == reflect.Bool && kind == parquet.Boolean:
		return func(v reflect.Value, x parquet.Value) error { return field.SetBool(v, x.Boolean()) }, nil
	case t.Kind() == reflect.String && kind == parquet.ByteArray:
		return func(v reflect.Value, x parquet.Value) error { return field.SetString(v, string(x.ByteArray())) }, nil
	case bytes && (kind == parquet.ByteArray || kind == parquet.FixedLenByteArray):
		return func(v reflect.Value, x parquet.Value) error { return field.SetBytes(v, x.ByteArray()) }, nil
	}
	return nil, fmt.Errorf("%v is not a %v", c.Type(), t)
}
