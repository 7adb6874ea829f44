package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var signal = []entry{computes(dft)}

func dft(o op.DFT, n node) kernel.Call {
	x := n.shape(0)
	r := len(x) - 1
	scratch := func(k int) kernel.Scratch { return kernel.Scratch{DType: ir.F64, Len: o.Length.Mul(dim.Const(k))} }
	return kernel.DFT(n.out(0), n.in(0), scratch(2), scratch(6),
		dim.Product(x[:o.Axis]...), x[o.Axis], dim.Product(x[o.Axis+1:r]...), x[r], o.Length, o.Inverse, o.OneSided)
}
