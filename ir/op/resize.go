package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// Resize samples its operand at Shape[i] places along axis i.
//
// Coordinates says at which: "half_pixel", "half_pixel_symmetric",
// "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn" or
// "tf_crop_and_resize" (ONNX Resize, coordinate_transformation_mode). It depends
// on the scale, Scales[i] or, where that is 0, the quotient of the extents, and
// for the last on ROI, the starts of all axes and then their ends.
//
// Mode "nearest" takes the element that Rounding says: "round_prefer_floor",
// "round_prefer_ceil", "floor", "ceil" or "simple", which is floor for scales of
// at least 1 and ceil below. "linear" and "cubic", whose coefficient is CubicA,
// weigh the 2 or 4 elements about the place; AntiAlias widens them where the
// scale is below 1. Elements outside repeat the edge; ExcludeOutside leaves them
// out instead. A place outside gives Extrapolation under tf_crop_and_resize.
type Resize struct {
	Mode, Coordinates, Rounding string

	Shape       []ir.Dim
	Scales, ROI []float64
	CubicA      float64

	ExcludeOutside, AntiAlias bool
	Extrapolation             float64
}

// Limits on what is computed before a model runs.
const (
	maxTaps  = 4096    // elements that a place reads
	maxTable = 1 << 20 // places along an axis
)

// Infer gives the result the shape.
func (op Resize) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if len(op.Shape) != x.Rank() || len(op.Scales) != x.Rank() {
		return nil, fmt.Errorf("%d extents and %d scales for rank %d", len(op.Shape), len(op.Scales), x.Rank())
	}
	if _, ok := resizePlaces[op.Coordinates]; !ok {
		return nil, fmt.Errorf("coordinate transformation %q", op.Coordinates)
	}
	if op.Coordinates == cropAndResize && len(op.ROI) != 2*x.Rank() {
		return nil, fmt.Errorf("%d numbers of the region for rank %d", len(op.ROI), x.Rank())
	}
	switch op.Mode {
	case "nearest":
		if _, ok := resizeRoundings[op.Rounding]; !ok {
			return nil, fmt.Errorf("nearest mode %q", op.Rounding)
		}
	case "linear", "cubic":
		if !x.DType.IsFloat() && !x.DType.IsInt() {
			return nil, fmt.Errorf("mode %s of %s", op.Mode, x.DType)
		}
	default:
		return nil, fmt.Errorf("mode %q", op.Mode)
	}
	for i, s := range op.Scales {
		if s < 0 || s != s || math.IsInf(s, 0) {
			return nil, fmt.Errorf("axis %d: scale %g", i, s)
		}
		d, ok := x.Shape[i].Int()
		if ok && d == 0 && !op.Shape[i].Equal(x.Shape[i]) {
			return nil, fmt.Errorf("axis %d: %s elements of none", i, op.Shape[i])
		}
		if n, okOut := op.Shape[i].Int(); ok && okOut && n > 0 && d > 0 && op.axis(i, d, n).width() > maxTaps {
			return nil, fmt.Errorf("axis %d: antialias from %d to %d elements", i, d, n)
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, op.Shape...)}, nil
}

// Eval samples along one axis after the other.
func (op Resize) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	if _, err := op.Infer([]ir.Type{x.Type()}); err != nil {
		return nil, err
	}
	shape, ok := ir.Ints(op.Shape)
	if _, err := ir.CheckedLen(shape); err != nil || !ok {
		return nil, fmt.Errorf("shape %s has no value", shapeText(op.Shape))
	}
	axes := make([]resizeAxis, len(shape))
	for i, n := range shape {
		axes[i] = op.axis(i, x.Shape[i], n)
	}
	if op.Mode == "nearest" {
		y, err := move(x, shape, func(at, from []int) {
			for i, a := range axes {
				from[i] = a.nearest(at[i])
			}
		})
		if err == nil && op.Coordinates == cropAndResize {
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
		if !op.keeps(i, ir.Const(a.in)) {
			wide = a.sampled(wide, i)
		}
	}
	y := ir.NewTensor(x.DType, shape...)
	for i := range y.Len() {
		y.SetNumber(i, wide.Float(i))
	}
	if op.Coordinates == cropAndResize {
		y = op.extrapolated(y, axes)
	}
	return []*ir.Tensor{y}, nil
}

// keeps reports whether axis i, of extent d, stays as it is.
func (op Resize) keeps(i int, d ir.Dim) bool {
	switch op.Coordinates {
	case cropAndResize:
		return op.Shape[i].Equal(d) && op.ROI[i] == 0 && op.ROI[len(op.Shape)+i] == 1
	case "tf_half_pixel_for_nn":
		return false
	}
	return op.Shape[i].Equal(d) && (op.Scales[i] == 0 || op.Scales[i] == 1)
}

// sampled returns t with weighted sums along axis k.
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

// extrapolated returns y with the places outside the operand set.
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

