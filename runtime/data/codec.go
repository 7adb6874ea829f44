package data

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// codec converts values of T to records and back.
type codec[T any] struct {
	// bytes of a record
	size   int
	layout string // the types of the numbers in a record
	// the memory of a value is its record
	same bool
}

func newCodec[T any]() (codec[T], error) {
	t := reflect.TypeFor[T]()
	var b strings.Builder
	plain, err := describe(&b, t)
	if err != nil {
		return codec[T]{}, fmt.Errorf("items are of type %v: %w", t, err)
	}
	c := codec[T]{layout: b.String()}
	c.size = binary.Size(new(T))
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	c.same = plain && little && uintptr(c.size) == unsafe.Sizeof(*new(T))
	return c, nil
}

// describe writes the layout of a type to b. plain reports whether every bit pattern is a valid
// value of the type. describe returns an error if the type does not have a fixed size, or has an
// unexported field.
func describe(b *strings.Builder, t reflect.Type) (plain bool, err error) {
	switch k := t.Kind(); {
	case k == reflect.Bool, k >= reflect.Int8 && k <= reflect.Int64, k >= reflect.Uint8 && k <= reflect.Uint64,
		k == reflect.Float32, k == reflect.Float64, k == reflect.Complex64, k == reflect.Complex128:
		b.WriteString(k.String())
		return k != reflect.Bool, nil
	case k == reflect.Array:
		fmt.Fprintf(b, "[%d]", t.Len())
		return describe(b, t.Elem())
	case k == reflect.Struct:
		plain = true
		b.WriteByte('{')
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				return false, fmt.Errorf("field %s of %v is not exported", f.Name, t)
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			bits, err := describe(b, f.Type)
			if err != nil {
				return false, err
			}
			plain = plain && bits
		}
		b.WriteByte('}')
		return plain, nil
	}
	return false, fmt.Errorf("%v does not have a fixed size", t)
}

func (c *codec[T]) encode(record []byte, x *T) error {
	if c.same {
		copy(record, bytesOf(x))
		return nil
	}
	_, err := binary.Encode(record, binary.LittleEndian, x)
	return err
}

func (c *codec[T]) decode(x *T, record []byte) error {
	if c.same {
		copy(bytesOf(x), record)
		return nil
	}
	_, err := binary.Decode(record, binary.LittleEndian, x)
	return err
}

// bytesOf returns the memory of *x.
func bytesOf[T any](x *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(x)), unsafe.Sizeof(*x))
}
