package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var text = []entry{
	computes(func(o op.ChangeCase, n node) kernel.Call { return kernel.ChangeCase(n.out(0), n.in(0), o.Upper) }),
	computes(countNGrams),
	computes(func(o op.RegexFullMatch, n node) kernel.Call {
		return kernel.RegexFullMatch(n.out(0), n.in(0), o.Pattern)
	}),
	measured(
		func(o op.RemoveStopwords, n node) []kernel.Call {
			return []kernel.Call{kernel.CountWithoutStopwords(n.in(0), n.in(1), o.CaseSensitive)}
		},
		func(o op.RemoveStopwords, n node) kernel.Call {
			return kernel.RemoveStopwords(n.out(0), n.in(0), n.in(1), o.CaseSensitive)
		},
	),
	computes(func(_ op.StringConcat, n node) kernel.Call {
		return kernel.StringConcat(n.out(0), n.in(0), n.in(1))
	}),
	measured(
		func(o op.StringSplit, n node) []kernel.Call {
			return []kernel.Call{kernel.StringParts(n.in(0), o.Delimiter, dim.Const(o.MaxSplit))}
		},
		func(o op.StringSplit, n node) kernel.Call {
			return kernel.StringSplit(n.out(0), n.out(1), n.in(0), o.Delimiter, dim.Const(o.MaxSplit))
		},
	),
}

func countNGrams(o op.CountNGrams, n node) kernel.Call {
	x := n.shape(0)
	last := len(x) - 1
	return kernel.CountNGrams(n.out(0), n.in(0), n.in(1), n.in(2), dim.Product(x[:last]...), x[last], o.Size,
		dim.Consts(o.Starts...), dim.Const(o.MinLength), dim.Const(o.MaxLength), dim.Const(o.MaxSkip))
}
