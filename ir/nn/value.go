package nn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// DType is the element type of a tensor.
type DType = ir.DType

// The element types of tensors.
const (
	F64  = ir.F64
	F32  = ir.F32
	F16  = ir.F16
	BF16 = ir.BF16
	I64  = ir.I64
	I32  = ir.I32
	I16  = ir.I16
	I8   = ir.I8
	U64  = ir.U64
	U32  = ir.U32
	U16  = ir.U16
	U8   = ir.U8
	Bool = ir.Bool
)

// Value is a tensor. Either its elements are known, or a recorded method computes them. The zero Value is an absent
// operand, such as a mask that is not used.
type Value struct {
	_ [0]func() // makes x == y a compile error, because it would not compare elements
	n *node
	i int // index among the results of n
}

// node is an operator that is applied to values. A node without an operator is a leaf, such as an input or a
// constant.
type node struct {
	id    int64
	op    ir.Op
	args  []Value // a zero Value is an absent optional operand
	types []ir.Type
	pos   string // file:line of the caller

	// For control flow: its bodies, and the values that these capture.
	bodies []*body
	free   []Value

	// before are nodes that must run first: checks, and nodes that bind symbols.
	before []*node

	// open is set if the node depends on an input and so has no data.
	open bool
	data []*ir.Tensor // data of each result, once computed

	// For leaves.
	name  string // name of an input
	param *param
}

var maxNodes int64 = 1_000_000

var session struct {
	nodes   atomic.Int64 // nodes created so far
	first   int64        // nodes of the current recording
	random  atomic.Int64 // sites at which random numbers are drawn
	symbols atomic.Int64 // symbols that nodes have bound
	params  atomic.Int64
	// binders maps symbols to the nodes that bind them.
	binders map[string]*node
	// gradients are the functions recorded so far that compute gradients of custom operators. Their
	// names differ.
	gradients []*ir.Func
	// recording is set while parameters must not have data, because an initial value must not
	// decide the structure of the network.
	recording bool
}

func newNode(n *node) *node {
	n.id = session.nodes.Add(1)
	if session.recording && n.id-session.first > maxNodes {
		fail("more than %d operations: a loop without end? nn.Scan and nn.While record a loop once", maxNodes)
	}
	n.pos, _ = caller()
	return n
}

func leaf(n *node) Value { return Value{n: newNode(n)} }

func constant(t *ir.Tensor) Value {
	return leaf(&node{types: []ir.Type{t.Type()}, data: []*ir.Tensor{t}})
}

func (v Value) typ() ir.Type {
	if v.n == nil {
		fail("the operand is the zero nn.Value")
	}
	return v.n.types[v.i]
}

func one(op ir.Op, args ...Value) Value { return many(op, args...)[0] }

// many applies an operator to args and returns its results. Absent operands are zero Values.
func many(op ir.Op, args ...Value) []Value { return region(op, nil, args...) }

func region(op ir.Op, bodies []*body, args ...Value) []Value {
	n := apply(op, bodies, args...)
	out := make([]Value, len(n.types))
	for i := range out {
		out[i] = Value{n: n, i: i}
	}
	return out
}

func apply(op ir.Op, bodies []*body, args ...Value) *node {
	for len(args) > 0 && !args[len(args)-1].Valid() {
		args = args[:len(args)-1]
	}
	n := &node{op: op, args: args, bodies: bodies, free: freeOf(bodies)}
	types, err := ir.Infer(n.stub())
	if err != nil {
		failOp(op, err)
	}
	for _, t := range types {
		if err := t.Check(); err != nil {
			fail("result %s: %v", t, err)
		}
		n.open = n.open || !t.IsStatic()
	}
	n.types = types
	n.before = bindersOf(op, types)
	n.open = n.open || hasSymbols(op)
	for _, list := range [][]Value{n.args, n.free} {
		for _, a := range list {
			n.open = n.open || a.Valid() && a.n.open
		}
	}
	if b, ok := op.(ir.Binder); ok {
		for _, s := range b.Binds() {
			if session.binders == nil {
				session.binders = map[string]*node{}
			}
			session.binders[s] = n
		}
	}
	return newNode(n)
}

// bindersOf returns the nodes that bind the symbols in the attributes of an operator and in types.
func bindersOf(op ir.Op, types []ir.Type) []*node {
	if len(session.binders) == 0 {
		return nil
	}
	var nodes []*node
	note := func(s string) (dim.Dim, bool) {
		if n := session.binders[s]; n != nil && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
		return dim.Dim{}, false
	}
	ir.SubstOp(op, note)
	for _, t := range types {
		t.Subst(note)
	}
	return nodes
}

