package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ConvTranspose is a transposed convolution (ONNX ConvTranspose) of x, [N,C,spatial…], with weights w,
// [C,M/Group,kernel…], and an optional bias [M]. All have one float type. The result is [N,M,spatial…]. Each
// element of x is multiplied by the weights of its channel, and the products are added to a window of the result.
// The first cell of this window is at the element's position times the stride.
type ConvTranspose struct {
	Kernel    []int // cells of the window
	Strides   []int // distance between windows in cells; nil means ones
	Dilations []int // distance between the cells of a window; nil means ones
	// Crop holds the number of cells removed at the start of each axis, and then the number removed
	// at the end of each axis. A nil Crop means no cropping. A negative number for an end adds
	// cells beyond all windows.
	Crop  []int
	Group int // divides C
}

// window returns the window of the convolution that is transposed. The window has no padding.
func (op ConvTranspose) window() Window {
	return Window{Kernel: op.Kernel, Strides: op.Strides, Dilations: op.Dilations}
}

func (op ConvTranspose) crop(i int) (before, after int) {
	if op.Crop == nil {
		return 0, 0
	}
	return op.Crop[i], op.Crop[len(op.Kernel)+i]
}

// Infer returns [N,M,spatial…]. A spatial extent is the number of cells that windows reach, minus
// the cropped cells.
func (op ConvTranspose) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 3); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	if err := (Conv{Window: op.window(), Group: op.Group}).inferWeights(x, w, w.Rank()); err != nil {
		return nil, err
	}
	if err := Same(x.Shape[1], w.Shape[0], "channels of the operand and the weights"); err != nil {
		return nil, err
	}
	if _, ok := w.Shape[0].DivExact(dim.Const(op.Group)); !ok {
		return nil, fmt.Errorf("%s channels in %d groups", w.Shape[0], op.Group)
	}
	if op.Crop != nil && len(op.Crop) != 2*len(op.Kernel) {
		return nil, fmt.Errorf("crop %v for %d spatial axes", op.Crop, len(op.Kernel))
	}
	channels := w.Shape[1].Mul(dim.Const(op.Group))
	if err := inferBias(in, channels); err != nil {
		return nil, err
	}
	shape := []dim.Dim{x.Shape[0], channels}
	for i, d := range x.Shape[2:] {
		before, after := op.crop(i)
		if before < 0 || max(before, after, -after) > math.MaxInt32 {
			return nil, fmt.Errorf("crop %v is out of range", op.Crop)
		}
		n := op.whole(i, d).Sub(dim.Const(before)).Sub(dim.Const(after))
		if v, ok := n.Int(); ok && v < 0 {
			return nil, fmt.Errorf("spatial axis %d: crop %v of %s cells", i, op.Crop, op.whole(i, d))
		}
		shape = append(shape, n)
	}
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// whole returns the number of cells along axis i of the result before it is cropped: all cells that windows reach.
// d is the extent of x.
func (op ConvTranspose) whole(i int, d dim.Dim) dim.Dim {
	w := op.window()
	return d.Sub(dim.Const(1)).Mul(dim.Const(w.Stride(i))).Add(w.span(i))
}

// Eval returns the transposed convolution, [N,M,spatial…]. It sums products in float64.
func (op ConvTranspose) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	x, w := NumbersOf(in[0]), NumbersOf(in[1])
	n, c, m := shape[0], in[0].Shape[1], shape[1]
	perGroup, plane, kernel, outPlane := in[1].Shape[1], LenOf(in[0].Shape[2:]), LenOf(op.Kernel), LenOf(shape[2:])
	sums := make([]float64, n*m*outPlane)
	if len(in) > 2 && in[2] != nil {
		for i := range sums {
			sums[i] = in[2].Float(i / outPlane % m)
		}
	}
	// The windows of the convolution over the result are at the positions of x.
	pads := make([]int, 2*len(op.Kernel))
	for i := range op.Kernel {
		pads[i], _ = op.crop(i)
	}
	walk, tap := newIndex(in[0].Shape[2:], in[0].Shape[2:]), newIndex(op.Kernel, op.Kernel)
	window := op.window()
	for at := range plane {
		for k := range kernel {
			to, inside := 0, true
			for i, d := range shape[2:] {
				o := walk.at[i]*window.Stride(i) + tap.at[i]*window.Dilation(i) - pads[i]
				inside = inside && o >= 0 && o < d
				to = to*d + o
			}
			tap.Next()
			if !inside {
				continue
			}
			for i := range n * c {
				group := i % c / (c / op.Group)
				for j := range perGroup {
					sums[(i/c*m+group*perGroup+j)*outPlane+to] += float64(x[i*plane+at] * w[(i%c*perGroup+j)*kernel+k])
				}
			}
		}
		walk.Next()
	}
	y := ir.NewTensor(out[0].DType, shape...)
	for i, v := range sums {
		y.SetFloat(i, v)
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts a multiplication and an addition for each product of an element and a weight.
func (op ConvTranspose) Flops(in, _ []ir.Type) dim.Dim {
	return in[0].Elems().Mul(dim.Product(in[1].Shape[1:]...)).Mul(dim.Const(2))
}

// Grad returns the gradients of x, the weights and the bias:
//   - dx is the convolution of dy with the weights.
//   - dw is the [ConvWeights] of dy and x.
//   - dbias is the sum of dy over each channel.
func (op ConvTranspose) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	c, x, w, g := calculus{b}, n.Arg(0), n.Arg(1), dy[0]
	spatial := len(op.Kernel)
	forward := Conv{Window: op.window(), Group: op.Group}
	first := make([]dim.Dim, spatial)
	whole := slices.Clone(g.Type.Shape)
	for i := range spatial {
		before, _ := op.crop(i)
		first[i] = dim.Const(before)
		whole[2+i] = op.whole(i, x.Type.Shape[2+i])
	}
	all := uncrop(b, g, first, whole)
	grads := make([]*ir.Value, len(n.Args))
	if want[0] {
		grads[0] = b.Node(forward, all, w)
	}
	if want[1] {
		grads[1] = b.Node(ConvWeights{Window: op.window(), Group: op.Group}, all, x)
	}
	if len(want) > 2 && want[2] {
		grads[2] = c.sum(g, false, otherAxes(2+spatial, 1)...)
	}
	return grads
}

