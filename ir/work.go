package ir

import "math"

// Work returns about how many elementary operations computing n takes: the floating-point
// operations that its operator knows of, and one for each element of an operand and of a
// result. A node with a fused block counts its result once for each node of the block. A
// nil symbol knows no symbol. Work is math.MaxInt64 if it depends on a symbol without a
// value, and if it does not fit.
func (n *Node) Work(symbol func(name string) (int64, bool)) int64 {
	if symbol == nil {
		symbol = func(string) (int64, bool) { return 0, false }
	}
	total := int64(0)
	add := func(d Dim, times int) {
		v, err := d.Eval(symbol)
		if v = max(v, 0); err != nil || times > 0 && v > (math.MaxInt64-total)/int64(times) {
			v, times, total = math.MaxInt64, 1, 0
		}
		total += v * int64(times)
	}
	in, out := n.ArgTypes(), n.ResultTypes()
	for _, t := range append(in, out...) {
		if t.IsTensor() {
			add(t.Elems(), 1)
		}
	}
	if c, ok := n.Op.(Coster); ok {
		add(c.Flops(in, out), 1)
	}
	for _, b := range n.Blocks {
		if len(out) > 0 && out[0].IsTensor() {
			add(out[0].Elems(), len(b.Nodes))
		}
	}
	return total
}
