package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Resize samples its operand at Shape[i] points along axis i (ONNX Resize).
//
// Coordinates is the coordinate_transformation_mode: "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
// "align_corners", "asymmetric", "tf_half_pixel_for_nn" or "tf_crop_and_resize". The coordinates of the points
// depend on the scale of the axis. It is Scales[i] or, if that is 0, the quotient of the extents.
// tf_crop_and_resize also uses ROI, the starts of all axes followed by their ends. If scales, starts or ends are
// known only at run time, they are an optional second operand, f64[rank,3]. It holds the scale, start and end of
// each axis, and Scales and ROI are empty.
//
// Mode says how a point gets its value:
//   - "nearest" takes the element that Rounding selects: "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"
//     or "simple". simple is floor for scales of at least 1, and ceil for smaller scales.
//   - "linear" is a weighted sum of 2 elements.
//   - "cubic" is a weighted sum of 4 elements, with coefficient CubicA.
//   - "lanczos", which ONNX lacks, is a weighted sum of 6 elements. The weight of an element at distance d is
//     sin(πd)/(πd)·sin(πd/3)/(πd/3), divided by the sum of the weights.
//
// AntiAlias widens the filter for scales below 1. Elements outside of the operand have the value of the edge, or
// are left out with ExcludeOutside. In tf_crop_and_resize, the value of a point outside of the operand is
// Extrapolation.
type Resize struct {
	Mode, Coordinates, Rounding string

	Shape       []dim.Dim
	Scales, ROI []float64
	CubicA      float64

	ExcludeOutside, AntiAlias bool
	Extrapolation             float64
}

// Limits on compile-time computation.
const (
	maxTaps  = 4096    // elements that a point reads
	maxTable = 1 << 20 // points along an axis, or elements of a matrix of weights
)

// Infer returns the operand's element type with the shape Shape.
func (op Resize) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 2); err != nil {
		return nil, err
	}
	x, bound := in[0], len(in) > 1
	if bound && (!in[1].Equal(ir.StaticTensor(ir.F64, x.Rank(), 3)) || op.Scales != nil || op.ROI != nil) {
		return nil, fmt.Errorf("%s for rank %d with %d scales", in[1], x.Rank(), len(op.Scales))
	}
	if len(op.Shape) != x.Rank() || len(op.Scales) != x.Rank() && !bound {
		return nil, fmt.Errorf("%d extents and %d scales for rank %d", len(op.Shape), len(op.Scales), x.Rank())
	}
	if _, ok := resizePlaces[op.Coordinates]; !ok {
		return nil, fmt.Errorf("coordinate transformation %q", op.Coordinates)
	}
	if op.Coordinates == CropAndResizeCoordinates && x.DType == ir.String {
		return nil, fmt.Errorf("coordinate transformation %s of strings", op.Coordinates)
	}
	if op.Coordinates == CropAndResizeCoordinates && len(op.ROI) != 2*x.Rank() && !bound {
		return nil, fmt.Errorf("%d numbers of the region for rank %d", len(op.ROI), x.Rank())
	}
	switch op.Mode {
	case "nearest":
		if _, ok := resizeRoundings[op.Rounding]; !ok {
			return nil, fmt.Errorf("nearest mode %q", op.Rounding)
		}
	case "linear", "cubic", "lanczos":
		if !x.DType.IsFloat() && !x.DType.IsInt() {
			return nil, fmt.Errorf("mode %s of %s", op.Mode, x.DType)
		}
	default:
		return nil, fmt.Errorf("mode %q", op.Mode)
	}
	for i, n := range op.Shape {
		d, ok := x.Shape[i].Int()
		if ok && d == 0 && !n.Equal(x.Shape[i]) && n.IsConst() {
			return nil, fmt.Errorf("axis %d: %s elements of none", i, n)
		}
		if bound {
			continue
		}
		if s := op.Scales[i]; s < 0 || s != s || math.IsInf(s, 0) {
			return nil, fmt.Errorf("axis %d: scale %g", i, s)
		}
		if n, okOut := n.Int(); ok && okOut && n > 0 && d > 0 && op.axis(i, d, n).width() > maxTaps {
			return nil, fmt.Errorf("axis %d: antialias from %d to %d elements", i, d, n)
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, op.Shape...)}, nil
}