// uncrop is the inverse of [cropTo]. It appends a tensor of the given shape that holds x, [N,C,spatial…], from
// `first` on along the spatial axes, and zeros elsewhere. Cells of x beyond the shape are dropped.
func uncrop(b *ir.Builder, x *ir.Value, first, shape []dim.Dim) *ir.Value {
	rank := x.Type.Rank()
	part := wholeSlice(x.Type)
	around := Pad{Mode: "constant", Before: zeroPads(rank), After: zeroPads(rank)}
	for i, at := range first {
		part.Shape[2+i] = x.Type.Shape[2+i].Min(shape[2+i].Sub(at))
		around.Before[2+i] = at
		around.After[2+i] = shape[2+i].Sub(at).Sub(part.Shape[2+i])
	}
	return b.Node(around, ApplySlice(b, x, part))
}

// Lower replaces the node by a convolution with stride 1. With stride 2, for example, the even cells of the result
// are a convolution of x with every second cell of the weights, and the odd cells are a convolution with the other
// cells; both are in reverse order. Along an axis with stride s there are s such convolutions: one for each r < s,
// which gives the cells s·q+r. A single convolution computes all of them, each in channels of its own. A reshape and
// a transpose then move the cells to their places.
func (op ConvTranspose) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x, y := n.Arg(0), n.Results[0].Type
	spatial, window := len(op.Kernel), op.window()
	strides := window.EachStride(spatial)
	taps := make([]int, spatial) // of x for a cell of the result
	conv := Conv{Window: Window{Pads: make([]int, 2*spatial)}, Group: op.Group}
	kept := wholeSlice(y)
	for i, s := range strides {
		before, after := op.crop(i)
		span, _ := window.span(i).Int()
		taps[i] = (span + max(0, -after) + s - 1) / s
		skipped := min(taps[i]-1, before/s) // whole strides that are cropped
		conv.Pads[i] = taps[i] - 1 - skipped
		conv.Pads[spatial+i] = max(0, (span-after+s-1)/s-1)
		kept.Starts[2+i] = dim.Const(before - skipped*s)
	}
	conv.Kernel = taps
	w, bias := op.phases(b, n.Arg(1), taps), n.Arg(2)
	if count := LenOf(strides); bias != nil && count > 1 {
		bias = ReshapeTo(b, bias, bias.Type.Shape[0], dim.Const(1))
		bias = ExpandTo(b, bias, bias.Type.Shape[0], dim.Const(count))
		bias = ReshapeTo(b, bias, bias.Type.Elems())
	}
	v := b.Node(conv, x, w, bias)
	if LenOf(strides) > 1 {
		v = depthToCells(b, v, strides)
	}
	if v.Type.Equal(y) {
		return []*ir.Value{v}
	}
	return []*ir.Value{b.Node(kept, v)}
}

