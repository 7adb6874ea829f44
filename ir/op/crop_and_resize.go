package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// importCropAndResize reads CropAndResize of com.microsoft: of a box in an image,
// [y1,x1,y2,x2] in parts of the image's extents less one, crop_size points at even
// distances, the first and the last on the box's edges. A point has the value of the
// nearest pixel, or is interpolated between four; outside the image it has a value of
// its own. Along each axis that is a product with a matrix of weights.
func importCropAndResize(c ir.Importer) ([]*ir.Value, error) {
	b, x, boxes := c.Builder(), c.Arg(0), c.Arg(1)
	if x.Type.Rank() != 4 || boxes.Type.Rank() != 2 || !boxes.Type.Shape[1].Equal(ir.Const(4)) {
		return nil, fmt.Errorf("boxes %s of images %s", boxes.Type, x.Type)
	}
	size, err := knownInts(c, 3, "crop_size")
	if err != nil {
		return nil, err
	}
	if len(size) != 2 || min(size[0], size[1]) < 1 || max(size[0], size[1]) > math.MaxInt32 {
		return nil, fmt.Errorf("crop_size %v", size)
	}
	weigh := linearWeights
	switch mode := c.Text("mode", "bilinear"); mode {
	case "bilinear":
	case "nearest":
		weigh = nearestWeights
	default:
		return nil, fmt.Errorf("unknown mode %q", mode)
	}
	d, one, n := x.Type.DType, ir.Const(1), boxes.Type.Shape[0]
	images := b.Node(Gather{}, x, checked(b, c.Arg(2), x.Type.Shape[0], batchIndex, "images"))
	var weights, inside [2]*ir.Value
	for i, points := range size {
		extent := x.Type.Shape[2+i]
		last := convert(b, reshape(b, b.Dims(extent.Sub(one))), d)
		at := cropPoints(b, sliceAxis(b, boxes, 1, ir.Const(i), one), sliceAxis(b, boxes, 1, ir.Const(2+i), one), last, points)
		pixels := b.Node(Range{Count: extent}, b.Scalar(d, 0), b.Scalar(d, 1))
		shape := []ir.Dim{n, one, one, one}
		shape[2+i] = ir.Const(points)
		at = reshape(b, at, shape...)
		inside[i] = b.Node(And{}, b.Node(GreaterOrEqual{}, at, b.Scalar(d, 0)), b.Node(LessOrEqual{}, at, last))
		if i == 1 {
			pixels = reshape(b, pixels, extent, one)
		}
		weights[i] = weigh(b, at, pixels)
	}
	y := b.Node(MatMul{}, b.Node(MatMul{}, weights[0], images), weights[1])
	outside := b.Scalar(d, c.Float("extrapolation_value", 0))
	return []*ir.Value{b.Node(Where{}, b.Node(And{}, inside[0], inside[1]), y, outside)}, nil
}

// cropPoints appends the places of points from first to last part of an extent, or of
// the one in the middle: [N,points].
func cropPoints(b *ir.Builder, first, end, last *ir.Value, points int) *ir.Value {
	d := first.Type.DType
	if points == 1 {
		return times(b, b.Node(Mul{}, b.Node(Add{}, first, end), last), 0.5)
	}
	step := b.Node(Mul{}, b.Node(Sub{}, end, first), last)
	step = b.Node(Div{}, step, b.Scalar(d, float64(points-1)))
	count := b.Node(Range{Count: ir.Const(points)}, b.Scalar(d, 0), b.Scalar(d, 1))
	return b.Node(Add{}, b.Node(Mul{}, first, last), b.Node(Mul{}, count, step))
}

// linearWeights appends 1 less the distance from each point to each pixel, where that
// is not negative.
func linearWeights(b *ir.Builder, at, pixels *ir.Value) *ir.Value {
	far := b.Node(Abs{}, b.Node(Sub{}, at, pixels))
	return b.Node(Relu{}, b.Node(Sub{}, b.Scalar(at.Type.DType, 1), far))
}

// nearestWeights appends 1 for the pixel that is nearest to each point, the greater of
// two, and 0 for others.
func nearestWeights(b *ir.Builder, at, pixels *ir.Value) *ir.Value {
	d := at.Type.DType
	nearest := b.Node(Floor{}, b.Node(Add{}, at, b.Scalar(d, 0.5)))
	return convert(b, b.Node(Equal{}, nearest, pixels), d)
}
