package pass

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/cost"
	"github.com/burngen/burngen/ir/op"
)

// unblockConvs computes convolutions of planar tensors as they are, where these would be
// blocked for one alone and that takes more time than it saves: a depthwise one whose result
// is unblocked, and a product of pixels.
func unblockConvs(ctx *Context, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs {
		for _, rewrite := range []func(*Context, *ir.Builder, *ir.Node) []*ir.Value{planarResult, planarPixels} {
			c, err := f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value { return rewrite(ctx, b, n) })
			if err != nil {
				return changed, fmt.Errorf("@%s: %w", f.Name, err)
			}
			f.Prune()
			changed = changed || c
		}
	}
	return changed, nil
}

// planarResult returns the result of n, which unblocks that of a convolution of blocked
// operands, computed of what they were before.
func planarResult(ctx *Context, b *ir.Builder, n *ir.Node) []*ir.Value {
	if _, ok := n.Op.(op.Unblock); !ok || n.Args[0].Def == nil || b.Uses(n.Args[0]) != 1 {
		return nil
	}
	conv := n.Args[0].Def
	switch o := conv.Op.(type) {
	case op.DepthwiseBlocked:
		return planarDepthwise(ctx, b, n, conv, o)
	case op.ConvBlocked:
		return planarProduct(ctx, b, n, conv, o)
	}
	return nil
}

// planarDepthwise returns the planar result, that of n, of a depthwise convolution.
func planarDepthwise(ctx *Context, b *ir.Builder, n, conv *ir.Node, o op.DepthwiseBlocked) []*ir.Value {
	if b.Uses(conv.Args[0]) != 1 || !op.FitsPlanar(o.Window) {
		return nil
	}
	args := planarOperands(conv)
	if args == nil || !ctx.costs().Planes(depthwiseOf(o, args[0].Type.Shape, n.Results[0].Type.Shape)) {
		return nil
	}
	args[1] = planarWeights(b, args[1], o.C)
	b.At(joinPos(conv.Pos, n.Pos))
	return b.NodeBlocks(op.DepthwisePlanar(o), conv.Blocks, args...)
}

// planarProduct returns the planar result, that of n, of a convolution of single pixels.
func planarProduct(ctx *Context, b *ir.Builder, n, conv *ir.Node, o op.ConvBlocked) []*ir.Value {
	w, x := unpacked(conv), conv.Args[0]
	if w == nil || !ofPixels(o) || x.Type.Rank() == n.Results[0].Type.Rank()+1 && b.Uses(x) != 1 {
		return nil
	}
	args := planarOperands(conv)
	if args == nil || !op.PixelsFillVectors(args[0].Type) || !ctx.costs().PlanarProduct(pixelsOf(o, args[0])) {
		return nil
	}
	args[1] = b.Node(op.Reshape{Shape: ir.Dims(o.OutC, o.InC)}, w)
	b.At(joinPos(conv.Pos, n.Pos))
	return b.NodeBlocks(op.ConvPixels{InC: o.InC, OutC: o.OutC, Parts: o.Parts, Epilogue: o.Epilogue}, conv.Blocks, args...)
}

// planarPixels returns the result of n, a convolution of single pixels, of its operand before
// that was blocked.
func planarPixels(ctx *Context, b *ir.Builder, n *ir.Node) []*ir.Value {
	o, ok := n.Op.(op.ConvBlocked)
	if !ok || !ofPixels(o) {
		return nil
	}
	w, x := unpacked(n), n.Args[0]
	if w == nil || x.Def == nil || !isBlock(x.Def) || b.Uses(x) != 1 {
		return nil
	}
	x = x.Def.Args[0]
	if !ctx.costs().PlanarPixels(pixelsOf(o, x)) {
		return nil
	}
	args := append([]*ir.Value{x, b.Node(op.PackConv{Group: 1, InBlock: 1}, w)}, n.Args[2:]...)
	return b.NodeBlocks(o, n.Blocks, args...)
}

