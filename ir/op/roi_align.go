package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// RoiAlign divides regions of x, [N,C,H,W], into bins, and pools each bin (ONNX RoiAlign). The result is
// [R,C,Height,Width]. The second operand holds R regions, [R,4] as x1, y1, x2, y2, of x's element type. The third
// operand holds the index of the image of each region, [R] of i32 or i64. An index out of range is an error at run
// time. The coordinates of a region are multiplied by Scale, and are then in elements of x. If HalfPixel is set,
// the centre of element i is at i + ½. Otherwise it is at i, and a region is at least 1 wide and high.
//
// Each bin has Sampling samples along each axis. If Sampling is 0, the number is the extent of the bin, rounded up.
// Each sample is interpolated between four elements. Mode "avg" is the mean of the samples. Mode "max" is the
// largest product of one of the four elements and its weight, over all samples. A sample more than one element
// outside of x is 0.
type RoiAlign struct {
	Mode          string
	Height, Width int
	Sampling      int
	Scale         float64
	HalfPixel     bool
}

const batchIndex = "batch index"

// Infer returns [R,C,Height,Width].
func (op RoiAlign) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 3); err != nil {
		return nil, err
	}
	x, regions, images := in[0], in[1], in[2]
	shape, err := regionShape(x, regions, 4, op.Height, op.Width)
	if err != nil {
		return nil, err
	}
	if err := indexType(images); err != nil {
		return nil, err
	}
	if images.Rank() != 1 {
		return nil, fmt.Errorf("images %s, rank 1 expected", images)
	}
	if err := Same(images.Shape[0], regions.Shape[0], "images and regions"); err != nil {
		return nil, err
	}
	if op.Mode != "avg" && op.Mode != "max" {
		return nil, fmt.Errorf("mode %q", op.Mode)
	}
	if op.Sampling < 0 || op.Sampling > maxSampling {
		return nil, fmt.Errorf("sampling ratio %d is out of range", op.Sampling)
	}
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

const maxSampling = 1 << 12

// regionShape returns [R,C,height,width], the shape of the result when R regions of x are pooled. It returns an
// error if x is not [N,C,H,W], if regions is not [R,numbers], or if the two do not have one float type.
func regionShape(x, regions ir.Type, numbers, height, width int) ([]dim.Dim, error) {
	if err := checkDomain([]ir.Type{x}, floats{}); err != nil {
		return nil, err
	}
	if err := sameDType([]ir.Type{x, regions}); err != nil {
		return nil, err
	}
	if x.Rank() != 4 || regions.Rank() != 2 {
		return nil, fmt.Errorf("regions %s of %s", regions, x)
	}
	if err := Same(regions.Shape[1], dim.Const(numbers), "numbers of a region"); err != nil {
		return nil, err
	}
	if min(height, width) < 0 || max(height, width) > math.MaxInt32 {
		return nil, fmt.Errorf("%d × %d bins", height, width)
	}
	return []dim.Dim{regions.Shape[0], x.Shape[1], dim.Const(height), dim.Const(width)}, nil
}

// roiAxis describes a region along an axis of x. The region begins at the coordinate start, and is divided into bins
// of length bin.
type roiAxis struct {
	start, bin float64
	samples    int // number of samples of a bin
	extent     int // extent of the axis of x
}

// inside returns a range [from, to) of the samples of a bin. Every sample for which [roiAxis.sample] returns
// elements is in this range.
func (a roiAxis) inside(bin int) (from, to int) {
	if a.samples <= maxSampling {
		return 0, a.samples
	}
	begin, most := a.start+float64(float64(bin)*a.bin), float64(a.samples)
	first := inside((-1-begin)/a.bin*most-2, 0, most)
	last := inside((float64(a.extent)-begin)/a.bin*most+2, first, most)
	return int(first), int(last)
}

