package call_test

import (
	"testing"

	"github.com/burngen/burngen/ir/op"
)

// TestChannelKernelsNeedBlocks asserts that the kernels of channels take blocked tensors of a known
// number of channels only.
func TestChannelKernelsNeedBlocks(t *testing.T) {
	checkCalls(t, []called{
		{op.ChannelMoments{Channels: op.Channels{C: 20}}, []any{"f32[N,2,5,6,16]"}, "ChannelMoments(y0 a N 20 30)"},
		{op.ChannelMoments{}, []any{"f32[N,20,5,6]"}, "no kernel for f32[N,20,5,6]"},
	})
}
