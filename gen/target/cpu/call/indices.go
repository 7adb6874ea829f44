package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/op"
)

var indices = []entry{
	computes(func(o op.CheckIndex, n node) kernel.Call {
		return kernel.CheckIndex(n.out(0), n.in(0), o.Count, o.FromEnd, o.What, o.Things)
	}),
	measured(
		func(_ op.NonZero, n node) []kernel.Call { return []kernel.Call{kernel.CountNonZero(n.in(0))} },
		func(_ op.NonZero, n node) kernel.Call { return kernel.NonZero(n.out(0), n.in(0), n.shape(0)) },
	),
	computes(func(_ op.SortRows, n node) kernel.Call {
		return kernel.SortRows(n.out(0), n.in(0), n.shape(0)[1])
	}),
	measured(
		func(_ op.Unique, n node) []kernel.Call {
			return []kernel.Call{kernel.CountUnique(n.in(0), n.in(1), n.shape(0)[1])}
		},
		func(o op.Unique, n node) kernel.Call {
			return kernel.Unique(n.out(0), n.out(1), n.out(2), n.out(3), n.in(0), n.in(1), n.shape(0)[1], o.Sorted)
		},
	),
}
