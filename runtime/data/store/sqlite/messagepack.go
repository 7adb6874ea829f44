package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/store/internal/field"
)

const deepest = 100

// unpacker returns a function that sets values of type t from MessagePack
// (github.com/msgpack/msgpack/blob/master/spec.md). It returns an error if t contains a type that
// is not supported.
//
// A struct is a list with an element for each of its columns, or a map from the names of columns to
// values. Other keys of the map are ignored. serde writes structs in these forms. A list fits a
// slice, or an array of the same length. Nil fits a pointer or an optional column. A number fits a
// field that it does not overflow. An integer also fits a float.
func unpacker(t reflect.Type) (func(v reflect.Value, packed []byte) error, error) {
	columns := map[reflect.Type][]data.Column{}
	if err := findColumns(t, columns); err != nil {
		return nil, err
	}
	return func(v reflect.Value, packed []byte) error {
		p := pack{rest: packed, columns: columns}
		if err := p.value(v, 0); err != nil {
			return fmt.Errorf("byte %d: %w", len(packed)-len(p.rest), err)
		}
		if len(p.rest) > 0 {
			return fmt.Errorf("%d bytes after the item", len(p.rest))
		}
		return nil
	}, nil
}

// findColumns stores the columns of all struct types in t, keyed by type. It returns an error if a
// type in t is not supported.
func findColumns(t reflect.Type, columns map[reflect.Type][]data.Column) error {
	switch k := t.Kind(); {
	case k >= reflect.Bool && k <= reflect.Uint64, k == reflect.Float32, k == reflect.Float64, k == reflect.String:
		return nil
	case k != reflect.Struct && k != reflect.Slice && k != reflect.Array && k != reflect.Pointer,
		k == reflect.Pointer && t.Elem().Kind() == reflect.Pointer:
		return fmt.Errorf("values of type %v are not read from MessagePack", t)
	}
	if _, known := columns[t]; known { // a type may contain itself
		return nil
	}
	columns[t] = nil
	if t.Kind() != reflect.Struct {
		return findColumns(t.Elem(), columns)
	}
	list, err := data.ColumnsOf(t)
	if err != nil {
		return err
	}
	columns[t] = list
	for _, c := range list {
		if err := findColumns(c.Type, columns); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

type pack struct {
	rest    []byte
	columns map[reflect.Type][]data.Column
}

type form int

const (
	null form = iota
	boolean
	integer  // with a sign
	unsigned // integers that may exceed 2⁶³-1
	single
	double
	str
	bin
	list
	table
	extension
)

func (f form) String() string {
	return [...]string{"nil", "a bool", "an integer", "an integer", "a float", "a float", "a text", "a binary", "a list", "a map", "an extension"}[f]
}

// head is the first part of a value, before the elements of a list or the pairs of a map.
type head struct {
	form form
	bits uint64 // of a number or a bool
	// of a string, a binary or an extension
	bytes []byte
	// number of elements of a list or pairs of a map
	n int
}

// forms says what follows the first byte of a value: forms[b-0xc0] is for first byte b, from 0xc0
// to 0xdf. width is the number of bytes of the number that comes next, or 0 if no number comes
// next. A form of -1 is not valid.
var forms = [32]struct {
	form  form
	width int
}{
	{null, 0}, {-1, 0}, {boolean, 0}, {boolean, 0},
	{bin, 1}, {bin, 2}, {bin, 4},
	{extension, 1}, {extension, 2}, {extension, 4},
	{single, 4}, {double, 8},
	{unsigned, 1}, {unsigned, 2}, {unsigned, 4}, {unsigned, 8},
	{integer, 1}, {integer, 2}, {integer, 4}, {integer, 8},
	{extension, 0}, {extension, 0}, {extension, 0}, {extension, 0}, {extension, 0},
	{str, 1}, {str, 2}, {str, 4},
	{list, 2}, {list, 4}, {table, 2}, {table, 4},
}

var errShort = errors.New("the item is cut short")

func (p *pack) take(n uint64) ([]byte, error) {
	if n > uint64(len(p.rest)) {
		return nil, errShort
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b, nil
}

// next reads the head of a value.
func (p *pack) next() (head, error) {
	b, err := p.take(1)
	if err != nil {
		return head{}, err
	}
	switch first := b[0]; {
	case first < 0x80, first >= 0xe0:
		return head{form: integer, bits: uint64(int64(int8(first)))}, nil
	case first < 0x90:
		return p.container(table, uint64(first&0x0f))
	case first < 0xa0:
		return p.container(list, uint64(first&0x0f))
	case first < 0xc0:
		return p.chars(str, uint64(first&0x1f))
	default:
		return p.long(first)
	}
}

// long reads the rest of a head whose first byte is from 0xc0 to 0xdf.
func (p *pack) long(first byte) (head, error) {
	f := forms[first-0xc0]
	b, err := p.take(uint64(f.width))
	if err != nil {
		return head{}, err
	}
	var word [8]byte
	copy(word[8-len(b):], b)
	bits := binary.BigEndian.Uint64(word[:])
	switch f.form {
	case boolean:
		bits = uint64(first & 1)
	case integer:
		unused := 64 - 8*f.width
		bits = uint64(int64(bits<<unused) >> unused)
	case str, bin:
		return p.chars(f.form, bits)
	case list, table:
		return p.container(f.form, bits)
	case extension:
		if f.width == 0 {
			bits = 1 << (first - 0xd4)
		}
		return p.chars(f.form, bits+1) // and its type
	case -1:
		return head{}, fmt.Errorf("no value begins with %#x", first)
	}
	return head{form: f.form, bits: bits}, nil
}

func (p *pack) chars(f form, n uint64) (head, error) {
	b, err := p.take(n)
	return head{form: f, bytes: b}, err
}

// container returns the head of a list of n elements or a map of n pairs. It returns an error if
// fewer bytes than values remain.
func (p *pack) container(f form, n uint64) (head, error) {
	width := uint64(1)
	if f == table {
		width = 2
	}
	if n > uint64(len(p.rest))/width {
		return head{}, errShort
	}
	return head{form: f, n: int(n)}, nil
}

// value reads a value into v. depth is the number of lists and maps around the value.
func (p *pack) value(v reflect.Value, depth int) error {
	h, err := p.next()
	if err != nil {
		return err
	}
	return p.set(v, h, depth)
}

// set sets v to the value whose head h has been read.
func (p *pack) set(v reflect.Value, h head, depth int) error {
	if h.form == null && v.Kind() == reflect.Pointer {
		return nil
	}
	v = field.Deref(v)
	if (h.form == list || h.form == table) && depth == deepest {
		return fmt.Errorf("more than %d lists and maps around a value", deepest)
	}
	switch {
	case h.form == boolean:
		return field.SetBool(v, h.bits == 1)
	case h.form == integer:
		return field.SetInt(v, int64(h.bits))
	case h.form == unsigned:
		return field.SetUint(v, h.bits)
	case h.form == single:
		return field.SetFloat(v, float64(math.Float32frombits(uint32(h.bits))))
	case h.form == double:
		return field.SetFloat(v, math.Float64frombits(h.bits))
	case h.form == str:
		return field.SetString(v, string(h.bytes))
	case h.form == bin:
		return field.SetBytes(v, h.bytes)
	case h.form == list && v.Kind() == reflect.Struct:
		return p.fields(v, h.n, depth+1)
	case h.form == table && v.Kind() == reflect.Struct:
		return p.pairs(v, h.n, depth+1)
	case h.form == list && v.Kind() == reflect.Array:
		return p.array(v, h.n, depth+1)
	case h.form == list && v.Kind() == reflect.Slice:
		return p.slice(v, h.n, depth+1)
	}
	return fmt.Errorf("%v is not a %v", h.form, v.Type())
}

// column reads a value into the field of column c in v, a struct. Nil in an optional column is a
// missing value.
func (p *pack) column(v reflect.Value, c data.Column, depth int) error {
	h, err := p.next()
	switch {
	case err != nil:
	case h.form == null && c.Optional:
		c.SetMissing(v)
	default:
		err = p.set(v.Field(c.Field), h, depth)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return nil
}

func (p *pack) fields(v reflect.Value, n, depth int) error {
	columns := p.columns[v.Type()]
	if n != len(columns) {
		return fmt.Errorf("%d elements: %v has %d", n, v.Type(), len(columns))
	}
	for _, c := range columns {
		if err := p.column(v, c, depth); err != nil {
			return err
		}
	}
	return nil
}

func (p *pack) pairs(v reflect.Value, n, depth int) error {
	columns := p.columns[v.Type()]
	seen := make([]bool, len(columns))
pairs:
	for range n {
		key, err := p.next()
		if err != nil {
			return err
		}
		if key.form != str {
			return fmt.Errorf("%v as key: a text expected", key.form)
		}
		for k, c := range columns {
			if c.Name == string(key.bytes) {
				if seen[k] {
					return fmt.Errorf("%s: twice in a map", c.Name)
				}
				seen[k] = true
				if err := p.column(v, c, depth); err != nil {
					return err
				}
				continue pairs
			}
		}
		if err := p.skip(depth); err != nil {
			return err
		}
	}
	for k, c := range columns {
		switch {
		case seen[k]:
		case c.Optional:
			c.SetMissing(v)
		default:
			return fmt.Errorf("no key %q", c.Name)
		}
	}
	return nil
}

func (p *pack) array(v reflect.Value, n, depth int) error {
	if n != v.Len() {
		return fmt.Errorf("%d elements: %v expected", n, v.Type())
	}
	for i := range n {
		if err := p.value(v.Index(i), depth); err != nil {
			return err
		}
	}
	return nil
}

// slice reads n elements into a slice. Its memory grows with the elements that are read.
func (p *pack) slice(v reflect.Value, n, depth int) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for range n {
		if v.Len() == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(v.Len() + 1)
		if err := p.value(v.Index(v.Len()-1), depth); err != nil {
			return err
		}
	}
	return nil
}

func (p *pack) skip(depth int) error {
	h, err := p.next()
	if err != nil {
		return err
	}
	if depth == deepest {
		return fmt.Errorf("more than %d lists and maps around a value", deepest)
	}
	n := h.n
	if h.form == table {
		n *= 2
	}
	for range n {
		if err := p.skip(depth + 1); err != nil {
			return err
		}
	}
	return nil
}
