package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importAdagrad imports Adagrad of ai.onnx.preview.training. The operands are R, T, X, G and H, as ONNX names them.
// Let r = R/(1 + T·decay_factor) be the learning rate, and g = G + norm_coefficient·X the gradient. The results are
//
//	X' = X − r·g/(√H' + epsilon)
//	H' = H + g²
func importAdagrad(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	norm, epsilon := c.Float("norm_coefficient", 0), c.Float("epsilon", 0)
	decay := c.Float("decay_factor", 0)
	return optimize(c, 2, func(a arithmetic, rate, count *ir.Value, x, g *ir.Value, state []*ir.Value) []*ir.Value {
		r := b.Node(Div{}, rate, b.Node(Add{}, b.Scalar(ir.F64, 1), b.Node(Mul{}, count, b.Scalar(ir.F64, decay))))
		g = a.plus(g, a.times(x, a.number(norm)))
		h := a.plus(state[0], a.times(g, g))
		step := b.Node(Div{}, a.times(a.like(r), g), a.plus(b.Node(Sqrt{}, h), a.number(epsilon)))
		return []*ir.Value{b.Node(Sub{}, x, step), h}
	})
}

// importAdam imports Adam of ai.onnx.preview.training. The operands are R, T, X, G, V and H, as ONNX names them.
// The gradient is g = G + norm_coefficient·X. The learning rate r is R for T = 0, and R·√(1 − beta^T)/(1 − alpha^T)
// for larger T. The results are
//
//	X' = (1 − norm_coefficient_post)·(X − r·V'/(√H' + epsilon))
//	V' = alpha·V + (1 − alpha)·g
//	H' = beta·H + (1 − beta)·g²
func importAdam(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	alpha, beta := c.Float("alpha", float64(float32(0.9))), c.Float("beta", float64(float32(0.999)))
	epsilon := c.Float("epsilon", 0)
	norm, post := c.Float("norm_coefficient", 0), c.Float("norm_coefficient_post", 0)
	return optimize(c, 3, func(a arithmetic, rate, count *ir.Value, x, g *ir.Value, state []*ir.Value) []*ir.Value {
		one := b.Scalar(ir.F64, 1)
		rest := func(base float64) *ir.Value { return b.Node(Sub{}, one, b.Node(Pow{}, b.Scalar(ir.F64, base), count)) }
		r := b.Node(Div{}, b.Node(Mul{}, rate, b.Node(Sqrt{}, rest(beta))), rest(alpha))
		r = b.Node(Where{}, b.Node(Greater{}, count, b.Scalar(ir.F64, 0)), r, rate)
		g = a.plus(g, a.times(x, a.number(norm)))
		v := a.plus(a.times(state[0], a.number(alpha)), a.times(g, a.number(1-alpha)))
		h := a.plus(a.times(state[1], a.number(beta)), a.times(a.times(g, g), a.number(1-beta)))
		step := b.Node(Div{}, a.times(a.like(r), v), a.plus(b.Node(Sqrt{}, h), a.number(epsilon)))
		return []*ir.Value{a.times(b.Node(Sub{}, x, step), a.number(1-post)), v, h}
	})
}

// importMomentum imports Momentum of ai.onnx.preview.training. The operands are R, T, X, G and V, as ONNX names
// them. The gradient is g = G + norm_coefficient·X. The results are
//
//	X' = X − R·V', or X − R·(g + alpha·V') in mode nesterov
//	V' = alpha·V + beta·g
//
// At the first update, beta is 1.
func importMomentum(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	alpha, beta, norm := c.Float("alpha", 0), c.Float("beta", 0), c.Float("norm_coefficient", 0)
	mode := c.Text("mode", "")
	if mode != "standard" && mode != "nesterov" {
		return nil, fmt.Errorf("unknown mode %q", mode)
	}
	return optimize(c, 2, func(a arithmetic, rate, count *ir.Value, x, g *ir.Value, state []*ir.Value) []*ir.Value {
		later := b.Node(Greater{}, count, b.Scalar(ir.F64, 0))
		scale := b.Node(Where{}, later, b.Scalar(ir.F64, beta), b.Scalar(ir.F64, 1))
		g = a.plus(g, a.times(x, a.number(norm)))
		v := a.plus(a.times(state[0], a.number(alpha)), a.times(g, a.like(scale)))
		step := v
		if mode == "nesterov" {
			step = a.plus(g, a.times(v, a.number(alpha)))
		}
		return []*ir.Value{b.Node(Sub{}, x, a.times(a.like(rate), step)), v}
	})
}

// optimize appends the updates of any number of tensors by an optimizer. The operands are the learning rate R, the
// number T of updates so far, the tensors, their gradients, and their states. The results are the new tensors and
// states. update receives R and T as f64 scalars, a tensor x, its gradient g and its states. It returns the new x and
// the new states, `kinds` values in all.
func optimize(c ir.Importer, kinds int, update func(a arithmetic, rate, count *ir.Value, x, g *ir.Value, state []*ir.Value) []*ir.Value) ([]*ir.Value, error) {
	b := c.Builder()
	n := (c.NumArgs() - 2) / (kinds + 1)
	if n < 1 || c.NumArgs() != 2+n*(kinds+1) {
		return nil, fmt.Errorf("%d operands: 2 and %d for each tensor expected", c.NumArgs(), kinds+1)
	}
	args := make([]*ir.Value, c.NumArgs())
	for i := range args {
		if args[i] = c.Arg(i); args[i] == nil {
			return nil, fmt.Errorf("operand %d is absent", i)
		}
	}
	for i, v := range args[:2] {
		if !v.Type.Elems().Equal(dim.Const(1)) {
			return nil, fmt.Errorf("operand %d is %s, one number expected", i, v.Type)
		}
		args[i] = ConvertTo(b, ReshapeTo(b, v), ir.F64)
	}
	out := make([]*ir.Value, kinds*n)
	for i := range n {
		x := args[2+i]
		if !x.Type.DType.IsFloat() {
			return nil, fmt.Errorf("tensor %s, floats expected", x.Type)
		}
		var state []*ir.Value
		for k := 2; k <= kinds; k++ {
			state = append(state, args[2+k*n+i])
		}
		for k, v := range update(arithmetic{b, x.Type.DType}, args[0], args[1], x, args[2+n+i], state) {
			out[k*n+i] = v
		}
	}
	return out, nil
}

type arithmetic struct {
	b *ir.Builder
	d ir.DType
}

func (a arithmetic) number(v float64) *ir.Value     { return a.b.Scalar(a.d, v) }
func (a arithmetic) like(v *ir.Value) *ir.Value     { return ConvertTo(a.b, v, a.d) }
func (a arithmetic) plus(v, w *ir.Value) *ir.Value  { return a.b.Node(Add{}, v, w) }
func (a arithmetic) times(v, w *ir.Value) *ir.Value { return a.b.Node(Mul{}, v, w) }
