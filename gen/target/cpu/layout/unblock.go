package layout

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// Unblock returns the pass unblock_convs. It uses costs to decide which convolutions to compute on planar tensors,
// [N,C,spatial…].
func Unblock(costs *cost.Model) pass.Pass {
	return pass.Pass{Name: "unblock_convs", Run: func(_ *pass.Context, m *ir.Module) (bool, error) { return unblock(costs, m) }}
}

// unblock computes a convolution directly on planar tensors if that is faster than blocking them, and if they are
// blocked for this convolution only. It changes 1×1 convolutions, and depthwise convolutions whose result is
// unblocked. It reports whether it changed m.
func unblock(costs *cost.Model, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs {
		for _, rewrite := range []func(*cost.Model, *ir.Builder, *ir.Node) []*ir.Value{planarResult, planarPixels} {
			c, err := f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value { return rewrite(costs, b, n) })
			if err != nil {
				return changed, fmt.Errorf("@%s: %w", f.Name, err)
			}
			f.Prune()
			changed = changed || c
		}
	}
	return changed, nil
}

// planarResult returns a replacement for n if n unblocks the result of a convolution, and if the convolution takes
// less time on planar operands. It returns nil for other nodes.
func planarResult(costs *cost.Model, b *ir.Builder, n *ir.Node) []*ir.Value {
	if _, ok := n.Op.(storage.Unblock); !ok || n.Args[0].Def == nil || b.Uses(n.Args[0]) != 1 {
		return nil
	}
	conv := n.Args[0].Def
	switch o := conv.Op.(type) {
	case storage.DepthwiseBlocked:
		return planarDepthwise(costs, b, n, conv, o)
	case storage.ConvBlocked:
		return planarProduct(costs, b, n, conv, o)
	}
	return nil
}

// planarDepthwise returns a replacement for n. conv is a depthwise convolution, and n unblocks its result. The
// replacement is computed on planar tensors. It is nil if that is impossible or slower.
func planarDepthwise(costs *cost.Model, b *ir.Builder, n, conv *ir.Node, o storage.DepthwiseBlocked) []*ir.Value {
	if b.Uses(conv.Args[0]) != 1 || !storage.FitsPlanar(o.Window) {
		return nil
	}
	args := planarOperands(conv)
	if args == nil || !costs.Planes(depthwiseOf(o, args[0].Type.Shape, n.Results[0].Type.Shape)) {
		return nil
	}
	args[1] = planarWeights(b, args[1], o.C)
	b.At(pass.JoinPos(conv.Pos, n.Pos))
	return b.NodeBlocks(storage.DepthwisePlanar(o), conv.Blocks, args...)
}

// planarProduct returns a replacement for n. conv is a convolution, and n unblocks its result. The replacement is
// computed on planar tensors. It is nil if conv is not a 1×1 convolution, or if that is impossible or slower.
func planarProduct(costs *cost.Model, b *ir.Builder, n, conv *ir.Node, o storage.ConvBlocked) []*ir.Value {
	w, x := unpacked(conv), conv.Args[0]
	if w == nil || !ofPixels(o) || x.Type.Rank() == n.Results[0].Type.Rank()+1 && b.Uses(x) != 1 {
		return nil
	}
	args := planarOperands(conv)
	if args == nil || !storage.PixelsFillVectors(args[0].Type) || !costs.PlanarProduct(pixelsOf(o, args[0])) {
		return nil
	}
	args[1] = b.Node(op.Reshape{Shape: dim.Consts(o.OutC, o.InC)}, w)
	b.At(pass.JoinPos(conv.Pos, n.Pos))
	return b.NodeBlocks(storage.ConvPixels{InC: o.InC, OutC: o.OutC, Parts: o.Parts, Epilogue: o.Epilogue}, conv.Blocks, args...)
}

