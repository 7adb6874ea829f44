package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Conv is a convolution (ONNX Conv) of x, [N,C,spatial…], with weights w,
// [M,C/Group,kernel…], and an optional bias [M], all of one float type: each
// element of the result [N,M,spatial…] is the sum over its window and the
// channels of its group, of products of x and w, plus the bias.
type Conv struct {
	Window
	Group int // divides C and M
}

// Infer computes the spatial extents.
func (op Conv) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 3); err != nil {
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
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// inferShape returns the shape of the convolution of x with weights w.
func (op Conv) inferShape(x, w ir.Type) ([]ir.Dim, error) {
	if err := op.inferWeights(x, w, w.Rank()); err != nil {
		return nil, err
	}
	if err := same(x.Shape[1], w.Shape[1].Mul(ir.Const(op.Group)), "channels of the operand and the weights"); err != nil {
		return nil, err
	}
	if _, ok := w.Shape[0].DivExact(ir.Const(op.Group)); !ok {
		return nil, fmt.Errorf("%s channels in %d groups", w.Shape[0], op.Group)
	}
	spatial, err := op.shape(x.Shape[2:])
	return append([]ir.Dim{x.Shape[0], w.Shape[0]}, spatial...), err
}

// inferWeights checks what a convolution and a transposed one have in common.
func (op Conv) inferWeights(x, w ir.Type, rank int) error {
	if x.Rank() != rank {
		return fmt.Errorf("weights %s for %s", w, x)
	}
	if err := op.check(rank - 2); err != nil {
		return err
	}
	if op.Group < 1 {
		return fmt.Errorf("%d groups", op.Group)
	}
	for i, k := range op.Kernel {
		if err := same(w.Shape[2+i], ir.Const(k), "weights and kernel shape"); err != nil {
			return err
		}
	}
	return nil
}

// inferBias checks an optional third operand of m elements.
func inferBias(in []ir.Type, m ir.Dim) error {
	if len(in) < 3 || in[2].IsZero() {
		return nil
	}
	if in[2].Rank() != 1 {
		return fmt.Errorf("bias %s, rank 1 expected", in[2])
	}
	return same(in[2].Shape[0], m, "bias and output channels")
}

// Eval sums products in float64.
func (op Conv) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	x, w := numbersOf(in[0]), numbersOf(in[1])
	var bias []float64
	if len(in) > 2 {
		bias = numbersOf(in[2])
	}
	n, m, group := shape[0], shape[1], in[1].Shape[1]
	plane, kernel := lenOf(in[0].Shape[2:]), lenOf(op.Kernel)
	outPlane := lenOf(shape[2:])
	var seen []float64 // by a window, of all channels of a group
	err = op.visit(in[0].Shape[2:], func(o int, c cells) {
		for g := range n * op.Group {
			seen = seen[:0]
			for k := range group {
				from := x[(g*group+k)*plane:][:plane]
				for _, at := range c.at {
					seen = append(seen, from[at])
				}
			}
			for k := range m / op.Group {
				j := g%op.Group*(m/op.Group) + k
				sum := dot(seen, w[j*group*kernel:][:group*kernel], c.tap, kernel)
				if bias != nil {
					sum += bias[j]
				}
				y.SetFloat((g/op.Group*m+j)*outPlane+o, sum)
			}
		}
	})
	return []*ir.Tensor{y}, err
}

// dot sums the products of what a window sees with its taps of each kernel in w.
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

// Flops counts two operations for each product.
func (op Conv) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Product(in[1].Shape[1:]...)).Mul(ir.Const(2))
}

// Grad is of x the transposed convolution of the result's, g, of the weights the sum over
// all windows of the products of x and g, and of the bias the sum of g.
func (op Conv) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	c, x, w, g := calculus{b}, n.Arg(0), n.Arg(1), of[0]
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

// dataGrad appends the gradient of an operand x from that of the result, g, and the
// weights.
func (op Conv) dataGrad(b *ir.Builder, g, w *ir.Value, x ir.Type) *ir.Value {
	if data := (ConvData{Window: op.Window, Spatial: x.Shape[2:]}); op.Group == 1 && data.hasKernel(w.Type) {
		return b.Node(data, g, w)
	}
	return op.dataTransposed(b, g, w, x)
}