// unpacked returns a convolution's weights before they were packed, nil where they were not
// here.
func unpacked(conv *ir.Node) *ir.Value {
	if _, ok := opOf(conv.Args[1]).(op.PackConv); ok {
		return conv.Args[1].Def.Args[0]
	}
	return nil
}

// pixelsOf is what the cost of a convolution of the pixels of x depends on.
func pixelsOf(o op.ConvBlocked, x *ir.Value) cost.Pixels {
	shape := x.Type.Shape
	pixels := known(ir.Product(shape[2:]...), unknownExtent*unknownExtent)
	return cost.Pixels{N: known(shape[0], unknownBatch), InC: o.InC, OutC: o.OutC, HW: pixels}
}

// ofPixels reports whether a convolution computes each pixel of its result of that pixel.
func ofPixels(o op.ConvBlocked) bool {
	w := o.Window
	for _, list := range [][]int{w.Kernel, w.Strides} {
		for _, k := range list {
			if k != 1 {
				return false
			}
		}
	}
	return !slices.ContainsFunc(w.Pads, func(p int) bool { return p != 0 }) && o.Group == 1
}

// planarOperands returns the operands of a convolution of a blocked result, those but the
// weights and the bias as they were before they were blocked; nil where one was not planar.
func planarOperands(conv *ir.Node) []*ir.Value {
	args := make([]*ir.Value, len(conv.Args))
	for i, v := range conv.Args {
		switch args[i] = v; {
		case v == nil || i == 1 || i == biasArg || i == 0 && v.Type.Rank() < conv.Results[0].Type.Rank(): // or planar
		case v.Def == nil:
			return nil
		case !isBlock(v.Def):
			return nil
		default:
			args[i] = v.Def.Args[0]
		}
	}
	return args
}

func isBlock(n *ir.Node) bool {
	_, ok := n.Op.(op.Block)
	return ok
}

func isReshape(n *ir.Node) bool {
	_, ok := n.Op.(op.Reshape)
	return ok
}

// planarWeights returns the weights w of c channels, [⌈C/16⌉,KH,KW,16], as [C,KH,KW].
func planarWeights(b *ir.Builder, w *ir.Value, c int) *ir.Value {
	shape := append(ir.Dims(c), w.Type.Shape[1:3]...)
	if packed := w.Def; packed != nil && len(packed.Args) == 1 && packed.Args[0].Def != nil {
		if blocked := packed.Args[0].Def; isReshape(packed) && isBlock(blocked) {
			return b.Node(op.Reshape{Shape: shape}, blocked.Args[0])
		}
	}
	w = b.Node(op.Reshape{Shape: append(ir.Dims(1), w.Type.Shape...)}, w)
	return b.Node(op.Reshape{Shape: shape}, b.Node(op.Unblock{C: c}, w))
}

// What stands for a batch and for extents of images that are not known.
const (
	unknownBatch  = 2
	unknownExtent = 56
)

// known is an extent, or what stands for it.
func known(d ir.Dim, unknown int) int {
	if n, ok := d.Int(); ok {
		return n
	}
	return unknown
}

// depthwiseOf is what the cost of a convolution of x to y depends on.
func depthwiseOf(o op.DepthwiseBlocked, x, y []ir.Dim) cost.Depthwise {
	d := cost.Depthwise{N: known(x[0], unknownBatch), C: o.C, InH: 1, OutH: 1, KH: 1, StrideW: 1}
	last := len(o.Kernel) - 1
	d.InW, d.OutW, d.KW = known(x[2+last], unknownExtent), known(y[2+last], unknownExtent), o.Kernel[last]
	if last > 0 {
		d.InH, d.OutH, d.KH = known(x[2], unknownExtent), known(y[2], unknownExtent), o.Kernel[0]
	}
	if o.Strides != nil {
		d.StrideW = o.Strides[last]
	}
	return d
}
