package nn

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Pool is a pooling layer. It reduces each window over its input to one element.
type Pool struct {
	kind    string
	axes    int
	maximum bool
	// Adaptive pools have sizes; other pools have a window.
	sizes  []Extent
	window window
}

func pooling(kind string, axes int, maximum bool, kernel int, options []PoolOption) Pool {
	w := window{kernel: []int{kernel}, groups: 1}
	for _, o := range options {
		o.pool(&w)
	}
	if w.stride == nil {
		w.stride = w.kernel
	}
	w.complete(axes, 1, 1)
	return Pool{kind: kind, axes: axes, maximum: maximum, window: w}
}

// NewMaxPool1d returns a maximum pool over one axis. Windows have `kernel` elements along the axis. They do not
// overlap unless [Stride] is given.
func NewMaxPool1d(kernel int, options ...PoolOption) Pool {
	return pooling("MaxPool1d", 1, true, kernel, options)
}

// NewMaxPool2d is like [NewMaxPool1d] over two axes.
func NewMaxPool2d(kernel int, options ...PoolOption) Pool {
	return pooling("MaxPool2d", 2, true, kernel, options)
}

// NewMaxPool3d is like [NewMaxPool1d] over three axes.
func NewMaxPool3d(kernel int, options ...PoolOption) Pool {
	return pooling("MaxPool3d", 3, true, kernel, options)
}

// NewAvgPool1d returns an average pool over one axis. Windows have `kernel` elements along the axis. They do not
// overlap unless [Stride] is given. Averages include the padding unless [NoCountPad] is given.
func NewAvgPool1d(kernel int, options ...PoolOption) Pool {
	return pooling("AvgPool1d", 1, false, kernel, options)
}

// NewAvgPool2d is like [NewAvgPool1d] over two axes.
func NewAvgPool2d(kernel int, options ...PoolOption) Pool {
	return pooling("AvgPool2d", 2, false, kernel, options)
}

// NewAvgPool3d is like [NewAvgPool1d] over three axes.
func NewAvgPool3d(kernel int, options ...PoolOption) Pool {
	return pooling("AvgPool3d", 3, false, kernel, options)
}

// NewAdaptiveAvgPool1d returns an average pool from [N, C, W] to [N, C, w], for any static W.
func NewAdaptiveAvgPool1d(w int) Pool {
	return Pool{kind: "AdaptiveAvgPool1d", axes: 1, sizes: []Extent{w}}
}

// NewAdaptiveAvgPool2d returns an average pool from [N, C, H, W] to [N, C, h, w], for any static H
// and W.
func NewAdaptiveAvgPool2d(h, w int) Pool {
	return Pool{kind: "AdaptiveAvgPool2d", axes: 2, sizes: []Extent{h, w}}
}

// NewAdaptiveAvgPool3d returns an average pool from [N, C, D, H, W] to [N, C, d, h, w], for any
// static D, H and W.
func NewAdaptiveAvgPool3d(d, h, w int) Pool {
	return Pool{kind: "AdaptiveAvgPool3d", axes: 3, sizes: []Extent{d, h, w}}
}

// NewAdaptiveMaxPool2d returns a maximum pool from [N, C, H, W] to [N, C, h, w], for any static H
// and W.
func NewAdaptiveMaxPool2d(h, w int) Pool {
	return Pool{kind: "AdaptiveMaxPool2d", axes: 2, maximum: true, sizes: []Extent{h, w}}
}

// MaxPool1d returns the maximum of each window over x, [N, C, W]; see [NewMaxPool1d].
func MaxPool1d(x Value, kernel int, options ...PoolOption) Value {
	return NewMaxPool1d(kernel, options...).apply(x)
}

// MaxPool2d returns the maximum of each window over x, [N, C, H, W]; see [NewMaxPool2d].
func MaxPool2d(x Value, kernel int, options ...PoolOption) Value {
	return NewMaxPool2d(kernel, options...).apply(x)
}

// MaxPool3d returns the maximum of each window over x, [N, C, D, H, W]; see [NewMaxPool3d].
func MaxPool3d(x Value, kernel int, options ...PoolOption) Value {
	return NewMaxPool3d(kernel, options...).apply(x)
}

