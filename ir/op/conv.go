package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Conv is a convolution (ONNX Conv) of x, [N,C,spatial…], with weights w, [M,C/Group,kernel…], and an optional bias
// [M]. All have one float type. The result y is [N,M,spatial…]. Its element for channel m and window o is
//
//	y[n,m,o] = bias[m] + Σ x[n,c′,p]·w[m,c,k]
//
// The sum is over the C/Group channels c and the cells k of the window. p is the position in x of cell k of window
// o, and c′ is channel c of the group that m belongs to. Cells in the padding are left out.
type Conv struct {
	Window
	Group int  // divides C and M
	Wide  bool // the result of narrow floats is f32
}

// Infer returns [N,M,spatial…]. Each spatial extent is the number of windows along the axis.
func (op Conv) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 3); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	shape, err := op.inferShape(x, w)
	if err != nil {
		return nil, err
	}
	if err := inferBias(in, w.Shape[0]); err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(sumsOf(x.DType, op.Wide), shape...)}, nil
}

func (op Conv) inferShape(x, w ir.Type) ([]dim.Dim, error) {
	if err := op.inferWeights(x, w, w.Rank()); err != nil {
		return nil, err
	}
	if err := Same(x.Shape[1], w.Shape[1].Mul(dim.Const(op.Group)), "channels of the operand and the weights"); err != nil {
		return nil, err
	}
	if _, ok := w.Shape[0].DivExact(dim.Const(op.Group)); !ok {
		return nil, fmt.Errorf("%s channels in %d groups", w.Shape[0], op.Group)
	}
	spatial, err := op.Places(x.Shape[2:])
	return append([]dim.Dim{x.Shape[0], w.Shape[0]}, spatial...), err
}

func (op Conv) inferWeights(x, w ir.Type, rank int) error {
	if x.Rank() != rank {
		return fmt.Errorf("weights %s for %s", w, x)
	}
	if err := op.Check(rank - 2); err != nil {
		return err
	}
	if op.Group < 1 {
		return fmt.Errorf("%d groups", op.Group)
	}
	for i, k := range op.Kernel {
		if err := Same(w.Shape[2+i], dim.Const(k), "weights and kernel shape"); err != nil {
			return err
		}
	}
	return nil
}

func inferBias(in []ir.Type, m dim.Dim) error {
	if len(in) < 3 || in[2].IsZero() {
		return nil
	}
	if in[2].Rank() != 1 {
		return fmt.Errorf("bias %s, rank 1 expected", in[2])
	}
	return Same(in[2].Shape[0], m, "bias and output channels")
}

// Eval returns the convolution, [N,M,spatial…]. It sums products in float64.
func (op Conv) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	x, w := NumbersOf(in[0]), NumbersOf(in[1])
	var bias []float64
	if len(in) > 2 {
		bias = NumbersOf(in[2])
	}
	n, m, group := shape[0], shape[1], in[1].Shape[1]
	plane, kernel := LenOf(in[0].Shape[2:]), LenOf(op.Kernel)
	outPlane := LenOf(shape[2:])
	var seen []float64 // values seen by a window, for all channels of a group
	err = op.Visit(in[0].Shape[2:], func(o int, c Cells) {
		for g := range n * op.Group {
			seen = seen[:0]
			for k := range group {
				from := x[(g*group+k)*plane:][:plane]
				for _, at := range c.At {
					seen = append(seen, from[at])
				}
			}
			for k := range m / op.Group {
				j := g%op.Group*(m/op.Group) + k
				sum := dot(seen, w[j*group*kernel:][:group*kernel], c.Tap, kernel)
				if bias != nil {
					sum += bias[j]
				}
				y.SetFloat((g/op.Group*m+j)*outPlane+o, sum)
			}
		}
	})
	return []*ir.Tensor{y}, err
}

// dot returns the weighted sum of a window over several channels. taps lists the indices of the cells of the window
// that are inside the operand. seen holds the elements at these cells, channel by channel. w holds `kernel` weights
// for each channel.
func dot(seen, w []float64, taps []int, kernel int) float64 {
	sum := 0.0
	for len(seen) > 0 {
		for t, tap := range taps {
			sum += float64(seen[t] * w[tap])
		}
		seen, w = seen[len(taps):], w[kernel:]
	}
	return sum
}

// Flops counts a multiplication and an addition for each product of an element and a weight.
func (op Conv) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Product(in[1].Shape[1:]...)).Mul(dim.Const(2))
}

// Grad returns the gradients of x, the weights and the bias:
//   - dx is the transposed convolution of dy with the weights.
//   - dw is the [ConvWeights] of x and dy.
//   - dbias is the sum of dy over each channel.
func (op Conv) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	c, x, w, g := calculus{b}, n.Arg(0), n.Arg(1), dy[0]
	spatial := len(op.Kernel)
	grads := make([]*ir.Value, len(n.Args))
	if want[0] {
		grads[0] = op.dataGrad(b, g, w, x.Type)
	}
	if want[1] {
		grads[1] = b.Node(ConvWeights{Window: op.Window, Group: op.Group}, x, g)
	}
	if len(want) > 2 && want[2] {
		grads[2] = c.sum(g, false, otherAxes(2+spatial, 1)...)
	}
	return grads
}

func (op Conv) dataGrad(b *ir.Builder, g, w *ir.Value, x ir.Type) *ir.Value {
	if data := (ConvData{Window: op.Window, Spatial: x.Shape[2:]}); op.Group == 1 && data.HasKernel(w.Type) {
		return b.Node(data, g, w)
	}
	return op.dataTransposed(b, g, w, x)
}

