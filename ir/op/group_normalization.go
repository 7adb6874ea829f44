package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// GroupNormalization splits the channels of x, floats [N,C,…], into Groups groups, and normalises each group to
// mean 0 and variance 1. It then applies a scale and an optional bias of each channel, [C]. The result is (x −
// mean)/√(variance + Epsilon)·scale + bias. Epsilon has the precision of an f32. C is constant, and Groups divides
// it (ONNX GroupNormalization from opset 21 on, InstanceNormalization).
type GroupNormalization struct {
	Groups  int
	Epsilon float64
}

// Infer returns the type of x.
func (op GroupNormalization) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 3); err != nil {
		return nil, err
	}
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	x := in[0]
	if x.Rank() < 2 {
		return nil, fmt.Errorf("%s has no channels", x)
	}
	if c, ok := x.Shape[1].Int(); !ok || op.Groups < 1 || c%op.Groups != 0 {
		return nil, fmt.Errorf("%s channels in %d groups", x.Shape[1], op.Groups)
	}
	for i, t := range in[1:] {
		if !t.IsZero() && !t.Equal(ir.TensorOf(x.DType, x.Shape[1])) {
			return nil, fmt.Errorf("operand %d is %s, an element for each channel of %s expected", i+1, t, x)
		}
	}
	return in[:1], nil
}

// Eval returns the normalised x, in x's shape, computed in float64.
func (op GroupNormalization) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	y := ir.NewTensor(x.DType, x.Shape...)
	pixels, channels := LenOf(x.Shape[2:]), x.Shape[1]
	row := make([]float64, channels/op.Groups*pixels)
	for first := 0; first < y.Len(); first += len(row) {
		for i := range row {
			row[i] = x.Float(first + i)
		}
		mean := sum(row) / float64(len(row))
		for i := range row {
			row[i] -= mean
		}
		scaleBy(row, 1/math.Sqrt(squares(row)/float64(len(row))+op.Epsilon))
		for i, v := range row {
			c := (first + i) / pixels % channels
			if v *= in[1].Float(c); len(in) > 2 && in[2] != nil {
				v = float64(v) + in[2].Float(c)
			}
			y.SetFloat(first+i, v)
		}
	}
	return []*ir.Tensor{y}, nil
}

// Overwrites allows the result to reuse the memory of x.
func (GroupNormalization) Overwrites() []int { return []int{0} }

// Flops counts seven operations for each element.
func (GroupNormalization) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(7)) }

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (GroupNormalization) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

func importInstanceNormalization(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	x := c.Arg(0)
	if x.Type.Rank() < 3 {
		return nil, fmt.Errorf("%s has no spatial axes", x.Type)
	}
	y := normalizeGroups(c, x.Type.Shape[1])
	return []*ir.Value{scaleChannels(c.Builder(), y, c.Arg(1), c.Arg(2))}, nil
}

func importGroupNormalization(c ir.Importer) ([]*ir.Value, error) {
	b, x, scale, bias := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2)
	if x.Type.Rank() < 2 {
		return nil, fmt.Errorf("%s has no channels", x.Type)
	}
	groups := c.Int("num_groups", 0)
	channels := x.Type.Shape[1]
	if n, ok := channels.Int(); groups < 1 || ok && n%groups != 0 {
		return nil, fmt.Errorf("%s channels in %d groups", channels, groups)
	}
	if c.Opset() >= 21 {
		if _, ok := stashTypes[c.Int("stash_type", 1)]; !ok {
			return nil, fmt.Errorf("stash_type %d is not a float", c.Int("stash_type", 1))
		}
		return []*ir.Value{scaleChannels(b, normalizeGroups(c, dim.Const(groups)), scale, bias)}, nil
	}
	y := normalizeGroups(c, dim.Const(groups))
	shape := x.Type.Shape
	y = ReshapeTo(b, y, shape[0], dim.Const(groups), dim.Product(shape[1:]...).FloorDiv(dim.Const(groups)))
	return []*ir.Value{ReshapeTo(b, scaleChannels(b, y, scale, bias), shape...)}, nil
}

// normalizeGroups appends operand 0, [N,C,…], whose groups of channels are normalised to mean 0 and variance 1.
func normalizeGroups(c ir.Importer, groups dim.Dim) *ir.Value {
	b, x := c.Builder(), c.Arg(0)
	shape := x.Type.Shape
	size, ok := dim.Product(shape[1:]...).DivExact(groups)
	if !ok {
		size = dim.Product(shape[1:]...).FloorDiv(groups)
	}
	op := LayerNormalization{Axis: 2, Epsilon: c.Float("epsilon", float64(float32(1e-5)))}
	return ReshapeTo(b, b.Node(op, ReshapeTo(b, x, shape[0], groups, size)), shape...)
}

// scaleChannels appends x·scale + bias, where x is [N,C,…], and scale and bias are [C].
func scaleChannels(b *ir.Builder, x, scale, bias *ir.Value) *ir.Value {
	spatial := x.Type.Rank() - 2
	all := []*ir.Value{scale, bias, x}
	for i, v := range all[:2] {
		if v.Type.Rank() != 1 {
			ir.Fail("scale or bias %s, rank 1 expected", v.Type)
		}
		agree(b, all[i].Type.Shape[0], all[2].Type.Shape[1], "scale or bias and channels", all)
	}
	scale, bias, x = all[0], all[1], all[2]
	x = b.Node(Mul{}, x, ReshapeTo(b, scale, perChannel(scale.Type.Shape[0], spatial)...))
	return b.Node(Add{}, x, ReshapeTo(b, bias, perChannel(bias.Type.Shape[0], spatial)...))
}
