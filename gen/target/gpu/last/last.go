// Package last holds operators on images whose channels are the last axis, [N,spatial…,C]. Each operator computes
// what the operator of package op computes on [N,C,spatial…]. The package does not know which values have which
// order, nor which kernels compute the operators.
package last

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Ops lists the operators of this package.
var Ops = []ir.Op{
	AveragePoolLast{},
	ConvLast{},
	DepthwiseLast{},
	GlobalAveragePoolLast{},
	MatMulRows{},
	MaxPoolLast{},
	ToLast{},
}

// Type returns the type of a tensor of type t whose second axis is moved to the end.
func Type(t ir.Type) ir.Type {
	s := t.Shape
	return ir.TensorOf(t.DType, append(append(s[:1:1], s[2:]...), s[1])...)
}

// First returns the type of a tensor of type t whose last axis becomes the second. It is the inverse of [Type].
func First(t ir.Type) ir.Type {
	s, end := t.Shape, t.Rank()-1
	return ir.TensorOf(t.DType, append([]dim.Dim{s[0], s[end]}, s[1:end]...)...)
}

// toLast and toFirst move the axis of channels of a tensor.
func toLast(x *ir.Tensor) (*ir.Tensor, error) {
	perm := []int{0}
	for i := 2; i < len(x.Shape); i++ {
		perm = append(perm, i)
	}
	return permuted(x, append(perm, 1))
}

func toFirst(x *ir.Tensor) (*ir.Tensor, error) {
	perm := []int{0, len(x.Shape) - 1}
	for i := 1; i < len(x.Shape)-1; i++ {
		perm = append(perm, i)
	}
	return permuted(x, perm)
}

func permuted(x *ir.Tensor, perm []int) (*ir.Tensor, error) {
	y, err := op.Transpose{Perm: perm}.Eval([]*ir.Tensor{x})
	if err != nil {
		return nil, err
	}
	return y[0], nil
}

// infer returns the type of o's result. o is an operator on [N,C,spatial…]. Its result and its first `images`
// operands have their channels last here: [N,spatial…,C].
func infer(o ir.Op, in []ir.Type, images int) ([]ir.Type, error) {
	if err := op.CheckTensors(in, images, images+1); err != nil {
		return nil, err
	}
	first := append([]ir.Type{}, in...)
	for i := range images {
		if in[i].Rank() < 3 {
			return nil, fmt.Errorf("%s has no batch, channels and spatial axes", in[i])
		}
		first[i] = First(in[i])
	}
	out, err := o.Infer(first)
	if err != nil {
		return nil, err
	}
	return []ir.Type{Type(out[0])}, nil
}

// eval returns o's result. o is an operator on [N,C,spatial…]. Its result and its first `images` operands have their
// channels last here: [N,spatial…,C].
func eval(o ir.Op, in []*ir.Tensor, images int) ([]*ir.Tensor, error) {
	first := append([]*ir.Tensor{}, in...)
	for i := range images {
		var err error
		if first[i], err = toFirst(in[i]); err != nil {
			return nil, err
		}
	}
	out, err := o.Eval(first)
	if err != nil {
		return nil, err
	}
	y, err := toLast(out[0])
	return []*ir.Tensor{y}, err
}

// ConvLast is [op.Conv] of x, [N,spatial…,C], with weights [M,kernel…,C/Group] and an optional bias [M]. The result is
// [N,spatial…,M].
type ConvLast struct {
	op.Window
	Group int
	Wide  bool // the result of narrow floats is f32
}

func (o ConvLast) first() op.Conv { return op.Conv{Window: o.Window, Group: o.Group, Wide: o.Wide} }

// Infer returns [N,spatial…,M] with the number of windows along each spatial axis.
func (o ConvLast) Infer(in []ir.Type) ([]ir.Type, error) { return infer(o.first(), in, 2) }

