package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var padding = []entry{
	computes(padIndex),
}

func padIndex(o op.PadIndex, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	return one(kernels.Map("pad_index", y.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		one, zero := e.Whole(ir.I64, 1), e.Whole(ir.I64, 0)
		extent := e.Extent(ir.I64, o.Extent)
		from := e.Sub(e.Convert(ir.I64, i), e.Extent(ir.I64, o.Before))
		// turned returns from modulo an extent of at least 1, which repeats along the axis.
		turned := func(extent *kernel.Value) *kernel.Value {
			extent = e.Max(one, extent)
			return e.Rem(e.Add(e.Rem(from, extent), extent), extent)
		}
		switch o.Mode {
		case "edge":
			from = e.Max(zero, e.Min(from, e.Sub(extent, one)))
		case "wrap":
			from = turned(extent)
		default:
			period := e.Mul(e.Sub(extent, one), e.Whole(ir.I64, 2))
			from = turned(period)
			from = e.Min(from, e.Sub(e.Max(one, period), from))
		}
		e.Write(y).Set(i, from)
	}))
}
