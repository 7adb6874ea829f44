package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// GridSample samples x, [N,C,spatial…], at the points in grid, floats [N,out…,D] (ONNX GridSample, from opset 16).
// The result is [N,C,out…]. D is the number of spatial axes. A point has one coordinate for each of them, the last
// axis first. With AlignCorners, −1 and 1 are the centres of the first and last element of an axis. Otherwise they
// are the outer edges of these elements.
//
// Mode "nearest" takes the nearest element, with ties to the even index. "linear" and "cubic" interpolate between 2
// or 4 elements along each axis and require numbers. Padding says what is outside of x: "zeros" are zeros, "border"
// repeats the edge, and "reflection" mirrors the inside at −1 and 1. Integers are computed in f64 and truncated.
type GridSample struct {
	Mode, Padding string
	AlignCorners  bool
}

// gridTaps holds, for each mode, the number of elements along an axis that a point reads.
var gridTaps = map[string]int{"nearest": 1, "linear": 2, "cubic": 4}

// maxGridTaps is the largest number of elements read for one point.
const maxGridTaps = 256

// gridCubicA is the parameter a of the cubic convolution kernel.
const gridCubicA = -0.75

// Infer returns [N,C,out…] with the element type of x.
func (op GridSample) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	x, grid := in[0], in[1]
	if err := checkDomain(in[1:], floats{}); err != nil {
		return nil, err
	}
	if op.Mode != "nearest" {
		if err := checkDomain(in[:1], numbers{}); err != nil {
			return nil, err
		}
	}
	if x.Rank() < 3 || grid.Rank() != x.Rank() {
		return nil, fmt.Errorf("grid %s for %s", grid, x)
	}
	spatial, taps := x.Rank()-2, 1
	for range spatial {
		taps *= gridTaps[op.Mode]
		if taps < 1 || taps > maxGridTaps {
			return nil, fmt.Errorf("mode %q of %d spatial axes", op.Mode, spatial)
		}
	}
	switch op.Padding {
	case "zeros", "border", "reflection":
	default:
		return nil, fmt.Errorf("padding mode %q", op.Padding)
	}
	if err := Same(grid.Shape[0], x.Shape[0], "batches of the grid and the operand"); err != nil {
		return nil, err
	}
	if err := Same(grid.Shape[1+spatial], dim.Const(spatial), "numbers of a place and spatial axes"); err != nil {
		return nil, err
	}
	shape := append(x.Shape[:2:2], grid.Shape[1:1+spatial]...)
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// Eval returns the samples, [N,C,out…]. It computes coordinates in the grid's element type, and sums in float64.
func (op GridSample) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	x, grid := in[0], in[1]
	if op.Mode != "nearest" && !x.DType.IsFloat() {
		return evalThrough(op, ir.F64, in)
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	spatial := len(shape) - 2
	places, plane := LenOf(shape[2:]), LenOf(x.Shape[2:])
	for i := range shape[0] * places {
		taps := []gridTap{{weight: 1}}
		for axis, d := range x.Shape[2:] {
			var next []gridTap
			along := op.taps(grid.Float((i+1)*spatial-1-axis), d, wide(grid.DType))
			for _, t := range taps {
				for _, a := range along {
					next = append(next, gridTap{t.at*d + a.at, t.weight * a.weight})
				}
			}
			taps = next
		}
		for c := range shape[1] {
			channel := i/places*shape[1] + c
			to := channel*places + i%places
			if op.Mode == "nearest" {
				for _, t := range taps {
					y.Copy(to, x, channel*plane+t.at)
				}
				continue
			}
			sum := 0.0
			for _, t := range taps {
				sum += float64(t.weight * x.Float(channel*plane+t.at))
			}
			y.SetFloat(to, sum)
		}
	}
	return []*ir.Tensor{y}, nil
}

