package ir

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir/dim"
)

// ElemOf returns t as an element type of a container: extents that are not constant become
// [dim.Any].
func ElemOf(t Type) Type {
	if t.Kind != TensorKind || t.Shape == nil {
		return t
	}
	t.Shape = slices.Clone(t.Shape)
	for i, d := range t.Shape {
		if !d.IsConst() {
			t.Shape[i] = dim.Any
		}
	}
	return t
}

// Join returns the smallest type that contains the values of a and b, as the element type of a container; see
// [Type.Within]. Extents that differ become [dim.Any]. If one of the ranks is unknown, as in an empty sequence, the
// result has the other rank. If both are known and differ, the rank of the result is unknown. Join returns an error
// if kinds or element types differ.
func Join(a, b Type) (Type, error) {
	if a.Kind != b.Kind || a.DType != b.DType {
		return Type{}, fmt.Errorf("%s and %s differ", a, b)
	}
	if a.Kind != TensorKind {
		elem, err := Join(*a.Elem, *b.Elem)
		a.Elem = &elem
		return a, err
	}
	switch {
	case a.Shape == nil:
		return ElemOf(b), nil
	case b.Shape == nil:
		return ElemOf(a), nil
	case len(a.Shape) != len(b.Shape):
		return Type{DType: a.DType}, nil
	}
	a = ElemOf(a)
	for i, d := range a.Shape {
		if !d.Equal(b.Shape[i]) {
			a.Shape[i] = dim.Any
		}
	}
	return a, nil
}

// Within reports whether every value of type t also has type u. This is true for equal types. It is also true for
// containers of the same kind if the element type of t is within the element type of u. [dim.Any] in u matches every
// extent, and an unknown rank in u matches every shape.
func (t Type) Within(u Type) bool {
	if t.Kind == TensorKind {
		return t.Equal(u)
	}
	return t.Kind == u.Kind && t.DType == u.DType && t.Elem.elemWithin(*u.Elem)
}

func (t Type) elemWithin(u Type) bool {
	if t.Kind != TensorKind || u.Kind != TensorKind {
		return t.Within(u)
	}
	if t.DType != u.DType || t.Shape == nil || u.Shape == nil {
		return t.DType == u.DType
	}
	return slices.EqualFunc(t.Shape, u.Shape, func(d, e dim.Dim) bool { return d.Equal(e) || e.Equal(dim.Any) })
}

// SequenceTensor returns the sequence of items, as the [Evaluator] holds it. elem is the type of
// its elements.
func SequenceTensor(elem Type, items ...*Tensor) *Tensor {
	return &Tensor{Kind: SequenceKind, Elem: elem, Items: items}
}

// OptionalTensor returns an optional that holds item, as the [Evaluator] holds it. It is empty if
// item is nil. elem is the type of an item.
func OptionalTensor(elem Type, item *Tensor) *Tensor {
	t := &Tensor{Kind: OptionalKind, Elem: elem}
	if item != nil {
		t.Items = []*Tensor{item}
	}
	return t
}

// MapTensor returns a map, as the [Evaluator] holds it. keys is a tensor of rank 1 in increasing
// order, and items[i] belongs to key i. elem is the type of an item.
func MapTensor(elem Type, keys *Tensor, items []*Tensor) *Tensor {
	return &Tensor{Kind: MapKind, DType: keys.DType, Elem: elem, Keys: keys, Items: items}
}

func (t *Tensor) equalItems(u *Tensor) bool {
	return t.Kind == u.Kind && t.DType == u.DType && t.Keys.Equal(u.Keys) && slices.EqualFunc(t.Items, u.Items, (*Tensor).Equal)
}

func (t *Tensor) containerType() Type {
	elem := t.Elem
	return Type{Kind: t.Kind, DType: t.DType, Elem: &elem}
}

func (t *Tensor) conforms(typ Type) error {
	if t == nil || t.Kind != typ.Kind || t.DType != typ.DType {
		return fmt.Errorf("%s expected", typ)
	}
	for i, item := range t.Items {
		if err := item.conformsElem(*typ.Elem); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func (t *Tensor) conformsElem(elem Type) error {
	if elem.Kind != TensorKind {
		return t.conforms(elem)
	}
	if t == nil || t.Kind != TensorKind || !t.Type().elemWithin(elem) {
		return fmt.Errorf("%s expected", elem)
	}
	return nil
}
