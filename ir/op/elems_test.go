package op

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// elemsText returns known elements as text, "3/2 N" for 3/2 and N.
func elemsText(v *ir.Value) string {
	if v.Elems == nil {
		return "unknown"
	}
	words := make([]string, len(v.Elems))
	for i, e := range v.Elems {
		words[i] = e.Num.String()
		if e.Den != 1 {
			words[i] += fmt.Sprintf("/%d", e.Den)
		}
	}
	return strings.Join(words, " ")
}

func TestShapeArithmetic(t *testing.T) {
	// The chains start from the shape of f32[N,3,S].
	dims := func(b *ir.Builder) *ir.Value { return b.Dims(dim.Sym("N"), dim.Const(3), dim.Sym("S")) }
	f32 := func(b *ir.Builder, v float64) *ir.Value { return b.Scalar(ir.F32, v) }
	i64 := func(b *ir.Builder, v float64) *ir.Value { return b.Scalar(ir.I64, v) }
	cast := func(b *ir.Builder, d ir.DType, v *ir.Value) *ir.Value { return b.Node(Cast{To: d}, v) }
	for _, test := range []struct {
		name  string
		build func(b *ir.Builder) *ir.Value
		want  string
	}{
		{"scales through floats", func(b *ir.Builder) *ir.Value {
			scaled := b.Node(Mul{}, cast(b, ir.F32, dims(b)), f32(b, 1.5))
			return cast(b, ir.I64, b.Node(Floor{}, scaled))
		}, "N+floor(N/2) 4 S+floor(S/2)"},
		{"truncates on the cast", func(b *ir.Builder) *ir.Value {
			return cast(b, ir.I64, b.Node(Div{}, cast(b, ir.F32, dims(b)), f32(b, 2)))
		}, "floor(N/2) 1 floor(S/2)"},
		{"rounds up", func(b *ir.Builder) *ir.Value {
			return cast(b, ir.I64, b.Node(Ceil{}, b.Node(Div{}, cast(b, ir.F32, dims(b)), f32(b, 2))))
		}, "floor((N+1)/2) 2 floor((S+1)/2)"},
		{"scales up and down again", func(b *ir.Builder) *ir.Value {
			return b.Node(Div{}, b.Node(Mul{}, dims(b), i64(b, 6)), i64(b, 2))
		}, "3*N 9 3*S"},
		{"keeps what is exact in floats", func(b *ir.Builder) *ir.Value {
			return b.Node(Mul{}, cast(b, ir.F32, dims(b)), f32(b, 0.25))
		}, "N/4 3/4 S/4"},
		{"does not follow inexact factors", func(b *ir.Builder) *ir.Value {
			return b.Node(Mul{}, cast(b, ir.F32, dims(b)), f32(b, 0.1))
		}, "unknown"},
		{"does not follow what f16 cannot hold", func(b *ir.Builder) *ir.Value {
			return cast(b, ir.F16, dims(b))
		}, "unknown"},
		{"divides symbols by symbols", func(b *ir.Builder) *ir.Value {
			return b.Node(Div{}, b.Node(Mul{}, dims(b), i64(b, 4)), dims(b))
		}, "4 4 4"},
		{"multiplies all", func(b *ir.Builder) *ir.Value {
			return b.Node(Reduce{Kind: ReduceProd, Axes: []int{0}}, dims(b))
		}, "3*N*S"},
		{"adds all", func(b *ir.Builder) *ir.Value {
			return b.Node(Reduce{Kind: ReduceSum, Axes: []int{0}, KeepDims: true}, dims(b))
		}, "N+S+3"},
		{"takes the least", func(b *ir.Builder) *ir.Value { return b.Node(Min{}, dims(b), i64(b, 4)) }, "min(N,4) 3 min(S,4)"},
		{"decides what bounds decide", func(b *ir.Builder) *ir.Value {
			return b.Node(GreaterOrEqual{}, dims(b), i64(b, 0))
		}, "1 1 1"},
		{"leaves open what they do not", func(b *ir.Builder) *ir.Value {
			return b.Node(Equal{}, dims(b), i64(b, 3))
		}, "unknown"},
		{"chooses by a decided condition", func(b *ir.Builder) *ir.Value {
			isNegative := b.Node(Less{}, dims(b), i64(b, 0))
			return b.Node(Where{}, b.Node(Not{}, isNegative), dims(b), i64(b, 7))
		}, "N 3 S"},
		{"replaces -1 by a choice", func(b *ir.Builder) *ir.Value {
			shape := b.Const(ir.IntTensor(ir.I64, -1, 5, -1))
			return b.Node(Where{}, b.Node(Equal{}, shape, i64(b, -1)), dims(b), shape)
		}, "N 5 S"},
		{"limits", func(b *ir.Builder) *ir.Value { return b.Node(Clip{Lo: 1, Hi: 8}, dims(b)) }, "min(max(N,1),8) 3 min(max(S,1),8)"},
		{"takes remainders", func(b *ir.Builder) *ir.Value { return b.Node(Mod{}, dims(b), i64(b, 2)) }, "N-2*floor(N/2) 1 S-2*floor(S/2)"},
		{"subtracts to below zero", func(b *ir.Builder) *ir.Value {
			return b.Node(Abs{}, b.Node(Neg{}, dims(b)))
		}, "N 3 S"},
		{"squares", func(b *ir.Builder) *ir.Value { return b.Node(Pow{}, dims(b), i64(b, 2)) }, "N*N 9 S*S"},
		{"does not truncate what may be negative", func(b *ir.Builder) *ir.Value {
			return b.Node(Div{}, b.Node(Sub{}, dims(b), i64(b, 5)), i64(b, 2))
		}, "unknown"},
		{"does not divide by zero", func(b *ir.Builder) *ir.Value { return b.Node(Div{}, dims(b), i64(b, 0)) }, "unknown"},
		{"leaves wrapping to the evaluator", func(b *ir.Builder) *ir.Value {
			v := b.Scalar(ir.U8, 200)
			return b.Node(Add{}, v, v)
		}, "unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got string
			f := buildFunc(t, nil, func(b *ir.Builder, _ []*ir.Value) []*ir.Value {
				v := test.build(b)
				got = elemsText(v)
				return []*ir.Value{v}
			})
			if got != test.want {
				t.Errorf("%s, want %s\n%s", got, test.want, f)
			}
		})
	}
}