// evalThrough converts the first operand to type d, evaluates op, and converts the result back.
func evalThrough(op ir.Op, d ir.DType, in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, err := (Cast{To: d}).Eval(in[:1])
	if err != nil {
		return nil, err
	}
	y, err := op.Eval(append(x, in[1:]...))
	if err != nil {
		return nil, err
	}
	return (Cast{To: in[0].DType}).Eval(y[:1])
}

// gridTap is an element that a point reads. `at` is the index of the element, and weight its weight.
type gridTap struct {
	at     int
	weight float64
}

// taps returns the elements that a point reads along an axis of d elements. It leaves out elements outside the
// axis. place is the coordinate of the point; −1 and 1 are the ends of the axis. Coordinates are rounded to dtype.
func (op GridSample) taps(place float64, d int, dtype ir.DType) []gridTap {
	round := func(v float64) float64 { return ir.RoundFloat(dtype, v) }
	x := round(place + 1)
	if op.AlignCorners {
		x = round(x / 2 * float64(d-1))
	} else {
		x = round(round(round(x*float64(d))-1) / 2)
	}
	var taps []gridTap
	add := func(at, weight float64) {
		if at >= 0 && at < float64(d) {
			taps = append(taps, gridTap{int(at), weight})
		}
	}
	switch op.Mode {
	case "nearest":
		add(math.RoundToEven(op.padded(x, d)), 1)
	case "linear":
		x = op.padded(x, d)
		first := math.Floor(x)
		add(first, first+1-x)
		add(first+1, x-first)
	case "cubic":
		if op.Padding == "reflection" {
			x = op.mirrored(x, d)
		}
		x = inside(x, -4, float64(d)+3)
		first := math.Floor(x) - 1
		for k := range 4 {
			at := first + float64(k)
			add(op.padded(at, d), resizeAxis{mode: "cubic", cubicA: gridCubicA}.weight(at-x))
		}
	}
	return taps
}

// padded returns the coordinate x, clamped or reflected as Padding says. The elements of the axis are at the
// coordinates 0 to d−1.
func (op GridSample) padded(x float64, d int) float64 {
	switch op.Padding {
	case "border":
		return inside(x, 0, float64(d-1))
	case "reflection":
		return inside(op.mirrored(x, d), 0, float64(d-1))
	}
	return x
}

// mirrored reflects the coordinate x, in elements, at the ends of an axis of d elements until x is between the
// ends. With AlignCorners, the ends are the centres of the first and the last element. Otherwise they are the outer
// edges of these elements.
func (op GridSample) mirrored(x float64, d int) float64 {
	low, length := -0.5, float64(d)
	if op.AlignCorners {
		low, length = 0, float64(d-1)
	}
	if length <= 0 {
		return 0
	}
	x = math.Mod(math.Abs(x-low), 2*length)
	return min(x, 2*length-x) + low
}

// inside returns x clamped to [low, high], or low for NaN.
func inside(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return min(x, high)
}

// Lower computes floats of at most 16 bits in f32, and interpolates integers in f64. It converts
// the result back.
func (op GridSample) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x := n.Arg(0)
	if d := x.Type.DType; op.Mode != "nearest" && !d.IsFloat() {
		return []*ir.Value{ConvertTo(b, b.Node(op, ConvertTo(b, x, ir.F64), n.Arg(1)), d)}
	}
	return nil
}

// Compose interpolates between the elements around each point.
func (op GridSample) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	c, x, grid := calculus{b}, n.Arg(0), n.Arg(1)
	grid = ConvertTo(b, grid, wide(grid.Type.DType))
	shape, axes := n.Results[0].Type.Shape, x.Type.Shape[2:]
	one, last := dim.Const(1), grid.Type.Rank()-1
	taps := make([][]tap, len(axes))
	for axis, d := range axes {
		place := sliceAxis(b, grid, last, dim.Const(len(axes)-1-axis), one)
		taps[axis] = op.tapsOf(c, ReshapeTo(b, place, shape[0], one, dim.Product(shape[2:]...)), d)
	}
	x = ReshapeTo(b, x, slices.Insert(slices.Clone(x.Type.Shape), 1, one)...)
	return []*ir.Value{ReshapeTo(b, c.total(c.corners(x, taps)), shape...)}
}