// resizeTaps holds, for each mode, the number of elements that a point reads along an axis.
var resizeTaps = map[string]int{"nearest": 1, "linear": 2, "cubic": 4, "lanczos": 6}

// Flops counts a product and a sum for each element that a point reads. The axes that change are sampled one after
// the other, from the first to the last. With AntiAlias, the points of an axis that shrinks read more elements.
// Flops then counts one point for each element of the axis before it shrinks.
func (op Resize) Flops(in, out []ir.Type) dim.Dim {
	shape := slices.Clone(in[0].Shape)
	var n dim.Dim
	for i, d := range in[0].Shape {
		if op.Keeps(i, d) {
			continue
		}
		shape[i] = out[0].Shape[i]
		points := dim.Product(shape...)
		if op.AntiAlias {
			points = dim.Product(dim.Product(shape[:i]...), d.Max(shape[i]), dim.Product(shape[i+1:]...))
		}
		n = n.Add(points.Mul(dim.Const(2 * resizeTaps[op.Mode])))
	}
	return n
}

// Eval returns the samples in the shape Shape. It samples along one axis after the other, in float64.
func (op Resize) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	if len(in) > 1 {
		op = op.with(in[1])
	}
	if _, err := op.Infer([]ir.Type{x.Type()}); err != nil {
		return nil, err
	}
	shape, ok := dim.Ints(op.Shape)
	if _, err := ir.CheckedLen(shape); err != nil || !ok {
		return nil, fmt.Errorf("shape %s has no value", ShapeText(op.Shape))
	}
	axes := make([]resizeAxis, len(shape))
	for i, n := range shape {
		if x.Shape[i] == 0 && n > 0 {
			return nil, fmt.Errorf("axis %d: %d elements of none", i, n)
		}
		axes[i] = op.axis(i, x.Shape[i], n)
	}
	if op.Mode == "nearest" {
		y, err := move(x, shape, func(at, from []int) {
			for i, a := range axes {
				from[i] = a.nearest(at[i])
			}
		})
		if err == nil && op.Coordinates == CropAndResizeCoordinates {
			y[0] = op.extrapolated(y[0], axes)
		}
		return y, err
	}
	if x.Len() == 0 {
		return []*ir.Tensor{ir.NewTensor(x.DType, shape...)}, nil
	}
	wide := ir.NewTensor(ir.F64, x.Shape...)
	for i := range wide.Len() {
		wide.SetFloat(i, x.Number(i))
	}
	for i, a := range axes {
		if !op.Keeps(i, dim.Const(a.in)) {
			wide = a.sampled(wide, i)
		}
	}
	y := ir.NewTensor(x.DType, shape...)
	for i := range y.Len() {
		y.SetNumber(i, wide.Float(i))
	}
	if op.Coordinates == CropAndResizeCoordinates {
		y = op.extrapolated(y, axes)
	}
	return []*ir.Tensor{y}, nil
}

// with returns op with scales and a region from sampling, f64[rank,3].
func (op Resize) with(sampling *ir.Tensor) Resize {
	rank := len(op.Shape)
	op.Scales, op.ROI = make([]float64, rank), make([]float64, 2*rank)
	for i := range rank {
		op.Scales[i], op.ROI[i], op.ROI[rank+i] = sampling.Float(3*i), sampling.Float(3*i+1), sampling.Float(3*i+2)
	}
	if op.Coordinates != CropAndResizeCoordinates {
		op.ROI = nil
	}
	return op
}

