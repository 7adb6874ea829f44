package data

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Column is a column of a table, or a key of JSON objects, and the struct field that takes it.
type Column struct {
	Name     string       // from the tag, or the field's name
	Field    int          // index of the field in the struct
	Type     reflect.Type // of the field
	Optional bool         // the value may be missing
}

// Columns returns the columns of T, a struct, in the order of its fields. Exported fields are
// columns. The field's tag may name the column, and say that its values may be missing: a field of
// a missing value is NaN if it is a float, and otherwise a zero value.
//
//	Price float32 `data:"price,optional"`
//	Floor int     `data:",optional"` // the name is Floor
//	Note  string  `data:"-"`         // not a column
//
// It returns an error if T is not a struct, or a tag has another option.
func Columns[T any]() ([]Column, error) {
	columns, errs := columnsOf(reflect.TypeFor[T]())
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	return columns, nil
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
