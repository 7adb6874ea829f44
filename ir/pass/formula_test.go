package pass_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/gen/target/cpu"
	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// TestRandomFormulas writes out normalisations, activations and attentions in random forms. The
// passes must recognise them, and the results must not change.
func TestRandomFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &ir.Func{Name: pass.Forward, ResultNames: []string{"y"}}
		m := &ir.Module{Funcs: []*ir.Func{f}}
		stat := pass.FusedNorms
		if err := ir.Try(func() {
			b := ir.NewBuilder(f)
			w := writer{drawer{t: t, m: m, b: b}}
			x := b.Param("x", ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(3), dim.Const(7)))
			switch rapid.IntRange(0, 2).Draw(t, "formula") {
			case 0:
				b.Return(w.norm(x))
			case 1:
				stat = pass.FusedFormulas
				b.Return(w.activation(x))
			case 2:
				stat = pass.FusedAttentions
				b.Return(w.attention(b.Param("y", ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(5), dim.Const(12)))))
			}
		}); err != nil {
			t.Fatal(err)
		}
		after, ctx := m.Clone(), &pass.Context{Target: cpu.Target{}}
		if err := pass.All(ctx, after, pass.Options{}); err != nil {
			t.Fatal(err)
		}
		if ctx.Stats[stat] == 0 {
			t.Fatalf("nothing is recognised in\n%s", m)
		}
		prepare(t, after, after)
		compare(t, m, after, rapid.IntRange(1, 3).Draw(t, "batch"), near)
	})
}

// writer writes formulas in one of the forms that exporters use.
type writer struct{ drawer }

func (w writer) either(what string) bool { return rapid.Bool().Draw(w.t, what) }

func (w writer) number(x float64) *ir.Value { return w.b.Scalar(ir.F32, x) }

// binary appends a commutative operator, its operands in any order.
func (w writer) binary(o ir.Op, x, y *ir.Value) *ir.Value {
	if w.either("order") {
		x, y = y, x
	}
	return w.b.Node(o, x, y)
}

// times appends x times a number, or divided by its inverse.
func (w writer) times(x *ir.Value, by float64) *ir.Value {
	if w.either("quotient") {
		return w.b.Node(op.Div{}, x, w.number(1/by))
	}
	return w.binary(op.Mul{}, x, w.number(by))
}

// product appends the product of values in any order and grouping.
func (w writer) product(values ...*ir.Value) *ir.Value {
	values = rapid.Permutation(values).Draw(w.t, "factors")
	for len(values) > 1 {
		i := rapid.IntRange(0, len(values)-2).Draw(w.t, "grouping")
		values[i] = w.b.Node(op.Mul{}, values[i], values[i+1])
		values = append(values[:i+1], values[i+2:]...)
	}
	return values[0]
}

func (w writer) square(x *ir.Value) *ir.Value {
	if w.either("power") {
		return w.b.Node(op.Pow{}, x, w.number(2))
	}
	return w.b.Node(op.Mul{}, x, x)
}

// mean appends a mean along axes, which stay.
func (w writer) mean(x *ir.Value, axes []int, count int) *ir.Value {
	if w.either("sum") {
		return w.times(w.b.Node(op.Reduce{Kind: op.ReduceSum, Axes: axes, KeepDims: true}, x), 1/float64(count))
	}
	return w.b.Node(op.Reduce{Kind: op.ReduceMean, Axes: axes, KeepDims: true}, x)
}