// Eval returns the convolution, with sums in float64.
func (o ConvLast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return eval(o.first(), in, 2) }

// Flops counts a multiplication and an addition for each product of two elements.
func (o ConvLast) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Product(in[1].Shape[1:]...)).Mul(dim.Const(2))
}

// Factors returns 3, for x, the weights and the bias: see [op.Product].
func (ConvLast) Factors() int { return 3 }

// Widened returns the convolution with a result of f32.
func (o ConvLast) Widened() ir.Op {
	o.Wide = true
	return o
}

// DepthwiseLast is an [op.Conv] with a group for each channel of x, [N,spatial…,C]. Its weights are
// [M/C,kernel…,C]: element (i, …, c) belongs to channel c·M/C + i of the result, [N,spatial…,M]. The bias [M] is optional.
type DepthwiseLast struct {
	op.Window
	Wide bool // the result of narrow floats is f32
}

// weights returns the type [M,1,kernel…] that an [op.Conv] wants for weights of type w, [M/C,kernel…,C].
func (o DepthwiseLast) weights(w ir.Type) (ir.Type, error) {
	if w.Rank() < 3 {
		return w, fmt.Errorf("weights %s", w)
	}
	s, end := w.Shape, w.Rank()-1
	return ir.TensorOf(w.DType, append([]dim.Dim{s[0].Mul(s[end]), dim.Const(1)}, s[1:end]...)...), nil
}

func (o DepthwiseLast) first(x ir.Type) (op.Conv, error) {
	group, ok := x.Shape[x.Rank()-1].Int()
	if !ok || group < 1 {
		return op.Conv{}, fmt.Errorf("the channels of %s are not known", x)
	}
	return op.Conv{Window: o.Window, Group: group, Wide: o.Wide}, nil
}

// Infer returns [N,spatial…,M] with the number of windows along each spatial axis.
func (o DepthwiseLast) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 2, 3); err != nil {
		return nil, err
	}
	w, err := o.weights(in[1])
	if err != nil {
		return nil, err
	}
	if in[0].Rank() < 3 {
		return nil, fmt.Errorf("%s has no batch, channels and spatial axes", in[0])
	}
	c, err := o.first(in[0])
	if err != nil {
		return nil, err
	}
	out, err := c.Infer(append([]ir.Type{First(in[0]), w}, in[2:]...))
	if err != nil {
		return nil, err
	}
	return []ir.Type{Type(out[0])}, nil
}

// Eval returns the convolution, with sums in float64.
func (o DepthwiseLast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	c, err := o.first(in[0].Type())
	if err != nil {
		return nil, err
	}
	w, err := toFirst(in[1]) // [M/C,C,kernel…]
	if err != nil {
		return nil, err
	}
	perm := []int{1, 0}
	for i := 2; i < len(w.Shape); i++ {
		perm = append(perm, i)
	}
	if w, err = permuted(w, perm); err != nil {
		return nil, err
	}
	s := w.Shape
	if out, err := (op.Reshape{Shape: dim.Consts(append([]int{s[0] * s[1], 1}, s[2:]...)...)}).Eval([]*ir.Tensor{w}); err == nil {
		w = out[0]
	} else {
		return nil, err
	}
	x, err := toFirst(in[0])
	if err != nil {
		return nil, err
	}
	out, err := c.Eval(append([]*ir.Tensor{x, w}, in[2:]...))
	if err != nil {
		return nil, err
	}
	y, err := toLast(out[0])
	return []*ir.Tensor{y}, err
}

// Flops counts a multiplication and an addition for each cell of each window.
func (o DepthwiseLast) Flops(_, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Const(2 * op.LenOf(o.Kernel)))
}

// MatMulRows is the product of x, [M…,K], and the transposed w, [N,K]. The result is [M…,N].
type MatMulRows struct {
	Wide bool // the result of narrow floats is f32
}

