package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importLpPool imports LpPool, the p-th root of the sum of |x|^p over each window. It computes the sum by an
// [AveragePool], whose result it multiplies by the number of cells of a window. ceil_mode and dilations exist from
// opset 18 on.
func importLpPool(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	w, err := importWindow(c, x.Type, nil, c.Opset() >= 18)
	if err != nil {
		return nil, err
	}
	if c.Opset() >= 18 && c.Int("ceil_mode", 0) != 0 && w.Same == "" && c.Text("auto_pad", "NOTSET") != "VALID" {
		w.Ceil = true
		if w, err = w.reached(x.Type.Shape[2:]); err != nil {
			return nil, err
		}
	}
	p, err := normOrder(c)
	if err != nil {
		return nil, err
	}
	d := x.Type.DType
	mean := b.Node(AveragePool{Window: w, CountPad: true}, powerOfMagnitude(b, x, p))
	return []*ir.Value{rootOf(b, b.Node(Mul{}, mean, b.Scalar(d, float64(LenOf(w.Kernel)))), p)}, nil
}

// importGlobalLpPool imports GlobalLpPool, the p-th root of the sum of |x|^p over all spatial axes. The extents of
// these axes become 1.
func importGlobalLpPool(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	if x.Type.Rank() < 2 {
		return nil, fmt.Errorf("%s has no batch and channels", x.Type)
	}
	p, err := normOrder(c)
	if err != nil {
		return nil, err
	}
	sum := Reduce{Kind: ReduceSum, Axes: SpatialAxes(x.Type), KeepDims: true}
	return []*ir.Value{rootOf(b, b.Node(sum, powerOfMagnitude(b, x, p)), p)}, nil
}

// normOrder reads p, which is a float before opset 2.
func normOrder(c ir.Importer) (float64, error) {
	p := 2.0
	if c.Opset() < 2 {
		p = c.Float("p", p)
	} else {
		p = float64(c.Int("p", 2))
	}
	if !(p > 0) {
		return 0, fmt.Errorf("p is %v", p)
	}
	return p, nil
}

func powerOfMagnitude(b *ir.Builder, x *ir.Value, p float64) *ir.Value {
	switch p {
	case 1:
		return b.Node(Abs{}, x)
	case 2:
		return b.Node(Mul{}, x, x)
	}
	return b.Node(Pow{}, b.Node(Abs{}, x), b.Scalar(x.Type.DType, p))
}

func rootOf(b *ir.Builder, x *ir.Value, p float64) *ir.Value {
	switch p {
	case 1:
		return x
	case 2:
		return b.Node(Sqrt{}, x)
	}
	return b.Node(Pow{}, x, b.Scalar(x.Type.DType, 1/p))
}

// reached returns a window that is like w, but does not set Ceil. Along each axis it has so much padding that the
// last window of w just fits. `in` holds the spatial extents of the operand. reached returns an error if the
// padding depends on a symbol.
func (w Window) reached(in []dim.Dim) (Window, error) {
	pads := make([]int, 2*len(in))
	for i, d := range in {
		before, after := w.pad(i, d)
		rest := w.extent(i, d).Sub(dim.Const(1)).Mul(dim.Const(w.Stride(i))).Add(w.span(i)).Sub(d).Sub(before)
		end, ok := rest.Max(after).Int()
		if !ok {
			return w, fmt.Errorf("spatial axis %d: ceil_mode of a window over %s", i, d)
		}
		pads[i], _ = before.Int()
		pads[len(in)+i] = end
	}
	w.Pads, w.Ceil = unlessAll(pads, 0), false
	return w, w.Check(len(in))
}
