package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importInstanceNormalization reads InstanceNormalization, which normalises each
// channel of each element of the batch, [N,C,…], and then scales and shifts the
// channels: a [LayerNormalization] over all that follows the channels.
func importInstanceNormalization(c ir.Importer) ([]*ir.Value, error) {
	consumed(c)
	x := c.Arg(0)
	if x.Type.Rank() < 3 {
		return nil, fmt.Errorf("%s has no spatial axes", x.Type)
	}
	y := normalizeGroups(c, x.Type.Shape[1])
	return []*ir.Value{scaleChannels(c.Builder(), y, c.Arg(1), c.Arg(2))}, nil
}

// importGroupNormalization reads GroupNormalization, which normalises groups of
// channels as InstanceNormalization does single ones. Before opset 21 the scale
// and bias have an element for each group.
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
			return nil, fmt.Errorf("stash_type %d is no float", c.Int("stash_type", 1))
		}
		return []*ir.Value{scaleChannels(b, normalizeGroups(c, ir.Const(groups)), scale, bias)}, nil
	}
	y := normalizeGroups(c, ir.Const(groups))
	shape := x.Type.Shape
	y = reshape(b, y, shape[0], ir.Const(groups), ir.Product(shape[1:]...).FloorDiv(ir.Const(groups)))
	return []*ir.Value{reshape(b, scaleChannels(b, y, scale, bias), shape...)}, nil
}

// normalizeGroups appends operand 0, [N,C,…], with each of so many groups of
// channels brought to mean 0 and variance 1.
func normalizeGroups(c ir.Importer, groups ir.Dim) *ir.Value {
	b, x := c.Builder(), c.Arg(0)
	shape := x.Type.Shape
	size, ok := ir.Product(shape[1:]...).DivExact(groups)
	if !ok {
		size = ir.Product(shape[1:]...).FloorDiv(groups)
	}
	op := LayerNormalization{Axis: 2, Epsilon: c.Float("epsilon", float64(float32(1e-5)))}
	return reshape(b, b.Node(op, reshape(b, x, shape[0], groups, size)), shape...)
}

// scaleChannels appends x, [N,C,…], times a scale, plus a bias, both [C].
func scaleChannels(b *ir.Builder, x, scale, bias *ir.Value) *ir.Value {
	spatial := x.Type.Rank() - 2
	for _, v := range []*ir.Value{scale, bias} {
		if v.Type.Rank() != 1 {
			ir.Fail("scale or bias %s, rank 1 expected", v.Type)
		}
		if err := same(v.Type.Shape[0], x.Type.Shape[1], "scale or bias and channels"); err != nil {
			ir.FailWith(err)
		}
	}
	x = b.Node(Mul{}, x, reshape(b, scale, perChannel(scale.Type.Shape[0], spatial)...))
	return b.Node(Add{}, x, reshape(b, bias, perChannel(bias.Type.Shape[0], spatial)...))
}
