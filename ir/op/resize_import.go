package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importResize(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	op := wholeResize(x.Type)
	if op.Mode = c.Text("mode", "nearest"); op.Mode == "lanczos" {
		return nil, fmt.Errorf("mode %q", op.Mode) // only descriptions have it
	}
	if c.Opset() < 11 {
		op.Coordinates, op.Rounding = "asymmetric", "simple"
		return op.scaled(c, 1, AllAxes(x.Type.Rank()), nil)
	}
	op.Coordinates = c.Text("coordinate_transformation_mode", "half_pixel")
	op.Rounding = c.Text("nearest_mode", "round_prefer_floor")
	op.CubicA = c.Float("cubic_coeff_a", -0.75)
	op.ExcludeOutside = c.Int("exclude_outside", 0) != 0
	op.Extrapolation = c.Float("extrapolation_value", 0)
	axes, policy := AllAxes(x.Type.Rank()), "stretch"
	if c.Opset() >= 18 {
		op.AntiAlias = c.Int("antialias", 0) != 0 && op.Mode != "nearest"
		policy = c.Text("keep_aspect_ratio_policy", policy)
		if given := c.Ints("axes", nil); given != nil {
			var err error
			if axes, err = axesFromFront(given, x.Type.Rank()); err != nil {
				return nil, err
			}
		}
	}
	if op.Mode != "cubic" {
		op.CubicA = 0
	}
	if op.Mode != "nearest" {
		op.Rounding = ""
	}
	var roi *ir.Value
	if op.Coordinates == CropAndResizeCoordinates {
		var err error
		if roi, err = op.region(c, axes); err != nil {
			return nil, err
		}
	}
	if given(c, 2) == given(c, 3) {
		return nil, fmt.Errorf("one of scales and sizes expected")
	}
	if given(c, 2) {
		return op.scaled(c, 2, axes, roi)
	}
	return op.sized(c, axes, policy, roi)
}

func importUpsample(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	op := wholeResize(x.Type)
	op.Mode, op.Coordinates = c.Text("mode", "nearest"), "asymmetric"
	if op.Mode == "bilinear" {
		op.Mode = "linear"
	}
	if op.Mode == "nearest" {
		op.Rounding = "floor"
	}
	if c.Opset() >= 9 {
		return op.scaled(c, 1, AllAxes(x.Type.Rank()), nil)
	}
	scales := c.Floats("scales", nil)
	if c.Opset() < 7 {
		scales = []float64{1, 1, c.Float("height_scale", 0), c.Float("width_scale", 0)}
	}
	return op.withScales(c, scales, AllAxes(x.Type.Rank()), nil)
}

func wholeResize(t ir.Type) Resize {
	return Resize{Shape: wholeSlice(t).Shape, Scales: make([]float64, t.Rank())}
}

// given reports whether operand i is present and has elements. In opset 11, an absent operand may be written as one
// without elements.
func given(c ir.Importer, i int) bool {
	return c.Arg(i) != nil && !c.Arg(i).Type.Elems().Equal(dim.Const(0))
}

func knownFloats(c ir.Importer, i int) ([]float64, bool) {
	t := c.Constant(i)
	if t == nil || t.DType == ir.String {
		return nil, false
	}
	numbers := make([]float64, t.Len())
	for i := range numbers {
		numbers[i] = t.Number(i)
	}
	return numbers, true
}

// region reads the operand roi into op.ROI, which holds the starts of all axes and then their ends. If the operand
// is known only at run time, region returns it instead.
func (op *Resize) region(c ir.Importer, axes []int) (*ir.Value, error) {
	rank := len(op.Shape)
	op.ROI = make([]float64, 2*rank)
	for i := range rank {
		op.ROI[rank+i] = 1
	}
	if !given(c, 1) {
		return nil, fmt.Errorf("roi is absent")
	}
	if n, ok := c.Arg(1).Type.Elems().Int(); ok && n != 2*len(axes) {
		return nil, fmt.Errorf("roi has %d elements for %d axes", n, len(axes))
	}
	roi, ok := knownFloats(c, 1)
	if !ok {
		return c.Arg(1), nil
	}
	for i, a := range axes {
		op.ROI[a], op.ROI[rank+a] = roi[i], roi[len(axes)+i]
	}
	return nil, nil
}