// dataTransposed returns what [Conv.dataGrad] returns, by a transposed convolution. The result of the transposed
// convolution also covers the padding of x. If the numbers of cells before and after x are constants, the attribute
// Crop removes these cells. Otherwise [cropTo] removes them.
func (op Conv) dataTransposed(b *ir.Builder, g, w *ir.Value, x ir.Type) *ir.Value {
	back := ConvTranspose{Kernel: op.Kernel, Strides: op.Strides, Dilations: op.Dilations, Group: op.Group}
	n := len(op.Kernel)
	first := op.Padding(x.Shape[2:])[:n]
	crop := make([]int, 2*n)
	known := true
	for i, before := range first {
		after := back.whole(i, g.Type.Shape[2+i]).Sub(before).Sub(x.Shape[2+i])
		var is, fits bool
		crop[i], is = before.Int()
		crop[n+i], fits = after.Int()
		known = known && is && fits
	}
	if known {
		back.Crop = unlessAll(crop, 0)
		return b.Node(back, g, w)
	}
	return cropTo(b, b.Node(back, g, w), first, x.Shape)
}

// cropTo appends a part of x, [N,C,spatial…]. The part has the given shape and starts at `first` along the spatial
// axes. It is zero beyond the end of x.
func cropTo(b *ir.Builder, x *ir.Value, first, shape []dim.Dim) *ir.Value {
	rank := x.Type.Rank()
	beyond := Pad{Mode: "constant", Before: zeroPads(rank), After: zeroPads(rank)}
	part := wholeSlice(x.Type)
	pads := false
	for i, at := range first {
		have, need := x.Type.Shape[2+i], at.Add(shape[2+i])
		if lo, _ := have.Sub(need).Bounds(); lo < 0 {
			beyond.After[2+i] = need.Sub(have).Max(dim.Const(0))
			pads = true
		}
		part.Starts[2+i], part.Shape[2+i] = at, shape[2+i]
	}
	if pads {
		x = b.Node(beyond, x)
	}
	return ApplySlice(b, x, part)
}

// Lower converts narrow floats to f32. It replaces an f32 convolution over more than two spatial axes by a sum of
// convolutions with one spatial axis less. The sum has one term for each position of the window along the first
// spatial axis.
func (op Conv) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x, w := n.Arg(0), n.Arg(1)
	if len(op.Kernel) <= MaxSpatial || x.Type.DType != ir.F32 {
		return nil
	}
	before, after := op.pad(0, x.Type.Shape[2])
	depth := op.extent(0, x.Type.Shape[2])
	x = padAxis(b, x, 2, before, after)
	perm := AllAxes(x.Type.Rank())
	perm[1], perm[2] = 2, 1
	x = TransposeBy(b, x, perm...) // [N,D,C,…]
	rest := Conv{Window: op.axes(1, len(op.Kernel)), Group: op.Group}
	var sum *ir.Value
	for k := range op.Kernel[0] {
		s := wholeSlice(x.Type)
		s.Starts[1], s.Shape[1], s.Steps[1] = dim.Const(k*op.Dilation(0)), depth, op.Stride(0)
		slab := ApplySlice(b, x, s)
		shape := slab.Type.Shape
		slab = ReshapeTo(b, slab, append([]dim.Dim{shape[0].Mul(shape[1])}, shape[2:]...)...)
		part := sliceAxis(b, w, 2, dim.Const(k), dim.Const(1))
		part = ReshapeTo(b, part, append(w.Type.Shape[:2:2], w.Type.Shape[3:]...)...)
		if sum == nil {
			sum = b.Node(rest, slab, part, n.Arg(2))
		} else {
			sum = b.Node(Add{}, sum, b.Node(rest, slab, part))
		}
	}
	shape := append([]dim.Dim{x.Type.Shape[0], depth}, sum.Type.Shape[1:]...)
	return []*ir.Value{TransposeBy(b, ReshapeTo(b, sum, shape...), perm...)}
}

func padAxis(b *ir.Builder, x *ir.Value, axis int, before, after dim.Dim) *ir.Value {
	if before.Equal(dim.Const(0)) && after.Equal(dim.Const(0)) {
		return x
	}
	p := Pad{Mode: "constant", Before: make([]dim.Dim, x.Type.Rank()), After: make([]dim.Dim, x.Type.Rank())}
	p.Before[axis], p.After[axis] = before, after
	return b.Node(p, x)
}

// LenOf returns the number of elements of a tensor of this shape, which is 1 for an empty shape.
func LenOf(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func importFilter(c ir.Importer) (x, w *ir.Value, window Window, err error) {
	x, w = c.Arg(0), c.Arg(1)
	if w.Type.Rank() < 3 {
		return nil, nil, window, fmt.Errorf("weights %s have no spatial axes", w.Type)
	}
	window, err = importWindow(c, x.Type, w.Type.Shape[2:], true)
	return x, w, window, err
}

func importConv(c ir.Importer) ([]*ir.Value, error) {
	x, w, window, err := importFilter(c)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(Conv{Window: window, Group: c.Int("group", 1)}, x, w, c.Arg(2))}, nil
}

// IsStatistic returns false: no operand is a running statistic.
func (Conv) IsStatistic(int) bool { return false }

// Factors returns 3: the operand, the weights and the bias.
func (Conv) Factors() int { return 3 }

// Widened returns the convolution with a result of f32.
func (op Conv) Widened() ir.Op {
	op.Wide = true
	return op
}
