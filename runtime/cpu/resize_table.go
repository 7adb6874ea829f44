package cpu

import (
	"fmt"
	"math"
	"strconv"
)

// A ResizeSpec describes the sampling of ONNX Resize along an axis.
type ResizeSpec struct {
	Mode        string  // "nearest", "linear", "cubic" or "lanczos"
	Coordinates string  // coordinate_transformation_mode
	Rounding    string  // nearest_mode, or "simple": floor for scales of at least 1, ceil below
	Scale       float64 // points per element; 0 for the quotient of the extents
	Start, End  float64 // the region under tf_crop_and_resize, as shares of the axis
	CubicA      float64 // cubic_coeff_a

	ExcludeOutside bool // elements outside have weight 0; else they repeat the edge
	AntiAlias      bool // widen the filter for scales below 1
}

// A ResizeError reports an attempt to resize an empty axis to Out elements.
type ResizeError struct{ Out int }

// Error returns a message with both extents.
func (e *ResizeError) Error() string {
	return "cpu: resize of no elements to " + strconv.Itoa(e.Out)
}

// ResizeNearestTable computes a table for [ResizeNearest] (ONNX Resize, mode nearest): output point
// i takes input element idx[i]. The axis has `in` elements and is sampled at `out` points. sampling
// is empty, or holds three values that replace Scale, Start and End of spec. ResizeNearestTable
// returns a [ResizeError] if `in` is 0 and `out` is not.
func ResizeNearestTable(idx []int32, in, out int, spec *ResizeSpec, sampling []float64) error {
	axis, err := resizeAxisOf(in, out, spec, sampling)
	if err != nil {
		return err
	}
	for i := range trim(idx, out) {
		idx[i] = axis.clamp(axis.round(axis.place(float64(i))))
	}
	return nil
}

// ResizeTable computes tables for [ResizeLinear] and [ResizeAxis] (ONNX Resize). For each of `out`
// points, idx holds the `taps` elements that the point reads, and weights holds their weights. Both
// have out·taps entries. The axis has `in` elements. taps is even: 2 for mode linear, 4 for cubic,
// 6 for lanczos, and more if the filter is widened; see [ResizeTaps]. sampling is empty, or holds
// three values that replace Scale, Start and End of spec. ResizeTable returns a [ResizeError] if
// `in` is 0 and `out` is not.
func ResizeTable(idx []int32, weights []float32, in, out, taps int, spec *ResizeSpec, sampling []float64) error {
	axis, err := resizeAxisOf(in, out, spec, sampling)
	if err != nil {
		return err
	}
	n := volume(out, taps)
	idx, weights = trim(idx, n), trim(weights, n)
	for i := range out {
		x := axis.place(float64(i))
		first := math.Floor(x) - float64(taps/2-1)
		sum := 1.0
		if spec.ExcludeOutside || spec.AntiAlias || spec.Mode == "lanczos" {
			sum = axis.sum(x, first, taps)
		}
		for t := range taps {
			at := first + float64(t)
			idx[i*taps+t], weights[i*taps+t] = axis.clamp(at), float32(axis.weight(x, at)/sum)
		}
	}
	return nil
}

// ResizeTaps returns the argument `taps` of [ResizeTable] for a widened filter: the number of
// elements that each point reads. The mode must not be nearest. If `out` is 0, it returns 2. It
// returns an error if a point reads more than 4096 elements, and a [ResizeError] if `in` is 0 and
// `out` is not.
func ResizeTaps(in, out int, spec *ResizeSpec, sampling []float64) (int, error) {
	axis, err := resizeAxisOf(in, out, spec, sampling)
	if err != nil || out == 0 {
		return 2, err
	}
	reach := 1.0
	switch spec.Mode {
	case "cubic":
		reach = 2
	case "lanczos":
		reach = 3
	}
	const most = 4096
	if reach /= axis.filter; !(reach <= most/2) {
		return 0, fmt.Errorf("cpu: resize of %d elements to %d reads more than %d at once", in, out, most)
	}
	return 2 * int(math.Ceil(reach)), nil
}

// ResizeOutside reports which points of a resized axis are outside of the axis (ONNX Resize,
// tf_crop_and_resize): dst[i] is true if point i is. The axis has `in` elements and is sampled at
// `out` points. ResizeOutside returns a [ResizeError] if `in` is 0 and `out` is not.
func ResizeOutside(dst []bool, in, out int, spec *ResizeSpec, sampling []float64) error {
	axis, err := resizeAxisOf(in, out, spec, sampling)
	if err != nil {
		return err
	}
	for i := range trim(dst, out) {
		x := axis.place(float64(i))
		dst[i] = x < 0 || x > axis.last
	}
	return nil
}

// resizeAxis is an axis that Resize samples at `out` points.
type resizeAxis struct {
	*ResizeSpec
	start, end       float64 // region of interest, as fractions of the axis
	scale, last, out float64 // last is the number of the last element
	length           float64 // of the result before it is rounded
	filter           float64 // scale of distances in the filter
}

