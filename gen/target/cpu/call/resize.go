package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/op"
)

var resize = []entry{
	computes(func(o op.ResizeAxis, n node) kernel.Call {
		x := n.shape(0)
		return kernel.ResizeAxis(n.out(0), n.in(0), x[0], x[1], x[2], o.Taps, n.in(1), n.in(2))
	}),
	computes(func(_ op.ResizeLinear, n node) kernel.Call {
		x := n.shape(0)
		return kernel.ResizeLinear(n.out(0), n.in(0), x[0], x[1], x[2], x[3], n.in(1), n.in(2), n.in(3), n.in(4))
	}),
	computes(func(_ op.ResizeNearest, n node) kernel.Call {
		x := n.shape(0)
		return kernel.ResizeNearest(n.out(0), n.in(0), x[0], x[1], x[2], x[3], n.in(1), n.in(2))
	}),
	computes(func(o op.ResizeOutside, n node) kernel.Call {
		return kernel.ResizeOutside(n.out(0), o.Table.In, o.Table.Out, resizeSpec(o.Table), n.in(0))
	}),
	computes(resizeTable),
	measures(func(o op.ResizeTaps, n node) []kernel.Call {
		return []kernel.Call{kernel.ResizeTaps(o.Table.In, o.Table.Out, resizeSpec(o.Table), n.in(0))}
	}),
}

func resizeTable(o op.ResizeTable, n node) kernel.Call {
	if o.Mode == "nearest" {
		return kernel.ResizeNearestTable(n.out(0), o.In, o.Out, resizeSpec(o), n.in(0))
	}
	return kernel.ResizeTable(n.out(0), n.out(1), o.In, o.Out, o.Taps, resizeSpec(o), n.in(0))
}

func resizeSpec(o op.ResizeTable) *kernel.ResizeSpec {
	return &kernel.ResizeSpec{
		Mode: o.Mode, Coordinates: o.Coordinates, Rounding: o.Rounding,
		Scale: kernel.F64(o.Scale), Start: kernel.F64(o.Start), End: kernel.F64(o.End), CubicA: kernel.F64(o.CubicA),
		ExcludeOutside: o.ExcludeOutside, AntiAlias: o.AntiAlias,
	}
}