// planarPixels returns a replacement for n if n is a 1×1 convolution of an operand that is blocked
// for n only. The replacement reads the planar operand. It is nil for other nodes, and if blocking
// the operand is faster.
func planarPixels(costs *cost.Model, b *ir.Builder, n *ir.Node) []*ir.Value {
	o, ok := n.Op.(storage.ConvBlocked)
	if !ok || !ofPixels(o) {
		return nil
	}
	w, x := unpacked(n), n.Args[0]
	if w == nil || x.Def == nil || !isBlock(x.Def) || b.Uses(x) != 1 {
		return nil
	}
	x = x.Def.Args[0]
	if !costs.PlanarPixels(pixelsOf(o, x)) {
		return nil
	}
	args := append([]*ir.Value{x, b.Node(storage.PackConv{Group: 1, InBlock: 1}, w)}, n.Args[2:]...)
	return b.NodeBlocks(o, n.Blocks, args...)
}

// unpacked returns the weights of a convolution before packing. It returns nil unless a [storage.PackConv] in the
// function of conv packs them.
func unpacked(conv *ir.Node) *ir.Value {
	packed := conv.Args[1].Def
	if packed == nil {
		return nil
	}
	if _, ok := packed.Op.(storage.PackConv); ok {
		return packed.Args[0]
	}
	return nil
}

func pixelsOf(o storage.ConvBlocked, x *ir.Value) cost.Pixels {
	shape := x.Type.Shape
	pixels := storage.AssumedPixels(shape[2:])
	return cost.Pixels{N: storage.AssumedBatch(shape[0]), InC: o.InC, OutC: o.OutC, HW: pixels}
}

// ofPixels reports whether each pixel of the result depends on one pixel of x: the convolution is
// 1×1, with stride 1, no padding and one group.
func ofPixels(o storage.ConvBlocked) bool {
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

// planarOperands returns the operands of a convolution as planar tensors. Weights, bias, absent operands and a planar
// x stay as they are. Any other operand must be the result of a Block node, and is replaced by the operand of this
// node. If there is no such node, planarOperands returns nil.
func planarOperands(conv *ir.Node) []*ir.Value {
	args := make([]*ir.Value, len(conv.Args))
	for i, v := range conv.Args {
		switch args[i] = v; {
		case v == nil || i == 1 || i == op.BiasArg || i == 0 && v.Type.Rank() < conv.Results[0].Type.Rank(): // or planar
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
	_, ok := n.Op.(storage.Block)
	return ok
}

func isReshape(n *ir.Node) bool {
	_, ok := n.Op.(op.Reshape)
	return ok
}

// planarWeights returns the weights w of c channels, [⌈C/16⌉,KH,KW,16], in the shape [C,KH,KW].
func planarWeights(b *ir.Builder, w *ir.Value, c int) *ir.Value {
	shape := append(dim.Consts(c), w.Type.Shape[1:3]...)
	if packed := w.Def; packed != nil && len(packed.Args) == 1 && packed.Args[0].Def != nil {
		if blocked := packed.Args[0].Def; isReshape(packed) && isBlock(blocked) {
			return b.Node(op.Reshape{Shape: shape}, blocked.Args[0])
		}
	}
	w = b.Node(op.Reshape{Shape: append(dim.Consts(1), w.Type.Shape...)}, w)
	return b.Node(op.Reshape{Shape: shape}, b.Node(storage.Unblock{C: c}, w))
}

func depthwiseOf(o storage.DepthwiseBlocked, x, y []dim.Dim) cost.Depthwise {
	d := cost.Depthwise{N: storage.AssumedBatch(x[0]), C: o.C, InH: 1, OutH: 1, KH: 1, StrideW: 1}
	last := len(o.Kernel) - 1
	d.InW, d.OutW, d.KW = storage.AssumedExtent(x[2+last]), storage.AssumedExtent(y[2+last]), o.Kernel[last]
	if last > 0 {
		d.InH, d.OutH, d.KH = storage.AssumedExtent(x[2]), storage.AssumedExtent(y[2]), o.Kernel[0]
	}
	if o.Strides != nil {
		d.StrideW = o.Strides[last]
	}
	return d
}