// norm appends a normalisation of x, with or without a mean, a scale and a bias.
func (w writer) norm(x *ir.Value) *ir.Value {
	axes, count := []int{2}, 7
	if w.either("more axes") {
		axes, count = []int{1, 2}, 21
	} else if w.either("other axis") {
		axes, count = []int{1}, 3
	}
	shape := dim.Consts(1, 1, 1)
	for _, a := range axes {
		shape[a] = x.Type.Shape[a]
	}
	d := x
	var mean *ir.Value
	if w.either("centred") {
		mean = w.mean(x, axes, count)
		d = w.b.Node(op.Sub{}, x, mean)
	}
	var variance *ir.Value
	if mean != nil && w.either("mean of squares less square of mean") {
		variance = w.b.Node(op.Sub{}, w.mean(w.square(x), axes, count), w.square(mean))
	} else {
		variance = w.mean(w.square(d), axes, count)
	}
	safe := w.binary(op.Add{}, variance, w.number(0.01))
	deviation := func() *ir.Value {
		if w.either("root as power") {
			return w.b.Node(op.Pow{}, safe, w.number(0.5))
		}
		return w.b.Node(op.Sqrt{}, safe)
	}
	if w.either("quotient") {
		y := w.b.Node(op.Div{}, d, deviation())
		if w.either("scale") {
			y = w.binary(op.Mul{}, y, w.weight(shape...))
		}
		return y
	}
	var inverse *ir.Value
	switch rapid.IntRange(0, 2).Draw(w.t, "inverse") {
	case 0:
		inverse = w.b.Node(op.Reciprocal{}, deviation())
	case 1:
		inverse = w.b.Node(op.Div{}, w.number(1), deviation())
	default:
		inverse = w.b.Node(op.Pow{}, safe, w.number(-0.5))
	}
	scale, bias := w.weight(shape...), w.weight(shape...)
	switch {
	case mean != nil && w.either("moved"):
		by := w.binary(op.Mul{}, inverse, scale)
		rest := w.b.Node(op.Sub{}, bias, w.binary(op.Mul{}, mean, by))
		return w.binary(op.Add{}, w.binary(op.Mul{}, x, by), rest)
	case w.either("scale first"):
		return w.binary(op.Mul{}, d, w.binary(op.Mul{}, inverse, scale))
	}
	return w.binary(op.Add{}, w.binary(op.Mul{}, w.binary(op.Mul{}, d, inverse), scale), bias)
}

// activation appends an activation that has an operator of its own.
func (w writer) activation(x *ir.Value) *ir.Value {
	one := w.number(1)
	logistic := func(v *ir.Value) *ir.Value {
		if w.either("sigmoid") {
			return w.b.Node(op.Sigmoid{}, v)
		}
		e := w.binary(op.Add{}, w.b.Node(op.Exp{}, w.b.Node(op.Neg{}, v)), one)
		return w.b.Node(op.Div{}, one, e)
	}
	switch rapid.IntRange(0, 5).Draw(w.t, "activation") {
	case 0:
		gate := w.binary(op.Add{}, w.b.Node(op.Erf{}, w.times(x, 1/math.Sqrt2)), one)
		return w.product(x, gate, w.number(0.5))
	case 1:
		gate := w.binary(op.Add{}, w.b.Node(op.Tanh{}, w.cubic(x)), one)
		return w.product(x, gate, w.number(0.5))
	case 2:
		return w.product(x, logistic(x))
	case 3:
		return w.product(x, w.b.Node(op.Sigmoid{}, w.times(x, 1.702)))
	case 4:
		return w.times(w.product(x, w.b.Node(op.Clip{Lo: 0, Hi: 6}, w.binary(op.Add{}, x, w.number(3)))), 1./6)
	}
	soft := w.b.Node(op.Log{}, w.binary(op.Add{}, w.b.Node(op.Exp{}, x), one))
	return w.product(x, w.b.Node(op.Tanh{}, soft))
}

// cubic appends √(2/π)·(x + 0.044715·x³).
func (w writer) cubic(x *ir.Value) *ir.Value {
	slope, small := w.number(math.Sqrt(2/math.Pi)), w.number(0.044715)
	switch rapid.IntRange(0, 2).Draw(w.t, "cubic") {
	case 0:
		cube := w.b.Node(op.Pow{}, x, w.number(3))
		return w.product(slope, w.binary(op.Add{}, x, w.product(small, cube)))
	case 1:
		return w.product(slope, w.binary(op.Add{}, x, w.product(small, x, x, x)))
	}
	return w.product(slope, x, w.binary(op.Add{}, w.number(1), w.product(small, x, x)))
}

