package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importCausalConvWithState imports CausalConvWithState (from opset 27). It convolves each channel of x, [B,C,L],
// with K weights, [C,1,K], adds a bias, and applies the optional activation SiLU. The result at a position depends
// on the K elements that end at this position. The state, [B,C,K−1], holds the elements before x. The new state is
// the last K−1 elements of the old state and x together.
func importCausalConvWithState(c ir.Importer) ([]*ir.Value, error) {
	b, x, w, bias, past := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2), c.Arg(3)
	if x.Type.Rank() != 3 || w.Type.Rank() != 3 {
		return nil, fmt.Errorf("%s with weights %s, rank 3 expected", x.Type, w.Type)
	}
	channels, ok := w.Type.Shape[0].Int()
	size, okSize := w.Type.Shape[2].Int()
	if !ok || !okSize || channels < 1 || size < 1 {
		return nil, fmt.Errorf("weights %s, a constant shape expected", w.Type)
	}
	carried := dim.Const(size - 1)
	before := []dim.Dim{x.Type.Shape[0], x.Type.Shape[1], carried}
	if past == nil && size > 1 {
		past = ExpandTo(b, b.Scalar(x.Type.DType, 0), before...)
	}
	if size > 1 {
		x = b.Node(Concat{Axis: 2}, past, x)
	}
	y := b.Node(Conv{Window: Window{Kernel: []int{size}}, Group: channels}, x, w, bias)
	switch activation := c.Text("activation", "none"); activation {
	case "none":
	case "silu", "swish":
		y = b.Node(Swish{Alpha: 1}, y)
	default:
		return nil, fmt.Errorf("activation %q", activation)
	}
	out := []*ir.Value{y, sliceAxis(b, x, 2, x.Type.Shape[2].Sub(carried), carried)}
	return out[:max(c.NumResults(), 1)], nil
}
