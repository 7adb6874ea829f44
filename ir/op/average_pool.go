package op

import "github.com/burngen/burngen/ir"

// AveragePool is the mean of each window over x, [N,C,spatial…], of floats (ONNX
// AveragePool): its sum divided by the number of its cells in x, with CountPad
// also of those in the padding, or 0 where that is 0. Cells beyond the padding
// never count.
type AveragePool struct {
	Window
	CountPad bool
	// Blocked is set where x is channel-blocked, f32[N,⌈C/16⌉,spatial…,16].
	Blocked bool
}

// Infer computes the spatial extents.
func (op AveragePool) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.inferPool(in, op.Blocked, floats{})
}

// Eval sums in float64.
func (op AveragePool) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalPool(op, op.Window, x, op.Blocked, func(y *ir.Tensor, i int, c cells, cell func(int) int) {
		count := len(c.at)
		if op.CountPad {
			count = c.counted
		}
		sum := 0.0
		for _, at := range c.at {
			sum += x.Float(cell(at))
		}
		y.SetFloat(i, sum/float64(max(count, 1)))
	})
}

// Flops counts an addition for each cell of a window.
func (op AveragePool) Flops(_, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Const(lenOf(op.Kernel)))
}

// Lower computes narrow floats in f32, and more than two spatial axes in turn: the
// number of cells that count is a product over the axes.
func (op AveragePool) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	return op.lowerPool(b, n, func(w Window) ir.Op { return AveragePool{Window: w, CountPad: op.CountPad} })
}

// Relayout pools a blocked operand.
func (op AveragePool) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil || !l.ZeroLanes(n.Arg(0)) {
		return nil
	}
	op.Blocked = true
	return b.Node(op, x)
}

// Call is cpu.AveragePool, or cpu.AveragePoolDirect of f64.
func (op AveragePool) Call(n *ir.Node) (ir.Call, error) {
	if n.Arg(0).Type.DType == ir.F64 {
		return op.directPool("AveragePoolDirect", n, op.CountPad), nil
	}
	shape, err := op.poolShape(n, op.Blocked)
	shape.Fields = append(shape.Fields, ir.Field{Name: "CountPad", Value: op.CountPad})
	return ir.Call{Kernel: "AveragePool", Args: []any{ir.Out(0), ir.In(0), shape}}, err
}

// importAveragePool reads AveragePool: count_include_pad came at opset 7,
// ceil_mode at 10, dilations at 19.
func importAveragePool(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	w, err := importPool(c, x.Type, 19)
	if err != nil {
		return nil, err
	}
	op := AveragePool{Window: w}
	if c.Opset() >= 7 {
		op.CountPad = c.Int("count_include_pad", 0) != 0
	}
	return []*ir.Value{c.Builder().Node(op, x)}, nil
}