// attention appends an attention of heads of x, [N,5,12], or of projections of it.
func (w writer) attention(x *ir.Value) *ir.Value {
	n, s, heads, d := x.Type.Shape[0], x.Type.Shape[1], dim.Const(3), dim.Const(4)
	merged := w.either("heads in the batch")
	part := func(perm ...int) *ir.Value {
		if w.either("projection") {
			x := w.b.Node(op.MatMul{}, x, w.weight(dim.Const(12), dim.Const(12)))
			return w.heads(w.b.Node(op.Add{}, x, w.weight(dim.Const(12))), merged, perm)
		}
		return w.heads(x, merged, perm)
	}
	q, k, v := part(0, 2, 1, 3), part(0, 2, 3, 1), part(0, 2, 1, 3)
	scale := func(v *ir.Value) *ir.Value {
		if w.either("scale") {
			return w.times(v, 0.75)
		}
		return v
	}
	scores := scale(w.b.Node(op.MatMul{}, scale(q), scale(k)))
	whole, short := []dim.Dim{n, heads, s, s}, scores.Type.Shape
	switch rapid.IntRange(0, 3).Draw(w.t, "mask") {
	case 1:
		m := w.weight(dim.Const(1), dim.Const(1), s, s)
		scores = w.b.Node(op.Reshape{Shape: whole}, scores)
		scores = w.b.Node(op.Reshape{Shape: short}, w.binary(op.Add{}, scores, m))
	case 2:
		below := w.b.Node(op.Trilu{}, w.b.Node(op.Expand{Shape: []dim.Dim{s, s}}, w.number(1)), w.b.Const(ir.Scalar(ir.I64, 0)))
		least := w.number(rapid.SampledFrom([]float64{math.Inf(-1), -math.MaxFloat32}).Draw(w.t, "least"))
		scores = w.b.Node(op.Where{}, w.b.Node(op.Cast{To: ir.Bool}, below), scores, least)
	case 3:
		scores = w.binary(op.Add{}, scores, w.weight(s))
	}
	var shares *ir.Value
	if rows := dim.Product(short[:len(short)-1]...); w.either("softmax of a matrix") {
		flat := w.b.Node(op.Reshape{Shape: []dim.Dim{rows, s}}, scores)
		shares = w.b.Node(op.Reshape{Shape: short}, w.b.Node(op.Softmax{Axis: 1}, flat))
	} else {
		shares = w.b.Node(op.Softmax{Axis: len(short) - 1}, scores)
	}
	y := w.b.Node(op.Reshape{Shape: []dim.Dim{n, heads, s, d}}, w.b.Node(op.MatMul{}, shares, v))
	return w.b.Node(op.Transpose{Perm: []int{0, 2, 1, 3}}, y)
}

// heads appends the 3 heads of x, [N,5,12], transposed by perm. The heads get an axis of their own,
// or are merged into the batch.
func (w writer) heads(x *ir.Value, merged bool, perm []int) *ir.Value {
	n, s := x.Type.Shape[0], x.Type.Shape[1]
	x = w.b.Node(op.Reshape{Shape: []dim.Dim{n, s, dim.Const(3), dim.Const(4)}}, x)
	if !merged {
		return w.b.Node(op.Transpose{Perm: perm}, x)
	}
	x = w.b.Node(op.Transpose{Perm: []int{0, 2, 1, 3}}, x)
	x = w.b.Node(op.Reshape{Shape: []dim.Dim{n.Mul(dim.Const(3)), s, dim.Const(4)}}, x)
	if perm[2] == 1 {
		return x
	}
	return w.b.Node(op.Transpose{Perm: []int{0, 2, 1}}, x)
}