// Keeps reports whether axis i, of extent d, is known not to change. It returns false if the scale of the axis is
// known only at run time.
func (op Resize) Keeps(i int, d dim.Dim) bool {
	switch {
	case op.Coordinates == CropAndResizeCoordinates && op.ROI == nil:
		return false
	case op.Coordinates == CropAndResizeCoordinates:
		return op.Shape[i].Equal(d) && op.ROI[i] == 0 && op.ROI[len(op.Shape)+i] == 1
	case op.Coordinates == "tf_half_pixel_for_nn":
		return false
	case op.Scales == nil:
		return op.Shape[i].Equal(d)
	}
	return op.Shape[i].Equal(d) && (op.Scales[i] == 0 || op.Scales[i] == 1)
}

// sampled returns t as f64 with axis k resized. Each point is a weighted sum of the elements that it reads.
func (a resizeAxis) sampled(t *ir.Tensor, k int) *ir.Tensor {
	shape := append([]int{}, t.Shape...)
	shape[k] = a.out
	inner := 1
	for _, d := range shape[k+1:] {
		inner *= d
	}
	y := ir.NewTensor(ir.F64, shape...)
	for place := range a.out {
		index, weights := a.taps(place)
		for i := place * inner; i < y.Len(); i += a.out * inner {
			outer := i / (a.out * inner)
			for j := range inner {
				sum := 0.0
				for tap, w := range weights {
					sum += float64(w * t.Float((outer*a.in+index[tap])*inner+j))
				}
				y.SetFloat(i+j, sum)
			}
		}
	}
	return y
}

// extrapolated returns y, but points that are outside of the operand along any of the axes are replaced by
// Extrapolation.
func (op Resize) extrapolated(y *ir.Tensor, axes []resizeAxis) *ir.Tensor {
	out := ir.NewTensor(y.DType, y.Shape...)
	walk := newIndex(y.Shape, y.Shape)
	for i := range y.Len() {
		out.Copy(i, y, i)
		for k, a := range axes {
			if a.outside(walk.at[k]) {
				out.SetNumber(i, op.Extrapolation)
			}
		}
		walk.Next()
	}
	return out
}

// Lower replaces the node by a chain of operators that have kernels. Each of these operators resizes one or two
// axes.
func (op Resize) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Args[0]
	if op.Mode != "nearest" {
		if to := x.Type.DType; !to.IsFloat() {
			return []*ir.Value{b.Node(Cast{To: to}, b.Node(op, ConvertTo(b, x, ir.F32), n.Arg(1)))}
		}
		if narrow := lowerNarrow(b, n); narrow != nil {
			return narrow
		}
	}
	tables := resizeTables{op, n.Arg(1)}
	var changed []int
	for i, d := range x.Type.Shape {
		if !op.Keeps(i, d) {
			changed = append(changed, i)
		}
	}
	for len(changed) > 0 {
		k := changed[0]
		pair := len(changed) > 1 && changed[1] == k+1
		switch {
		case op.Mode == "nearest":
			x = tables.lowerNearest(b, x, k, pair)
		case op.Mode == "linear" && pair && !op.AntiAlias:
			x = tables.lowerLinear(b, x, k)
		default:
			pair = false
			x = tables.lowerAxis(b, x, k)
		}
		changed = changed[1:]
		if pair {
			changed = changed[1:]
		}
	}
	if op.Coordinates == CropAndResizeCoordinates {
		x = tables.lowerExtrapolation(b, n.Args[0].Type.Shape, x)
	}
	return []*ir.Value{ReshapeTo(b, x, op.Shape...)}
}

// Compose replaces the node by a matrix product along each axis that changes. If the matrix of an axis would be
// large, or if extents or scales are known only at run time, it instead gathers elements along the axis and adds
// them up with weights.
func (op Resize) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, tables := n.Arg(0), resizeTables{op, n.Arg(1)}
	for i, d := range n.Arg(0).Type.Shape {
		if op.Keeps(i, d) {
			continue
		}
		in, okIn := d.Int()
		out, okOut := op.Shape[i].Int()
		if tables.sampling != nil || !okIn || !okOut || in*out > maxTable {
			x = tables.pick(b, x, i)
			continue
		}
		matrix := b.Const(op.axis(i, in, out).matrix(x.Type.DType))
		last := append(otherAxes(x.Type.Rank(), i), i)
		x = TransposeBy(b, b.Node(MatMul{}, TransposeBy(b, x, last...), matrix), inversePerm(last)...)
	}
	if op.Coordinates == CropAndResizeCoordinates {
		x = tables.lowerExtrapolation(b, n.Arg(0).Type.Shape, x)
	}
	return []*ir.Value{x}
}

