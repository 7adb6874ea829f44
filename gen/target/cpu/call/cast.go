package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var cast = []entry{computes(castTo)}

func castTo(o op.Cast, n node) kernel.Call {
	from, to, dst, src := n.Arg(0).Type.DType, o.To, n.out(0), n.in(0)
	switch {
	case from == ir.String && to == ir.Bool:
		return kernel.CastTextToBool(dst, src)
	case from == ir.String:
		return kernel.CastFromText(dst, src)
	case from == ir.Bool && to == ir.String:
		return kernel.CastBoolToText(dst, src)
	case to == ir.String:
		return kernel.CastToText(dst, src)
	case to.IsInt() && to.Bits() < 8:
		return kernel.WrapBits(dst, src, dim.Const(to.Bits()))
	case from == ir.Bool:
		return kernel.CastFromBool(dst, src)
	case to == ir.Bool:
		return kernel.CastToBool(dst, src)
	case to == ir.F8E8M0:
		return kernel.CastE8M0(dst, src, !o.Unsaturated, o.RoundMode())
	case o.Unsaturated && to.IsFloat() && to.Bits() < 32:
		return kernel.CastUnsaturated(dst, src)
	}
	return kernel.Cast(dst, src)
}