func resizeAxisOf(in, out int, spec *ResizeSpec, sampling []float64) (resizeAxis, error) {
	if in <= 0 && out > 0 {
		return resizeAxis{}, &ResizeError{out}
	}
	a := resizeAxis{
		ResizeSpec: spec, start: spec.Start, end: spec.End,
		scale: spec.Scale, last: float64(in) - 1, out: float64(out), filter: 1,
	}
	if len(sampling) > 0 {
		a.scale, a.start, a.end = sampling[0], sampling[1], sampling[2]
	}
	a.length = float64(a.scale * float64(in))
	if a.scale == 0 {
		a.scale, a.length = a.out/float64(in), a.out
	}
	if spec.AntiAlias {
		a.filter = min(a.scale, 1)
	}
	return a, nil
}

// ResizedExtent returns the extent of axis i after a resize: shape[i]·scales[i] (ONNX Resize). If
// near is true, the product is rounded to the nearest integer, halves up. Otherwise it is computed
// in f32 and rounded down. ResizedExtent returns an error unless there is a scale for each axis,
// scales[i] is positive, and the product is at most 2³¹−1.
func ResizedExtent(scales []float64, shape []int, near bool, i int) (int, error) {
	if len(scales) != len(shape) {
		return 0, fmt.Errorf("cpu: %d scales for %d axes", len(scales), len(shape))
	}
	n := float64(float32(float32(shape[i]) * float32(scales[i])))
	if near {
		n = math.Floor(float64(scales[i]*float64(shape[i])) + 0.5)
	}
	if !(scales[i] > 0) || !(n <= math.MaxInt32) {
		return 0, fmt.Errorf("cpu: axis %d: %d elements by scale %g", i, shape[i], scales[i])
	}
	return int(n), nil
}

// place returns the coordinate of point i on the axis of the input, in elements.
func (a *resizeAxis) place(i float64) float64 {
	switch a.Coordinates {
	case "half_pixel_symmetric":
		adjustment := a.out / a.length
		return float64((a.last+1)/2*(1-adjustment)) + (i+0.5)/a.scale - 0.5
	case "pytorch_half_pixel":
		if a.out <= 1 {
			return 0
		}
	case "align_corners":
		if a.out <= 1 {
			return 0
		}
		return float64(i*a.last) / (a.length - 1)
	case "asymmetric":
		return i / a.scale
	case "tf_half_pixel_for_nn":
		return (i + 0.5) / a.scale
	case "tf_crop_and_resize":
		if a.out <= 1 {
			return float64(0.5 * float64((a.start+a.end)*a.last))
		}
		return float64(a.start*a.last) + float64(i*float64((a.end-a.start)*a.last))/(a.length-1)
	}
	return (i+0.5)/a.scale - 0.5
}

// round returns the index for a coordinate in mode nearest.
func (a *resizeAxis) round(x float64) float64 {
	switch a.Rounding {
	case "round_prefer_ceil":
		return math.Floor(x + 0.5)
	case "floor":
		return math.Floor(x)
	case "ceil":
		return math.Ceil(x)
	case "simple":
		if a.scale < 1 {
			return math.Ceil(x)
		}
		return math.Floor(x)
	}
	return math.Ceil(x - 0.5)
}

// clamp returns the index of the element at coordinate x. The index is clamped to the axis, and is
// 0 if x is NaN.
func (a *resizeAxis) clamp(x float64) int32 {
	if !(x > 0) {
		return 0
	}
	return int32(min(x, a.last))
}

// sum returns the sum of the weights of elements [first, first+taps), for a point at coordinate x. It
// returns 1 if the sum is 0.
func (a *resizeAxis) sum(x, first float64, taps int) float64 {
	sum := 0.0
	for t := range taps {
		sum += a.weight(x, first+float64(t))
	}
	if sum == 0 {
		return 1
	}
	return sum
}

// weight returns the weight of element number `at`, for a point at coordinate x.
func (a *resizeAxis) weight(x, at float64) float64 {
	if a.ExcludeOutside && (at < 0 || at > a.last) {
		return 0
	}
	d := math.Abs(float64((at - x) * a.filter))
	switch a.Mode {
	case "linear":
		return max(0, 1-d)
	case "lanczos":
		return lanczos(d)
	}
	c := a.CubicA
	switch {
	case d <= 1:
		return float64((float64((c+2)*d)-(c+3))*float64(d*d)) + 1
	case d < 2:
		return float64(float64(float64(float64(c*d)-float64(5*c))*d+float64(8*c))*d) - float64(4*c)
	}
	return 0
}

// lanczos returns the value of the Lanczos filter with three lobes at distance d.
func lanczos(d float64) float64 {
	switch {
	case d == 0:
		return 1
	case d >= 3:
		return 0
	}
	x := math.Pi * d
	return 3 * math.Sin(x) * math.Sin(x/3) / float64(x*x)
}
