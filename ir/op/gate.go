package op

import "github.com/burngen/burngen/ir"

// Gate is g where y is above 0, else 0, broadcast, of numbers of one type: the gradient of
// the operand of a [Relu] from that of its result y, g.
type Gate struct{ binary[numbers] }

// Eval chooses.
func (Gate) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{float: gate[float64], signed: sure(gate[int64]), unsigned: sure(gate[uint64])})
}

func gate[T real](g, y T) T {
	if y > 0 {
		return g
	}
	return 0
}

// Call is cpu.Gate.
func (Gate) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "Gate", Args: []any{ir.Out(0), ir.In(0), ir.In(1)}}, nil
}

// Grad is of g the result's where y is above 0.
func (Gate) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	return partials(b, n, want, func(c calculus) *ir.Value { return c.Node(Gate{}, of[0], n.Arg(1)) })
}