// Infer returns [M…,N].
func (o MatMulRows) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	w := in[1]
	if in[0].Rank() < 2 || w.Rank() != 2 {
		return nil, fmt.Errorf("a product of %s and %s", in[0], w)
	}
	return op.MatMul{Wide: o.Wide}.Infer([]ir.Type{in[0], ir.TensorOf(w.DType, w.Shape[1], w.Shape[0])})
}

// Eval returns the product, with sums in float64.
func (o MatMulRows) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w, err := permuted(in[1], []int{1, 0})
	if err != nil {
		return nil, err
	}
	return op.MatMul{Wide: o.Wide}.Eval([]*ir.Tensor{in[0], w})
}

// Flops counts a multiplication and an addition for each product of two elements.
func (MatMulRows) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(in[1].Shape[1]).Mul(dim.Const(2))
}

// Factors returns 2, for x and w: see [op.Product].
func (MatMulRows) Factors() int { return 2 }

// Widened returns the product with a result of f32.
func (MatMulRows) Widened() ir.Op { return MatMulRows{Wide: true} }

// MaxPoolLast is [op.MaxPool] of x, [N,spatial…,C].
type MaxPoolLast struct{ op.Window }

// Infer returns x's type with the number of windows along each spatial axis.
func (o MaxPoolLast) Infer(in []ir.Type) ([]ir.Type, error) {
	return infer(op.MaxPool{Window: o.Window}, in, 1)
}

// Eval returns the maximum of each window, see [op.MaxPool].
func (o MaxPoolLast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return eval(op.MaxPool{Window: o.Window}, in, 1)
}

// AveragePoolLast is [op.AveragePool] of x, [N,spatial…,C].
type AveragePoolLast struct {
	op.Window
	CountPad bool
}

func (o AveragePoolLast) first() op.AveragePool {
	return op.AveragePool{Window: o.Window, CountPad: o.CountPad}
}

// Infer returns x's type with the number of windows along each spatial axis.
func (o AveragePoolLast) Infer(in []ir.Type) ([]ir.Type, error) { return infer(o.first(), in, 1) }

// Eval returns the mean of each window, see [op.AveragePool].
func (o AveragePoolLast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return eval(o.first(), in, 1) }

// GlobalAveragePoolLast is [op.GlobalAveragePool] of x, [N,spatial…,C]. The result is [N,1…,C].
type GlobalAveragePoolLast struct{}

// Infer returns x's type with spatial extents of 1.
func (GlobalAveragePoolLast) Infer(in []ir.Type) ([]ir.Type, error) {
	return infer(op.GlobalAveragePool{}, in, 1)
}

// Eval returns the mean of each channel of each image.
func (GlobalAveragePoolLast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return eval(op.GlobalAveragePool{}, in, 1)
}

// ToLast moves the channels of x, [N,C,spatial…], to the end: [N,spatial…,Channels]. Channels from C on are zero.
type ToLast struct{ Channels int }

// Infer returns x's element type with the shape [N,spatial…,Channels].
func (o ToLast) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if x.Rank() < 3 {
		return nil, fmt.Errorf("%s has no batch, channels and spatial axes", x)
	}
	if c, ok := x.Shape[1].Int(); !ok || c > o.Channels {
		return nil, fmt.Errorf("%s in %d channels", x, o.Channels)
	}
	y := Type(x)
	y.Shape[x.Rank()-1] = dim.Const(o.Channels)
	return []ir.Type{y}, nil
}

// Eval moves the elements. Channels that x does not have are zero.
func (o ToLast) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	x, err := toLast(in[0])
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y, channels := ir.NewTensor(x.DType, shape...), in[0].Shape[1]
	for i := range x.Len() {
		y.Copy(i/channels*o.Channels+i%channels, x, i)
	}
	return []*ir.Tensor{y}, nil
}

// IsMemoryBound marks the operator as an [op.MemoryBound]: memory bandwidth limits its speed.
func (ToLast) IsMemoryBound() {}