// Lower makes it a chain of the kernels' forms, each for one or two axes.
func (op Resize) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Args[0]
	if op.Mode != "nearest" {
		if to := x.Type.DType; !to.IsFloat() {
			return []*ir.Value{b.Node(Cast{To: to}, b.Node(op, convert(b, x, ir.F32)))}
		}
		if narrow := lowerNarrow(b, n); narrow != nil {
			return narrow
		}
	}
	var changed []int
	for i, d := range x.Type.Shape {
		if !op.keeps(i, d) {
			changed = append(changed, i)
		}
	}
	for len(changed) > 0 {
		k := changed[0]
		pair := len(changed) > 1 && changed[1] == k+1
		switch {
		case op.Mode == "nearest":
			x = op.lowerNearest(b, x, k, pair)
		case op.Mode == "linear" && pair && !op.AntiAlias:
			x = op.lowerLinear(b, x, k)
		default:
			pair = false
			x = op.lowerAxis(b, x, k)
		}
		changed = changed[1:]
		if pair {
			changed = changed[1:]
		}
	}
	if op.Coordinates == cropAndResize {
		x = op.lowerExtrapolation(b, n.Args[0].Type.Shape, x)
	}
	return []*ir.Value{reshape(b, x, op.Shape...)}
}

// lowerNearest resizes axis k of x, and the next when pair is set.
func (op Resize) lowerNearest(b *ir.Builder, x *ir.Value, k int, pair bool) *ir.Value {
	shape, one := x.Type.Shape, ir.Const(1)
	to := append([]ir.Dim{}, shape...)
	to[k] = op.Shape[k]
	if !pair {
		_, cols := op.table(b, shape, k, 1)
		x = reshape(b, x, ir.Product(shape[:k]...), one, shape[k], ir.Product(shape[k+1:]...))
		return reshape(b, b.Node(ResizeNearest{}, x, b.Const(ir.NewTensor(ir.I32, 1)), cols), to...)
	}
	_, rows := op.table(b, shape, k, 1)
	_, cols := op.table(b, shape, k+1, 1)
	to[k+1] = op.Shape[k+1]
	x = reshape(b, x, ir.Product(shape[:k]...), shape[k], shape[k+1], ir.Product(shape[k+2:]...))
	return reshape(b, b.Node(ResizeNearest{}, x, rows, cols), to...)
}

// lowerLinear resizes axes k and k+1 of x.
func (op Resize) lowerLinear(b *ir.Builder, x *ir.Value, k int) *ir.Value {
	shape := x.Type.Shape
	rowWeights, rows := op.table(b, shape, k, 2)
	colWeights, cols := op.table(b, shape, k+1, 2)
	to := append([]ir.Dim{}, shape...)
	to[k], to[k+1] = op.Shape[k], op.Shape[k+1]
	x = reshape(b, x, ir.Product(shape[:k]...), shape[k], shape[k+1], ir.Product(shape[k+2:]...))
	return reshape(b, b.Node(ResizeLinear{}, x, rows, rowWeights, cols, colWeights), to...)
}

// lowerAxis resizes axis k of x.
func (op Resize) lowerAxis(b *ir.Builder, x *ir.Value, k int) *ir.Value {
	shape := x.Type.Shape
	taps := map[string]int{"linear": 2, "cubic": 4}[op.Mode]
	if op.AntiAlias {
		in, okIn := shape[k].Int()
		out, okOut := op.Shape[k].Int()
		if !okIn || !okOut {
			ir.Fail("antialias: axis %d has no constant extent", k)
		}
		taps = op.axis(k, in, out).width()
	}
	weights, index := op.table(b, shape, k, taps)
	to := append([]ir.Dim{}, shape...)
	to[k] = op.Shape[k]
	x = reshape(b, x, ir.Product(shape[:k]...), shape[k], ir.Product(shape[k+1:]...))
	return reshape(b, b.Node(ResizeAxis{Taps: taps}, x, index, weights), to...)
}

// table returns which elements of axis k each place reads, and, for more than one
// tap, their weights: constants where the extents are.
func (op Resize) table(b *ir.Builder, shape []ir.Dim, k, taps int) (weights, index *ir.Value) {
	t := op.tableOf(k, shape[k], op.Shape[k])
	t.Taps = taps
	values := make([]*ir.Value, 2)
	n, isConst := t.Out.Int()
	if isConst && t.In.IsConst() && n <= maxTable {
		constants, err := t.Eval(nil)
		if err != nil {
			ir.FailWith(err)
		}
		for i, c := range constants {
			values[i] = b.Const(c)
		}
		return values[1], values[0]
	}
	copy(values, b.Nodes(t))
	return values[1], values[0]
}

// lowerExtrapolation sets the places of y that lie outside the operand.
func (op Resize) lowerExtrapolation(b *ir.Builder, in []ir.Dim, y *ir.Value) *ir.Value {
	value := b.Scalar(y.Type.DType, op.Extrapolation)
	for k, d := range in {
		from, ok := d.Int()
		to, okOut := op.Shape[k].Int()
		if !ok || !okOut {
			ir.Fail("%s: axis %d has no constant extent", cropAndResize, k)
		}
		a := op.axis(k, from, to)
		shape := make([]int, len(in)-k)
		for i := range shape {
			shape[i] = 1
		}
		shape[0] = to
		outside, some := ir.NewTensor(ir.Bool, shape...), false
		for i := range to {
			outside.SetBool(i, a.outside(i))
			some = some || a.outside(i)
		}
		if some {
			y = b.Node(Where{}, b.Const(outside), value, y)
		}
	}
	return y
}
