package storage

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestChannelsOfBlocks asserts that operators along channels are computed on blocks if an operand
// is blocked.
func TestChannelsOfBlocks(t *testing.T) {
	lrn := op.LRN{Size: 3, Alpha: 0.5, Beta: 0.75, Bias: 1}
	for _, r := range []replaced{
		{lrn, []any{"f32[2,20,5,6]"}, blocks{}, "lrn"},
		{lrn, []any{"f32[2,20,5,6]"}, blocks{lanes: true}, ""},
		{op.ChannelMoments{}, []any{"f32[2,20,5,6]"}, blocks{lanes: true}, "channel_moments"},
		{op.ChannelMoments{}, []any{"f32[2,20,5,6]"}, blocks{planar: true}, ""},
		{op.ChannelMoments{}, []any{"f64[2,20,5,6]"}, blocks{}, ""},
	} {
		r.check(t)
	}
}
