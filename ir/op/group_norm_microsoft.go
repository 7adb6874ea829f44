package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importGroupNorm imports GroupNorm of com.microsoft: GroupNormalization with a scale and a bias for each channel.
// The channels are the last axis of x, unless channels_last is 0. If the attribute activation is 1, the result
// passes through Swish.
func importGroupNorm(c ir.Importer) ([]*ir.Value, error) {
	return groupNorm(c, c.Arg(0))
}

// importSkipGroupNorm imports SkipGroupNorm of com.microsoft. It adds x, skip and an optional bias, [C], and
// applies GroupNorm to the sum. skip is [N,C], or has the rank of x and broadcasts to x. The second result is the
// sum.
func importSkipGroupNorm(c ir.Importer) ([]*ir.Value, error) {
	b, sum := c.Builder(), c.Arg(0)
	for _, v := range []*ir.Value{c.Arg(3), c.Arg(4)} {
		if v == nil {
			continue
		}
		if v.Type.Rank() < sum.Type.Rank() {
			v = channelVector(b, v, sum.Type.Rank(), isChannelsLast(c))
		}
		sum = b.Node(Add{}, sum, v)
	}
	out, err := groupNorm(c, sum)
	if err == nil && c.NumResults() > 1 {
		out = append(out, sum)
	}
	return out, err
}

func isChannelsLast(c ir.Importer) bool { return c.Int("channels_last", 1) != 0 }

// channelVector appends v, [C] or [N,C], reshaped so that it broadcasts to a tensor of rank `rank`. last says that
// the channels are the tensor's last axis. channelVector panics, as [ir.Fail] does, if v has another rank.
func channelVector(b *ir.Builder, v *ir.Value, rank int, last bool) *ir.Value {
	if r := v.Type.Rank(); r != 1 && r != 2 {
		ir.Fail("%s is neither of all elements nor of the channels", v.Type)
	}
	shape := make([]dim.Dim, rank)
	for i := range shape {
		shape[i] = dim.Const(1)
	}
	if v.Type.Rank() == 2 {
		shape[0] = v.Type.Shape[0]
	}
	at := 1
	if last {
		at = rank - 1
	}
	shape[at] = v.Type.Shape[v.Type.Rank()-1]
	return ReshapeTo(b, v, shape...)
}

// groupNorm appends the GroupNorm of x. It computes in f32 if x has a narrower type.
func groupNorm(c ir.Importer, x *ir.Value) ([]*ir.Value, error) {
	b, d := c.Builder(), x.Type.DType
	groups, activation := c.Int("groups", 0), c.Int("activation", 0)
	if x.Type.Rank() < 3 {
		return nil, fmt.Errorf("%s has no spatial axes", x.Type)
	}
	last := isChannelsLast(c)
	y := ConvertTo(b, x, wide(d))
	if last {
		y = channelsToFront(b, y)
	}
	channels := y.Type.Shape[1]
	if n, ok := channels.Int(); groups < 1 || ok && n%groups != 0 {
		return nil, fmt.Errorf("%s channels in %d groups", channels, groups)
	}
	y = normalizeGroups(withArgs(c, y), dim.Const(groups))
	y = scaleChannels(b, y, ConvertTo(b, c.Arg(1), wide(d)), ConvertTo(b, c.Arg(2), wide(d)))
	switch activation {
	case 0:
	case 1:
		y = b.Node(Swish{Alpha: 1}, y)
	default:
		return nil, fmt.Errorf("activation %d is neither 0 nor 1", activation)
	}
	if last {
		y = channelsToBack(b, y)
	}
	return []*ir.Value{ConvertTo(b, y, d)}, nil
}
