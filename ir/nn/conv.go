package nn

import (
	"slices"

	"github.com/burngen/burngen/ir/op"
)

// Conv1d is a convolution of [N, in, W]. The weight is [out, in/groups, w].
type Conv1d struct {
	Weight, Bias Param
	window       window
}

// Conv2d is a convolution of [N, in, H, W]. The weight is [out, in/groups, h, w].
type Conv2d struct {
	Weight, Bias Param
	window       window
}

// Conv3d is a convolution of [N, in, D, H, W]. The weight is [out, in/groups, d, h, w].
type Conv3d struct {
	Weight, Bias Param
	window       window
}

// NewConv1d returns a convolution from `in` to `out` channels. A window has `kernel` elements
// unless [Kernel] is given. Weight and bias are initialised as [NewConv2d] does.
func NewConv1d(in, out, kernel int, options ...ConvOption) Conv1d {
	w, b, o := newConv(1, in, out, kernel, options)
	return Conv1d{w, b, o}
}

// NewConv2d returns a convolution from `in` to `out` channels. Windows are kernel × kernel unless [Kernel] is
// given. For windows of h × w, weight and bias are initialised uniformly in [−k, k], where k = 1/√(in/groups·h·w).
// [WeightInit] sets another initialisation of the weight.
func NewConv2d(in, out, kernel int, options ...ConvOption) Conv2d {
	w, b, o := newConv(2, in, out, kernel, options)
	return Conv2d{w, b, o}
}

// NewConv3d returns a convolution from `in` to `out` channels. Windows are cubes unless [Kernel] is given. Weight
// and bias are initialised as [NewConv2d] does.
func NewConv3d(in, out, kernel int, options ...ConvOption) Conv3d {
	w, b, o := newConv(3, in, out, kernel, options)
	return Conv3d{w, b, o}
}

func (c Conv1d) check() error { return made(c.Weight, "NewConv1d") }
func (c Conv2d) check() error { return made(c.Weight, "NewConv2d") }
func (c Conv3d) check() error { return made(c.Weight, "NewConv3d") }

// Forward applies the layer. The result is [N, out, W'].
func (c Conv1d) Forward(x Value) Value { required(c); return c.window.conv(x, c.Weight, c.Bias) }

// Forward applies the layer. The result is [N, out, H', W'].
func (c Conv2d) Forward(x Value) Value { required(c); return c.window.conv(x, c.Weight, c.Bias) }

// Forward applies the layer to x. The result is [N, out, D', H', W'].
func (c Conv3d) Forward(x Value) Value { required(c); return c.window.conv(x, c.Weight, c.Bias) }

func newConv(axes, in, out, kernel int, options []ConvOption) (weight, bias Param, w window) {
	w = window{kernel: []int{kernel}, groups: 1}
	for _, o := range options {
		o.conv(&w)
	}
	w.complete(axes, in, out)
	shape := append([]int{out, in / w.groups}, w.kernel...)
	weight, bias = w.params(shape, out)
	return weight, bias, w
}

func (w *window) complete(axes, in, out int) {
	w.kernel, w.stride, w.dilation = each(w.kernel, axes, 1), each(w.stride, axes, 1), each(w.dilation, axes, 1)
	w.padding, w.outPadding = each(w.padding, axes, 0), each(w.outPadding, axes, 0)
	if w.groups < 1 || in%w.groups != 0 || out%w.groups != 0 {
		fail("%d and %d channels in %d groups", in, out, w.groups)
	}
}

// params returns a weight of the given shape, and a bias of `out` channels unless noBias is set. The bias is
// initialised uniformly in ±1/√(fan-in). So is the weight if init is nil.
func (w *window) params(shape []int, out int) (weight, bias Param) {
	fan := 1
	for _, n := range shape[1:] {
		fan *= n
	}
	if w.init == nil {
		w.init = fanIn(fan)
	}
	weight = NewParam(w.init, shape...)
	if !w.noBias {
		bias = NewParam(fanIn(fan), out)
	}
	return weight, bias
}

func (w window) conv(x Value, weight, bias Param) Value {
	shape := weight.Shape()
	if x.Rank() != len(shape) {
		weight.failAt("input %s has rank %d, layer expects %d", x.typ(), x.Rank(), len(shape))
	}
	if in := shape[1] * w.groups; !x.Dim(1).Equal(in) {
		weight.failAt("input has %s channels, layer expects %d", x.Dim(1), in)
	}
	pads := slices.Concat(w.padding, w.padding)
	if w.mode != "" && w.mode != "zeros" {
		if w.same {
			fail("PaddingMode(%q) has explicit padding only", w.mode)
		}
		var all []int
		for _, p := range slices.Backward(w.padding) {
			all = append(all, p, p)
		}
		x, pads = x.Pad(w.mode, 0, all...), nil
	}
	o := op.Conv{Window: op.Window{Kernel: w.kernel, Strides: w.stride, Dilations: w.dilation, Pads: pads}, Group: w.groups}
	if w.same {
		o.Pads, o.Same = nil, "upper"
	}
	return one(o, x, weight.Value(), bias.orNone())
}

func (p Param) orNone() Value {
	if p.p == nil {
		return Value{}
	}
	return p.Value()
}

// ConvTranspose1d is a transposed convolution of x, [N, in, W]. The weight is [in, out/groups, w].
type ConvTranspose1d struct {
	Weight, Bias Param
	window       window
}

// ConvTranspose2d is a transposed convolution of [N, in, H, W]. The weight is
// [in, out/groups, h, w].
type ConvTranspose2d struct {
	Weight, Bias Param
	window       window
}

