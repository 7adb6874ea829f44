package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var integer = []entry{
	ends(func(o op.MatMulInteger, n *ir.Node, put store) ([]kernels.Launch, error) {
		return matrices("product_integer", n, ir.I32, ir.Invalid, less(n.Arg(2)), less(n.Arg(3)), requantize(o.Requantize, n, put))
	}),
	ends(func(o op.ConvInteger, n *ir.Node, put store) ([]kernels.Launch, error) {
		c := op.Conv{Window: o.Window, Group: o.Group}
		return convolve("conv_integer", c, n, ir.I32, ir.Invalid, less(n.Arg(2)), less(n.Arg(3)), requantize(o.Requantize, n, put))
	}),
}

// less returns a function that converts an element to i32 and subtracts a zero point. The zero point may be absent,
// have one element, or have one element for each channel.
func less(zero *ir.Value) func(e *kernels.Emitter, v, channel *kernel.Value) *kernel.Value {
	return func(e *kernels.Emitter, v, channel *kernel.Value) *kernel.Value {
		v = e.Convert(ir.I32, v)
		if zero == nil {
			return v
		}
		return e.Sub(v, e.Convert(ir.I32, e.Read(zero).Get(ofChannel(e, zero, channel))))
	}
}

func ofChannel(e *kernels.Emitter, v *ir.Value, channel *kernel.Value) *kernel.Value {
	if channel == nil || op.HasOneElement(v.Type) {
		return e.Int(0)
	}
	return channel
}

// requantize returns a function that requantises a sum as r describes, and stores the result with `put`. If n has a
// bias, the function adds the bias first.
func requantize(r op.Requantize, n *ir.Node, put store) storeSum {
	bias, scale, zero := n.Arg(op.BiasOperand), n.Arg(op.ScaleOperand), n.Arg(op.ZeroOperand)
	return func(e *kernels.Emitter, i *kernel.Value, at []*kernel.Value, channel, sum *kernel.Value) {
		if bias != nil {
			sum = e.Add(sum, e.Read(bias).Get(channel))
		}
		if r.To == ir.Invalid {
			put(e, i, at, sum)
			return
		}
		v, by := e.Convert(ir.F32, sum), e.Read(scale).Get(ofChannel(e, scale, channel))
		if by.Type.DType == ir.F64 {
			v = e.Convert(ir.F32, e.Mul(e.Convert(ir.F64, v), by))
		} else {
			v = e.Mul(v, by)
		}
		if r.To == ir.F32 {
			if zero != nil {
				v = e.Add(v, e.Read(zero).Get(ofChannel(e, zero, channel)))
			}
			put(e, i, at, v)
			return
		}
		v = e.Unary(kernel.Round, v)
		if zero != nil {
			v = e.Add(v, e.Convert(ir.F32, e.Read(zero).Get(e.Int(0))))
		}
		lo, hi := r.Bounds()
		v = e.Min(e.Float(ir.F32, float64(hi)), e.Max(v, e.Float(ir.F32, float64(lo))))
		wide, _ := kernels.Arithmetic(r.To)
		put(e, i, at, e.Convert(wide, v))
	}
}
