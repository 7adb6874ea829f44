package exec

import (
	"fmt"
	"reflect"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// HeldType returns the Go type of a value of type t: a slice of the elements for a tensor, a slice for a
// sequence, a pointer for an optional, or a map of scalars.
func HeldType(t ir.Type) reflect.Type {
	switch t.Kind {
	case ir.SequenceKind:
		return reflect.SliceOf(ItemType(*t.Elem))
	case ir.OptionalKind:
		return reflect.PointerTo(ItemType(*t.Elem))
	case ir.MapKind:
		return reflect.MapOf(GoType(t.DType), GoType(t.Elem.DType))
	}
	return reflect.SliceOf(GoType(t.DType))
}

// ItemType returns the Go type of a container's element of type t. The Go type is an [rt.Tensor] if t is a tensor,
// and else HeldType(t).
func ItemType(t ir.Type) reflect.Type {
	if t.IsTensor() {
		return elements[t.DType].tensor
	}
	return HeldType(t)
}

func checkContainer(name string, t ir.Type, v reflect.Value) error {
	if want := HeldType(t); !v.IsValid() || v.Type() != want {
		return fmt.Errorf("%s: %s expected", name, want)
	}
	switch {
	case t.Kind == ir.MapKind, t.Elem.Kind == ir.MapKind, t.Kind == ir.OptionalKind && v.IsNil():
		return nil
	case t.Kind == ir.OptionalKind:
		return checkItem(name, *t.Elem, v.Elem())
	}
	for i := range v.Len() {
		if err := checkItem(fmt.Sprintf("%s: element %d", name, i), *t.Elem, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func checkItem(name string, t ir.Type, v reflect.Value) error {
	if !t.IsTensor() {
		return checkContainer(name, t, v)
	}
	shape := v.FieldByName("Shape").Interface().([]int)
	if n, err := rt.Elems(shape); err != nil || n != v.FieldByName("Data").Len() {
		return fmt.Errorf("%s: shape %v of %d elements", name, shape, v.FieldByName("Data").Len())
	}
	return rt.CheckItem(name, shape, wantShape(t))
}

// wantShape returns the shape that the elements of a container must have, in the form of
// [rt.CheckItem].
func wantShape(t ir.Type) []int {
	if t.Shape == nil {
		return nil
	}
	want := []int{}
	for _, d := range t.Shape {
		n, ok := d.Int()
		if !ok {
			n = rt.AnyDim
		}
		want = append(want, n)
	}
	return want
}

// Item is a tensor of a container. Data is a Go slice of its elements, and Shape its shape.
type Item struct {
	Data  any
	Shape []int
}

// MakeContainer returns a container of type t that shares the memory of items. A sequence, or an optional sequence,
// contains all items; an optional tensor contains the first one. An optional is empty if there are no items. A map is
// always empty. items must be empty for a sequence of maps.
func MakeContainer(t ir.Type, items []Item) any {
	v := reflect.New(HeldType(t)).Elem()
	tensor := func(to reflect.Value, item Item) {
		to.FieldByName("Data").Set(reflect.ValueOf(item.Data))
		to.FieldByName("Shape").Set(reflect.ValueOf(item.Shape))
	}
	switch {
	case t.Kind == ir.MapKind:
		v.Set(reflect.MakeMap(v.Type()))
	case t.Kind == ir.SequenceKind:
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i, item := range items {
			tensor(v.Index(i), item)
		}
	case len(items) > 0 && t.Elem.IsTensor():
		v.Set(reflect.New(v.Type().Elem()))
		tensor(v.Elem(), items[0])
	case len(items) > 0:
		v.Set(reflect.New(v.Type().Elem()))
		v.Elem().Set(reflect.ValueOf(MakeContainer(*t.Elem, items)))
	}
	return v.Interface()
}
