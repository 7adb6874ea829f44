package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var vision = []entry{
	computes(deformColumns),
	computes(gridSample),
	measured(
		func(_ op.ImageDecoder, n node) []kernel.Call {
			return []kernel.Call{kernel.ImageHeight(n.in(0)), kernel.ImageWidth(n.in(0))}
		},
		func(o op.ImageDecoder, n node) kernel.Call { return kernel.ImageDecode(n.out(0), n.in(0), o.Format) },
	),
	computes(maxRoiPool),
	computes(roiAlign),
}

func deformColumns(o op.DeformColumns, n node) kernel.Call {
	x, offsets, spatial := n.shape(0), n.shape(1), len(o.Kernel)
	s := sidesOf(o.Window, x[2:], offsets[2:])
	return kernel.DeformColumns(n.out(0), n.in(0), n.in(1), n.in(2), x[0], x[1], dim.Const(o.Offsets),
		s.in, s.out, s.kernel, s.strides, s.dilations, s.pads[:spatial])
}

func gridSample(o op.GridSample, n node) kernel.Call {
	x, y := n.shape(0), n.Results[0].Type.Shape
	if o.Mode == "nearest" {
		return kernel.GridNearest(n.out(0), n.in(0), n.in(1), x[0], x[1], x[2:], y[2:], o.Padding, o.AlignCorners)
	}
	return kernel.GridSample(n.out(0), n.in(0), n.in(1), x[0], x[1], x[2:], y[2:], o.Mode == "cubic", o.Padding, o.AlignCorners)
}

func maxRoiPool(o op.MaxRoiPool, n node) kernel.Call {
	x := n.shape(0)
	return kernel.MaxRoiPool(n.out(0), n.in(0), n.in(1), x[0], x[1], x[2], x[3], dim.Const(o.Height), dim.Const(o.Width), kernel.F64(o.Scale))
}

func roiAlign(o op.RoiAlign, n node) kernel.Call {
	x := n.shape(0)
	return kernel.RoiAlign(n.out(0), n.in(0), n.in(1), n.in(2), x[0], x[1], x[2], x[3],
		dim.Const(o.Height), dim.Const(o.Width), dim.Const(o.Sampling), kernel.F64(o.Scale), o.HalfPixel, o.Mode == "max")
}
