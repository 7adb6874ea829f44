package op

import (
	"math"

	"github.com/burngen/burngen/ir/dim"
)

// CropAndResizeCoordinates is the value of Coordinates with which a [Resize] samples a region of its operand.
const CropAndResizeCoordinates = "tf_crop_and_resize"

// resizeAxis describes a [Resize] along one axis of `in` elements, to `out` points. start and end are the region of
// the axis. The other fields are the attributes of the Resize for this axis.
type resizeAxis struct {
	mode, coordinates, rounding string

	in, out            int
	length             float64 // extent of the result before it is rounded down
	scale, start, end  float64
	cubicA             float64
	exclude, antiAlias bool
}

func (op Resize) axis(i, in, out int) resizeAxis {
	return op.tableOf(i, dim.Const(in), dim.Const(out)).axis(in, out)
}

// tableOf returns the table for axis i, from `in` elements to `out` points. It does not set Taps.
func (op Resize) tableOf(i int, in, out dim.Dim) ResizeTable {
	t := ResizeTable{
		Mode: op.Mode, Coordinates: op.Coordinates, Rounding: op.Rounding, In: in, Out: out,
		CubicA: op.CubicA, ExcludeOutside: op.ExcludeOutside, AntiAlias: op.AntiAlias,
	}
	if op.Scales != nil {
		t.Scale = op.Scales[i]
	}
	if op.ROI != nil {
		t.Start, t.End = op.ROI[i], op.ROI[len(op.Shape)+i]
	}
	return t
}

// resizePlaces maps each coordinate transformation to a function. The function returns the coordinate of point i of
// the result, in elements of the operand.
var resizePlaces = map[string]func(a resizeAxis, i float64) float64{
	"half_pixel": func(a resizeAxis, i float64) float64 { return (i+0.5)/a.scale - 0.5 },
	"half_pixel_symmetric": func(a resizeAxis, i float64) float64 {
		adjustment := float64(a.out) / a.length
		offset := float64(float64(a.in) / 2 * (1 - adjustment))
		return offset + (i+0.5)/a.scale - 0.5
	},
	"pytorch_half_pixel": func(a resizeAxis, i float64) float64 {
		if a.out <= 1 {
			return 0
		}
		return (i+0.5)/a.scale - 0.5
	},
	"align_corners": func(a resizeAxis, i float64) float64 {
		if a.out <= 1 {
			return 0
		}
		return float64(i*float64(a.in-1)) / (a.length - 1)
	},
	"asymmetric":           func(a resizeAxis, i float64) float64 { return i / a.scale },
	"tf_half_pixel_for_nn": func(a resizeAxis, i float64) float64 { return (i + 0.5) / a.scale },
	CropAndResizeCoordinates: func(a resizeAxis, i float64) float64 {
		last := float64(a.in - 1)
		if a.out <= 1 {
			return 0.5 * float64((a.start+a.end)*last)
		}
		return float64(a.start*last) + float64(i*float64((a.end-a.start)*last))/(a.length-1)
	},
}

// resizeRoundings maps each rounding to a function that rounds the coordinate x to an integer. Only "simple" uses
// the scale.
var resizeRoundings = map[string]func(x, scale float64) float64{
	"round_prefer_floor": func(x, _ float64) float64 { return math.Ceil(x - 0.5) },
	"round_prefer_ceil":  func(x, _ float64) float64 { return math.Floor(x + 0.5) },
	"floor":              func(x, _ float64) float64 { return math.Floor(x) },
	"ceil":               func(x, _ float64) float64 { return math.Ceil(x) },
	"simple": func(x, scale float64) float64 {
		if scale < 1 {
			return math.Ceil(x)
		}
		return math.Floor(x)
	},
}

func (a resizeAxis) place(i int) float64 { return resizePlaces[a.coordinates](a, float64(i)) }

func (a resizeAxis) outside(i int) bool {
	x := a.place(i)
	return x < 0 || x > float64(a.in-1)
}

func (a resizeAxis) clamp(x float64) int {
	return int(min(max(x, 0), float64(a.in-1)))
}

func (a resizeAxis) nearest(i int) int {
	return a.clamp(resizeRoundings[a.rounding](a.place(i), a.scale))
}

// support returns the radius of the filter, in elements of the input. The filter is 0 at larger distances from a point.
func (a resizeAxis) support() float64 {
	return float64(resizeTaps[a.mode]) / 2 / a.filterScale()
}

// filterScale returns the factor that distances are multiplied by before weights are computed. It is below 1 if the
// filter is widened, and otherwise 1.
func (a resizeAxis) filterScale() float64 {
	if a.antiAlias {
		return min(a.scale, 1)
	}
	return 1
}

func (a resizeAxis) width() int {
	first := int(math.Floor(-a.support())) + 1
	return 2 - 2*first
}

func (a resizeAxis) taps(i int) (index []int, weights []float64) {
	x := a.place(i)
	first := math.Floor(x) - float64(a.width()/2-1)
	index, weights = make([]int, a.width()), make([]float64, a.width())
	sum := 0.0
	for t := range index {
		at := first + float64(t)
		index[t] = a.clamp(at)
		weights[t] = a.weight(float64((at - x) * a.filterScale()))
		if a.exclude && (at < 0 || at > float64(a.in-1)) {
			weights[t] = 0
		}
		sum += weights[t]
	}
	if (a.exclude || a.antiAlias || a.mode == "lanczos") && sum != 0 {
		for t := range weights {
			weights[t] /= sum
		}
	}
	return index, weights
}

func (a resizeAxis) weight(d float64) float64 {
	d = math.Abs(d)
	switch a.mode {
	case "linear":
		return max(0, 1-d)
	case "lanczos":
		return lanczos(d)
	}
	c := a.cubicA
	switch {
	case d <= 1:
		return float64((float64((c+2)*d)-(c+3))*float64(d*d)) + 1
	case d < 2:
		return float64(float64(float64(float64(c*d)-5*c)*d+8*c)*d) - 4*c
	}
	return 0
}

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
