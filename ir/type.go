package ir

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/burngen/burngen/ir/dim"
)

// Kind distinguishes tensors and the containers of ONNX.
type Kind uint8

// The kinds of types.
const (
	TensorKind Kind = iota
	SequenceKind
	OptionalKind
	MapKind
)

// Type is the type of a value: a tensor, or a sequence, optional or map. A container has the type
// of its elements in Elem. The zero Type stands for an absent optional operand.
//
// In a container's element type, an extent is either a constant that all elements share, or
// [dim.Any]. A nil Shape in Elem means that the rank of the elements is unknown.
type Type struct {
	Kind  Kind
	DType DType     // element type of a tensor, or type of a map's keys
	Shape []dim.Dim // shape of a tensor
	Elem  *Type     // element type of a container
}

// TensorOf returns the type of a tensor of element type d with these extents.
func TensorOf(d DType, shape ...dim.Dim) Type {
	if shape == nil {
		shape = []dim.Dim{}
	}
	return Type{DType: d, Shape: shape}
}

// StaticTensor returns the type of a tensor of element type d with these constant extents.
func StaticTensor(d DType, shape ...int) Type { return TensorOf(d, dim.Consts(shape...)...) }

// SequenceOf returns the type of a sequence whose elements have type elem.
func SequenceOf(elem Type) Type { return Type{Kind: SequenceKind, Elem: &elem} }

// OptionalOf returns the type of an optional whose element has type elem.
func OptionalOf(elem Type) Type { return Type{Kind: OptionalKind, Elem: &elem} }

// MapOf returns the type of a map whose keys have element type key and whose values have type elem.
func MapOf(key DType, elem Type) Type { return Type{Kind: MapKind, DType: key, Elem: &elem} }

// IsZero reports whether t is the zero Type, which stands for an absent operand.
func (t Type) IsZero() bool { return t.Kind == TensorKind && t.DType == Invalid }

// IsTensor reports whether t is a tensor type.
func (t Type) IsTensor() bool { return t.Kind == TensorKind && t.DType != Invalid }

// Rank returns the number of dimensions of a tensor type.
func (t Type) Rank() int { return len(t.Shape) }

// Elems returns the number of elements of a tensor type.
func (t Type) Elems() dim.Dim { return dim.Product(t.Shape...) }

// Static returns the extents of t. ok is false if an extent is symbolic.
func (t Type) Static() (shape []int, ok bool) { return dim.Ints(t.Shape) }

// IsStatic reports whether all extents of t are constants.
func (t Type) IsStatic() bool {
	for _, d := range t.Shape {
		if !d.IsConst() {
			return false
		}
	}
	return t.Elem == nil || t.Elem.IsStatic()
}

// With returns t with another element type.
func (t Type) With(d DType) Type { t.DType = d; return t }

// Equal reports whether t and u are the same type.
func (t Type) Equal(u Type) bool {
	if t.Kind != u.Kind || t.DType != u.DType || len(t.Shape) != len(u.Shape) || (t.Elem == nil) != (u.Elem == nil) {
		return false
	}
	for i, d := range t.Shape {
		if !d.Equal(u.Shape[i]) {
			return false
		}
	}
	return t.Elem == nil || t.Elem.Equal(*u.Elem)
}

// Subst returns t with other dimensions for the symbols in its extents. env returns the dimension
// for a symbol, or false if the symbol stays. Types of containers are returned unchanged.
func (t Type) Subst(env func(string) (dim.Dim, bool)) Type {
	if t.Kind == TensorKind && t.Shape != nil {
		shape := make([]dim.Dim, len(t.Shape))
		for i, d := range t.Shape {
			shape[i] = d.Subst(env)
		}
		t.Shape = shape
	}
	return t
}

// String returns t in the text form: "f32[N,10]", "seq<f32[N]>", "map<i64,f32[]>".
func (t Type) String() string {
	switch t.Kind {
	case SequenceKind:
		return "seq<" + t.Elem.String() + ">"
	case OptionalKind:
		return "opt<" + t.Elem.String() + ">"
	case MapKind:
		return "map<" + t.DType.String() + "," + t.Elem.String() + ">"
	}
	if t.IsZero() {
		return "none"
	}
	var b strings.Builder
	b.WriteString(t.DType.String())
	if t.Shape == nil {
		return b.String()
	}
	b.WriteByte('[')
	for i, d := range t.Shape {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(d.String())
	}
	b.WriteByte(']')
	return b.String()
}

// MaxRank is the largest number of dimensions a tensor may have.
const MaxRank = 64

var errTooLarge = errors.New("more elements than fit a 64-bit size")

// Check returns an error if no value can have type t. This is the case if a constant extent is
// negative, if the rank exceeds MaxRank, or if the size overflows.
func (t Type) Check() error {
	if t.Elem != nil {
		return t.Elem.Check()
	}
	if len(t.Shape) > MaxRank {
		return fmt.Errorf("rank %d is above %d", len(t.Shape), MaxRank)
	}
	known := int64(max(t.DType.Size(), 1))
	for i, d := range t.Shape {
		if d.Overflow() {
			return fmt.Errorf("dimension %d: %s", i, d)
		}
		n, ok := d.Int64()
		if !ok {
			continue
		}
		if n < 0 {
			return fmt.Errorf("dimension %d is negative: %d", i, n)
		}
		if n > 0 {
			if known > math.MaxInt64/n {
				return errTooLarge
			}
			known *= n
		}
	}
	return nil
}
