package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var random = []entry{
	computes(func(o op.Multinomial, n node) kernel.Call {
		x := n.shape(0)
		return kernel.Multinomial(n.out(0), n.in(0), x[0], x[1], dim.Const(o.Samples), kernel.I64(o.Seed))
	}),
	computes(func(o op.MurmurHash3, n node) kernel.Call {
		return kernel.MurmurHash3(n.out(0), n.in(0), kernel.Number{DType: ir.U32, Int: o.Seed})
	}),
	computes(func(o op.RandomNormal, n node) kernel.Call {
		return kernel.RandomNormal(n.out(0), kernel.F64(o.Mean), kernel.F64(o.Scale), kernel.I64(o.Seed), n.in(0))
	}),
	computes(func(o op.RandomUniform, n node) kernel.Call {
		return kernel.RandomUniform(n.out(0), kernel.F64(o.Low), kernel.F64(o.High), kernel.I64(o.Seed), n.in(0))
	}),
}
