package storage

import (
	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Convolutions on channel-blocked operands.

// relayoutConv is the [rule] of convolutions. It computes n in the channel-blocked layout, over one
// or two spatial axes. A planar operand with few channels stays planar, because most lanes would be
// empty.
func relayoutConv(b *ir.Builder, n *ir.Node, o op.Conv, l Layouts) *ir.Value {
	x, w, bias := n.Arg(0), n.Arg(1), n.Arg(2)
	shape, ok := w.Type.Static()
	if !ok || !blockable(x.Type) || shape[0] == 0 {
		return nil
	}
	channels := shape[1] * o.Group
	depthwise := o.Group > 1 && o.Group == channels && shape[0] == channels
	if y := relayoutWinograd(b, n, o, l); y != nil {
		return y
	}
	lanes := block
	if l.Blocked(x) == nil && !depthwise && fewChannels(channels) {
		lanes = 1
	} else {
		x = l.Block(x)
	}
	if bias != nil {
		bias = blockVector(b, bias)
	}
	if depthwise {
		kernel := op.LenOf(o.Kernel)
		w = b.Node(Block{}, b.Node(op.Reshape{Shape: dim.Consts(1, channels, kernel)}, w))
		kh, kw := o.Plane()
		w = b.Node(op.Reshape{Shape: []dim.Dim{w.Type.Shape[1], dim.Const(kh), dim.Const(kw), dim.Const(block)}}, w)
		return b.Node(DepthwiseBlocked{Window: o.Window, C: channels}, x, w, bias)
	}
	w = b.Node(PackConv{Group: o.Group, InBlock: lanes}, w)
	return b.Node(ConvBlocked{Window: o.Window, InC: channels, OutC: shape[0], Group: o.Group}, x, w, bias)
}

// relayoutWinograd computes n by the Winograd algorithm. It returns nil if the algorithm does not
// apply or is not faster. It also returns nil if weights are transformed at each call: in training,
// the coarser rounding would change which elements a rectifier passes.
func relayoutWinograd(b *ir.Builder, n *ir.Node, o op.Conv, l Layouts) *ir.Value {
	if l.Raw() {
		return nil
	}
	x, w := n.Arg(0), n.Arg(1)
	for i := range o.Kernel {
		if o.Kernel[i] != 3 || o.Stride(i) != 1 || o.Dilation(i) != 1 || len(o.Kernel) != 2 {
			return nil
		}
	}
	channels, _ := w.Type.Static()
	f := Filtering{InC: channels[1] * o.Group, OutC: channels[0], Group: o.Group, Tile: 4}
	if f.check() != nil || l.Blocked(x) == nil && fewChannels(f.InC) {
		return nil
	}
	y := n.Results[0].Type.Shape
	f.Tile = l.Tile(cost.Conv{
		N: AssumedBatch(y[0]), InC: f.InC, OutC: f.OutC, Group: f.Group,
		OutH: AssumedExtent(y[2]), OutW: AssumedExtent(y[3]),
	})
	if f.Tile == 0 {
		return nil
	}
	bias := n.Arg(2)
	if bias != nil {
		bias = blockVector(b, bias)
	}
	blocked := WinogradBlocked{Tile: f.Tile, Pads: o.Padding(x.Type.Shape[2:]), InC: f.InC, OutC: f.OutC, Group: f.Group}
	return withExtents(b, b.Node(blocked, l.Block(x), b.Node(PackWinograd{Tile: f.Tile, Group: f.Group}, w), bias), n)
}

// relayoutConvData is the [rule] of [op.ConvData]. It computes the blocked result of n from the
// blocked form of the gradient, with packed weights.
func relayoutConvData(b *ir.Builder, n *ir.Node, o op.ConvData, l Layouts) *ir.Value {
	g, w := l.Block(n.Arg(0)), n.Arg(1)
	if g == nil || !o.HasKernel(w.Type) {
		return nil
	}
	shape, _ := w.Type.Static()
	return b.Node(ConvDataBlocked{Window: o.Window, InC: shape[1], OutC: shape[0], Spatial: o.Spatial}, g, b.Node(PackConvData{}, w))
}

// relayoutConvWeights is the [rule] of [op.ConvWeights]. It leaves n unchanged if no kernel computes n
// on blocked operands, or if x is planar and has few channels. Otherwise it computes n from the
// blocked forms of x and g.
func relayoutConvWeights(b *ir.Builder, n *ir.Node, o op.ConvWeights, l Layouts) *ir.Value {
	x, g := n.Arg(0), n.Arg(1)
	inC, outC, ok := o.HasKernel(x.Type, o.ChannelsFirst(g.Type))
	if !ok || o.First || o.Group > 1 || l.Blocked(x) == nil && fewChannels(inC) {
		return nil
	}
	return b.Node(ConvWeightsBlocked{Window: o.Window, InC: inC, OutC: outC}, l.Block(x), l.Block(g))
}

// fewChannels reports whether c is so small that blocking c channels for one convolution is assumed to cost more than
// reading them planar.
func fewChannels(c int) bool { return c < block || c <= 2*block && c%block != 0 }
