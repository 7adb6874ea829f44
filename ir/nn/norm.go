package nn

import (
	"fmt"

	"github.com/burngen/burngen/ir/op"
)

func normalising(options []NormOption) normOptions {
	n := normOptions{epsilon: 1e-5, momentum: 0.1}
	for _, o := range options {
		o.norm(&n)
	}
	return n
}

func (n normOptions) params(shape ...int) (weight, bias Param) {
	if !n.noAffine {
		weight = NewParam(Constant(1), shape...)
		if !n.noBias {
			bias = NewParam(Constant(0), shape...)
		}
	}
	return weight, bias
}

// epsilon32 returns epsilon rounded to float32, as operators hold it.
func (n normOptions) epsilon32() float64 { return float64(float32(n.epsilon)) }

func (n normOptions) unmade(constructor string) error {
	if n.epsilon == 0 && n.momentum == 0 {
		return fmt.Errorf("use nn.%s", constructor)
	}
	return nil
}

// BatchNorm normalises each channel (axis 1). Inference uses running statistics. Training uses the statistics of
// the batch, and updates the running statistics. BatchNorm stands for PyTorch's BatchNorm1d, BatchNorm2d and
// BatchNorm3d.
type BatchNorm struct {
	Weight, Bias            Param
	RunningMean, RunningVar Buffer
	norm                    normOptions
}

// NewBatchNorm returns a batch normalisation of this number of channels.
func NewBatchNorm(channels int, options ...NormOption) BatchNorm {
	b := BatchNorm{norm: normalising(options)}
	b.Weight, b.Bias = b.norm.params(channels)
	b.RunningMean, b.RunningVar = NewBuffer(0, channels), NewBuffer(1, channels)
	return b
}

func (b BatchNorm) check() error { return b.norm.unmade("NewBatchNorm") }

// Forward normalises x, [N, channels, …].
func (b BatchNorm) Forward(x Value) Value {
	required(b)
	mean := b.RunningMean.Value()
	if x.Rank() < 2 || !x.Dim(1).Equal(mean.Dim(0)) {
		Param{p: b.RunningMean.p}.failAt("input %s, layer expects %s channels", x.typ(), mean.Dim(0))
	}
	weight, bias := b.Weight.orNone(), b.Bias.orNone()
	if !weight.Valid() {
		weight = OnesLike(mean)
	}
	if !bias.Valid() {
		bias = ZerosLike(mean)
	}
	return one(op.BatchNormalization{Epsilon: b.norm.epsilon32(), Momentum: 1 - b.norm.momentum}, x, weight, bias, mean, b.RunningVar.Value())
}

// GroupNorm normalises each group of channels (axis 1) separately for each element of the batch.
type GroupNorm struct {
	Weight, Bias Param
	groups       int
	channels     int
	norm         normOptions
}

// NewGroupNorm returns a normalisation of channels in this number of groups.
func NewGroupNorm(groups, channels int, options ...NormOption) GroupNorm {
	if groups < 1 || channels%groups != 0 {
		fail("%d channels in %d groups", channels, groups)
	}
	g := GroupNorm{groups: groups, channels: channels, norm: normalising(options)}
	g.Weight, g.Bias = g.norm.params(channels)
	return g
}

func (g GroupNorm) check() error { return g.norm.unmade("NewGroupNorm") }

// Forward normalises x, [N, channels, …].
func (g GroupNorm) Forward(x Value) Value {
	required(g)
	return g.norm.groups(x, g.groups, g.channels, g.Weight, g.Bias)
}

func (n normOptions) groups(x Value, groups, channels int, weight, bias Param) Value {
	if x.Rank() < 2 || !x.Dim(1).Equal(channels) {
		fail("input %s, layer expects %d channels", x.typ(), channels)
	}
	y := x.Reshape(x.Dim(0), groups, -1)
	y = one(op.LayerNormalization{Axis: 2, Epsilon: n.epsilon32()}, y).Reshape(shapeOf(x)...)
	if weight.Valid() {
		y = y.Mul(perChannel(weight.Value(), x.Rank()))
	}
	if bias.Valid() {
		y = y.Add(perChannel(bias.Value(), x.Rank()))
	}
	return y
}