// sample returns the two elements around sample k of a bin, with their weights. A coordinate from −1 to a.extent is
// clamped to the axis. sample returns nil for other coordinates. round rounds coordinates to the operand's element
// type.
func (a roiAxis) sample(bin, k int, round func(float64) float64) []gridTap {
	step := round(round((float64(k)+0.5)*a.bin) / float64(a.samples))
	at := round(round(a.start+round(float64(bin)*a.bin)) + step)
	if !(at >= -1 && at <= float64(a.extent)) || a.extent == 0 {
		return nil
	}
	last := a.extent - 1
	at = inside(at, 0, float64(last))
	first := int(at)
	return []gridTap{{first, float64(first+1) - at}, {min(first+1, last), at - float64(first)}}
}

// Flops counts 32 operations for each sample. They are a product and a sum for each of its four elements, and the
// work of finding these elements. If the number of samples depends on the regions, Flops counts one sample for each
// bin, and H·W samples for each region.
func (op RoiAlign) Flops(in, out []ir.Type) dim.Dim {
	const each = 32 // 8, plus the work of finding the elements
	if op.Sampling == 0 {
		return regionFlops(in, out, each)
	}
	return out[0].Elems().Mul(dim.Const(op.Sampling * op.Sampling * each))
}

// regionFlops counts `ops` operations for each element of `out`. It also counts, for each region, `ops` operations
// for each element of an image.
func regionFlops(in, out []ir.Type, ops int) dim.Dim {
	x, y := in[0].Shape, out[0]
	return dim.Product(y.Shape[0], x[1], x[2], x[3]).Add(y.Elems()).Mul(dim.Const(ops))
}

// Eval returns the bins, [R,C,Height,Width]. It computes coordinates in the operand's element type
// and everything else in float64. It returns an error if an image index is out of range.
func (op RoiAlign) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	x, regions := in[0], in[1]
	for i := range in[2].Len() {
		if err := checkIndex(in[2].Int(i), x.Shape[0], batchIndex, "images"); err != nil {
			return nil, err
		}
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	round := func(v float64) float64 { return ir.RoundFloat(wide(x.DType), v) }
	axis := func(r, first, bins, extent int) roiAxis {
		place := func(i int) float64 {
			v := round(regions.Float(4*r+i) * round(op.Scale))
			if op.HalfPixel {
				v = round(v - 0.5)
			}
			return v
		}
		start := place(first)
		length := round(place(first+2) - start)
		if !op.HalfPixel {
			length = inside(length, 1, math.Inf(1))
		}
		a := roiAxis{start, round(length / float64(bins)), op.Sampling, extent}
		if op.Sampling == 0 {
			a.samples = int(inside(math.Ceil(a.bin), 0, math.MaxInt32))
		}
		return a
	}
	bins, plane := op.Height*op.Width, x.Shape[2]*x.Shape[3]
	for i := range y.Len() {
		bin, c, r := i%bins, i/bins%shape[1], i/bins/shape[1]
		down, across := axis(r, 1, op.Height, x.Shape[2]), axis(r, 0, op.Width, x.Shape[3])
		image := (int(in[2].Int(r))*shape[1] + c) * plane
		count, seen := float64(down.samples)*float64(across.samples), 0
		sum, most := 0.0, math.Inf(-1)
		fromY, toY := down.inside(bin / op.Width)
		fromX, toX := across.inside(bin % op.Width)
		for ky := fromY; ky < toY; ky++ {
			rows := down.sample(bin/op.Width, ky, round)
			for kx := fromX; kx < toX; kx++ {
				columns := across.sample(bin%op.Width, kx, round)
				if rows == nil || columns == nil {
					continue
				}
				seen++
				for _, u := range rows {
					for _, v := range columns {
						product := float64(float64(u.weight*v.weight) * x.Float(image+u.at*x.Shape[3]+v.at))
						sum += product
						most = max(most, product)
					}
				}
			}
		}
		if float64(seen) < count {
			most = max(most, 0)
		}
		switch {
		case count == 0:
		case op.Mode == "max":
			y.SetFloat(i, most)
		default:
			y.SetFloat(i, sum/count)
		}
	}
	return []*ir.Tensor{y}, nil
}

