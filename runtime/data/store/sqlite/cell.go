package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/store/internal/field"
)

// cell is a column of a table and its conversions from and to a field.
type cell struct {
	data.Column
	// type of the column in SQL
	declared string
	// expression of the column in a query
	selected string
	decode   func(v reflect.Value, x driver.Value) error
	encode   func(v reflect.Value) (driver.Value, error)
}

// cellsOf returns the cells of T's columns, with their expressions in a query of the table.
func cellsOf[T any](s schema) ([]cell, error) {
	cells, err := typedCells[T]()
	if err != nil {
		return nil, err
	}
	var errs []error
	for k := range cells {
		c := &cells[k]
		switch i := c.Index(s.names); {
		case i >= 0:
			c.selected = "+" + quoted(s.names[i]) // an expression, whose values SQLite does not convert
		case c.Optional:
			c.selected = "null"
		default:
			errs = append(errs, fmt.Errorf("table %q has no column %q", s.table, c.Name))
		}
	}
	return cells, errors.Join(errs...)
}

// typedCells returns the cells of T's columns. It returns an error if the type of a field is not
// supported.
func typedCells[T any]() ([]cell, error) {
	columns, err := data.Columns[T]()
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("%v has no columns", reflect.TypeFor[T]())
	}
	var errs []error
	cells := make([]cell, len(columns))
	for k, c := range columns {
		cells[k].Column = c
		t := c.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if !cells[k].setType(t) {
			errs = append(errs, fmt.Errorf("column %q is a %v: a string, a bool, a number, or an array or a slice of numbers of a fixed size expected", c.Name, c.Type))
		}
	}
	return cells, errors.Join(errs...)
}

// setType sets the conversions of fields of type t. It returns false if the type is not supported.
func (c *cell) setType(t reflect.Type) bool {
	switch kind := t.Kind(); {
	case kind == reflect.Bool:
		c.declared, c.decode, c.encode = "integer", decodeBool, encodeBool
	case kind >= reflect.Int && kind <= reflect.Int64, kind >= reflect.Uint && kind <= reflect.Uint64:
		c.declared, c.decode, c.encode = "integer", decodeNumber, encodeInteger
	case kind == reflect.Float32, kind == reflect.Float64:
		c.declared, c.decode, c.encode = "real", decodeNumber, encodeFloat
	case kind == reflect.String:
		c.declared, c.decode, c.encode = "text", decodeText, encodeText
	case kind == reflect.Slice, kind == reflect.Array:
		elem, inner := t, 1
		if kind == reflect.Slice {
			elem = t.Elem()
		}
		for elem.Kind() == reflect.Array {
			inner *= elem.Len()
			elem = elem.Elem()
		}
		width := 0
		switch k := elem.Kind(); {
		case k >= reflect.Int8 && k <= reflect.Int64, k >= reflect.Uint8 && k <= reflect.Uint64, k == reflect.Float32, k == reflect.Float64:
			width = int(elem.Size())
		}
		if width*inner == 0 {
			return false
		}
		n := numbers{elem: elem, inner: inner, size: width * inner}
		c.declared, c.decode, c.encode = "blob", n.decode, n.encode
	default:
		return false
	}
	return true
}

// typeOf returns the name of x's storage class in SQLite.
func typeOf(x driver.Value) string {
	switch x.(type) {
	case nil:
		return "NULL"
	case int64:
		return "INTEGER"
	case float64:
		return "REAL"
	case string:
		return "TEXT"
	}
	return "BLOB"
}

func wrongType(v reflect.Value, x driver.Value) error {
	return fmt.Errorf("%s is not a %v", typeOf(x), v.Type())
}

func decodeBool(v reflect.Value, x driver.Value) error {
	n, ok := x.(int64)
	if !ok {
		return wrongType(v, x)
	}
	if n != 0 && n != 1 {
		return fmt.Errorf("%d is not a %v", n, v.Type())
	}
	v.SetBool(n == 1)
	return nil
}

func decodeNumber(v reflect.Value, x driver.Value) error {
	switch x := x.(type) {
	case int64:
		return field.SetInt(v, x)
	case float64:
		return field.SetFloat(v, x)
	}
	return wrongType(v, x)
}

func decodeText(v reflect.Value, x driver.Value) error {
	s, ok := x.(string)
	if !ok {
		return wrongType(v, x)
	}
	return field.SetString(v, s)
}

func encodeBool(v reflect.Value) (driver.Value, error) {
	if v.Bool() {
		return int64(1), nil
	}
	return int64(0), nil
}

func encodeInteger(v reflect.Value) (driver.Value, error) {
	if v.CanInt() {
		return v.Int(), nil
	}
	n := v.Uint()
	if n > math.MaxInt64 {
		return nil, fmt.Errorf("%d exceeds 2^63-1, the largest INTEGER", n)
	}
	return int64(n), nil
}

// encodeFloat returns NULL for NaN, because SQLite does not store it.
func encodeFloat(v reflect.Value) (driver.Value, error) {
	if x := v.Float(); !math.IsNaN(x) {
		return x, nil
	}
	return nil, nil
}

func encodeText(v reflect.Value) (driver.Value, error) { return v.String(), nil }

// numbers describes a field that is a slice or an array of numbers. It is stored as a BLOB.
type numbers struct {
	elem reflect.Type // of the numbers
	// how many numbers the array, or one element of the slice, holds
	inner int
	size  int // bytes of these numbers
}

func (n numbers) decode(v reflect.Value, x driver.Value) error {
	b, ok := x.([]byte)
	if !ok {
		return wrongType(v, x)
	}
	if v.Kind() == reflect.Array && len(b) != n.size || len(b)%n.size != 0 {
		return fmt.Errorf("%d bytes are not a %v", len(b), v.Type())
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(b)/n.size, len(b)/n.size))
	}
	if len(b) == 0 {
		return nil
	}
	_, err := binary.Decode(b, binary.LittleEndian, n.flat(v))
	return err
}

// flat returns the numbers of v as a slice that shares its memory. v is addressable and not empty.
func (n numbers) flat(v reflect.Value) any {
	if v.Kind() == reflect.Slice {
		return reflect.SliceAt(n.elem, v.UnsafePointer(), v.Len()*n.inner).Interface()
	}
	return reflect.SliceAt(n.elem, v.Addr().UnsafePointer(), n.inner).Interface()
}

func (n numbers) encode(v reflect.Value) (driver.Value, error) {
	if v.Kind() == reflect.Slice && v.Len() == 0 {
		return "", nil // the driver passes no bytes as NULL
	}
	return binary.Append(nil, binary.LittleEndian, n.flat(v))
}