// AvgPool1d returns the mean of each window over x, [N, C, W]; see [NewAvgPool1d].
func AvgPool1d(x Value, kernel int, options ...PoolOption) Value {
	return NewAvgPool1d(kernel, options...).apply(x)
}

// AvgPool2d returns the mean of each window over x, [N, C, H, W]; see [NewAvgPool2d].
func AvgPool2d(x Value, kernel int, options ...PoolOption) Value {
	return NewAvgPool2d(kernel, options...).apply(x)
}

// AvgPool3d returns the mean of each window over x, [N, C, D, H, W]; see [NewAvgPool3d].
func AvgPool3d(x Value, kernel int, options ...PoolOption) Value {
	return NewAvgPool3d(kernel, options...).apply(x)
}

// AdaptiveAvgPool1d divides the axis W of x, [N, C, W], into w windows, and returns their means, [N, C, w]. Windows
// may overlap.
func AdaptiveAvgPool1d(x Value, w int) Value { return NewAdaptiveAvgPool1d(w).apply(x) }

// AdaptiveAvgPool2d divides each image of x, [N, C, H, W], into h × w windows, and returns their means, [N, C, h,
// w]. Windows may overlap.
func AdaptiveAvgPool2d(x Value, h, w int) Value { return NewAdaptiveAvgPool2d(h, w).apply(x) }

// AdaptiveAvgPool3d divides each volume of x, [N, C, D, H, W], into d × h × w windows, and returns their means, [N,
// C, d, h, w]. Windows may overlap.
func AdaptiveAvgPool3d(x Value, d, h, w int) Value { return NewAdaptiveAvgPool3d(d, h, w).apply(x) }

// AdaptiveMaxPool2d divides each image of x, [N, C, H, W], into h × w windows, and returns their maxima, [N, C, h,
// w]. Windows may overlap.
func AdaptiveMaxPool2d(x Value, h, w int) Value { return NewAdaptiveMaxPool2d(h, w).apply(x) }

// GlobalAvgPool returns the mean over the axes after the channels. The extents of these axes become
// 1.
func GlobalAvgPool(x Value) Value { return one(op.GlobalAveragePool{}, x) }

func (p Pool) check() error {
	if p.kind == "" {
		return made(Param{}, "NewMaxPool2d or its like")
	}
	return nil
}

// Forward applies the layer to x.
func (p Pool) Forward(x Value) Value { required(p); return p.apply(x) }

func (p Pool) apply(x Value) Value {
	if x.Rank() != p.axes+2 {
		fail("input %s has rank %d, %d expected", x.typ(), x.Rank(), p.axes+2)
	}
	if p.sizes != nil {
		return p.adaptive(x)
	}
	w := p.window
	o := op.Window{Kernel: w.kernel, Strides: w.stride, Dilations: w.dilation, Pads: slices.Concat(w.padding, w.padding), Ceil: w.ceil}
	if p.maximum {
		return one(op.MaxPool{Window: o}, x)
	}
	return one(op.AveragePool{Window: o, CountPad: !w.noCountPad}, x)
}

// adaptive applies an adaptive pool. It gives each axis after the channels a fixed number of windows. Window i holds
// the elements [⌊i·in/out⌋, ⌈(i+1)·in/out⌉) of an axis, where in is the extent of the axis and out is the number of
// windows. The windows have equal sizes if in is a multiple of out.
func (p Pool) adaptive(x Value) Value {
	if !p.maximum && !slices.ContainsFunc(p.sizes, func(n Extent) bool { return n != 1 }) {
		return GlobalAvgPool(x)
	}
	w := op.Window{}
	for i, size := range p.sizes {
		in, out := x.Dim(i+2).Int(), size.(int)
		if out < 1 {
			fail("%d windows", out)
		}
		if in%out != 0 || in == 0 {
			return p.uneven(x)
		}
		w.Kernel = append(w.Kernel, in/out)
	}
	w.Strides = w.Kernel
	if p.maximum {
		return one(op.MaxPool{Window: w}, x)
	}
	return one(op.AveragePool{Window: w}, x)
}

