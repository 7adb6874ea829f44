package value

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/burngen/burngen/ir"
)

// FromGo returns what package exec returned for a result of type t: the tensor of a
// slice, or a container of [exec.HeldType].
func FromGo(t ir.Type, shape []int, x any) (*ir.Tensor, error) {
	if t.IsTensor() {
		return FromSlice(t.DType, shape, x)
	}
	return fromContainer(t, reflect.ValueOf(x))
}

func fromContainer(t ir.Type, v reflect.Value) (*ir.Tensor, error) {
	out := &ir.Tensor{Kind: t.Kind, DType: t.DType, Elem: *t.Elem}
	add := func(v reflect.Value) error {
		item, err := fromItem(*t.Elem, v)
		out.Items = append(out.Items, item)
		return err
	}
	switch {
	case t.Kind == ir.MapKind:
		return out, fromMap(out, v, add)
	case t.Kind == ir.OptionalKind && v.IsNil():
		return out, nil
	case t.Kind == ir.OptionalKind:
		return out, add(v.Elem())
	}
	for i := range v.Len() {
		if err := add(v.Index(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func fromItem(t ir.Type, v reflect.Value) (*ir.Tensor, error) {
	switch {
	case !t.IsTensor():
		return fromContainer(t, v)
	case v.Kind() != reflect.Struct: // a number of a map
		one := reflect.MakeSlice(reflect.SliceOf(v.Type()), 1, 1)
		one.Index(0).Set(v)
		return FromSlice(t.DType, nil, one.Interface())
	}
	return FromSlice(t.DType, v.FieldByName("Shape").Interface().([]int), v.FieldByName("Data").Interface())
}

// fromMap adds the elements of a map in the order of their keys.
func fromMap(out *ir.Tensor, v reflect.Value, add func(reflect.Value) error) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		if a.Kind() == reflect.String {
			return cmp.Compare(a.String(), b.String())
		}
		return cmp.Compare(a.Int(), b.Int())
	})
	out.Keys = ir.NewTensor(out.DType, len(keys))
	for i, k := range keys {
		if out.DType == ir.String {
			out.Keys.SetText(i, k.String())
		} else {
			out.Keys.SetInt(i, k.Int())
		}
		if err := add(v.MapIndex(k)); err != nil {
			return fmt.Errorf("key %v: %w", k, err)
		}
	}
	return nil
}