// pick resizes axis k of x. It gathers the elements that each point reads, and appends the weighted sums of these
// elements.
func (op resizeTables) pick(b *ir.Builder, x *ir.Value, k int) *ir.Value {
	taps := dim.Const(resizeTaps[op.Mode])
	if op.AntiAlias && op.Mode != "nearest" {
		taps = op.taps(b, k, x.Type.Shape[k])
	}
	weights, index := op.table(b, x.Type.Shape, k, taps)
	x = b.Node(Gather{Axis: k}, x, index)
	if weights == nil {
		return x
	}
	shape := slices.Replace(slices.Clone(x.Type.Shape), k, k+1, op.Shape[k], taps)
	weights = ReshapeTo(b, ConvertTo(b, weights, x.Type.DType), append([]dim.Dim{op.Shape[k], taps}, dim.Consts(orOnes(nil, len(shape)-k-2)...)...)...)
	c := calculus{b}
	return c.sum(c.mul(ReshapeTo(b, x, shape...), weights), false, k+1)
}

// matrix returns a matrix [in,out]. A row of elements, multiplied by the matrix, gives the row of points. Column i
// holds the weights of point i. The column of a point outside of the operand is zero.
func (a resizeAxis) matrix(d ir.DType) *ir.Tensor {
	m := ir.NewTensor(d, a.in, a.out)
	for place := range a.out {
		if a.coordinates == CropAndResizeCoordinates && a.outside(place) {
			continue
		}
		if a.mode == "nearest" {
			m.SetFloat(a.nearest(place)*a.out+place, 1)
			continue
		}
		index, weights := a.taps(place)
		for tap, w := range weights {
			at := index[tap]*a.out + place
			m.SetFloat(at, m.Float(at)+w)
		}
	}
	return m
}

func (op resizeTables) lowerNearest(b *ir.Builder, x *ir.Value, k int, pair bool) *ir.Value {
	shape, one := x.Type.Shape, dim.Const(1)
	to := append([]dim.Dim{}, shape...)
	to[k] = op.Shape[k]
	if !pair {
		_, cols := op.table(b, shape, k, dim.Const(1))
		x = ReshapeTo(b, x, dim.Product(shape[:k]...), one, shape[k], dim.Product(shape[k+1:]...))
		return ReshapeTo(b, b.Node(ResizeNearest{}, x, b.Const(ir.NewTensor(ir.I32, 1)), cols), to...)
	}
	_, rows := op.table(b, shape, k, dim.Const(1))
	_, cols := op.table(b, shape, k+1, dim.Const(1))
	to[k+1] = op.Shape[k+1]
	x = ReshapeTo(b, x, dim.Product(shape[:k]...), shape[k], shape[k+1], dim.Product(shape[k+2:]...))
	return ReshapeTo(b, b.Node(ResizeNearest{}, x, rows, cols), to...)
}

func (op resizeTables) lowerLinear(b *ir.Builder, x *ir.Value, k int) *ir.Value {
	shape := x.Type.Shape
	rowWeights, rows := op.table(b, shape, k, dim.Const(2))
	colWeights, cols := op.table(b, shape, k+1, dim.Const(2))
	to := append([]dim.Dim{}, shape...)
	to[k], to[k+1] = op.Shape[k], op.Shape[k+1]
	x = ReshapeTo(b, x, dim.Product(shape[:k]...), shape[k], shape[k+1], dim.Product(shape[k+2:]...))
	return ReshapeTo(b, b.Node(ResizeLinear{}, x, rows, rowWeights, cols, colWeights), to...)
}