// stub returns an IR node with the operator of n. The operands and blocks of the IR node have the same types as those
// of n.
func (n *node) stub() *ir.Node {
	s := &ir.Node{Op: n.op}
	for _, a := range n.args {
		if !a.Valid() {
			s.Args = append(s.Args, nil)
			continue
		}
		s.Args = append(s.Args, &ir.Value{Type: a.typ()})
	}
	for _, b := range n.bodies {
		block := &ir.Block{}
		for _, p := range b.params {
			block.Params = append(block.Params, &ir.Value{Type: p.typ()})
		}
		for _, r := range b.results {
			block.Results = append(block.Results, &ir.Value{Type: r.typ()})
		}
		s.Blocks = append(s.Blocks, block)
	}
	return s
}

// hasSymbols reports whether the attributes of an operator may contain symbols that its operands do not have. Only
// [ir.Extents] has such attributes.
func hasSymbols(op ir.Op) bool {
	e, ok := op.(ir.Extents)
	if !ok {
		return false
	}
	for _, d := range e.Elems {
		if !d.IsConst() {
			return true
		}
	}
	return false
}

// failOp panics with an [*Error] for err, an error of op. It removes the operator's name from the
// text of err, because the message already names the function that was called.
func failOp(op ir.Op, err error) {
	text := strings.TrimPrefix(err.Error(), ir.OpName(op)+": ")
	var u *ir.Unproven
	if errors.As(err, &u) {
		text = fmt.Sprintf("%s: %s is not %s", u.What, u.A, u.B)
	}
	fail("%s", text)
}

// Valid reports whether v is a tensor. It is false only for the zero Value.
func (v Value) Valid() bool { return v.n != nil }

// DType returns the element type.
func (v Value) DType() DType { return v.typ().DType }

// Rank returns the number of axes.
func (v Value) Rank() int { return v.typ().Rank() }

// Shape returns the extents of all axes.
func (v Value) Shape() []Dim {
	dims := make([]Dim, v.Rank())
	for i, d := range v.typ().Shape {
		dims[i] = Dim{d: d}
	}
	return dims
}

// Dim returns the extent of an axis. A negative axis counts from the end. Dim panics with an
// [*Error] if v does not have the axis.
func (v Value) Dim(axis int) Dim { return Dim{d: v.typ().Shape[v.axis(axis)]} }

// Size returns the number of elements.
func (v Value) Size() Dim { return Dim{d: v.typ().Elems()} }

func (v Value) axis(i int) int {
	r := v.Rank()
	if i < -r || i >= r {
		fail("axis %d out of range for rank %d", i, r)
	}
	return (i + r) % max(r, 1)
}

// axes returns the axes in list as indices from the start, in ascending order. A negative axis counts from the end.
// An empty list means all axes.
func (v Value) axes(list []int) []int {
	named := make([]bool, v.Rank())
	for _, i := range list {
		if i = v.axis(i); named[i] {
			fail("axis %d is named twice", i)
		}
		named[i] = true
	}
	out := []int{}
	for i := range named {
		if named[i] || len(list) == 0 {
			out = append(out, i)
		}
	}
	return out
}

// Is returns v if it has the type typ, in the notation of the IR, such as "f32[N,1024]". Otherwise it panics with
// an [*Error]. If the elements of v are known, its extents are numbers, and each symbol in typ must stand for one
// number everywhere. Otherwise a symbol matches only itself.
func (v Value) Is(typ string) Value {
	want, err := parseType(typ)
	if err != nil {
		fail("%v", err)
	}
	got := v.typ()
	ok := want.DType == got.DType && want.Rank() == got.Rank()
	if shape, static := got.Static(); ok && static && !v.n.open {
		_, err := ir.BindShapes([]*ir.Value{{Type: want}}, [][]int{shape})
		ok = err == nil
	} else {
		ok = ok && slices.EqualFunc(want.Shape, got.Shape, dim.Dim.Same)
	}
	if !ok {
		fail("value is %s, not %s", got, want)
	}
	return v
}

func parseType(text string) (ir.Type, error) {
	s, err := ir.ParseSignature("(" + text + ") -> ()")
	if err != nil || len(s.Params) != 1 || !s.Params[0].IsTensor() {
		return ir.Type{}, fmt.Errorf("%q is not a type such as f32[N,28,28]", text)
	}
	return s.Params[0], nil
}
