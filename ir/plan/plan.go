// Package plan assigns memory to the values of a lowered function. A value is in the caller's
// memory, in the weights, or at an offset in an arena. Buffers with disjoint lifetimes share memory
// of the arena. The package does not know kernels or Go.
package plan

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Plan holds the place of every value of a function.
type Plan struct {
	Func *ir.Func
	// Places holds the place of every value that takes memory, scratch values included.
	Places map[*ir.Value]Place
	// Buffers are the parts of the arena, in the order of their first use.
	Buffers []*Buffer
	// Tails are the buffers whose size is known only when the node that computes them runs. They
	// are allocated then.
	Tails []*Buffer
	// Variables are the values that cannot be stored in an arena of bytes.
	Variables []*Variable
	// Late holds the symbols bound by nodes while the function runs.
	Late map[string]bool
	// Tailed holds the symbols that are bound too late for offsets in the arena: the symbols in
	// Late, and the symbols that the caller of this function binds late.
	Tailed map[string]bool
	Mode   Mode
	// Symbol is the extent to which the size of a Scaled arena is proportional.
	Symbol string
	// Size is the size of the arena in bytes. Live is the size of the largest set of buffers in use
	// at one node, at most Size. Unless Mode is Dynamic, both are constants or linear in Symbol.
	Size, Live dim.Dim
}

// Mode says when the offsets of buffers are known.
type Mode uint8

// The modes of an arena.
const (
	// Static means that offsets are constants.
	Static Mode = iota
	// Scaled means that offsets are linear in [Plan.Symbol].
	Scaled
	// Dynamic means that rt.Layout computes the offsets from sizes and lifetimes at run time, when
	// the extents are known.
	Dynamic
)

// Place is a contiguous range of memory.
type Place struct {
	Kind Kind
	// Index is the index of the parameter or result.
	Index int
	// Weight is the name of the weight.
	Weight string
	// Buffer is the buffer of an Arena or Tail place.
	Buffer *Buffer
	// Variable is the variable of a Held place.
	Variable *Variable
	// Offset is the start of the place, in elements of the value's type.
	Offset dim.Dim
}

// Same reports whether two places start at the same address.
func (p Place) Same(q Place) bool {
	return p.Kind == q.Kind && p.Index == q.Index && p.Weight == q.Weight && p.Buffer == q.Buffer && p.Variable == q.Variable && p.Offset.Equal(q.Offset)
}

// IsLate reports whether a type has an extent that is known only while the function runs.
func (p *Plan) IsLate(t ir.Type) bool { return hasSymbol(t, p.Late) }

func hasSymbol(t ir.Type, symbols map[string]bool) bool {
	found := false
	t.Subst(func(s string) (dim.Dim, bool) { found = found || symbols[s]; return dim.Dim{}, false })
	return found
}

// Kind is the kind of memory of a [Place].
type Kind uint8

// The kinds of memory.
const (
	None Kind = iota // no memory: a constant passed by value
	Param
	Result
	Weight
	Arena
	Tail // allocated while the function runs, when its size is known
	Held // a variable that persists between calls
)

// Variable is a Go variable for a value that an arena of bytes cannot hold. The value is a string
// tensor, a container, or a tensor whose shape is known only after control flow has computed it.
type Variable struct {
	Name  string    // name of the value that the variable was made for
	Value *ir.Value // the value; scratch memory has a value that no node defines
	Type  ir.Type
	First int // the first node that writes it
	// Boxed reports whether the value is a tensor that is stored with its shape.
	Boxed bool
}

// IsHeld reports whether a value of type t is stored in a [Variable], and not in an arena.
func IsHeld(t ir.Type) bool { return !t.IsTensor() || t.DType == ir.String }

// Buffer is a part of the arena.
type Buffer struct {
	Name  string    // name of the value that the buffer was made for
	Value *ir.Value // the value; scratch memory has a value that no node defines
	DType ir.DType
	Elems dim.Dim
	Bytes dim.Dim // size, rounded up to whole cache lines
	// First and Last are the indices of the first node that writes it and the last that reads it.
	First, Last int
	Offset      dim.Dim // offset in bytes, unless the arena is Dynamic
}