func (op resizeTables) lowerAxis(b *ir.Builder, x *ir.Value, k int) *ir.Value {
	shape := x.Type.Shape
	taps := dim.Const(resizeTaps[op.Mode])
	if op.AntiAlias {
		taps = op.taps(b, k, shape[k])
	}
	weights, index := op.table(b, shape, k, taps)
	to := append([]dim.Dim{}, shape...)
	to[k] = op.Shape[k]
	x = ReshapeTo(b, x, dim.Product(shape[:k]...), shape[k], dim.Product(shape[k+1:]...))
	return ReshapeTo(b, b.Node(ResizeAxis{Taps: taps, Out: to[k]}, x, index, weights), to...)
}

func (op resizeTables) taps(b *ir.Builder, k int, d dim.Dim) dim.Dim {
	in, okIn := d.Int()
	out, okOut := op.Shape[k].Int()
	switch {
	case okOut && out == 0: // no point reads any
		return dim.Const(2)
	case okIn && okOut && op.sampling == nil:
		return dim.Const(op.axis(k, in, out).width())
	}
	measure := ResizeTaps{Symbol: b.Symbol("taps"), Table: op.tableOf(k, d, op.Shape[k])}
	b.Nodes(measure, op.numbers(b, k)...)
	return dim.Sym(measure.Symbol)
}

type resizeTables struct {
	Resize
	sampling *ir.Value
}

// numbers returns the scale, start and end of axis k as an operand for its tables, f64[1,3]. It returns nil if they
// are attributes.
func (op resizeTables) numbers(b *ir.Builder, k int) []*ir.Value {
	if op.sampling == nil {
		return nil
	}
	return []*ir.Value{sliceAxis(b, op.sampling, 0, dim.Const(k), dim.Const(1))}
}

// table returns the indices of the `taps` elements that each point reads along axis k, and their weights. shape is
// the shape of the operand. weights is nil in mode nearest. The results are constants if the extents are constant,
// there are at most maxTable points, and scales and region are not an operand.
func (op resizeTables) table(b *ir.Builder, shape []dim.Dim, k int, taps dim.Dim) (weights, index *ir.Value) {
	t := op.tableOf(k, shape[k], op.Shape[k])
	t.Taps = taps
	values := make([]*ir.Value, 2)
	n, isConst := t.Out.Int()
	if isConst && t.In.IsConst() && n <= maxTable && op.sampling == nil {
		constants, err := t.Eval(nil)
		if err != nil {
			ir.FailWith(err)
		}
		for i, c := range constants {
			values[i] = b.Const(c)
		}
		return values[1], values[0]
	}
	copy(values, b.Nodes(t, op.numbers(b, k)...))
	return values[1], values[0]
}

func (op resizeTables) lowerExtrapolation(b *ir.Builder, in []dim.Dim, y *ir.Value) *ir.Value {
	value := b.Scalar(y.Type.DType, op.Extrapolation)
	for k, d := range in {
		outside := op.outside(b, k, d)
		if t, ok := outside.ConstValue(); ok && t.Equal(ir.NewTensor(ir.Bool, t.Shape...)) {
			continue
		}
		shape := slices.Repeat([]dim.Dim{dim.Const(1)}, len(in)-k)
		shape[0] = op.Shape[k]
		y = b.Node(Where{}, ReshapeTo(b, outside, shape...), value, y)
	}
	return y
}

// outside appends a vector of bools, one for each index of the result along axis k. A bool is true if the point at
// this index lies outside of the operand. d is the extent of the operand along the axis.
func (op resizeTables) outside(b *ir.Builder, k int, d dim.Dim) *ir.Value {
	list := ResizeOutside{Table: op.tableOf(k, d, op.Shape[k])}
	n, isConst := op.Shape[k].Int()
	if isConst && d.IsConst() && n <= maxTable && op.sampling == nil {
		out, err := list.Eval(nil)
		if err != nil {
			ir.FailWith(err)
		}
		return b.Const(out[0])
	}
	return b.Node(list, op.numbers(b, k)...)
}