// phases appends the weights of the convolution in [ConvTranspose.Lower]. w is [C,M/Group,kernel…], and phases
// returns [M·s0·s1…,C/Group,taps…], where s0, s1, … are the strides. Each of the M channels becomes s0·s1·… channels
// of the convolution: one for each choice of a remainder r < s along every axis, as in Lower. taps[i] is the number
// of cells of the convolution's window along spatial axis i.
func (op ConvTranspose) phases(b *ir.Builder, w *ir.Value, taps []int) *ir.Value {
	spatial, window, group := len(taps), op.window(), dim.Const(op.Group)
	for i := range taps {
		w = spread(b, w, 2+i, window.Dilation(i))
		size, _ := w.Type.Shape[2+i].Int()
		w = padAxis(b, w, 2+i, dim.Const(0), dim.Const(taps[i]*window.Stride(i)-size))
	}
	c, m := w.Type.Shape[0].FloorDiv(group), w.Type.Shape[1]
	split := []dim.Dim{group, c, m}
	perm := []int{0, 2} // group, M/group, strides…, C/group, taps…
	shape := []dim.Dim{group.Mul(m), c}
	for i, t := range taps {
		split = append(split, dim.Const(t), dim.Const(window.Stride(i)))
		perm = append(perm, 4+2*i)
		shape[0] = shape[0].Mul(dim.Const(window.Stride(i)))
		shape = append(shape, dim.Const(t))
	}
	perm = append(perm, 1)
	for i := range taps {
		perm = append(perm, 3+2*i)
	}
	w = ReshapeTo(b, TransposeBy(b, ReshapeTo(b, w, split...), perm...), shape...)
	flip := wholeSlice(w.Type)
	for i := range spatial {
		flip.Starts[2+i], flip.Steps[2+i] = dim.Const(taps[i]-1), -1
		if taps[i] == 1 {
			flip.Steps[2+i] = 1
		}
	}
	return ApplySlice(b, w, flip)
}

// spread appends x with d−1 zeros between any two adjacent elements along an axis.
func spread(b *ir.Builder, x *ir.Value, axis, d int) *ir.Value {
	if d == 1 {
		return x
	}
	shape := x.Type.Shape
	x = ReshapeTo(b, x, slices.Insert(slices.Clone(shape), axis+1, dim.Const(1))...)
	x = padAxis(b, x, axis+1, dim.Const(0), dim.Const(d-1))
	wide := slices.Clone(shape)
	wide[axis] = shape[axis].Mul(dim.Const(d))
	x = ReshapeTo(b, x, wide...)
	return sliceAxis(b, x, axis, dim.Const(0), wide[axis].Sub(dim.Const(d-1)))
}

// depthToCells appends x, [N,M·s0·s1…,Q0,Q1…], rearranged to [N,M,Q0·s0,Q1·s1…] for strides s.
func depthToCells(b *ir.Builder, x *ir.Value, strides []int) *ir.Value {
	shape, spatial := x.Type.Shape, len(strides)
	m := shape[1].FloorDiv(dim.Const(LenOf(strides)))
	split, perm, out := []dim.Dim{shape[0], m}, []int{0, 1}, []dim.Dim{shape[0], m}
	for i, s := range strides {
		split = append(split, dim.Const(s))
		perm = append(perm, 2+spatial+i, 2+i)
		out = append(out, shape[2+i].Mul(dim.Const(s)))
	}
	split = append(split, shape[2:]...)
	return ReshapeTo(b, TransposeBy(b, ReshapeTo(b, x, split...), perm...), out...)
}

func importConvTranspose(c ir.Importer) ([]*ir.Value, error) {
	x, w, window, err := importFilter(c)
	if err != nil {
		return nil, err
	}
	spatial := len(window.Kernel)
	extra, shape := c.Ints("output_padding", nil), c.Ints("output_shape", nil)
	if extra == nil {
		extra = make([]int, spatial)
	}
	if len(extra) != spatial || shape != nil && len(shape) != spatial {
		return nil, fmt.Errorf("output_padding %v and output_shape %v for %d spatial axes", extra, shape, spatial)
	}
	op := ConvTranspose{
		Kernel: window.Kernel, Strides: window.Strides, Dilations: window.Dilations,
		Crop: make([]int, 2*spatial), Group: c.Int("group", 1),
	}
	for i, d := range x.Type.Shape[2:] {
		if extra[i] < 0 || extra[i] > math.MaxInt32 {
			return nil, fmt.Errorf("output_padding %v is out of range", extra)
		}
		before, after := 0, 0
		if window.Pads != nil {
			before, after = window.Pads[i], window.Pads[spatial+i]
		}
		if shape != nil || window.Same != "" {
			out := d.Mul(dim.Const(window.Stride(i)))
			if shape != nil {
				out = dim.Const(shape[i])
			}
			total, ok := op.whole(i, d).Add(dim.Const(extra[i])).Sub(out).Int()
			if !ok {
				return nil, fmt.Errorf("spatial axis %d: output_shape for the extent %s", i, d)
			}
			if shape == nil {
				total = max(total, 0) // windows with gaps between them make the result smaller
			}
			before, after = total-max(total, 0)/2, max(total, 0)/2
			if window.Same == "upper" {
				before, after = after, before
			}
			if total < 0 {
				before, after = 0, total
			}
		}
		op.Crop[i], op.Crop[spatial+i] = before, after-extra[i]
	}
	op.Crop = unlessAll(op.Crop, 0)
	return []*ir.Value{c.Builder().Node(op, x, w, c.Arg(2))}, nil
}

// IsStatistic returns false: no operand is a running statistic.
func (ConvTranspose) IsStatistic(int) bool { return false }