// uneven applies an adaptive pool whose windows have different sizes, axis by axis. It computes means as a product
// with a matrix. For maxima it gathers windows of equal size, in which a short window repeats an element.
func (p Pool) uneven(x Value) Value {
	for i, size := range p.sizes {
		axis := i + 2
		in, out := x.Dim(axis).Int(), size.(int)
		ends := func(i int) (from, to int) { return i * in / out, ((i+1)*in + out - 1) / out }
		if !p.maximum {
			means := matrixOf(in, out, func(r, c int) float64 {
				if from, to := ends(c); from <= r && r < to {
					return 1 / float64(to-from)
				}
				return 0
			})
			x = x.MoveDim(axis, -1).MatMul(means.Cast(x.DType())).MoveDim(-1, axis)
			continue
		}
		width := 0
		for i := range out {
			from, to := ends(i)
			width = max(width, to-from)
		}
		places := ir.NewTensor(I64, out, width)
		for i := range out * width {
			from, to := ends(i / width)
			places.SetInt(i, int64(min(from+i%width, to-1)))
		}
		x = x.Select(axis, constant(places)).Max(axis + 1).Squeeze(axis + 1)
	}
	return x
}

// Interpolate resizes the axes after the channels to sizes. mode is "nearest", "nearest-exact", "linear" (also
// "bilinear" and "trilinear"), "cubic" (also "bicubic") or "lanczos", a filter with three lobes that leaves out
// elements outside of x. The first and last elements of the result along each axis are aligned with the first and
// last elements of x: their centres if alignCorners is true, and otherwise their outer edges. Interpolate panics
// with an [*Error] for alignCorners with a nearest mode.
func Interpolate(x Value, mode string, alignCorners bool, sizes ...Extent) Value {
	if len(sizes) != x.Rank()-2 {
		fail("%d extents for %s", len(sizes), x.typ())
	}
	o := op.Resize{Coordinates: "half_pixel", Shape: slices.Concat(slices.Clone(x.typ().Shape[:2]), extents(sizes)), Scales: make([]float64, x.Rank())}
	switch mode {
	case "nearest":
		o.Mode, o.Coordinates, o.Rounding = "nearest", "asymmetric", "floor"
	case "nearest-exact":
		o.Mode, o.Rounding = "nearest", "round_prefer_ceil"
	case "linear", "bilinear", "trilinear":
		o.Mode = "linear"
	case "cubic", "bicubic":
		o.Mode, o.CubicA = "cubic", -0.75
	case "lanczos":
		o.Mode, o.ExcludeOutside = "lanczos", true
	default:
		fail("unknown mode %q", mode)
	}
	if alignCorners {
		if o.Mode == "nearest" {
			fail("alignCorners with mode %q", mode)
		}
		o.Coordinates = "align_corners"
	}
	return one(o, x)
}

// Upsample is a layer that resizes the axes after the channels to Scale times their extents; see [Interpolate].
type Upsample struct {
	Scale        int
	Mode         string
	AlignCorners bool
}

// Forward applies the layer to x.
func (u Upsample) Forward(x Value) Value {
	var sizes []Extent
	for i := 2; i < x.Rank(); i++ {
		sizes = append(sizes, x.Dim(i).Mul(u.Scale))
	}
	return Interpolate(x, u.Mode, u.AlignCorners, sizes...)
}

// PixelShuffle rearranges [N, C·r², H, W] to [N, C, H·r, W·r].
func PixelShuffle(x Value, r int) Value {
	if x.Rank() != 4 {
		fail("input %s, rank 4 expected", x.typ())
	}
	n, c, h, w := x.Dim(0), x.Dim(1).Div(r*r), x.Dim(2), x.Dim(3)
	return x.Reshape(n, c, r, r, h, w).Permute(0, 1, 4, 2, 5, 3).Reshape(n, c, h.Mul(r), w.Mul(r))
}

