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
		c, err := f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value {
			switch o := n.Op.(type) {
			case op.Unblock:
				return planarDepthwise(ctx, b, n)
			case op.ConvBlocked:
				return planarPixels(ctx, b, n, o)
			}
			return nil
		})
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		f.Prune()
		changed = changed || c
	}
	return changed, nil
}

// planarDepthwise returns the planar result of a depthwise convolution, in the place of n,
// which unblocks it.
func planarDepthwise(ctx *Context, b *ir.Builder, n *ir.Node) []*ir.Value {
	conv := n.Args[0].Def
	if conv == nil || b.Uses(n.Args[0]) != 1 {
		return nil
	}
	o, ok := conv.Op.(op.DepthwiseBlocked)
	if !ok || b.Uses(conv.Args[0]) != 1 || !op.FitsPlanar(o.Window) {
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

// planarPixels returns the result of n, a convolution of single pixels, of its operand before
// that was blocked.
func planarPixels(ctx *Context, b *ir.Builder, n *ir.Node, o op.ConvBlocked) []*ir.Value {
	x := n.Args[0]
	pack, ok := opOf(n.Args[1]).(op.PackConv)
	if !ok || o.Group != 1 || x.Def == nil || !isBlock(x.Def) || b.Uses(x) != 1 || !ofPixels(o.Window) {
		return nil
	}
	x = x.Def.Args[0]
	shape := x.Type.Shape
	pixels, ok := ir.Product(shape[2:]...).Int()
	if !ok {
		pixels = unknownExtent * unknownExtent
	}
	if !ctx.costs().PlanarPixels(cost.Pixels{N: known(shape[0], unknownBatch), InC: o.InC, OutC: o.OutC, HW: pixels}) {
		return nil
	}
	pack.InBlock = 1
	args := append([]*ir.Value{x, b.Node(pack, n.Args[1].Def.Args...)}, n.Args[2:]...)
	return b.NodeBlocks(o, n.Blocks, args...)
}

// ofPixels reports whether a window sees each pixel by itself.
func ofPixels(w op.Window) bool {
	for _, list := range [][]int{w.Kernel, w.Strides} {
		for _, k := range list {
			if k != 1 {
				return false
			}
		}
	}
	return !slices.ContainsFunc(w.Pads, func(p int) bool { return p != 0 }) && w.Same == ""
}

// planarOperands returns the operands of a convolution of blocked tensors, those but the
// weights and the bias as they were before they were blocked; nil where one was not planar.
func planarOperands(conv *ir.Node) []*ir.Value {
	args := make([]*ir.Value, len(conv.Args))
	for i, v := range conv.Args {
		switch args[i] = v; {
		case v == nil || i == 1 || i == biasArg:
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
