package op

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

// traits says for each trait whether an operator has it.
var traits = []struct {
	name string
	has  func(ir.Op) bool
	ops  string
}{
	{"Affine", has[Affine], "add div mul sub"},
	{"Cheap", has[Cheap], "abs add and cast clip equal greater greater_or_equal less less_or_equal max min mul neg not or relu sub"},
	{"Clamp", has[Clamp], "clip relu"},
	{"Commutative", has[Commutative], "add and bitwise_and bitwise_or bitwise_xor equal mul or xor"},
	{"Idempotent", has[Idempotent], "abs and bitwise_and bitwise_or ceil floor max min or relu round sign"},
	{"Identity", has[Identity], "cast clip concat detach dropout expand noise reshape slice strided_copy transpose"},
	{"Involution", has[Involution], "bitwise_not neg not"},
	{"MemoryBound, not elementwise", isMemoryBoundOnly, "concat fill layer_normalization pad pointwise rms_normalization strided_copy trilu"},
	{"Mover, joins", moves(Joins), "concat"},
	{"Mover, picks", moves(Picks), "gather gather_nd"},
	{"Mover, rearranges", moves(Rearranges), "reshape slice transpose"},
	{"Mover, repeats", moves(Repeats), "expand strided_copy"},
	{"Neutral", has[Neutral], "add and bit_shift bitwise_or bitwise_xor div max min mul or pow sub xor"},
	{"Pairing", has[Pairing], "select_boxes tree_ensemble"},
	{"Parametric", has[Parametric], "batch_normalization conv conv_transpose custom deform_conv gather gemm gru layer_normalization lstm mat_mul p_relu rms_normalization rnn"},
	{"Product", has[Product], "attend attend_gradient attend_training conv conv_weights mat_mul"},
	{"RowWise", has[RowWise], "layer_normalization log_softmax rms_normalization softmax"},
	{"Scalar, not elementwise", func(o ir.Op) bool { return has[Scalar](o) && !has[Elementwise](o) }, "bit_cast dropout"},
	{"Selector", has[Selector], "max_pool"},
	{"Transposable", has[Transposable], "concat slice"},
	{"Whole", has[Whole], "attend_gradient attend_training channel_moments channel_sums gru_grad gru_trace lstm_grad lstm_trace max_pool_grad"},
}

func has[T any](o ir.Op) bool {
	_, ok := o.(T)
	return ok
}

func moves(m Movement) func(ir.Op) bool { return func(o ir.Op) bool { return MovementOf(o) == m } }

func isMemoryBoundOnly(o ir.Op) bool { return has[MemoryBound](o) && !has[Elementwise](o) }

// TestTraits lists the operators of each trait, so that an operator does not gain or lose a trait
// by accident, for example by embedding another operator.
func TestTraits(t *testing.T) {
	for _, trait := range traits {
		var names []string
		for _, o := range Ops {
			if trait.has(o) {
				names = append(names, ir.OpName(o))
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != trait.ops {
			t.Errorf("%s: %s\nwant %s", trait.name, got, trait.ops)
		}
	}
}

// TestLaws evaluates operators that state a law on numbers at which it could fail.
func TestLaws(t *testing.T) {
	for _, o := range Ops {
		for _, d := range []ir.DType{ir.F64, ir.F32, ir.F16, ir.BF16, ir.I64, ir.I8, ir.U64, ir.U8, ir.Bool} {
			law := laws{t, o, d}
			for _, x := range edges(d) {
				law.one(x)
				for _, y := range edges(d) {
					law.two(x, y)
				}
			}
		}
	}
}

type laws struct {
	t  *testing.T
	op ir.Op
	d  ir.DType
}

// edges returns numbers of a type, among them those that operators treat specially.
func edges(d ir.DType) (list []*ir.Tensor) {
	switch {
	case d.IsFloat():
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 2.5, -0.75, math.Inf(1), math.Inf(-1), math.NaN()} {
			list = append(list, ir.Scalar(d, x))
		}
	case d == ir.Bool:
		return []*ir.Tensor{ir.Scalar(d, 0), ir.Scalar(d, 1)}
	default:
		for _, x := range []float64{0, 1, 2, 7, 127} {
			list = append(list, ir.Scalar(d, x))
		}
		least := ir.NewTensor(d)
		least.SetInt(0, math.MinInt64>>(64-d.Bits()))
		list = append(list, least)
	}
	return list
}

// one checks the laws of one operand.
func (l laws) one(x *ir.Tensor) {
	if has[Involution](l.op) && l.takes(x) {
		l.equal("f(f(x))", x, l.eval(l.eval(x)))
	}
	if has[Idempotent](l.op) && l.takes(x) {
		l.equal("f(f(x))", l.eval(x), l.eval(l.eval(x)))
	}
	if has[Idempotent](l.op) && l.takes(x, x) {
		l.equal("f(x, x)", x, l.eval(x, x))
	}
	if o, ok := l.op.(Clamp); ok && l.takes(x) {
		lo, hi := o.Limits()
		if y := l.eval(x).Number(0); y < lo || y > hi {
			l.t.Errorf("%T limits %v of %s to %v", l.op, x.Number(0), l.d, y)
		}
	}
	o, ok := l.op.(Neutral)
	if !ok || !l.d.IsFloat() && math.IsInf(o.Neutral(), 0) {
		return
	}
	if y := ir.Scalar(l.d, o.Neutral()); l.takes(x, y) {
		l.equal("f(x, neutral)", x, l.eval(x, y))
	}
}

// two checks the laws of two operands.
func (l laws) two(x, y *ir.Tensor) {
	if has[Commutative](l.op) && l.takes(x, y) {
		l.equal("f(y, x)", l.eval(x, y), l.eval(y, x))
	}
}

// takes reports whether the operator is defined for these operands.
func (l laws) takes(in ...*ir.Tensor) bool {
	types := make([]ir.Type, len(in))
	for i, x := range in {
		types[i] = x.Type()
	}
	_, err := l.op.Infer(types)
	return err == nil
}

func (l laws) eval(in ...*ir.Tensor) *ir.Tensor {
	l.t.Helper()
	out, err := l.op.Eval(in)
	if err != nil {
		l.t.Fatalf("%T of %s: %v", l.op, l.d, err)
	}
	return out[0]
}

// equal compares the bits, except of NaN.
func (l laws) equal(what string, want, got *ir.Tensor) {
	l.t.Helper()
	if l.d.IsFloat() && want.DType.IsFloat() && math.IsNaN(want.Float(0)) && math.IsNaN(got.Float(0)) {
		return
	}
	if !slices.Equal(want.Bytes(), got.Bytes()) {
		l.t.Errorf("%T of %s: %s is %v, want %v", l.op, l.d, what, got.Number(0), want.Number(0))
	}
}
