package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// DFT is the discrete Fourier transform of x along Axis (ONNX DFT, from opset 17). The last axis of x holds the
// real and the imaginary part of an element, or only the real part. The signal is truncated or padded with zeros to
// Length elements:
//
//	y[k] = Σ_n e^(−2πi·kn/Length)·x[n]
//
// Inverse changes the sign of the exponent and divides by Length. OneSided is for a real signal, and returns only
// the first Length/2 + 1 elements. With Inverse and OneSided, the operand holds these elements, and the result is
// the real signal.
type DFT struct {
	Axis              int
	Length            dim.Dim
	Inverse, OneSided bool
}

// Infer returns the type of x with other extents along two axes. The extent of Axis is the number of results. The
// extent of the last axis is 1 for real results and 2 for complex results.
func (op DFT) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	x := in[0]
	r := x.Rank() - 1
	if r < 1 {
		return nil, fmt.Errorf("%s is not a signal", x)
	}
	if op.Axis < 0 || op.Axis >= r {
		return nil, fmt.Errorf("axis %d out of range for %d axes of a signal", op.Axis, r)
	}
	parts, ok := x.Shape[r].Int()
	if !ok || parts != 1 && parts != 2 {
		return nil, fmt.Errorf("the last axis of %s has no real and imaginary parts", x)
	}
	if op.OneSided && parts == 2 != op.Inverse {
		return nil, fmt.Errorf("onesided with a signal of %d parts and inverse %v", parts, op.Inverse)
	}
	n, parts := op.bins()
	shape := slices.Clone(x.Shape)
	shape[op.Axis], shape[r] = n, dim.Const(parts)
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// bins returns the extent of the result along the axis. It also returns the number of parts of an element: 1 for
// real and 2 for complex numbers.
func (op DFT) bins() (n dim.Dim, parts int) {
	switch {
	case !op.OneSided:
		return op.Length, 2
	case op.Inverse:
		return op.Length, 1
	}
	return op.Length.FloorDiv(dim.Const(2)).Add(dim.Const(1)), 2
}

