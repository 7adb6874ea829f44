package call

import (
	"fmt"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// plane returns the height and width of one or two spatial extents. The height of a single extent
// is 1.
func plane(spatial []dim.Dim) (h, w dim.Dim) {
	h, w = dim.Const(1), dim.Const(1)
	switch len(spatial) {
	case 1:
		w = spatial[0]
	case op.MaxSpatial:
		h, w = spatial[0], spatial[1]
	}
	return h, w
}

func pair(spatial []dim.Dim) []dim.Dim {
	h, w := plane(spatial)
	return []dim.Dim{h, w}
}

// planePads returns the padding of one or two spatial axes as top, left, bottom, right.
func planePads(pads []dim.Dim) []dim.Dim {
	out := dim.Consts(0, 0, 0, 0)
	switch len(pads) {
	case 2:
		out[1], out[3] = pads[0], pads[1]
	case 2 * op.MaxSpatial:
		copy(out, pads)
	}
	return out
}

// poolShape returns the cpu.PoolShape of a pool of x with result type y. blocked says that both are
// channel-blocked. It returns an error unless x is f32 with at most two spatial axes.
func poolShape(w op.Window, x, y ir.Type, blocked bool) (*kernel.PoolShape, error) {
	end, err := op.SpatialEnd(x, blocked)
	if err != nil {
		return nil, err
	}
	if x.DType != ir.F32 || end > 2+op.MaxSpatial {
		return nil, fmt.Errorf("no kernel pools %s", x)
	}
	in, out := x.Shape[2:end], y.Shape[2:end]
	pads := planePads(w.Padding(in))
	s := &kernel.PoolShape{
		N: x.Shape[0], C: x.Shape[1],
		PadH: pads[0], PadW: pads[1], EndH: pads[2], EndW: pads[3],
		Block: lanes(blocked),
	}
	s.InH, s.InW = plane(in)
	s.OutH, s.OutW = plane(out)
	s.KH, s.KW = plane(dim.Consts(w.Kernel...))
	s.StrideH, s.StrideW = plane(dim.Consts(w.EachStride(len(in))...))
	s.DilH, s.DilW = plane(dim.Consts(w.EachDilation(len(in))...))
	return s, nil
}

func lanes(blocked bool) dim.Dim {
	if blocked {
		return dim.Const(op.BlockLanes)
	}
	return dim.Const(1)
}

// convShape returns the cpu.ConvShape of a convolution over one or two spatial axes. x and y are the
// shapes of the operand and the result. p says how the weights are packed, and parts how sums are split
// into partial sums.
func convShape(w op.Window, x, y []dim.Dim, p storage.Packing, parts op.Parts) *kernel.ConvShape {
	spatial := len(w.Kernel)
	pads := planePads(w.Padding(x[2 : 2+spatial]))
	s := packShape(p, w.Kernel)
	s.N, s.PadH, s.PadW, s.Terms = x[0], pads[0], pads[1], dim.Const(parts.Terms)
	s.InH, s.InW = plane(x[2 : 2+spatial])
	s.OutH, s.OutW = plane(y[2 : 2+spatial])
	s.StrideH, s.StrideW = plane(dim.Consts(w.EachStride(spatial)...))
	s.DilH, s.DilW = plane(dim.Consts(w.EachDilation(spatial)...))
	return s
}

// packShape returns the fields of cpu.ConvShape that packing weights depends on.
func packShape(p storage.Packing, window []int) *kernel.ConvShape {
	s := &kernel.ConvShape{
		InC: dim.Const(p.InC), InBlock: dim.Const(p.InBlock), OutC: dim.Const(p.OutC), Group: dim.Const(p.Group),
	}
	s.KH, s.KW = plane(dim.Consts(window...))
	return s
}

// sides holds the arguments that describe a window in calls of kernels for any number of spatial
// axes. pads has two elements for each axis, and the other lists have one.
type sides struct{ in, out, kernel, strides, dilations, pads []dim.Dim }

func sidesOf(w op.Window, in, out []dim.Dim) sides {
	n := len(in)
	return sides{in, out, dim.Consts(w.Kernel...), dim.Consts(w.EachStride(n)...), dim.Consts(w.EachDilation(n)...), w.Padding(in)}
}
