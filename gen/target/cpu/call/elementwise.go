package call

import (
	"reflect"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/op"
)

// elementwise lists the operators with one operand that [simple] lacks, because they have attributes or their
// kernel has another name.
var elementwise = []entry{
	computes(func(_ op.BitwiseNot, n node) kernel.Call { return kernel.BitNot(n.out(0), n.in(0)) }),
	computes(func(o op.Celu, n node) kernel.Call { return kernel.Celu(n.out(0), n.in(0), n.number(o.Alpha)) }),
	computes(clip),
	computes(func(o op.Elu, n node) kernel.Call { return kernel.Elu(n.out(0), n.in(0), n.number(o.Alpha)) }),
	computes(gelu),
	computes(func(o op.HardSigmoid, n node) kernel.Call {
		return kernel.HardSigmoid(n.out(0), n.in(0), n.number(o.Alpha), n.number(o.Beta))
	}),
	computes(func(o op.IsInf, n node) kernel.Call {
		return kernel.IsInf(n.out(0), n.in(0), o.Negative, o.Positive)
	}),
	computes(func(o op.LeakyRelu, n node) kernel.Call {
		return kernel.LeakyRelu(n.out(0), n.in(0), n.number(o.Alpha))
	}),
	computes(func(o op.Selu, n node) kernel.Call {
		return kernel.Selu(n.out(0), n.in(0), n.number(o.Alpha), n.number(o.Gamma))
	}),
	computes(func(o op.Shrink, n node) kernel.Call {
		return kernel.Shrink(n.out(0), n.in(0), n.number(o.Bias), n.number(o.Lambda))
	}),
	computes(func(o op.Swish, n node) kernel.Call { return kernel.Swish(n.out(0), n.in(0), n.number(o.Alpha)) }),
	computes(func(o op.ThresholdedRelu, n node) kernel.Call {
		return kernel.ThresholdedRelu(n.out(0), n.in(0), n.number(o.Alpha))
	}),
}

// simple lists the operators without attributes that have the name of a kernel with one operand.
var simple = func() (entries []entry) {
	for _, o := range op.Ops {
		t := reflect.TypeOf(o)
		if call := kernel.Unary[t.Name()]; call != nil && t.Size() == 0 {
			entries = append(entries, entry{op: t, call: func(n node) kernel.Call { return call(n.out(0), n.in(0)) }})
		}
	}
	return entries
}()

// clip returns the call of cpu.Clip. The limits of integers are rounded to integers.
func clip(o op.Clip, n node) kernel.Call {
	d := n.Arg(0).Type.DType
	if d.IsFloat() {
		return kernel.Clip(n.out(0), n.in(0), n.number(o.Lo), n.number(o.Hi))
	}
	lo, hi := op.IntBounds(d, o.Lo, o.Hi)
	return kernel.Clip(n.out(0), n.in(0), kernel.Number{DType: d, Int: lo}, kernel.Number{DType: d, Int: hi})
}

func gelu(o op.Gelu, n node) kernel.Call {
	if o.Tanh {
		return kernel.GeluTanh(n.out(0), n.in(0))
	}
	return kernel.Gelu(n.out(0), n.in(0))
}