// tapsOf returns the elements that points read along an axis of extent d, with their weights. place holds the
// coordinates of the points; −1 and 1 are the ends of the axis.
func (op GridSample) tapsOf(c calculus, place *ir.Value, d dim.Dim) []tap {
	x := c.plus(place, 1)
	if op.AlignCorners {
		x = c.mul(c.times(x, 0.5), c.last(x, d))
	} else {
		x = c.times(c.plus(c.mul(x, c.extent(x, d)), -1), 0.5)
	}
	switch op.Mode {
	case "nearest":
		at := c.Node(Round{}, op.paddedOf(c, x, d))
		return []tap{c.tap(at, Full(c.Builder, at.Type, 1), d)}
	case "linear":
		return c.linearTaps(op.paddedOf(c, x, d), d)
	}
	if op.Padding == "reflection" {
		x = op.mirroredOf(c, x, d)
	}
	first := c.Node(Floor{}, x)
	part := c.sub(x, first)
	var taps []tap
	for k, distance := range []*ir.Value{c.plus(part, 1), part, c.from(1, part), c.from(2, part)} {
		taps = append(taps, c.tap(op.paddedOf(c, c.plus(first, float64(k-1)), d), cubicWeight(c, distance, k == 0 || k == 3), d))
	}
	return taps
}

// cubicWeight returns the weights of the elements at distances x from a point, for cubic interpolation. The
// distances are at most 1, or from 1 to 2 if `far` is set.
func cubicWeight(c calculus, x *ir.Value, far bool) *ir.Value {
	const a = gridCubicA
	terms := [4]float64{1, 0, -(a + 3), a + 2}
	if far {
		terms = [4]float64{-4 * a, 8 * a, -5 * a, a}
	}
	y := c.num(x, terms[3])
	for i := 2; i >= 0; i-- {
		y = c.plus(c.mul(y, x), terms[i])
	}
	return y
}

// paddedOf appends the coordinates x, clamped or reflected as Padding says. The elements of the axis are at the
// coordinates 0 to d−1.
func (op GridSample) paddedOf(c calculus, x *ir.Value, d dim.Dim) *ir.Value {
	switch op.Padding {
	case "border":
		return c.within(x, c.last(x, d))
	case "reflection":
		return c.within(op.mirroredOf(c, x, d), c.last(x, d))
	}
	return x
}

// mirroredOf appends the coordinates x for an axis of extent d, reflected as [GridSample.mirrored] does.
func (op GridSample) mirroredOf(c calculus, x *ir.Value, d dim.Dim) *ir.Value {
	low, length := -0.5, d
	if op.AlignCorners { // on an axis with one element all coordinates are equal
		low, length = 0, d.Sub(dim.Const(1)).Max(dim.Const(1))
	}
	both := c.extent(x, length.Mul(dim.Const(2)))
	x = c.Node(Mod{Truncated: true}, c.Node(Abs{}, c.plus(x, -low)), both)
	return c.plus(c.Node(Min{}, x, c.sub(both, x)), low)
}

// Flops counts two operations for each element that a point reads.
func (op GridSample) Flops(in, out []ir.Type) dim.Dim {
	n := out[0].Elems().Mul(dim.Const(2))
	for range in[0].Rank() - 2 {
		n = n.Mul(dim.Const(gridTaps[op.Mode]))
	}
	return n
}

func importGridSample(c ir.Importer) ([]*ir.Value, error) {
	op := GridSample{
		Mode:         c.Text("mode", "linear"),
		Padding:      c.Text("padding_mode", "zeros"),
		AlignCorners: c.Int("align_corners", 0) != 0,
	}
	switch op.Mode {
	case "bilinear":
		op.Mode = "linear"
	case "bicubic":
		op.Mode = "cubic"
	}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0), c.Arg(1))}, nil
}