// dataTransposed is dataGrad by a transposed convolution, which leaves out what is beyond x
// itself where it is known how much that is.
func (op Conv) dataTransposed(b *ir.Builder, g, w *ir.Value, x ir.Type) *ir.Value {
	back := ConvTranspose{Kernel: op.Kernel, Strides: op.Strides, Dilations: op.Dilations, Group: op.Group}
	n := len(op.Kernel)
	first := op.pads(x.Shape[2:])[:n]
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

// cropTo appends the cells of x, [N,C,spatial…], from some on that a shape has; where
// x ends before it there are zeros.
func cropTo(b *ir.Builder, x *ir.Value, first, shape []ir.Dim) *ir.Value {
	rank := x.Type.Rank()
	beyond := Pad{Mode: "constant", Before: zeroPads(rank), After: zeroPads(rank)}
	part := wholeSlice(x.Type)
	pads := false
	for i, at := range first {
		have, need := x.Type.Shape[2+i], at.Add(shape[2+i])
		if lo, _ := have.Sub(need).Bounds(); lo < 0 {
			beyond.After[2+i] = need.Sub(have).Max(ir.Const(0))
			pads = true
		}
		part.Starts[2+i], part.Shape[2+i] = at, shape[2+i]
	}
	if pads {
		x = b.Node(beyond, x)
	}
	return applySlice(b, x, part)
}

// Lower computes narrow floats in f32, and f32 over more than two spatial axes as a
// sum over the first of convolutions over the others.
func (op Conv) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x, w := n.Arg(0), n.Arg(1)
	if len(op.Kernel) <= maxSpatial || x.Type.DType != ir.F32 {
		return nil
	}
	before, after := op.pad(0, x.Type.Shape[2])
	depth := op.extent(0, x.Type.Shape[2])
	x = padAxis(b, x, 2, before, after)
	perm := allAxes(x.Type.Rank())
	perm[1], perm[2] = 2, 1
	x = transpose(b, x, perm...) // [N,D,C,…]
	rest := Conv{Window: op.axes(1, len(op.Kernel)), Group: op.Group}
	var sum *ir.Value
	for k := range op.Kernel[0] {
		s := wholeSlice(x.Type)
		s.Starts[1], s.Shape[1], s.Steps[1] = ir.Const(k*op.dilation(0)), depth, op.stride(0)
		slab := applySlice(b, x, s)
		shape := slab.Type.Shape
		slab = reshape(b, slab, append([]ir.Dim{shape[0].Mul(shape[1])}, shape[2:]...)...)
		part := sliceAxis(b, w, 2, ir.Const(k), ir.Const(1))
		part = reshape(b, part, append(w.Type.Shape[:2:2], w.Type.Shape[3:]...)...)
		if sum == nil {
			sum = b.Node(rest, slab, part, n.Arg(2))
		} else {
			sum = b.Node(Add{}, sum, b.Node(rest, slab, part))
		}
	}
	shape := append([]ir.Dim{x.Type.Shape[0], depth}, sum.Type.Shape[1:]...)
	return []*ir.Value{transpose(b, reshape(b, sum, shape...), perm...)}
}

// Call is cpu.ConvDirect: it computes what has no blocked form.
func (op Conv) Call(n *ir.Node) (ir.Call, error) {
	x, y := n.Arg(0).Type.Shape, n.Results[0].Type.Shape
	args := []any{ir.Out(0), ir.In(0), ir.In(1), ir.In(2), x[0], x[1], y[1], op.Group}
	return ir.Call{Kernel: "ConvDirect", Args: append(args, op.direct(x[2:], y[2:])...)}, nil
}

// padAxis appends zeros around an axis.
func padAxis(b *ir.Builder, x *ir.Value, axis int, before, after ir.Dim) *ir.Value {
	if before.Equal(ir.Const(0)) && after.Equal(ir.Const(0)) {
		return x
	}
	p := Pad{Mode: "constant", Before: make([]ir.Dim, x.Type.Rank()), After: make([]ir.Dim, x.Type.Rank())}
	p.Before[axis], p.After[axis] = before, after
	return b.Node(p, x)
}

// Relayout convolves, in the blocked layout, over one or two spatial axes. The
// operand stays planar where its few channels would leave most lanes empty.
func (op Conv) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x, w, bias := n.Arg(0), n.Arg(1), n.Arg(2)
	shape, ok := w.Type.Static()
	if !ok || !blockable(x.Type) || shape[0] == 0 {
		return nil
	}
	channels := shape[1] * op.Group
	depthwise := op.Group > 1 && op.Group == channels && shape[0] == channels
	if y := op.relayoutWinograd(b, n, l); y != nil {
		return y
	}
	lanes := block
	if l.Blocked(x) == nil && !depthwise && fewChannels(channels) {
		lanes = 1
	} else {
		x = l.Block(x)
	}
	if bias != nil {
		bias = blockVector(b, bias)
	}
	if depthwise {
		kernel := lenOf(op.Kernel)
		w = b.Node(Block{}, b.Node(Reshape{Shape: ir.Dims(1, channels, kernel)}, w))
		h, wide := plane(ir.Dims(op.Kernel...))
		w = b.Node(Reshape{Shape: []ir.Dim{w.Type.Shape[1], h, wide, ir.Const(block)}}, w)
		return b.Node(DepthwiseBlocked{Window: op.Window, C: channels}, x, w, bias)
	}
	w = b.Node(PackConv{Group: op.Group, InBlock: lanes}, w)
	return b.Node(ConvBlocked{Window: op.Window, InC: channels, OutC: shape[0], Group: op.Group}, x, w, bias)
}

// fewChannels reports whether to block so many channels for one convolution
// costs more than to read them planar.
func fewChannels(c int) bool { return c < block || c <= 2*block && c%block != 0 }

// inferOf is op.Infer of the types of tensors, absent ones being nil.
func inferOf(op ir.Op, in []*ir.Tensor) ([]ir.Type, error) {
	types := make([]ir.Type, len(in))
	for i, t := range in {
		if t != nil {
			types[i] = t.Type()
		}
	}
	return op.Infer(types)
}

// lenOf returns the number of elements of a shape.
func lenOf(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// importFilter reads the operand and the weights of a convolution, and its window
// over the spatial axes, which are those of the weights.
func importFilter(c ir.Importer) (x, w *ir.Value, window Window, err error) {
	x, w = c.Arg(0), c.Arg(1)
	if w.Type.Rank() < 3 {
		return nil, nil, window, fmt.Errorf("weights %s have no spatial axes", w.Type)
	}
	window, err = importWindow(c, x.Type, w.Type.Shape[2:], true)
	return x, w, window, err
}

// importConv reads Conv.
func importConv(c ir.Importer) ([]*ir.Value, error) {
	x, w, window, err := importFilter(c)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(Conv{Window: window, Group: c.Int("group", 1)}, x, w, c.Arg(2))}, nil
}

// IsStatistic reports false: there are no statistics.
func (Conv) IsStatistic(int) bool { return false }