// Compose replaces the node by interpolations of the elements around each sample. It returns nil if the number of
// samples is not constant.
func (op RoiAlign) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	if op.Sampling == 0 {
		return nil
	}
	c, x, regions, y := calculus{b}, n.Arg(0), n.Arg(1), n.Results[0].Type
	one, samples := dim.Const(1), dim.Const(op.Sampling)
	place := func(i int) *ir.Value {
		v := c.times(sliceAxis(b, regions, 1, dim.Const(i), one), op.Scale)
		if op.HalfPixel {
			v = c.plus(v, -0.5)
		}
		return v
	}
	points := []dim.Dim{y.Shape[0], y.Shape[2].Mul(samples), y.Shape[3].Mul(samples)}
	taps := make([][]tap, 2)
	for axis, bins := range []int{op.Height, op.Width} {
		d := x.Type.Shape[2+axis]
		start := place(1 - axis)
		length := c.sub(place(3-axis), start)
		if !op.HalfPixel {
			length = c.Node(Max{}, length, c.num(length, 1))
		}
		middles := ir.NewTensor(x.Type.DType, bins*op.Sampling)
		for i := range middles.Len() {
			middles.SetFloat(i, (float64(i)+0.5)/float64(op.Sampling))
		}
		at := c.add(start, c.mul(c.times(length, 1/float64(bins)), b.Const(middles)))
		shape := []dim.Dim{y.Shape[0], one, one}
		shape[1+axis] = points[1+axis]
		at = ReshapeTo(b, ExpandTo(b, ReshapeTo(b, at, shape...), points...), y.Shape[0], one, points[1].Mul(points[2]))
		near := c.Node(And{}, c.Node(GreaterOrEqual{}, at, c.num(at, -1)), c.Node(LessOrEqual{}, at, c.extent(at, d)))
		taps[axis] = c.linearTaps(c.within(at, c.last(at, d)), d)
		for i, t := range taps[axis] {
			taps[axis][i].weight = c.where(near, t.weight)
		}
	}
	image := b.Node(Gather{}, x, checked(b, n.Arg(2), x.Type.Shape[0], batchIndex, "images"))
	parts := c.corners(ReshapeTo(b, image, slices.Insert(slices.Clone(image.Type.Shape), 1, one)...), taps)
	bins := []dim.Dim{y.Shape[0], y.Shape[1], y.Shape[2], samples, y.Shape[3], samples}
	if op.Mode == "max" {
		most := parts[0]
		for _, p := range parts[1:] {
			most = b.Node(Max{}, most, p)
		}
		return []*ir.Value{b.Node(Reduce{Kind: ReduceMax, Axes: []int{3, 5}}, ReshapeTo(b, most, bins...))}
	}
	return []*ir.Value{b.Node(Reduce{Kind: ReduceMean, Axes: []int{3, 5}}, ReshapeTo(b, c.total(parts), bins...))}
}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (op RoiAlign) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

func importRoiAlign(c ir.Importer) ([]*ir.Value, error) {
	op := RoiAlign{
		Mode:     c.Text("mode", "avg"),
		Height:   c.Int("output_height", 1),
		Width:    c.Int("output_width", 1),
		Sampling: c.Int("sampling_ratio", 0),
		Scale:    c.Float("spatial_scale", 1),
	}
	if c.Opset() >= 16 {
		switch mode := c.Text("coordinate_transformation_mode", "half_pixel"); mode {
		case "half_pixel":
			op.HalfPixel = true
		case "output_half_pixel":
		default:
			return nil, fmt.Errorf("coordinate transformation %q", mode)
		}
	}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0), c.Arg(1), c.Arg(2))}, nil
}
