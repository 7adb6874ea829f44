package ir

import (
	"fmt"
	"slices"
)

// AnyDim is the extent of a container's elements that differs from one to the
// next. It prints as "?" and is nothing to compute with.
var AnyDim = symbol("?")

// ElemOf returns t as the type of a container's elements: extents that are not
// constants become [AnyDim].
func ElemOf(t Type) Type {
	if t.Kind != TensorKind || t.Shape == nil {
		return t
	}
	t.Shape = slices.Clone(t.Shape)
	for i, d := range t.Shape {
		if !d.IsConst() {
			t.Shape[i] = AnyDim
		}
	}
	return t
}

// Join returns the type of what is either an a or a b, as the elements of a
// container are: extents that differ become [AnyDim], and of ranks that differ none
// is known. Elements of an unknown rank, as those of an empty sequence, take that of
// the other. Errors: other kinds or element types.
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
			a.Shape[i] = AnyDim
		}
	}
	return a, nil
}

// Within reports whether every value of type t is one of type u: they are equal,
// or containers whose elements are within each other, where [AnyDim] and unknown
// ranks of u take what t has.
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
	return slices.EqualFunc(t.Shape, u.Shape, func(d, e Dim) bool { return d.Equal(e) || e.Equal(AnyDim) })
}

// SequenceTensor returns the evaluator's sequence of elements of a type.
func SequenceTensor(elem Type, items ...*Tensor) *Tensor {
	return &Tensor{Kind: SequenceKind, Elem: elem, Items: items}
}

// OptionalTensor returns the evaluator's optional of a type: item, or none when
// that is nil.
func OptionalTensor(elem Type, item *Tensor) *Tensor {
	t := &Tensor{Kind: OptionalKind, Elem: elem}
	if item != nil {
		t.Items = []*Tensor{item}
	}
	return t
}

// MapTensor returns the evaluator's map from keys, a tensor of rank 1 in
// increasing order, to one item each.
func MapTensor(elem Type, keys *Tensor, items []*Tensor) *Tensor {
	return &Tensor{Kind: MapKind, DType: keys.DType, Elem: elem, Keys: keys, Items: items}
}

// equalItems reports whether two containers hold the same.
func (t *Tensor) equalItems(u *Tensor) bool {
	return t.Kind == u.Kind && t.DType == u.DType && t.Keys.Equal(u.Keys) && slices.EqualFunc(t.Items, u.Items, (*Tensor).Equal)
}

// containerType returns the type of a container of the evaluator.
func (t *Tensor) containerType() Type {
	elem := t.Elem
	return Type{Kind: t.Kind, DType: t.DType, Elem: &elem}
}

// conforms reports why a container is none of a type.
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
