package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// MaxRoiPool divides regions of x, [N,C,H,W], into bins, and returns the maximum of each bin (ONNX MaxRoiPool). The
// result is [R,C,Height,Width]. The second operand, of x's element type, has a row for each of R regions: the index
// of the image, and x1, y1, x2, y2. An image index out of range is an error at run time. The corners are multiplied
// by Scale and rounded. (x1, y1) is then the first element of the region, and (x2, y2) the last. A region is at
// least 1 wide and high. If the border between two bins is inside an element, both bins include the element. An
// empty bin is 0.
type MaxRoiPool struct {
	Height, Width int
	Scale         float64
}

// Infer returns [R,C,Height,Width].
func (op MaxRoiPool) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	shape, err := regionShape(in[0], in[1], 5, op.Height, op.Width)
	if err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(in[0].DType, shape...)}, nil
}

// Flops counts one comparison for each element of x and each region, and one for each bin.
func (MaxRoiPool) Flops(in, out []ir.Type) dim.Dim { return regionFlops(in, out, 1) }

// Eval returns the maximum of each bin, [R,C,Height,Width]. It computes coordinates in the
// operand's element type. It returns an error if an image index is out of range.
func (op MaxRoiPool) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	x, regions := in[0], in[1]
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	round := func(v float64) float64 { return ir.RoundFloat(wide(x.DType), v) }
	// bin returns the elements of a bin along an axis.
	bin := func(r, first, bin, bins, extent int) (from, to int) {
		place := func(i int) float64 {
			return inside(math.Round(round(regions.Float(5*r+i)*round(op.Scale))), -math.MaxInt32, math.MaxInt32)
		}
		start := place(first)
		length := max(place(first+2)-start+1, 1)
		clamp := func(v float64) int { return int(inside(v+start, 0, float64(extent))) }
		step := round(length / float64(bins))
		return clamp(math.Floor(round(float64(bin) * step))), clamp(math.Ceil(round(float64(bin+1) * step)))
	}
	for r := range shape[0] {
		image := inside(math.Floor(regions.Float(5*r)), math.MinInt32, math.MaxInt32)
		if err := checkIndex(int64(image), x.Shape[0], batchIndex, "images"); err != nil {
			return nil, err
		}
	}
	bins := op.Height * op.Width
	for i := range y.Len() {
		r, c := i/bins/shape[1], i/bins%shape[1]
		plane := (int(regions.Float(5*r))*shape[1] + c) * x.Shape[2] * x.Shape[3]
		fromY, toY := bin(r, 2, i%bins/op.Width, op.Height, x.Shape[2])
		fromX, toX := bin(r, 1, i%op.Width, op.Width, x.Shape[3])
		most, some := math.Inf(-1), false
		for at := fromY; at < toY; at++ {
			for k := fromX; k < toX; k++ {
				most, some = max(most, x.Float(plane+at*x.Shape[3]+k)), true
			}
		}
		if some {
			y.SetFloat(i, most)
		}
	}
	return []*ir.Tensor{y}, nil
}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (op MaxRoiPool) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

func importMaxRoiPool(c ir.Importer) ([]*ir.Value, error) {
	shape := c.Ints("pooled_shape", nil)
	if len(shape) != 2 {
		return nil, fmt.Errorf("pooled_shape %v, two extents expected", shape)
	}
	op := MaxRoiPool{Height: shape[0], Width: shape[1], Scale: c.Float("spatial_scale", 1)}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0), c.Arg(1))}, nil
}
