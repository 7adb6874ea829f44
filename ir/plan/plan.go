// Package plan decides where the values of a lowered function live: in the
// caller's memory, among the weights, or at an offset of one arena that buffers
// share when their lifetimes do not meet. It does not know kernels or Go.
package plan

import "github.com/burngen/burngen/ir"

// Plan says where every value of a function lives.
type Plan struct {
	Func *ir.Func
	// Places holds the place of every value that takes memory.
	Places map[*ir.Value]Place
	// Scratch holds the memory that nodes ask for beside their results, in the
	// order in which they ask.
	Scratch map[*ir.Node][]Place
	// Copies are made at the end of the function: results that another value
	// already is.
	Copies []Copy
	// Buffers are the parts of the arena, in the order of their first use.
	Buffers []*Buffer
	// Tails are buffers whose size is known only when the node that makes them
	// runs: they are allocated then.
	Tails []*Buffer
	// Variables hold what cannot be in an arena of bytes.
	Variables []*Variable
	// Late are the symbols that nodes bind while the function runs.
	Late map[string]bool
	// Tailed are symbols whose values come too late for offsets in the arena: the
	// late ones, and those that the caller of this function binds late.
	Tailed map[string]bool
	Mode   Mode
	// Symbol is the extent that a Scaled arena grows with.
	Symbol string
	// Size is the arena's size in bytes and Live the size of the largest set of
	// buffers alive at one node, at most Size. Unless Mode is Dynamic they are
	// constants, or linear in Symbol.
	Size, Live ir.Dim
}

// Mode tells when the offsets of buffers are known.
type Mode uint8

// The modes of an arena.
const (
	// Static: offsets are constants.
	Static Mode = iota
	// Scaled: offsets are linear in Symbol.
	Scaled
	// Dynamic: offsets are computed, by rt.Layout, from sizes and lifetimes, once
	// the extents are known.
	Dynamic
)

// Place is a run of memory.
type Place struct {
	Kind Kind
	// Index is the parameter's or result's index.
	Index int
	// Weight is the weight's name.
	Weight string
	// Buffer is the buffer of an Arena or Tail place.
	Buffer *Buffer
	// Variable is that of a Held place.
	Variable *Variable
	// Offset is where the place begins, in elements of its value's type.
	Offset ir.Dim
}

// Same reports whether two places begin at the same memory.
func (p Place) Same(q Place) bool {
	return p.Kind == q.Kind && p.Index == q.Index && p.Weight == q.Weight && p.Buffer == q.Buffer && p.Variable == q.Variable && p.Offset.Equal(q.Offset)
}

// IsLate reports whether a type has extents that are known only while the
// function runs.
func (p *Plan) IsLate(t ir.Type) bool { return hasSymbol(t, p.Late) }

func hasSymbol(t ir.Type, symbols map[string]bool) bool {
	found := false
	t.Subst(func(s string) (ir.Dim, bool) { found = found || symbols[s]; return ir.Dim{}, false })
	return found
}

// Kind tells what memory a [Place] is in.
type Kind uint8

// The kinds of memory.
const (
	None Kind = iota // no memory: a constant that is passed by value
	Param
	Result
	Weight
	Arena
	Tail // allocated while the function runs, because its size is known only then
	Held // a variable that is kept from call to call
)

// Variable holds a value that has pointers, strings or a container, or a tensor
// whose shape is known only when control flow has made it.
type Variable struct {
	Name  string // of the value it was made for
	Type  ir.Type
	First int // the node that writes it
	// Boxed tells that it is a tensor with its shape.
	Boxed bool
}

// IsHeld reports whether values of a type are held by a [Variable].
func IsHeld(t ir.Type) bool { return !t.IsTensor() || t.DType == ir.String }

// Buffer is a part of the arena.
type Buffer struct {
	Name  string // of the value it was made for
	DType ir.DType
	Elems ir.Dim
	Bytes ir.Dim // rounded up to whole cache lines
	// First and Last are the indexes of the nodes that first write and last read it.
	First, Last int
	Offset      ir.Dim // in bytes, unless the arena is Dynamic
}

// Copy is a result that is copied to the caller.
type Copy struct {
	From *ir.Value
	To   Place
}