// ConvTranspose3d is a transposed convolution of [N, in, D, H, W]. The weight is
// [in, out/groups, d, h, w].
type ConvTranspose3d struct {
	Weight, Bias Param
	window       window
}

// NewConvTranspose1d returns a transposed convolution from `in` to `out` channels. A window has `kernel` elements
// unless [Kernel] is given. Weight and bias are initialised as [NewConvTranspose2d] does.
func NewConvTranspose1d(in, out, kernel int, options ...ConvTransposeOption) ConvTranspose1d {
	w, b, o := newConvTranspose(1, in, out, kernel, options)
	return ConvTranspose1d{w, b, o}
}

// NewConvTranspose2d returns a transposed convolution from `in` to `out` channels. Windows are kernel × kernel
// unless [Kernel] is given. For windows of h × w, weight and bias are initialised uniformly in [−k, k], where k =
// 1/√(out/groups·h·w). [WeightInit] sets another initialisation of the weight.
func NewConvTranspose2d(in, out, kernel int, options ...ConvTransposeOption) ConvTranspose2d {
	w, b, o := newConvTranspose(2, in, out, kernel, options)
	return ConvTranspose2d{w, b, o}
}

// NewConvTranspose3d returns a transposed convolution from `in` to `out` channels. Windows are cubes unless
// [Kernel] is given. Weight and bias are initialised as [NewConvTranspose2d] does.
func NewConvTranspose3d(in, out, kernel int, options ...ConvTransposeOption) ConvTranspose3d {
	w, b, o := newConvTranspose(3, in, out, kernel, options)
	return ConvTranspose3d{w, b, o}
}

func (c ConvTranspose1d) check() error { return made(c.Weight, "NewConvTranspose1d") }
func (c ConvTranspose2d) check() error { return made(c.Weight, "NewConvTranspose2d") }
func (c ConvTranspose3d) check() error { return made(c.Weight, "NewConvTranspose3d") }

// Forward applies the layer to x. The result is [N, out, W'].
func (c ConvTranspose1d) Forward(x Value) Value {
	required(c)
	return c.window.convTranspose(x, c.Weight, c.Bias)
}

// Forward applies the layer to x. The result is [N, out, H', W'].
func (c ConvTranspose2d) Forward(x Value) Value {
	required(c)
	return c.window.convTranspose(x, c.Weight, c.Bias)
}

// Forward applies the layer to x. The result is [N, out, D', H', W'].
func (c ConvTranspose3d) Forward(x Value) Value {
	required(c)
	return c.window.convTranspose(x, c.Weight, c.Bias)
}

func newConvTranspose(axes, in, out, kernel int, options []ConvTransposeOption) (weight, bias Param, w window) {
	w = window{kernel: []int{kernel}, groups: 1}
	for _, o := range options {
		o.convTranspose(&w)
	}
	w.complete(axes, in, out)
	shape := append([]int{in, out / w.groups}, w.kernel...)
	weight, bias = w.params(shape, out)
	return weight, bias, w
}

func (w window) convTranspose(x Value, weight, bias Param) Value {
	shape := weight.Shape()
	if x.Rank() != len(shape) {
		weight.failAt("input %s has rank %d, layer expects %d", x.typ(), x.Rank(), len(shape))
	}
	if !x.Dim(1).Equal(shape[0]) {
		weight.failAt("input has %s channels, layer expects %d", x.Dim(1), shape[0])
	}
	crop := slices.Clone(w.padding)
	for i, p := range w.padding {
		crop = append(crop, p-w.outPadding[i])
	}
	o := op.ConvTranspose{Kernel: w.kernel, Strides: w.stride, Dilations: w.dilation, Crop: crop, Group: w.groups}
	return one(o, x, weight.Value(), bias.orNone())
}

// DeformConv2d is a deformable convolution. Offsets move the cells of its windows, the positions at which a window
// reads x. A mask multiplies the values of the cells. The weight is [out, in/groups, h, w].
type DeformConv2d struct {
	Weight, Bias Param
	window       window
	groups       int
}

// NewDeformConv2d returns a deformable convolution from `in` to `out` channels. Windows are kernel × kernel unless
// [Kernel] is given. The `in` channels form offsetGroups groups, and each group has its own offsets. [Same] and
// [PaddingMode] are not supported.
func NewDeformConv2d(in, out, kernel, offsetGroups int, options ...ConvOption) DeformConv2d {
	w, b, o := newConv(2, in, out, kernel, options)
	if o.same || o.mode != "" && o.mode != "zeros" {
		fail("Same and PaddingMode are not supported; use Padding")
	}
	return DeformConv2d{w, b, o, offsetGroups}
}

func (c DeformConv2d) check() error { return made(c.Weight, "NewDeformConv2d") }

// Forward applies the layer to x, [N, in, H, W]. The result is [N, out, H', W']. For windows of h × w, offsets are
// [N, offsetGroups·h·w·2, H', W']. They hold two numbers for each cell of a window: its offset in rows and its
// offset in columns. mask, [N, offsetGroups·h·w, H', W'], holds a factor for each cell. The zero Value is a mask of
// ones.
func (c DeformConv2d) Forward(x, offsets, mask Value) Value {
	required(c)
	w := c.window
	o := op.DeformConv{Window: op.Window{Kernel: w.kernel, Strides: w.stride, Dilations: w.dilation, Pads: slices.Concat(w.padding, w.padding)}, Group: w.groups, Offsets: c.groups}
	return one(o, x, c.Weight.Value(), offsets, c.Bias.orNone(), mask)
}
