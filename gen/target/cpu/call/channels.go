package call

import (
	"fmt"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var channels = []entry{
	computes(channelMix),
	computes(channelMoments),
	computes(channelSums),
}

func channelMix(o op.ChannelMix, n node) kernel.Call {
	images, pixels, err := sizes(n.Arg(0).Type, o.C)
	if err != nil {
		return none("%w", err)
	}
	return kernel.ChannelMix(n.out(0), n.in(0), n.in(1), n.in(2), images, dim.Const(o.C), pixels)
}

func channelMoments(o op.ChannelMoments, n node) kernel.Call {
	images, pixels, err := sizes(n.Arg(0).Type, o.C)
	if err != nil {
		return none("%w", err)
	}
	return kernel.ChannelMoments(n.out(0), n.in(0), images, dim.Const(o.C), pixels)
}

func channelSums(o op.ChannelSums, n node) kernel.Call {
	images, pixels, err := sizes(n.Arg(0).Type, o.C)
	if err != nil {
		return none("%w", err)
	}
	return kernel.ChannelSums(n.out(0), n.in(0), n.in(1), n.in(2), images, dim.Const(o.C), pixels)
}

// sizes returns the numbers of images and pixels of x, channel-blocked with c channels. It returns
// an error if x is not channel-blocked or c is 0.
func sizes(x ir.Type, c int) (images, pixels dim.Dim, err error) {
	end, err := op.SpatialEnd(x, true)
	if c == 0 || err != nil {
		return images, pixels, fmt.Errorf("no kernel for %s", x)
	}
	return x.Shape[0], dim.Product(x.Shape[2:end]...), nil
}