// shapeOps are the operators that arithmetic on extents is made of.
var shapeOps = []ir.Op{
	Add{}, Sub{}, Mul{}, Div{}, Mod{}, Mod{Truncated: true}, Min{}, Max{}, Neg{}, Abs{}, Sign{}, Relu{},
	Cast{To: ir.F32}, Cast{To: ir.I64}, Cast{To: ir.I32}, Cast{To: ir.Bool}, Floor{}, Ceil{}, Round{}, Reciprocal{},
	Equal{}, Less{}, Greater{}, LessOrEqual{}, GreaterOrEqual{}, Not{}, And{}, Or{}, Xor{}, Where{}, Pow{},
	Clip{Lo: -2, Hi: 9}, Reduce{Kind: ReduceProd, Axes: []int{0}}, Reduce{Kind: ReduceMax, Axes: []int{0}, KeepDims: true},
}

// operandsOf returns how many operands an operator of shapeOps takes.
func operandsOf(op ir.Op) int {
	for n := 1; n <= 3; n++ {
		in := slices.Repeat([]ir.Type{ir.StaticTensor(ir.Bool, 1)}, n)
		if _, err := op.Infer(in); err == nil || !strings.Contains(err.Error(), "operands") {
			return n
		}
	}
	panic(ir.OpName(op))
}

func TestKnownElementsAreWhatIsEvaluated(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := &ir.Func{Name: "f"}
		b := ir.NewBuilder(f)
		b.Param("x", ir.TensorOf(ir.F32, dim.Sym("N"), dim.Sym("S")))
		values := []*ir.Value{
			b.Dims(dim.Sym("N"), dim.Const(2), dim.Sym("S")),
			b.Const(ir.IntTensor(ir.I64, -2, 1, 3)),
			b.Const(ir.IntTensor(ir.I64, 7, -5, 4)),
			b.Const(ir.FloatTensor(ir.F32, 0.5, -1.5, 4)),
			b.Scalar(ir.I64, 2), b.Scalar(ir.I64, -3),
		}
		// Divisions by extents of zero have no value.
		env := map[string]int{"N": rapid.IntRange(1, 9).Draw(r, "N"), "S": rapid.IntRange(1, 9).Draw(r, "S")}
		symbol := func(s string) (dim.Dim, bool) { n, ok := env[s]; return dim.Const(n), ok }
		tensors := map[*ir.Value]*ir.Tensor{}
		for _, v := range values {
			out, err := ir.SubstOp(v.Def.Op, symbol).Eval(nil)
			if err != nil {
				r.Fatal(err)
			}
			tensors[v] = out[0]
		}
		for range rapid.IntRange(1, 24).Draw(r, "nodes") {
			op := rapid.SampledFrom(shapeOps).Draw(r, "op")
			args := make([]*ir.Value, operandsOf(op))
			in := make([]*ir.Tensor, len(args))
			for i := range args {
				args[i] = values[rapid.IntRange(0, len(values)-1).Draw(r, "operand")]
				in[i] = tensors[args[i]]
			}
			var v *ir.Value
			if ir.Try(func() { v = b.Node(op, args...) }) != nil {
				continue // the operator does not take these operands
			}
			out, err := op.Eval(in)
			if err != nil {
				continue // integer division by zero
			}
			values, tensors[v] = append(values, v), out[0]
			for i, known := range v.Elems {
				num, ok := known.Num.Subst(symbol).Int()
				want := float64(num) / float64(known.Den)
				if got := out[0].Number(i); !ok || got != want {
					r.Fatalf("element %d of %s is known as %v/%d = %v, evaluates to %v\n%v", i, ir.OpName(op), known.Num, known.Den, want, got, in)
				}
			}
		}
	})
}