// InstanceNorm normalises each channel (axis 1) separately for each element of the batch.
type InstanceNorm struct {
	Weight, Bias Param
	channels     int
	norm         normOptions
}

// NewInstanceNorm returns a normalisation of this number of channels.
func NewInstanceNorm(channels int, options ...NormOption) InstanceNorm {
	i := InstanceNorm{channels: channels, norm: normalising(options)}
	i.Weight, i.Bias = i.norm.params(channels)
	return i
}

func (i InstanceNorm) check() error { return i.norm.unmade("NewInstanceNorm") }

// Forward normalises x, [N, channels, …].
func (i InstanceNorm) Forward(x Value) Value {
	required(i)
	return i.norm.groups(x, i.channels, i.channels, i.Weight, i.Bias)
}

// LayerNorm normalises over the last axes, to mean 0 and variance 1.
type LayerNorm struct {
	Weight, Bias Param
	shape        []int
	norm         normOptions
}

// NewLayerNorm returns a normalisation over the last axis, of `features` elements.
func NewLayerNorm(features int, options ...NormOption) LayerNorm {
	return NewLayerNormOf([]int{features}, options...)
}

// NewLayerNormOf returns a normalisation over the last len(shape) axes, whose extents must be `shape`; see
// [NewLayerNorm].
func NewLayerNormOf(shape []int, options ...NormOption) LayerNorm {
	l := LayerNorm{shape: shape, norm: normalising(options)}
	l.Weight, l.Bias = l.norm.params(shape...)
	return l
}

func (l LayerNorm) check() error { return l.norm.unmade("NewLayerNorm") }

// Forward normalises x over the last axes.
func (l LayerNorm) Forward(x Value) Value {
	required(l)
	return one(op.LayerNormalization{Axis: lastAxes(x, l.shape), Epsilon: l.norm.epsilon32()}, x, l.Weight.orNone(), l.Bias.orNone())
}

// lastAxes returns the index of the first normalised axis of x. It panics with an [*Error] unless the shape of x
// ends with `shape`.
func lastAxes(x Value, shape []int) int {
	first := x.Rank() - len(shape)
	for i, n := range shape {
		if first < 0 || !x.Dim(first+i).Equal(n) {
			fail("input %s, layer expects %v last", x.typ(), shape)
		}
	}
	return first
}

// RMSNorm divides its input by the root mean square over the last axis, and multiplies the quotient by a weight.
type RMSNorm struct {
	Weight Param
	shape  []int
	norm   normOptions
}

// NewRMSNorm returns a normalisation over the last axis, of `features` elements.
func NewRMSNorm(features int, options ...NormOption) RMSNorm {
	r := RMSNorm{shape: []int{features}, norm: normalising(options)}
	r.norm.noBias = true
	r.Weight, _ = r.norm.params(features)
	return r
}

func (r RMSNorm) check() error { return r.norm.unmade("NewRMSNorm") }

// Forward normalises x over the last axis.
func (r RMSNorm) Forward(x Value) Value {
	required(r)
	return one(op.RMSNormalization{Axis: lastAxes(x, r.shape), Epsilon: r.norm.epsilon32()}, x, r.Weight.orNone())
}

// LocalResponseNorm divides each element by (K + Alpha/Size·s)^Beta. s is the sum of squares of the elements at the
// same position in Size adjacent channels. The element's channel is in the middle of these channels. Size is odd.
type LocalResponseNorm struct {
	Size           int
	Alpha, Beta, K float64
}

// NewLocalResponseNorm returns a normalisation over `size` channels, with Alpha 1e-4, Beta 0.75 and
// K 1.
func NewLocalResponseNorm(size int) LocalResponseNorm {
	return LocalResponseNorm{size, 1e-4, 0.75, 1}
}

// Forward normalises x, [N, C, …].
func (l LocalResponseNorm) Forward(x Value) Value {
	return one(op.LRN{Size: l.Size, Alpha: l.Alpha, Beta: l.Beta, Bias: l.K}, x)
}
