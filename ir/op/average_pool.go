package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

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

// Grad shares the result's among the cells that count: it is a transposed convolution
// of the result's over their number.
func (op AveragePool) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	c, x, g := calculus{b}, n.Arg(0), of[0]
	spatial, one := len(op.Kernel), ir.Const(1)
	pads := op.pads(x.Type.Shape[2:])
	kernel := fill(b, ir.Scalar(x.Type.DType, 1), append([]ir.Dim{one, one}, ir.Dims(op.Kernel...)...)...)
	// The number of cells that count: those of x, or of x and the padding.
	inner := fill(b, ir.Scalar(x.Type.DType, 1), append([]ir.Dim{one, one}, x.Type.Shape[2:]...)...)
	if op.CountPad {
		rank := 2 + spatial
		around := Pad{Mode: "constant", Before: zeroPads(rank), After: zeroPads(rank)}
		for i := range spatial {
			around.Before[2+i], around.After[2+i] = pads[i], pads[spatial+i]
		}
		inner = b.Node(around, inner, c.num(x, 1))
	}
	counted := op.Window
	counted.Pads, counted.Same, counted.Ceil = nil, "", false
	reach := zeroPads(spatial)
	if !op.CountPad {
		copy(reach, pads)
	}
	count := b.Node(Conv{Window: counted, Group: 1}, counted.around(b, inner, c.num(x, 0), g.Type.Shape[2:], reach), kernel)
	count = b.Node(Max{}, cropTo(b, count, zeroPads(spatial), slices.Concat([]ir.Dim{one, one}, g.Type.Shape[2:])), c.num(x, 1))
	planes := x.Type.Shape[0].Mul(x.Type.Shape[1])
	g = reshape(b, c.div(g, count), append([]ir.Dim{planes, one}, g.Type.Shape[2:]...)...)
	back := ConvTranspose{Kernel: op.Kernel, Strides: op.Strides, Dilations: op.Dilations, Group: 1}
	sum := cropTo(b, b.Node(back, g, kernel), pads[:spatial], append([]ir.Dim{planes, one}, x.Type.Shape[2:]...))
	return []*ir.Value{reshape(b, sum, x.Type.Shape...)}
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

// EmptyLanes are zero.
func (AveragePool) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
