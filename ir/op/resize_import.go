package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// importResize reads Resize. In opset 10 it knows scales only and samples as
// Upsample does. From opset 11 the extents may be given instead, from opset 18
// those of some axes only.
func importResize(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	op := wholeResize(x.Type)
	op.Mode = c.Text("mode", "nearest")
	if c.Opset() < 11 {
		op.Coordinates, op.Rounding = "asymmetric", "simple"
		return op.scaled(c, 1, allAxes(x.Type.Rank()))
	}
	op.Coordinates = c.Text("coordinate_transformation_mode", "half_pixel")
	op.Rounding = c.Text("nearest_mode", "round_prefer_floor")
	op.CubicA = c.Float("cubic_coeff_a", -0.75)
	op.ExcludeOutside = c.Int("exclude_outside", 0) != 0
	op.Extrapolation = c.Float("extrapolation_value", 0)
	axes, policy := allAxes(x.Type.Rank()), "stretch"
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
	if op.Coordinates == cropAndResize {
		if err := op.region(c, axes); err != nil {
			return nil, err
		}
	}
	if given(c, 2) == given(c, 3) {
		return nil, fmt.Errorf("one of scales and sizes expected")
	}
	if given(c, 2) {
		return op.scaled(c, 2, axes)
	}
	return op.sized(c, axes, policy)
}

// importUpsample reads Upsample: the scales are two attributes before opset 7,
// one up to 8, and an operand from there on.
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
		return op.scaled(c, 1, allAxes(x.Type.Rank()))
	}
	scales := c.Floats("scales", nil)
	if c.Opset() < 7 {
		scales = []float64{1, 1, c.Float("height_scale", 0), c.Float("width_scale", 0)}
	}
	return op.withScales(c, scales, allAxes(x.Type.Rank()))
}

// wholeResize returns the Resize that changes no axis.
func wholeResize(t ir.Type) Resize {
	return Resize{Shape: wholeSlice(t).Shape, Scales: make([]float64, t.Rank())}
}

// given reports whether an operand is there and not empty, which stands for
// absent in opset 11.
func given(c ir.Importer, i int) bool {
	return c.Arg(i) != nil && !c.Arg(i).Type.Elems().Equal(ir.Const(0))
}

// floatsOf returns the elements of a constant operand.
func floatsOf(c ir.Importer, i int, name string) ([]float64, error) {
	t := c.Constant(i)
	if t == nil || t.DType == ir.String {
		return nil, fmt.Errorf("%s is not constant", name)
	}
	numbers := make([]float64, t.Len())
	for i := range numbers {
		numbers[i] = t.Number(i)
	}
	return numbers, nil
}

// region reads roi: the starts of the axes, and then their ends.
func (op *Resize) region(c ir.Importer, axes []int) error {
	rank := len(op.Shape)
	op.ROI = make([]float64, 2*rank)
	for i := range rank {
		op.ROI[rank+i] = 1
	}
	if !given(c, 1) {
		return fmt.Errorf("roi is absent")
	}
	roi, err := floatsOf(c, 1, "roi")
	if err != nil {
		return err
	}
	if len(roi) != 2*len(axes) {
		return fmt.Errorf("roi has %d elements for %d axes", len(roi), len(axes))
	}
	for i, a := range axes {
		op.ROI[a], op.ROI[rank+a] = roi[i], roi[len(axes)+i]
	}
	return nil
}

// scaled builds op with the scales that operand i holds.
func (op Resize) scaled(c ir.Importer, i int, axes []int) ([]*ir.Value, error) {
	scales, err := floatsOf(c, i, "scales")
	if err != nil {
		return nil, err
	}
	return op.withScales(c, scales, axes)
}

// maxScale bounds scales, and their reciprocals.
const maxScale = 1 << 20

// withScales builds op with scales: an extent becomes the product, rounded down.
func (op Resize) withScales(c ir.Importer, scales []float64, axes []int) ([]*ir.Value, error) {
	if len(scales) != len(axes) {
		return nil, fmt.Errorf("%d scales for %d axes", len(scales), len(axes))
	}
	for i, a := range axes {
		if !(scales[i] >= 1.0/maxScale) || scales[i] > maxScale {
			return nil, fmt.Errorf("scale %g", scales[i])
		}
		op.Scales[a] = scales[i]
		if n, ok := op.Shape[a].Int(); ok {
			size := float32(n) * float32(scales[i])
			if size > math.MaxInt32 {
				return nil, fmt.Errorf("axis %d: %d elements by scale %g", a, n, scales[i])
			}
			op.Shape[a] = ir.Const(int(size))
			continue
		}
		num, den := simpleFraction(float32(scales[i]))
		op.Shape[a] = op.Shape[a].Mul(ir.Const64(num)).FloorDiv(ir.Const64(den))
	}
	return op.build(c)
}

// simpleFraction returns the fraction of the smallest denominator that rounds to a
// positive f, by continued fractions.
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

// sized builds op with the extents that sizes holds. Under a policy that keeps
// the ratio of the axes they bound the extents: from above for not_larger, from
// below for not_smaller.
func (op Resize) sized(c ir.Importer, axes []int, policy string) ([]*ir.Value, error) {
	sizes, err := knownDims(c, 3, "sizes")
	if err != nil {
		return nil, err
	}
	if len(sizes) != len(axes) {
		return nil, fmt.Errorf("%d sizes for %d axes", len(sizes), len(axes))
	}
	if policy == "stretch" {
		for i, a := range axes {
			op.Shape[a] = sizes[i]
		}
		return op.build(c)
	}
	pick := map[string]func(a, b float64) float64{"not_larger": math.Min, "not_smaller": math.Max}[policy]
	if pick == nil {
		return nil, fmt.Errorf("keep_aspect_ratio_policy %q", policy)
	}
	scale := math.NaN()
	for i, a := range axes {
		size, ok := sizes[i].Int()
		extent, okExtent := op.Shape[a].Int()
		if !ok || !okExtent || extent == 0 {
			return nil, fmt.Errorf("keep_aspect_ratio_policy %s: axis %d from %s to %s", policy, a, op.Shape[a], sizes[i])
		}
		if s := float64(size) / float64(extent); i == 0 {
			scale = s
		} else {
			scale = pick(scale, s)
		}
	}
	for _, a := range axes {
		extent, _ := op.Shape[a].Int()
		op.Shape[a] = ir.Const(int(math.Floor(float64(scale*float64(extent)) + 0.5)))
		op.Scales[a] = scale
	}
	return op.build(c)
}

// build appends op, unless it changes nothing.
func (op Resize) build(c ir.Importer) ([]*ir.Value, error) {
	x, changes := c.Arg(0), false
	for i, d := range x.Type.Shape {
		if op.keeps(i, d) {
			continue
		}
		changes = true
		if op.AntiAlias || op.Coordinates == cropAndResize {
			if !d.IsConst() || !op.Shape[i].IsConst() {
				return nil, fmt.Errorf("antialias or %s of axis %d, whose extent %s is not constant", cropAndResize, i, d)
			}
		}
	}
	if !changes {
		return []*ir.Value{x}, nil
	}
	return []*ir.Value{c.Builder().Node(op, x)}, nil
}