// PixelUnshuffle rearranges [N, C, H·r, W·r] to [N, C·r², H, W].
func PixelUnshuffle(x Value, r int) Value {
	if x.Rank() != 4 {
		fail("input %s, rank 4 expected", x.typ())
	}
	n, c, h, w := x.Dim(0), x.Dim(1), x.Dim(2).Div(r), x.Dim(3).Div(r)
	return x.Reshape(n, c, h, r, w, r).Permute(0, 1, 3, 5, 2, 4).Reshape(n, c.Mul(r*r), h, w)
}

// Unfold4d returns the windows of x, [N, C, H, W], as columns: [N, C·h·w, windows] (PyTorch Unfold). The windows are
// h × w, where h and w are `kernel` unless [Kernel] is given. The distance between adjacent windows is 1 unless
// [Stride] is given.
func Unfold4d(x Value, kernel int, options ...PoolOption) Value {
	w := pooling("Unfold4d", 2, true, kernel, append([]PoolOption{Stride(1)}, options...)).window
	x = x.Pad("constant", 0, w.padding[1], w.padding[1], w.padding[0], w.padding[0])
	n, c := x.Dim(0), x.Dim(1)
	for i := range 2 {
		places := x.Dim(2 + 2*i).Sub(w.dilation[i] * (w.kernel[i] - 1)).Sub(1).Div(w.stride[i]).Add(1)
		from := Arange(w.kernel[i]).Mul(w.dilation[i]).Unsqueeze(1)
		x = x.Select(2+2*i, from.Add(Arange(places).Mul(w.stride[i]))) // [N, C, h, H', …]
	}
	return x.Permute(0, 1, 2, 4, 3, 5).Reshape(n, c.Mul(w.kernel[0]*w.kernel[1]), -1)
}

// Fold4d adds windows, the columns of x, [N, C·h·w, windows], into images, [N, C, height, width]. It is the
// transpose of [Unfold4d] and takes the same options (PyTorch Fold).
func Fold4d(x Value, height, width Extent, kernel int, options ...PoolOption) Value {
	w := pooling("Fold4d", 2, true, kernel, append([]PoolOption{Stride(1)}, options...)).window
	return one(op.Col2Im{Image: extents([]Extent{height, width}), Block: dim.Consts(w.kernel...), Strides: w.stride, Dilations: w.dilation, Pads: slices.Concat(w.padding, w.padding)}, x)
}

// GridSample samples x, [N, C, H, W], at the coordinates in grid, [N, H', W', 2]. The result is [N, C, H', W']. The
// last axis of grid holds a column and a row. If alignCorners is true, −1 and 1 are the centres of the first and
// the last element along an axis of x. Otherwise they are the outer edges of these elements. mode is "nearest",
// "linear" (also "bilinear") or "cubic" (also "bicubic"). padding is "zeros", "border" or "reflection".
func GridSample(x, grid Value, mode, padding string, alignCorners bool) Value {
	if mode == "bilinear" || mode == "bicubic" {
		mode = mode[2:]
	}
	return one(op.GridSample{Mode: mode, Padding: padding, AlignCorners: alignCorners}, x, grid)
}

// AffineGrid returns a grid [N, height, width, 2] for [GridSample]. matrices are [N, 2, 3]. Element (n, y, x) of the
// grid is matrices[n]·(column, row, 1), where column and row are the coordinates of pixel (y, x) of the result of
// GridSample, from −1 to 1 as [GridSample] defines them.
func AffineGrid(matrices Value, height, width int, alignCorners bool) Value {
	line := func(n int) Value {
		t := ir.NewTensor(F32, n)
		for i := range n {
			at := float64(2*i+1)/float64(n) - 1
			if alignCorners {
				at = -1 + 2*float64(i)/math.Max(float64(n-1), 1)
			}
			t.SetFloat(i, at)
		}
		return constant(t)
	}
	y, x := line(height).Unsqueeze(1).Expand(height, width), line(width).Expand(height, width)
	places := Stack(-1, x, y, OnesLike(x)).Reshape(height*width, 3)
	return places.Cast(matrices.DType()).MatMul(matrices.T()).Reshape(-1, height, width, 2)
}
