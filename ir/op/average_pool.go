package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// AveragePool is the mean of each window over x, [N,C,spatial…], of floats (ONNX AveragePool). The mean is the sum
// of the counted cells divided by their number, or 0 if no cell is counted. Cells inside x are counted. Cells
// inside the padding are counted if CountPad is set. Cells beyond the padding are never counted.
type AveragePool struct {
	Window
	CountPad bool
	// Blocked says that x is channel-blocked, f32[N,⌈C/16⌉,spatial…,16].
	Blocked bool
}

// Infer returns x's type, but the extent of each spatial axis is the number of windows along the axis.
func (op AveragePool) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.inferPool(in, op.Blocked, floats{})
}

// Eval returns the mean of each window, summed in float64.
func (op AveragePool) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalPool(op, op.Window, x, op.Blocked, func(y *ir.Tensor, i int, c Cells, cell func(int) int) {
		count := len(c.At)
		if op.CountPad {
			count = c.counted
		}
		sum := 0.0
		for _, at := range c.At {
			sum += x.Float(cell(at))
		}
		y.SetFloat(i, sum/float64(max(count, 1)))
	})
}

// Flops counts an addition for each cell of each window.
func (op AveragePool) Flops(_, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Const(LenOf(op.Kernel)))
}

// Grad returns the gradient of x. It divides each element of dy by the number of counted cells of its window. A
// transposed convolution then adds the quotient to each of these cells.
func (op AveragePool) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, x, g := calculus{b}, n.Arg(0), dy[0]
	spatial, one := len(op.Kernel), dim.Const(1)
	pads := op.Padding(x.Type.Shape[2:])
	kernel := fill(b, ir.Scalar(x.Type.DType, 1), append([]dim.Dim{one, one}, dim.Consts(op.Kernel...)...)...)
	// The number of cells that count: cells of x, or of x and the padding.
	inner := fill(b, ir.Scalar(x.Type.DType, 1), append([]dim.Dim{one, one}, x.Type.Shape[2:]...)...)
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
	count = b.Node(Max{}, cropTo(b, count, zeroPads(spatial), slices.Concat([]dim.Dim{one, one}, g.Type.Shape[2:])), c.num(x, 1))
	planes := x.Type.Shape[0].Mul(x.Type.Shape[1])
	g = ReshapeTo(b, c.div(g, count), append([]dim.Dim{planes, one}, g.Type.Shape[2:]...)...)
	back := ConvTranspose{Kernel: op.Kernel, Strides: op.Strides, Dilations: op.Dilations, Group: 1}
	sum := cropTo(b, b.Node(back, g, kernel), pads[:spatial], append([]dim.Dim{planes, one}, x.Type.Shape[2:]...))
	return []*ir.Value{ReshapeTo(b, sum, x.Type.Shape...)}
}

// Lower computes narrow floats in f32. It replaces a pool over more than two spatial axes by several pools over
// fewer axes. The number of counted cells of a window is a product with one factor for each axis, so the result is
// the same.
func (op AveragePool) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	return op.lowerPool(b, n, func(w Window) ir.Op { return AveragePool{Window: w, CountPad: op.CountPad} })
}

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
