package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// padding lists the operators that compute which elements a padding copies.
var padding = []entry{
	computes(padIndex),
}

// padIndex launches a thread for each element.
func padIndex(o op.PadIndex, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	return one(kernels.Map("pad_index", y.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		from := e.Sub(i, e.Dim(o.Before))
		// turned returns from modulo an extent of at least 1, which repeats along the axis.
		turned := func(extent *kernel.Value) *kernel.Value {
			extent = e.Max(e.Int(1), extent)
			return e.Rem(e.Add(e.Rem(from, extent), extent), extent)
		}
		switch o.Mode {
		case "edge":
			from = e.Max(e.Int(0), e.Min(from, e.Dim(o.Extent.Sub(dim.Const(1)))))
		case "wrap":
			from = turned(e.Dim(o.Extent))
		default:
			period := e.Dim(o.Extent.Sub(dim.Const(1)).Mul(dim.Const(2)))
			from = turned(period)
			from = e.Min(from, e.Sub(e.Max(e.Int(1), period), from))
		}
		e.Write(y).Set(i, e.Convert(ir.I64, from))
	}))
}
