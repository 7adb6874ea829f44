package harness

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// Kind says whether a value is a tensor, or which kind of container it is.
type Kind uint8

// The kinds of values.
const (
	Tensor Kind = iota
	Sequence
	Optional
	Map
)

// Value is an argument or result in the form that is sent between processes.
type Value struct {
	Kind  Kind
	Elem  string // Go type of a tensor's elements, such as "float32"
	Shape []int
	Data  []byte   // little-endian
	Texts []string // replaces Data for strings
	// Items are the elements of a sequence or optional, or the values of a map.
	Items []Value
	// Keys are the keys of a map, as scalars.
	Keys []Value
}

var tensorPackage = reflect.TypeFor[rt.Tensor[float32]]().PkgPath()

func isTensor(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == tensorPackage && strings.HasPrefix(t.Name(), "Tensor[")
}

func item(t reflect.Type) (shape []int, elem reflect.Type) {
	for ; t.Kind() == reflect.Array; t = t.Elem() {
		shape = append(shape, t.Len())
	}
	return shape, t
}

// Decode converts v to type t, one of the forms in which generated code takes arguments. It returns
// an error if t cannot hold v.
func Decode(v Value, t reflect.Type) (reflect.Value, error) {
	switch v.Kind {
	case Sequence:
		return decodeSequence(v, t)
	case Optional:
		return decodeOptional(v, t)
	case Map:
		return decodeMap(v, t)
	}
	switch {
	case isTensor(t):
		x := reflect.New(t).Elem()
		data := reflect.MakeSlice(x.FieldByName("Data").Type(), elems(v.Shape), elems(v.Shape))
		if err := fill(data, v); err != nil {
			return x, err
		}
		x.FieldByName("Data").Set(data)
		x.FieldByName("Shape").Set(reflect.ValueOf(slices.Clone(v.Shape)))
		return x, nil
	case t.Kind() == reflect.Pointer:
		shape, _ := item(t.Elem())
		if !slices.Equal(shape, v.Shape) {
			return reflect.Value{}, fmt.Errorf("shape %v, %s expected", v.Shape, t)
		}
		x := reflect.New(t.Elem())
		return x, fill(x, v)
	case t.Kind() == reflect.Slice:
		shape, _ := item(t.Elem())
		if len(v.Shape) == 0 || !slices.Equal(shape, v.Shape[1:]) {
			return reflect.Value{}, fmt.Errorf("shape %v, %s expected", v.Shape, t)
		}
		x := reflect.MakeSlice(t, v.Shape[0], v.Shape[0])
		return x, fill(x, v)
	}
	return reflect.Value{}, fmt.Errorf("a tensor where %s is expected", t)
}

func elems(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// fill copies the elements of v to x, a slice or a pointer to arrays.
func fill(x reflect.Value, v Value) error {
	if v.Elem == "string" {
		if x.Type() != reflect.TypeFor[[]string]() || x.Len() != len(v.Texts) {
			return fmt.Errorf("strings where %s is expected", x.Type())
		}
		reflect.Copy(x, reflect.ValueOf(v.Texts))
		return nil
	}
	if size := binary.Size(x.Interface()); size != len(v.Data) {
		return fmt.Errorf("%d bytes of data, %d expected", len(v.Data), size)
	}
	flat := x
	if x.Kind() == reflect.Pointer {
		flat = x.Elem()
	}
	if m := memory(flat, len(v.Data)); m != nil {
		copy(m, v.Data)
		return nil
	}
	_, err := binary.Decode(v.Data, binary.LittleEndian, x.Interface())
	return err
}

// memory returns the bytes of the numbers in x, a slice or an array. The bytes share the memory of x, and have the
// form of Value.Data. size is the number of bytes. memory returns nil for bools, which may be stored as other bytes
// than 0 and 1. It also returns nil on big-endian machines, for size 0, and for an array that is not addressable.
func memory(x reflect.Value, size int) []byte {
	t := x.Type()
	for t.Kind() == reflect.Array || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case size == 0 || t.Kind() < reflect.Int8 || t.Kind() > reflect.Complex128 || binary.NativeEndian.Uint16([]byte{1, 0}) != 1:
		return nil
	case x.Kind() == reflect.Slice:
		return unsafe.Slice((*byte)(x.UnsafePointer()), size)
	case x.CanAddr():
		return unsafe.Slice((*byte)(x.Addr().UnsafePointer()), size)
	}
	return nil
}

func decodeSequence(v Value, t reflect.Type) (reflect.Value, error) {
	if t.Kind() != reflect.Slice {
		return reflect.Value{}, fmt.Errorf("a sequence where %s is expected", t)
	}
	x := reflect.MakeSlice(t, len(v.Items), len(v.Items))
	for i, item := range v.Items {
		e, err := Decode(item, t.Elem())
		if err != nil {
			return x, err
		}
		x.Index(i).Set(e)
	}
	return x, nil
}