func (op Resize) scaled(c ir.Importer, i int, axes []int, roi *ir.Value) ([]*ir.Value, error) {
	if c.Arg(i) == nil {
		return nil, fmt.Errorf("scales are absent")
	}
	scales, ok := knownFloats(c, i)
	if !ok {
		return op.bound(c, c.Arg(i), roi, axes, false)
	}
	return op.withScales(c, scales, axes, roi)
}

// betweenExtents reports whether op uses align_corners in a model that PyTorch exported. In ONNX, the coordinates
// of such a Resize depend on the given scales, from which the extents of the result were rounded down. PyTorch
// computes the coordinates from the extents instead. So the importer ignores the given scales if betweenExtents is
// true.
func (op Resize) betweenExtents(c ir.Importer) bool {
	return op.Coordinates == "align_corners" && c.Producer() == "pytorch"
}

const maxScale = 1 << 20

// withScales imports op with constant scales, one for each of axes. roi is as in [Resize.bound]. An extent of the
// result is the extent of the operand times the scale, rounded down.
func (op Resize) withScales(c ir.Importer, scales []float64, axes []int, roi *ir.Value) ([]*ir.Value, error) {
	if len(scales) != len(axes) {
		return nil, fmt.Errorf("%d scales for %d axes", len(scales), len(axes))
	}
	for i, a := range axes {
		if !(scales[i] >= 1.0/maxScale) || scales[i] > maxScale {
			return nil, fmt.Errorf("scale %g", scales[i])
		}
		if !op.betweenExtents(c) {
			op.Scales[a] = scales[i]
		}
		if n, ok := op.Shape[a].Int(); ok {
			size := float32(n) * float32(scales[i])
			if size > math.MaxInt32 {
				return nil, fmt.Errorf("axis %d: %d elements by scale %g", a, n, scales[i])
			}
			op.Shape[a] = dim.Const(int(size))
			continue
		}
		num, den := simpleFraction(float32(scales[i]))
		op.Shape[a] = op.Shape[a].Mul(dim.Const64(num)).FloorDiv(dim.Const64(den))
	}
	return op.build(c, roi, axes)
}

// bound imports op with scales that are known only at run time, one for each of axes. roi is nil, or a region that
// is known only at run time. The extents of the result are rounded down or, if near is true, to the nearest
// integer.
func (op Resize) bound(c ir.Importer, scales, roi *ir.Value, axes []int, near bool) ([]*ir.Value, error) {
	b := c.Builder()
	scales = ConvertTo(b, ReshapeTo(b, scales, dim.Const(len(axes))), ir.F64)
	from := make([]dim.Dim, len(axes))
	for i, a := range axes {
		from[i] = op.Shape[a]
	}
	bind := BindScaled{newBound(b, "resized", len(axes)), from, near}
	b.Nodes(bind, scales)
	for i, a := range axes {
		op.Shape[a] = bind.dims()[i]
	}
	if op.betweenExtents(c) {
		return op.build(c, roi, axes)
	}
	return op.sampled(c, scales, roi, axes)
}

// sampled appends op with a second operand, which holds the scale and the region of each axis. scales and roi have
// entries for `axes` only. If scales is nil, the operand holds the scales of op. If roi is nil, it holds the region
// of op.
func (op Resize) sampled(c ir.Importer, scales, roi *ir.Value, axes []int) ([]*ir.Value, error) {
	b, rank := c.Builder(), len(op.Shape)
	given := ir.NewTensor(ir.F64, rank, 3)
	for i := range rank {
		given.SetFloat(3*i, op.Scales[i])
		given.SetFloat(3*i+2, 1)
		if op.ROI != nil {
			given.SetFloat(3*i+1, op.ROI[i])
			given.SetFloat(3*i+2, op.ROI[rank+i])
		}
	}
	places := ir.NewTensor(ir.I64, rank, 3)
	for i := range places.Len() {
		places.SetInt(i, int64(i))
	}
	numbers, count := []*ir.Value{b.Const(given.Reshape(3 * rank))}, 3*rank
	for column, list := range []*ir.Value{scales, roi} {
		if list == nil {
			continue
		}
		for i, a := range axes {
			places.SetInt(3*a+column, int64(count+i))
			if list == roi {
				places.SetInt(3*a+2, int64(count+len(axes)+i))
			}
		}
		n := len(axes) * (1 + column)
		numbers = append(numbers, ConvertTo(b, ReshapeTo(b, list, dim.Const(n)), ir.F64))
		count += n
	}
	op.Scales, op.ROI = nil, nil
	sampling := b.Node(Gather{}, b.Node(Concat{}, numbers...), b.Const(places))
	return []*ir.Value{b.Node(op, c.Arg(0), sampling)}, nil
}

