package launch

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// signal lists the window and mel-filter operators. Their kernels compute in f64.
var signal = []entry{
	computes(cosineWindow),
	computes(melWeightMatrix),
}

func cosineWindow(o op.CosineWindow, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	if _, ok := kernels.Arithmetic(y.Type.DType); !ok {
		return nil, errNarrow
	}
	turn := o.Size
	if !o.Periodic {
		turn = turn.Sub(dim.Const(1))
	}
	return one(kernels.Map("cosine_window", y.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		num := func(x float64) *kernel.Value { return e.Float(ir.F64, x) }
		count := e.Convert(ir.F64, e.Dim(turn))
		t := e.Mul(num(2*math.Pi), e.Div(e.Convert(ir.F64, i), count))
		v := e.Sub(num(o.A), e.Mul(num(o.B), elementary.Cos(e.Builder, t)))
		v = e.Add(v, e.Mul(num(o.C), elementary.Cos(e.Builder, e.Mul(num(2), t))))
		e.Write(y).Set(i, e.Select(e.Gt(count, num(0)), v, num(1)))
	}))
}

func melWeightMatrix(o op.MelWeightMatrix, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	if _, ok := kernels.Arithmetic(y.Type.DType); !ok {
		return nil, errNarrow
	}
	const scale = 2595 / math.Ln10
	return one(kernels.Map("mel_weight_matrix", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		num := func(x float64) *kernel.Value { return e.Float(ir.F64, x) }
		operand := func(k int) *kernel.Value { return e.Read(n.Args[k]).Get(e.Int(0)) }
		// mel returns a frequency on the mel scale.
		mel := func(hertz *kernel.Value) *kernel.Value {
			return e.Mul(num(scale), elementary.Log1p(e.Builder, elementary.Quotient(e.Builder, hertz, num(700))))
		}
		rate, low := operand(0), mel(operand(1))
		step := elementary.Quotient(e.Builder, e.Sub(mel(operand(2)), low), e.Convert(ir.F64, e.Dim(o.Bins.Add(dim.Const(2)))))
		// corner returns the bin of the spectrum at a corner of the filters.
		corner := func(k int) *kernel.Value {
			number := e.Convert(ir.F64, e.Add(at[1], e.Int(k)))
			there := elementary.Quotient(e.Builder, e.Add(low, e.Mul(number, step)), num(scale))
			hertz := e.Mul(num(700), elementary.Expm1(e.Builder, there))
			bin := elementary.Quotient(e.Builder, e.Mul(e.Convert(ir.F64, e.Dim(o.Length.Add(dim.Const(1)))), hertz), rate)
			bin = e.Mul(bin, num(1+0x1p-44)) // what is a whole number but for rounding becomes one
			return within(e, e.Unary(kernel.Floor, bin), num(0), num(1<<30))
		}
		bin, left, top, right := e.Convert(ir.F64, at[0]), corner(0), corner(1), corner(2)
		rising := e.And(e.Ge(bin, left), e.Lt(bin, top))
		falling := e.And(e.Ge(bin, top), e.Lt(bin, right))
		v := e.Select(rising, e.Div(e.Sub(bin, left), e.Sub(top, left)), num(0))
		v = e.Select(falling, e.Div(e.Sub(right, bin), e.Sub(right, top)), v)
		e.Write(y).Set(i, e.Select(e.Eq(bin, top), num(1), v))
	}))
}