// Eval returns the transform. It sums in float64.
func (op DFT) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	length, _ := op.Length.Int()
	r := x.Rank() - 1
	y := ir.NewTensor(x.DType, shape...)
	from, to := x.Shape[r], shape[r]
	lines := linesOf(x.Shape[:r], op.Axis)
	sin, cos := make([]float64, length), make([]float64, length)
	for k := range length {
		t := 2 * math.Pi * (float64(k) / float64(length))
		sin[k], cos[k] = portable.Sin(t), portable.Cos(t)
		if !op.Inverse {
			sin[k] = -sin[k]
		}
	}
	for i, results := range linesOf(shape[:r], op.Axis) {
		re, im := make([]float64, length), make([]float64, length)
		for k, at := range lines[i] {
			if k < length {
				re[k] = x.Float(at * from)
				if from == 2 {
					im[k] = x.Float(at*from + 1)
				}
			}
		}
		if op.OneSided && op.Inverse {
			mirror(re, im)
		}
		for k, at := range results {
			var a, b float64
			for n := range length {
				c, s := cos[k*n%length], sin[k*n%length]
				a += float64(re[n]*c) - float64(im[n]*s)
				b += float64(re[n]*s) + float64(im[n]*c)
			}
			if op.Inverse {
				a, b = a/float64(length), b/float64(length)
			}
			y.SetFloat(at*to, a)
			if to == 2 {
				y.SetFloat(at*to+1, b)
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// mirror fills the second half of a transform of a real signal with the conjugates of the first half. re and im are
// the real and imaginary parts of the transform. An element that equals its own conjugate gets the imaginary part
// 0.
func mirror(re, im []float64) {
	for k := len(re)/2 + 1; k < len(re); k++ {
		re[k], im[k] = re[len(re)-k], -im[len(re)-k]
	}
	if len(im) > 0 {
		im[0] = 0
		if n := len(im); n%2 == 0 {
			im[n/2] = 0
		}
	}
}

// Flops counts 50 operations for each element of the result, as in a fast Fourier transform of
// length 1024.
func (op DFT) Flops(in, out []ir.Type) dim.Dim { return out[0].Elems().Mul(dim.Const(50)) }

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (op DFT) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Compose replaces the node by a product with a matrix of cosines and sines. It panics, as
// [ir.Fail] does, if the length is not constant or the matrix is too large.
func (op DFT) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, y := n.Arg(0), n.Results[0].Type
	r := x.Type.Rank() - 1
	part := func(t ir.Type) (elems int, ok bool) { return dim.Product(t.Shape[op.Axis], t.Shape[r]).Int() }
	in, okIn := part(x.Type)
	out, okOut := part(y)
	if !okIn || !okOut || !op.Length.IsConst() || in*out > maxTable {
		ir.Fail("%s: a transform of %s of %s", n, op.Length, x.Type)
	}
	// The transforms of the unit vectors form the matrix.
	places, parts := in/max(1, lastOf(x.Type)), lastOf(x.Type)
	units := ir.NewTensor(x.Type.DType, in, places, parts)
	for i := range in {
		units.SetFloat(i*in+i, 1)
	}
	one := op
	one.Axis = 1
	rows, err := one.Eval([]*ir.Tensor{units})
	if err != nil {
		ir.FailWith(err)
	}
	last := append(otherAxes(r, op.Axis), op.Axis, r)
	x = TransposeBy(b, x, last...)
	flat := append(slices.Clone(x.Type.Shape[:r-1]), dim.Const(in))
	v := b.Node(MatMul{}, ReshapeTo(b, x, flat...), b.Const(rows[0].Reshape(in, out)))
	shape := append(slices.Clone(flat[:r-1]), y.Shape[op.Axis], y.Shape[r])
	return []*ir.Value{TransposeBy(b, ReshapeTo(b, v, shape...), inversePerm(last)...)}
}

// lastOf returns the last extent of t, which is a constant.
func lastOf(t ir.Type) int {
	n, _ := t.Shape[t.Rank()-1].Int()
	return n
}

func importDFT(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	r := x.Type.Rank()
	if r < 2 {
		return nil, fmt.Errorf("%s is not a signal", x.Type)
	}
	axis := -2
	if c.Opset() < 20 {
		axis = c.Int("axis", 1)
	}
	if at := c.Arg(2); c.Opset() >= 20 && at != nil {
		if _, known := at.Dims(); !known {
			return transformAlong(c, at)
		}
		var err error
		if axis, err = knownInt(c, 2, "axis"); err != nil {
			return nil, err
		}
	}
	axis, err := fromFront(axis, r)
	if err != nil {
		return nil, err
	}
	op, err := readDFT(c, x.Type.Shape[axis])
	if err != nil {
		return nil, err
	}
	op.Axis = axis
	return []*ir.Value{c.Builder().Node(op, x)}, nil
}

// readDFT returns the transform that the node describes, without Axis, which the caller must set. Length is an
// operand of the node. If the operand is absent, Length follows from n, the extent of the axis.
func readDFT(c ir.Importer, n dim.Dim) (op DFT, err error) {
	op = DFT{Length: n, Inverse: c.Int("inverse", 0) != 0, OneSided: c.Int("onesided", 0) != 0}
	if op.OneSided && op.Inverse {
		op.Length = n.Sub(dim.Const(1)).Mul(dim.Const(2)).Max(dim.Const(0))
	}
	if c.Arg(1) != nil {
		op.Length, err = boundDim(c, 1, "dft_length")
	}
	return op, err
}

// transformAlong appends the transform along an axis that is known only at run time. It reshapes the signal to
// [outer,n,inner]; the three extents are bound at run time. The model returns an error when it runs if the axis is
// the last one.
func transformAlong(c ir.Importer, axis *ir.Value) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	r := x.Type.Rank() - 1
	bind := func(name string, v *ir.Value) []dim.Dim { return bindElems(b, v, name) }
	whole := func(n int) *ir.Value { return b.Scalar(ir.I64, float64(n)) }
	axis = checkedAxis(b, ConvertTo(b, ReshapeTo(b, axis), ir.I64), r+1)
	bind("axes_after", b.Node(Sub{}, whole(r-1), axis))

	numbers := ir.NewTensor(ir.I64, r)
	for i := range r {
		numbers.SetInt(i, int64(i))
	}
	axes, extents := b.Const(numbers), b.Dims(x.Type.Shape[:r]...)
	product := func(which ir.Op) dim.Dim {
		of := b.Node(Where{}, b.Node(which, axes, axis), extents, whole(1))
		return bind("extent", b.Node(Reduce{Kind: ReduceProd, Axes: []int{0}}, of))[0]
	}
	outer, n, inner := product(Less{}), product(Equal{}), product(Greater{})
	op, err := readDFT(c, n)
	if err != nil {
		return nil, err
	}
	op.Axis = 1
	y := b.Node(op, ReshapeTo(b, x, outer, n, inner, x.Type.Shape[r]))
	bins := ReshapeTo(b, b.Dims(y.Type.Shape[1]))
	shape := bind("extent", b.Node(Where{}, b.Node(Equal{}, axes, axis), bins, extents))
	return []*ir.Value{ReshapeTo(b, y, append(shape, y.Type.Shape[3])...)}, nil
}

// importSTFT imports STFT (from opset 17): the transforms of frames of the signal, [N,L,1] or [N,L,2]. A frame
// starts frame_step elements after the previous one. Frames have frame_length elements or, without it, as many as
// the window. Each frame is multiplied by the window.
func importSTFT(c ir.Importer) ([]*ir.Value, error) {
	b, x, window := c.Builder(), c.Arg(0), c.Arg(2)
	if x.Type.Rank() != 3 {
		return nil, fmt.Errorf("signal %s, rank 3 expected", x.Type)
	}
	step, err := boundDim(c, 1, "frame_step")
	if err != nil {
		return nil, err
	}
	if n, ok := step.Int(); ok && n < 1 {
		return nil, fmt.Errorf("frame_step is %d", n)
	}
	var length dim.Dim
	switch {
	case c.Arg(3) != nil:
		if length, err = boundDim(c, 3, "frame_length"); err != nil {
			return nil, err
		}
	case window != nil && window.Type.Rank() == 1:
		length = window.Type.Shape[0]
	default:
		return nil, fmt.Errorf("neither frame_length nor a window")
	}
	if window != nil {
		if window.Type.Rank() != 1 {
			return nil, fmt.Errorf("window %s, rank 1 expected", window.Type)
		}
		windows := []*ir.Value{window}
		agree(b, window.Type.Shape[0], length, "window and frame_length", windows)
		window = windows[0]
		length = window.Type.Shape[0]
	}
	shape := x.Type.Shape
	frames := shape[1].Sub(length).FloorDiv(step).Add(dim.Const(1)).Max(dim.Const(0))
	s := RowMajor(shape)
	y := b.Node(StridedCopy{
		Shape:   []dim.Dim{shape[0], frames, length, shape[2]},
		Strides: []dim.Dim{s[0], s[1].Mul(step), s[1], s[2]},
	}, x)
	if window != nil {
		y = b.Node(Mul{}, y, ReshapeTo(b, window, length, dim.Const(1)))
	}
	parts, _ := shape[2].Int()
	op := DFT{Axis: 2, Length: length, OneSided: c.Int("onesided", 1) != 0 && parts == 1}
	return []*ir.Value{b.Node(op, y)}, nil
}
