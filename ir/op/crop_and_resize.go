package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importCropAndResize imports CropAndResize of com.microsoft. A box in an image is [y1,x1,y2,x2]. Along each axis,
// the coordinate 0 is the first pixel of the image, and 1 is the last pixel. The operator samples crop_size points
// of the box at equal distances. The first and last points are on the box's edges. A point gets the value of the
// nearest pixel, or is interpolated between four pixels. Outside of the image it gets extrapolation_value. The
// import computes this along each axis as a product with a matrix of weights.
func importCropAndResize(c ir.Importer) ([]*ir.Value, error) {
	b, x, boxes := c.Builder(), c.Arg(0), c.Arg(1)
	if x.Type.Rank() != 4 || boxes.Type.Rank() != 2 || !boxes.Type.Shape[1].Equal(dim.Const(4)) {
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
	d, one, n := x.Type.DType, dim.Const(1), boxes.Type.Shape[0]
	images := b.Node(Gather{}, x, checked(b, c.Arg(2), x.Type.Shape[0], batchIndex, "images"))
	var weights, inside [2]*ir.Value
	for i, points := range size {
		extent := x.Type.Shape[2+i]
		last := ConvertTo(b, ReshapeTo(b, b.Dims(extent.Sub(one))), d)
		at := cropPoints(b, sliceAxis(b, boxes, 1, dim.Const(i), one), sliceAxis(b, boxes, 1, dim.Const(2+i), one), last, points)
		pixels := b.Node(Range{Count: extent}, b.Scalar(d, 0), b.Scalar(d, 1))
		shape := []dim.Dim{n, one, one, one}
		shape[2+i] = dim.Const(points)
		at = ReshapeTo(b, at, shape...)
		inside[i] = b.Node(And{}, b.Node(GreaterOrEqual{}, at, b.Scalar(d, 0)), b.Node(LessOrEqual{}, at, last))
		if i == 1 {
			pixels = ReshapeTo(b, pixels, extent, one)
		}
		weights[i] = weigh(b, at, pixels)
	}
	y := b.Node(MatMul{}, b.Node(MatMul{}, weights[0], images), weights[1])
	outside := b.Scalar(d, c.Float("extrapolation_value", 0))
	return []*ir.Value{b.Node(Where{}, b.Node(And{}, inside[0], inside[1]), y, outside)}, nil
}

// cropPoints appends the positions of `points` points at equal distances from `first` to `end`: [N,points]. first
// and end are fractions of an axis, and last is the index of the axis's last element. If points is 1, it appends
// the middle.
func cropPoints(b *ir.Builder, first, end, last *ir.Value, points int) *ir.Value {
	d := first.Type.DType
	if points == 1 {
		return times(b, b.Node(Mul{}, b.Node(Add{}, first, end), last), 0.5)
	}
	step := b.Node(Mul{}, b.Node(Sub{}, end, first), last)
	step = b.Node(Div{}, step, b.Scalar(d, float64(points-1)))
	count := b.Node(Range{Count: dim.Const(points)}, b.Scalar(d, 0), b.Scalar(d, 1))
	return b.Node(Add{}, b.Node(Mul{}, first, last), b.Node(Mul{}, count, step))
}

// linearWeights appends the weight of each pixel for each point: 1 minus the distance between the two, but at least
// 0. points holds the positions of the points, and pixels the positions of the pixels. The two broadcast.
func linearWeights(b *ir.Builder, points, pixels *ir.Value) *ir.Value {
	far := b.Node(Abs{}, b.Node(Sub{}, points, pixels))
	return b.Node(Relu{}, b.Node(Sub{}, b.Scalar(points.Type.DType, 1), far))
}

// nearestWeights appends the weight of each pixel for each point: 1 for the pixel nearest to the point, and 0 for
// others. If two pixels are equally near, the one with the larger index has the weight 1. points holds the
// positions of the points, and pixels the positions of the pixels. The two broadcast.
func nearestWeights(b *ir.Builder, points, pixels *ir.Value) *ir.Value {
	d := points.Type.DType
	nearest := b.Node(Floor{}, b.Node(Add{}, points, b.Scalar(d, 0.5)))
	return ConvertTo(b, b.Node(Equal{}, nearest, pixels), d)
}
