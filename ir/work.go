package ir

import (
	"math"

	"github.com/burngen/burngen/ir/dim"
)

// Work describes the cost of one call of a node: operations, elements and bytes.
type Work struct {
	// Flops are the floating-point operations that the operator reports. In a fused block, each
	// operator that reports operations counts as one operation for each element of the node's
	// result.
	Flops dim.Dim
	// Elems is the number of elements of all operands and results that are tensors. Bytes is their
	// size in bytes. Elements narrower than a byte count as one byte.
	Elems, Bytes dim.Dim
}

// Work returns the work of n.
func (n *Node) Work() Work {
	in, out := n.ArgTypes(), n.ResultTypes()
	var w Work
	for _, types := range [][]Type{in, out} {
		for _, t := range types {
			if t.IsTensor() {
				elems := t.Elems()
				w.Elems, w.Bytes = w.Elems.Add(elems), w.Bytes.Add(elems.Mul(dim.Const(t.DType.Size())))
			}
		}
	}
	if c, ok := n.Op.(Coster); ok {
		w.Flops = c.Flops(in, out)
	}
	if _, ok := n.Op.(Encloser); ok {
		for _, b := range n.Blocks {
			for _, inner := range b.Nodes {
				w.Flops = w.Flops.Add(inner.Work().Flops)
			}
		}
		return w
	}
	fused := 0
	for _, b := range n.Blocks {
		for _, inner := range b.Nodes {
			if _, ok := inner.Op.(Coster); ok {
				fused++
			}
		}
	}
	if fused > 0 && len(out) > 0 && out[0].IsTensor() {
		w.Flops = w.Flops.Add(out[0].Elems().Mul(dim.Const(fused)))
	}
	return w
}

// Total returns the number of elementary operations: w.Flops, plus one for each element of an
// operand or a result. `symbol` returns the value of a symbol; it may be nil, and then no symbol
// has a value. The total is math.MaxInt64 if it overflows or depends on a symbol without a value.
func (w Work) Total(symbol func(name string) (int64, bool)) int64 {
	if symbol == nil {
		symbol = func(string) (int64, bool) { return 0, false }
	}
	total, err := w.Flops.Add(w.Elems).Eval(symbol)
	if err != nil {
		return math.MaxInt64
	}
	return max(total, 0)
}
