package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// MaxPool is the greatest element of each window over x, [N,C,spatial…], of floats or
// integers of at most 32 bits (ONNX MaxPool). Of a window with a NaN it is NaN; kernels
// may give the greatest element after the NaN instead. Padding never counts; a window
// of nothing else gives −∞, or the least integer.
type MaxPool struct {
	Window
	// Blocked is set where x is channel-blocked, f32[N,⌈C/16⌉,spatial…,16].
	Blocked bool
}

// Infer computes the spatial extents.
func (op MaxPool) Infer(in []ir.Type) ([]ir.Type, error) {
	out, err := op.inferPool(in, op.Blocked, numbers{})
	if err == nil && in[0].DType.IsInt() && in[0].DType.Bits() > 32 {
		return nil, fmt.Errorf("a pool of %s", in[0])
	}
	return out, err
}

// inferPool gives a pool of one operand its result.
func (w Window) inferPool(in []ir.Type, blocked bool, d domain) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, d); err != nil {
		return nil, err
	}
	x := in[0]
	end, err := spatialEnd(x, blocked)
	if err != nil {
		return nil, err
	}
	if err := w.check(end - 2); err != nil {
		return nil, err
	}
	spatial, err := w.shape(x.Shape[2:end])
	if err != nil {
		return nil, err
	}
	shape := append(append(x.Shape[:2:2], spatial...), x.Shape[end:]...)
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// spatialEnd returns the axis after the spatial ones of [N,C,spatial…], or of
// the blocked [N,⌈C/16⌉,spatial…,16].
func spatialEnd(x ir.Type, blocked bool) (int, error) {
	if !blocked {
		if x.Rank() < 2 {
			return 0, fmt.Errorf("%s has no batch and channels", x)
		}
		return x.Rank(), nil
	}
	if x.Rank() < 3 || x.DType != ir.F32 || !x.Shape[x.Rank()-1].Equal(ir.Const(block)) {
		return 0, fmt.Errorf("%s is not channel-blocked", x)
	}
	return x.Rank() - 1, nil
}

// Eval takes the first greatest element.
func (op MaxPool) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	values := numbersOf(x)
	return evalPool(op, op.Window, x, op.Blocked, func(y *ir.Tensor, i int, c cells, cell func(int) int) {
		best := firstGreatest(values, c, cell)
		switch {
		case best >= 0:
			y.Copy(i, x, best)
		case x.DType.IsFloat():
			y.SetFloat(i, math.Inf(-1))
		case x.DType.Class() == ir.Signed:
			least, _ := intRange(x.DType)
			y.SetInt(i, least)
		}
	})
}

// Grad puts the result's where the greatest elements stood.
func (op MaxPool) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	x, g := n.Arg(0), of[0]
	grad := MaxPoolGrad{Window: op.Window}
	if !grad.hasKernel(x.Type) {
		if err := checkCells(op.Window); err != nil {
			ir.FailWith(err)
		}
	}
	return []*ir.Value{b.Node(grad, x, g)}
}

// firstGreatest returns the place of the first greatest of the values in a window, or of
// the first NaN; −1 where there is none.
func firstGreatest(values []float64, c cells, cell func(int) int) int {
	best := -1
	for _, at := range c.at {
		j := cell(at)
		if best < 0 {
			best = j
			continue
		}
		v, most := values[j], values[best]
		nan, was := v != v, most != most
		if v > most || nan && !was || (v == most || nan && was) && j < best {
			best = j
		}
	}
	return best
}

// evalPool calls f for every element i of the result of a pool; cell gives the
// element of x that stands for a cell of the window.
func evalPool(op ir.Op, w Window, x *ir.Tensor, blocked bool, f func(y *ir.Tensor, i int, c cells, cell func(int) int)) ([]*ir.Tensor, error) {
	out, err := inferOf(op, []*ir.Tensor{x})
	if err != nil {
		return nil, err
	}
	end, err := spatialEnd(x.Type(), blocked)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	outer, plane, outPlane, lanes := lenOf(x.Shape[:2]), lenOf(x.Shape[2:end]), lenOf(shape[2:end]), lenOf(x.Shape[end:])
	err = w.visit(x.Shape[2:end], func(o int, c cells) {
		for n := range outer {
			for lane := range lanes {
				f(y, (n*outPlane+o)*lanes+lane, c, func(at int) int { return (n*plane+at)*lanes + lane })
			}
		}
	})
	return []*ir.Tensor{y}, err
}

// Flops counts a comparison for each cell of a window.
func (op MaxPool) Flops(_, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Const(lenOf(op.Kernel)))
}

// Lower computes narrow floats in f32, integers in floats, and more than two spatial
// axes in turn.
func (op MaxPool) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	d := n.Arg(0).Type.DType
	if d.IsInt() {
		float := ir.F32 // that has all integers of d
		if d.Bits() > 16 {
			float = ir.F64
		}
		// A window of padding alone is −∞, which has no integer.
		least, _ := intRange(d)
		y := b.Node(op, convert(b, n.Arg(0), float))
		return []*ir.Value{convert(b, b.Node(Max{}, y, b.Scalar(float, float64(least))), d)}
	}
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	return op.lowerPool(b, n, func(w Window) ir.Op { return MaxPool{Window: w} })
}

// Relayout pools a blocked operand; bytes are blocked for it.
func (op MaxPool) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil && isByte(n.Arg(0).Type) {
		x = l.Block(n.Arg(0))
	}
	if x == nil {
		return nil
	}
	if x.Type.DType == ir.U8 {
		return op.ofBytes(b, n, x)
	}
	op.Blocked = true
	return b.Node(op, x)
}

// Call is cpu.MaxPool, or cpu.MaxPoolDirect of f64.
func (op MaxPool) Call(n *ir.Node) (ir.Call, error) {
	if n.Arg(0).Type.DType == ir.F64 {
		return op.directPool("MaxPoolDirect", n), nil
	}
	shape, err := op.poolShape(n, op.Blocked)
	return ir.Call{Kernel: "MaxPool", Args: []any{ir.Out(0), ir.In(0), shape}}, err
}

// importMaxPool reads MaxPool: from opset 8 there may be a second result, where the
// elements stand; ceil_mode and dilations come from opset 10.
func importMaxPool(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	w, err := importPool(c, x.Type, 10)
	if err != nil {
		return nil, err
	}
	out := []*ir.Value{b.Node(MaxPool{Window: w}, x)}
	if c.Opset() < 8 {
		return out, nil
	}
	columnMajor := c.Int("storage_order", 0) != 0
	if !c.Wants(1) {
		return out, nil
	}
	if err := checkCells(w); err != nil {
		return nil, err
	}
	return append(out, maxPoolIndices(b, x, w, columnMajor)), nil
}

// importPool reads the window of a pool whose dilations came at an opset;
// ceil_mode came at 10.
func importPool(c ir.Importer, x ir.Type, dilations int) (Window, error) {
	w, err := importWindow(c, x, nil, c.Opset() >= dilations)
	if c.Opset() >= 10 {
		ceil := c.Int("ceil_mode", 0) != 0
		w.Ceil = ceil && w.Same == "" && c.Text("auto_pad", "NOTSET") != "VALID"
	}
	return w, err
}
