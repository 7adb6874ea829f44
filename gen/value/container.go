package value

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
)

// FromGo converts a result of package exec, of type t, to a tensor. x is a slice of elements or a
// container of [exec.HeldType].
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
	case v.Kind() != reflect.Struct: // a number from a map
		one := reflect.MakeSlice(reflect.SliceOf(v.Type()), 1, 1)
		one.Index(0).Set(v)
		return FromSlice(t.DType, nil, one.Interface())
	}
	return FromSlice(t.DType, v.FieldByName("Shape").Interface().([]int), v.FieldByName("Data").Interface())
}

// fromMap calls the function `add` for the elements of a map v, in the order of their keys, and stores the keys in
// `out`.
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

// ToGo is the inverse of [FromGo].
func ToGo(x *ir.Tensor) any {
	if x.Kind == ir.TensorKind {
		return Slice(x)
	}
	v := reflect.New(exec.HeldType(x.Type())).Elem()
	item := func(to reflect.Value, item *ir.Tensor) {
		if item.Kind != ir.TensorKind {
			to.Set(reflect.ValueOf(ToGo(item)))
			return
		}
		to.FieldByName("Data").Set(reflect.ValueOf(Slice(item)))
		to.FieldByName("Shape").Set(reflect.ValueOf(item.Shape))
	}
	switch x.Kind {
	case ir.MapKind:
		v.Set(reflect.MakeMap(v.Type()))
		keys := reflect.ValueOf(Slice(x.Keys))
		for i, item := range x.Items {
			v.SetMapIndex(keys.Index(i), reflect.ValueOf(Slice(item)).Index(0))
		}
	case ir.OptionalKind:
		if len(x.Items) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			item(v.Elem(), x.Items[0])
		}
	default:
		v.Set(reflect.MakeSlice(v.Type(), len(x.Items), len(x.Items)))
		for i, element := range x.Items {
			item(v.Index(i), element)
		}
	}
	return v.Interface()
}
