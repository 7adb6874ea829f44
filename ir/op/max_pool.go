package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// MaxPool is the maximum of each window over x, [N,C,spatial…], of floats or integers of at most 32 bits (ONNX
// MaxPool). If a window has a NaN, Eval returns NaN, and a kernel returns NaN or the maximum of the elements after
// the NaN. Padding is left out. The maximum of a window that has only padding is −∞ or the smallest integer.
type MaxPool struct {
	Window
	// Blocked says that x is channel-blocked, f32[N,⌈C/16⌉,spatial…,16].
	Blocked bool
}

// Infer returns x's type, but the extent of each spatial axis is the number of windows along the axis.
func (op MaxPool) Infer(in []ir.Type) ([]ir.Type, error) {
	out, err := op.inferPool(in, op.Blocked, numbers{})
	if err == nil && in[0].DType.IsInt() && in[0].DType.Bits() > 32 {
		return nil, fmt.Errorf("a pool of %s", in[0])
	}
	return out, err
}

func (w Window) inferPool(in []ir.Type, blocked bool, d domain) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, d); err != nil {
		return nil, err
	}
	x := in[0]
	end, err := SpatialEnd(x, blocked)
	if err != nil {
		return nil, err
	}
	if err := w.Check(end - 2); err != nil {
		return nil, err
	}
	spatial, err := w.Places(x.Shape[2:end])
	if err != nil {
		return nil, err
	}
	shape := append(append(x.Shape[:2:2], spatial...), x.Shape[end:]...)
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// Eval returns the maximum of each window. If a window has NaNs, it returns the first NaN. If a window has only
// padding, it returns −∞ or the smallest number of the integer type.
func (op MaxPool) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	values := NumbersOf(x)
	return evalPool(op, op.Window, x, op.Blocked, func(y *ir.Tensor, i int, c Cells, cell func(int) int) {
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

// Grad returns the gradient of x. It adds each element of dy to the gradient of one element of the window: the
// first maximum, or the first NaN.
func (op MaxPool) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	x, g := n.Arg(0), dy[0]
	grad := MaxPoolGrad{Window: op.Window}
	if !grad.HasKernel(x.Type) {
		if err := checkCells(op.Window); err != nil {
			ir.FailWith(err)
		}
	}
	return []*ir.Value{b.Node(grad, x, g)}
}

// firstGreatest returns the index in values of the first maximum of a window, or of its first NaN. It returns −1
// for a window without cells. c.At lists the cells of the window, and cell returns the index of a cell in values.
func firstGreatest(values []float64, c Cells, cell func(int) int) int {
	best := -1
	for _, at := range c.At {
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

// evalPool returns the result y of op, a pool over x with the window w. blocked says that x is channel-blocked. For
// each element of y it calls f, which sets element i of y from the window's cells c. cell returns the index of a
// cell in x.
func evalPool(op ir.Op, w Window, x *ir.Tensor, blocked bool, f func(y *ir.Tensor, i int, c Cells, cell func(int) int)) ([]*ir.Tensor, error) {
	out, err := InferOf(op, []*ir.Tensor{x})
	if err != nil {
		return nil, err
	}
	end, err := SpatialEnd(x.Type(), blocked)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	outer, plane, outPlane, lanes := LenOf(x.Shape[:2]), LenOf(x.Shape[2:end]), LenOf(shape[2:end]), LenOf(x.Shape[end:])
	err = w.Visit(x.Shape[2:end], func(o int, c Cells) {
		for n := range outer {
			for lane := range lanes {
				f(y, (n*outPlane+o)*lanes+lane, c, func(at int) int { return (n*plane+at)*lanes + lane })
			}
		}
	})
	return []*ir.Tensor{y}, err
}

// Flops counts a comparison for each cell of each window.
func (op MaxPool) Flops(_, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Const(LenOf(op.Kernel)))
}

// Lower computes floats of at most 16 bits in f32, and integers in a float type that can hold them. It replaces a
// pool over more than two spatial axes by several pools over fewer axes.
func (op MaxPool) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	d := n.Arg(0).Type.DType
	if d.IsInt() {
		float := ir.F32 // a float type that can hold all integers of d
		if d.Bits() > 16 {
			float = ir.F64
		}
		// A window of padding alone is −∞, which no integer represents.
		least, _ := intRange(d)
		y := b.Node(op, ConvertTo(b, n.Arg(0), float))
		return []*ir.Value{ConvertTo(b, b.Node(Max{}, y, b.Scalar(float, float64(least))), d)}
	}
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	return op.lowerPool(b, n, func(w Window) ir.Op { return MaxPool{Window: w} })
}

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

func importPool(c ir.Importer, x ir.Type, dilations int) (Window, error) {
	w, err := importWindow(c, x, nil, c.Opset() >= dilations)
	if c.Opset() >= 10 {
		ceil := c.Int("ceil_mode", 0) != 0
		w.Ceil = ceil && w.Same == "" && c.Text("auto_pad", "NOTSET") != "VALID"
	}
	return w, err
}

// IsSelector marks the operator as a [Selector]: the result consists of elements of the operand.
func (MaxPool) IsSelector() {}
