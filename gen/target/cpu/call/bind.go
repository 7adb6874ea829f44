package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// bind lists the operators that set symbols to the values of operands.
var bind = []entry{
	measures(func(o op.BindAxes, n node) []kernel.Call {
		return each(o.Symbols, func(i dim.Dim) kernel.Call { return kernel.MarkedExtent(n.in(0), o.Shape, o.All, i) })
	}),
	measures(bindDims),
	measures(func(o op.BindPad, n node) []kernel.Call {
		return each(o.Symbols, func(i dim.Dim) kernel.Call { return kernel.PadPlace(n.in(0), n.in(1), o.Shape, i) })
	}),
	measures(func(_ op.BindRange, n node) []kernel.Call {
		return []kernel.Call{kernel.RangeCount(n.read(0), n.read(1), n.read(2))}
	}),
	measures(func(o op.BindReshape, n node) []kernel.Call {
		rank := dim.Const(len(o.Symbols))
		return each(o.Symbols, func(i dim.Dim) kernel.Call {
			return kernel.ReshapedExtent(n.in(0), o.From, o.AllowZero, rank, i)
		})
	}),
	measures(func(o op.BindScaled, n node) []kernel.Call {
		return each(o.Symbols, func(i dim.Dim) kernel.Call { return kernel.ResizedExtent(n.in(0), o.From, o.Near, i) })
	}),
	measures(bindSlice),
	measures(func(o op.BindSqueeze, n node) []kernel.Call {
		rank := dim.Const(len(o.Symbols))
		return each(o.Symbols, func(i dim.Dim) kernel.Call { return kernel.SqueezedExtent(n.in(0), o.Shape, rank, i) })
	}),
	measures(func(o op.BindUnsqueeze, n node) []kernel.Call {
		rank := dim.Const(len(o.Symbols))
		return each(o.Symbols, func(i dim.Dim) kernel.Call { return kernel.UnsqueezedExtent(n.in(0), o.Shape, rank, i) })
	}),
	computes(func(o op.PadIndex, n node) kernel.Call { return kernel.PadIndex(n.out(0), o.Extent, o.Before, o.Mode) }),
	computes(func(o op.Require, n node) kernel.Call { return kernel.Require(n.read(0), o.Value, o.What) }),
}

func each(symbols []string, call func(i dim.Dim) kernel.Call) []kernel.Call {
	calls := make([]kernel.Call, len(symbols))
	for i := range calls {
		calls[i] = call(dim.Const(i))
	}
	return calls
}

func bindDims(o op.BindDims, n node) []kernel.Call {
	calls := make([]kernel.Call, len(o.Places))
	for i, at := range o.Places {
		calls[i] = kernel.Extent(n.in(0), dim.Const(at))
	}
	return calls
}

func bindSlice(o op.BindSlice, n node) []kernel.Call {
	calls := make([]kernel.Call, len(o.Symbols))
	for i := range calls {
		place := 4*o.Axes[i/o.Width()] + i%o.Width()
		calls[i] = kernel.SlicePlace(n.in(0), n.in(1), n.in(2), n.in(3), o.Shape, dim.Const(place))
	}
	return calls
}

// extents returns a call for each axis whose extent in the result is a symbol. symbols has an element for each axis,
// and the element is "" if the extent is not a symbol. The argument of `call` is the index of the axis.
func extents(symbols []string, call func(axis dim.Dim) kernel.Call) []kernel.Call {
	var calls []kernel.Call
	for i, s := range symbols {
		if s != "" {
			calls = append(calls, call(dim.Const(i)))
		}
	}
	return calls
}