func decodeOptional(v Value, t reflect.Type) (reflect.Value, error) {
	if t.Kind() != reflect.Pointer {
		return reflect.Value{}, fmt.Errorf("an optional where %s is expected", t)
	}
	if len(v.Items) == 0 {
		return reflect.Zero(t), nil
	}
	e, err := Decode(v.Items[0], t.Elem())
	if err != nil {
		return e, err
	}
	x := reflect.New(t.Elem())
	x.Elem().Set(e)
	return x, nil
}

func decodeMap(v Value, t reflect.Type) (reflect.Value, error) {
	if t.Kind() != reflect.Map {
		return reflect.Value{}, fmt.Errorf("a map where %s is expected", t)
	}
	x := reflect.MakeMap(t)
	for i := range v.Keys {
		key, err := scalar(v.Keys[i], t.Key())
		if err != nil {
			return x, err
		}
		e, err := decodeElement(v.Items[i], t.Elem())
		if err != nil {
			return x, err
		}
		x.SetMapIndex(key, e)
	}
	return x, nil
}

// decodeElement decodes an element of a container to type t. t may be a number, bool or string.
func decodeElement(v Value, t reflect.Type) (reflect.Value, error) {
	if v.Kind == Tensor && !isTensor(t) && t.Kind() != reflect.Pointer && t.Kind() != reflect.Slice {
		return scalar(v, t)
	}
	return Decode(v, t)
}

func scalar(v Value, t reflect.Type) (reflect.Value, error) {
	x := reflect.MakeSlice(reflect.SliceOf(t), 1, 1)
	err := fill(x, v)
	return x.Index(0), err
}

// Encode converts a result of generated code. A nil optional is empty. Encode returns an error for
// another nil pointer and for a type that generated code does not return.
func Encode(x reflect.Value) (Value, error) {
	t := x.Type()
	switch {
	case isTensor(t):
		shape := slices.Clone(x.FieldByName("Shape").Interface().([]int))
		return tensor(x.FieldByName("Data"), shape)
	case t.Kind() == reflect.Pointer && (isTensor(t.Elem()) || t.Elem().Kind() == reflect.Slice || t.Elem().Kind() == reflect.Map):
		v := Value{Kind: Optional}
		if x.IsNil() {
			return v, nil
		}
		return encodeItems(v, x.Elem())
	case t.Kind() == reflect.Pointer:
		if x.IsNil() {
			return Value{}, fmt.Errorf("%s is nil", t)
		}
		shape, _ := item(t.Elem())
		return tensor(x.Elem(), shape)
	case t.Kind() == reflect.Slice && (isTensor(t.Elem()) || t.Elem().Kind() == reflect.Slice || t.Elem().Kind() == reflect.Map || t.Elem().Kind() == reflect.Pointer):
		items := make([]reflect.Value, x.Len())
		for i := range items {
			items[i] = x.Index(i)
		}
		return encodeItems(Value{Kind: Sequence}, items...)
	case t.Kind() == reflect.Slice:
		shape, _ := item(t.Elem())
		return tensor(x, append([]int{x.Len()}, shape...))
	case t.Kind() == reflect.Map:
		return encodeMap(x)
	}
	return Value{}, fmt.Errorf("a result of type %s", t)
}

func encodeItems(v Value, items ...reflect.Value) (Value, error) {
	for _, x := range items {
		e, err := encodeElement(x)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, e)
	}
	return v, nil
}

// encodeElement encodes an element of a container. The element may be a number, bool or string.
func encodeElement(x reflect.Value) (Value, error) {
	switch x.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Map:
		return Encode(x)
	}
	return encodeScalar(x)
}

func encodeScalar(x reflect.Value) (Value, error) {
	s := reflect.MakeSlice(reflect.SliceOf(x.Type()), 1, 1)
	s.Index(0).Set(x)
	return tensor(s, nil)
}

func encodeMap(x reflect.Value) (Value, error) {
	v := Value{Kind: Map}
	for iter := x.MapRange(); iter.Next(); {
		key, err := encodeScalar(iter.Key())
		if err != nil {
			return v, err
		}
		v.Keys = append(v.Keys, key)
		if v, err = encodeItems(v, iter.Value()); err != nil {
			return v, err
		}
	}
	return v, nil
}

func tensor(x reflect.Value, shape []int) (Value, error) {
	_, elem := item(x.Type())
	if x.Kind() == reflect.Slice {
		_, elem = item(x.Type().Elem())
	}
	v := Value{Elem: elem.String(), Shape: shape}
	if elem.Kind() == reflect.String {
		v.Texts = make([]string, x.Len())
		reflect.Copy(reflect.ValueOf(v.Texts), x)
		return v, nil
	}
	size := binary.Size(x.Interface())
	if size < 0 {
		return v, fmt.Errorf("elements of type %s", elem)
	}
	if m := memory(x, size); m != nil {
		v.Data = bytes.Clone(m)
		return v, nil
	}
	var err error
	v.Data, err = binary.Append(make([]byte, 0, size), binary.LittleEndian, x.Interface())
	return v, err
}