// simpleFraction returns a convergent of the continued fraction of f. It is the first convergent that rounds to f,
// or that has a denominator above 2²⁴. In the second case it may not round to f. f must be positive.
func simpleFraction(f float32) (num, den int64) {
	var pastNum, pastDen int64 = 0, 1
	num, den = 1, 0
	for x := float64(f); ; {
		whole := math.Floor(x)
		num, pastNum = int64(whole)*num+pastNum, num
		den, pastDen = int64(whole)*den+pastDen, den
		if float32(float64(num)/float64(den)) == f || den > 1<<24 {
			return num, den
		}
		x = 1 / (x - whole)
	}
}

// sized imports op with extents from the operand `sizes`, which has one for each of axes. roi is as in
// [Resize.bound]. The extents may be smaller if the policy is not_larger, and larger if it is not_smaller, because
// these two policies keep the aspect ratio.
func (op Resize) sized(c ir.Importer, axes []int, policy string, roi *ir.Value) ([]*ir.Value, error) {
	if n, ok := c.Arg(3).Type.Elems().Int(); ok && n != len(axes) {
		return nil, fmt.Errorf("%d sizes for %d axes", n, len(axes))
	}
	if policy == "stretch" {
		sizes, err := boundDims(c, 3, "sizes")
		if err != nil {
			return nil, err
		}
		for i, a := range axes {
			op.Shape[a] = sizes[i]
		}
		return op.build(c, roi, axes)
	}
	least, ok := map[string]bool{"not_larger": true, "not_smaller": false}[policy]
	if !ok {
		return nil, fmt.Errorf("keep_aspect_ratio_policy %q", policy)
	}
	b := c.Builder()
	extents := make([]dim.Dim, len(axes))
	for i, a := range axes {
		extents[i] = op.Shape[a]
	}
	sizes, isConst := dim.Ints(extents)
	want, known := c.Arg(3).Dims()
	to, knownInts := dim.Ints(want)
	if !isConst || !known || !knownInts || slices.Contains(sizes, 0) {
		kind := ReduceMax
		if least {
			kind = ReduceMin
		}
		ratios := b.Node(Div{}, ConvertTo(b, ReshapeTo(b, c.Arg(3), dim.Const(len(axes))), ir.F64), ConvertTo(b, b.Dims(extents...), ir.F64))
		scale := b.Node(Reduce{Kind: kind, Axes: []int{0}, KeepDims: true}, ratios)
		return op.bound(c, ExpandTo(b, scale, dim.Const(len(axes))), roi, axes, true)
	}
	scale := float64(to[0]) / float64(sizes[0])
	for i, n := range sizes {
		if s := float64(to[i]) / float64(n); (s < scale) == least {
			scale = s
		}
	}
	for i, a := range axes {
		op.Shape[a] = dim.Const(int(math.Floor(float64(scale*float64(sizes[i])) + 0.5)))
		op.Scales[a] = scale
	}
	return op.build(c, roi, axes)
}

// build appends op, or returns its operand if no axis changes. roi is the region of axes if it is known only at run
// time, and nil otherwise.
func (op Resize) build(c ir.Importer, roi *ir.Value, axes []int) ([]*ir.Value, error) {
	x, changes := c.Arg(0), false
	for i, d := range x.Type.Shape {
		changes = changes || !op.Keeps(i, d)
	}
	switch {
	case roi != nil:
		return op.sampled(c, nil, roi, axes)
	case !changes:
		return []*ir.Value{x}, nil
	}
	return []*ir.Value{c.Builder().Node(op, x)}, nil
}
