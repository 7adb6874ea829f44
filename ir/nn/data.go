package nn

import (
	"cmp"
	"slices"

	"github.com/burngen/burngen/ir"
)

// tensor returns the data of v, and computes it first if necessary. It panics with an [*Error] if v depends on an
// input.
func (v Value) tensor() *ir.Tensor {
	v.typ()
	if v.n.open {
		fail("the value depends on %s, which has no data while the model is recorded; use nn.Where, nn.If or nn.While", v.n.source())
	}
	for _, n := range pending(v.n) {
		n.compute()
	}
	return v.n.data[v.i]
}

// source returns the name of an input that n depends on.
func (n *node) source() string {
	seen := map[*node]bool{}
	for {
		seen[n] = true
		next := slices.IndexFunc(n.reads(), func(a Value) bool { return a.n.open && !seen[a.n] })
		if next >= 0 {
			n = n.reads()[next].n
			continue
		}
		switch {
		case n.param != nil:
			return "parameter " + n.param.String()
		case n.op == nil:
			return n.name
		}
		return "a symbolic extent"
	}
}

// reads returns the operands of n that are present, and the values that its bodies capture.
func (n *node) reads() []Value {
	var out []Value
	for _, a := range n.args {
		if a.Valid() {
			out = append(out, a)
		}
	}
	return append(out, n.free...)
}

// pending returns n and all nodes that n needs, if they have no data yet, in the order of creation.
func pending(n *node) []*node {
	return reachable([]*node{n}, func(n *node) bool { return n.data == nil })
}

// reachable returns the nodes `from` and all nodes that can be reached from them through operands, in the order of
// creation. It leaves out the nodes for which the function `want` returns false, and does not follow their operands.
func reachable(from []*node, want func(*node) bool) []*node {
	seen := map[*node]bool{}
	var out []*node
	for stack := slices.Clone(from); len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[n] || !want(n) {
			continue
		}
		seen[n] = true
		out = append(out, n)
		stack = append(stack, n.before...)
		for _, a := range n.reads() {
			stack = append(stack, a.n)
		}
	}
	slices.SortFunc(out, inOrder)
	return out
}

func inOrder(a, b *node) int { return cmp.Compare(a.id, b.id) }

func (n *node) compute() {
	if n.param != nil {
		n.data = []*ir.Tensor{n.param.tensor()}
		return
	}
	var out []*ir.Tensor
	var err error
	if len(n.bodies) > 0 {
		out, err = n.run()
	} else {
		args := make([]*ir.Tensor, len(n.args))
		for i, a := range n.args {
			if a.Valid() {
				args[i] = a.n.data[a.i]
			}
		}
		out, err = n.op.Eval(args)
	}
	if err != nil {
		panic(&Error{n.pos, ir.OpName(n.op) + ": " + err.Error()})
	}
	n.data = out
}

// HasData reports whether the elements of v are known. They are known if v does not depend on an input.
func (v Value) HasData() bool { return v.Valid() && !v.n.open }

// Item returns the only element of v as a float64. A bool becomes 0 or 1.
func (v Value) Item() float64 {
	t := v.tensor()
	if t.Len() != 1 {
		fail("value has %d elements, not one", t.Len())
	}
	return t.Number(0)
}

// Floats returns the elements in row-major order as float64. Bools become 0 or 1.
func (v Value) Floats() []float64 {
	t := v.tensor()
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.Number(i)
	}
	return out
}

// Ints returns the elements of an integer or bool tensor in row-major order.
func (v Value) Ints() []int64 {
	t := v.tensor()
	if t.DType.IsFloat() {
		fail("the elements are %s; round them and convert with .Int()", t.DType)
	}
	out := make([]int64, t.Len())
	for i := range out {
		out[i] = t.Int(i)
	}
	return out
}

// Bools returns the elements of a bool tensor in row-major order.
func (v Value) Bools() []bool {
	t := v.tensor()
	if t.DType != Bool {
		fail("the elements are %s", t.DType)
	}
	out := make([]bool, t.Len())
	for i := range out {
		out[i] = t.Bool(i)
	}
	return out
}
