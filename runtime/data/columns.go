package data

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Column describes which column of a table, or which key of a JSON object, belongs to a struct
// field.
type Column struct {
	Name     string       // from the tag, or the field's name
	Field    int          // index of the field in the struct
	Type     reflect.Type // of the field
	Optional bool         // the value may be missing
}

// Columns returns the columns of the struct type T, in the order of its fields. Each exported field
// is a column. The tag of a field may name the column, and may say that it is optional or that the
// field is not a column:
//
//	Price float32 `data:"price,optional"`
//	Floor int     `data:",optional"` // the name is Floor
//	Note  string  `data:"-"`         // not a column
//
// If a value is missing in an optional column, the field becomes NaN if it is a float, and
// otherwise the zero value. Columns returns an error if T is not a struct, or if a tag has another
// option.
func Columns[T any]() ([]Column, error) { return ColumnsOf(reflect.TypeFor[T]()) }

// ColumnsOf is [Columns] for a type that is known only at run time, such as the type of a field.
func ColumnsOf(t reflect.Type) ([]Column, error) {
	columns, errs := columnsOf(t)
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return columns, nil
}

// Index returns the index of the column in `names`, which are the names of a table's columns. If no
// name equals the column's name, Index ignores case, and white space around the names. It returns
// -1 if there is still no such name.
func (c Column) Index(names []string) int {
	if i := slices.Index(names, c.Name); i >= 0 {
		return i
	}
	return slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(strings.TrimSpace(n), c.Name) })
}

// SetMissing marks the column's value in a row as missing. `row` is a struct. SetMissing sets the
// field to NaN if it is a float, and otherwise to the zero value. It panics if the field cannot be
// set.
func (c Column) SetMissing(row reflect.Value) { setMissing(row.Field(c.Field)) }

func setMissing(v reflect.Value) {
	v.SetZero()
	if v.CanFloat() {
		v.SetFloat(math.NaN())
	}
}

func columnsOf(t reflect.Type) (columns []Column, errs []error) {
	if t.Kind() != reflect.Struct {
		return nil, []error{fmt.Errorf("rows are %v: a struct expected", t)}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("data"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if option != "" && option != "optional" {
			errs = append(errs, fmt.Errorf("field %s: tag says %q: optional or nothing expected", f.Name, option))
		}
		columns = append(columns, Column{name, i, f.Type, option == "optional"})
	}
	return columns, errs
}
