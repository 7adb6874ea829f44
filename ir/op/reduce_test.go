package op

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func TestReductionValues(t *testing.T) {
	reduce := func(kind Reduction, axes ...int) ir.Op { return Reduce{Kind: kind, Axes: axes} }
	for _, test := range []struct {
		name    string
		op      ir.Op
		operand string
		want    string
	}{
		{"sums rows", reduce(ReduceSum, 1), "f32[2,3](1,2,3,4,5,6)", "f32[2](6,15)"},
		{"sums columns", reduce(ReduceSum, 0), "f32[2,3](1,2,3,4,5,6)", "f32[3](5,7,9)"},
		{"keeps the axes", Reduce{Kind: ReduceSum, Axes: []int{0, 1}, KeepDims: true}, "i8[2,2](100,100,1,2)", "i8[1,1](-53)"},
		{"sums nothing", reduce(ReduceSum, 1), "f32[2,0]()", "f32[2](0,0)"},
		{"multiplies nothing", reduce(ReduceProd, 1), "i32[1,0]()", "i32[1](1)"},
		{"has no greatest of nothing", reduce(ReduceMax, 0), "f32[0]()", "f32[](-Inf)"},
		{"has the least i8 as the greatest of nothing", reduce(ReduceMax, 0), "i8[0]()", "i8[](-128)"},
		{"has the greatest u16 as the least of nothing", reduce(ReduceMin, 0), "u16[0]()", "u16[](65535)"},
		{"has no mean of nothing", reduce(ReduceMean, 0), "f32[0]()", "f32[](NaN)"},
		{"has no logarithm of nothing", reduce(ReduceLogSumExp, 0), "f32[0]()", "f32[](-Inf)"},
		{"reduces a scalar", reduce(ReduceL1), "f32[](-3)", "f32[](3)"},
		{"squares along no axes", reduce(ReduceSumSquare), "f32[3](1,-2,3)", "f32[3](1,4,9)"},
		{"finds NaN the greatest", reduce(ReduceMax, 0), "f32[3](1,NaN,2)", "f32[](NaN)"},
		{"finds NaN the least", reduce(ReduceMin, 0), "f32[3](1,NaN,2)", "f32[](NaN)"},
		{"finds any truth", reduce(ReduceMax, 1), "bool[2,2](0,0,0,1)", "bool[2](0,1)"},
		{"finds all truth", reduce(ReduceMin, 1), "bool[2,2](1,1,0,1)", "bool[2](1,0)"},
		{"truncates means", reduce(ReduceMean, 0), "i32[2](-3,-4)", "i32[](-3)"},
		{"orders u64", reduce(ReduceMax, 0), "u64[2](18446744073709551615,1)", "u64[](18446744073709551615)"},
		{"takes a norm", reduce(ReduceL2, 0), "f32[2](3,4)", "f32[](5)"},
		{"truncates a norm", reduce(ReduceL2, 0), "i32[2](1,2)", "i32[](2)"},
		{"does not overflow in exponentials", reduce(ReduceLogSumExp, 0), "f32[2](1000,-1000)", "f32[](1000)"},
		{"takes logarithms of infinities", reduce(ReduceLogSumExp, 0), "f32[2](+Inf,1)", "f32[](+Inf)"},

		{"finds the first greatest", ArgMax{Axis: 1}, "f32[2,3](1,3,3,5,4,5)", "i64[2](1,0)"},
		{"finds the last greatest", ArgMax{Axis: 1, Last: true}, "f32[2,3](1,3,3,5,4,5)", "i64[2](2,2)"},
		{"finds the least", ArgMin{Axis: 0, KeepDims: true}, "i8[2,2](1,-3,-1,4)", "i64[1,2](1,0)"},
		{"finds the first NaN", ArgMax{Axis: 0}, "f32[4](1,NaN,9,NaN)", "i64[](1)"},
		{"finds the last NaN", ArgMin{Axis: 0, Last: true}, "f32[4](1,NaN,-9,NaN)", "i64[](3)"},

		{"sums up to an element", CumSum{}, "i32[3](1,2,3)", "i32[3](1,3,6)"},
		{"sums what is before an element", CumSum{Exclusive: true}, "i32[3](1,2,3)", "i32[3](0,1,3)"},
		{"sums from the end", CumSum{Reverse: true}, "i32[3](1,2,3)", "i32[3](6,5,3)"},
		{"sums what is behind an element", CumSum{Exclusive: true, Reverse: true}, "i32[3](1,2,3)", "i32[3](5,3,0)"},
		{"sums along an axis", CumSum{Axis: 1}, "f32[2,3](1,2,3,4,5,6)", "f32[2,3](1,3,6,4,9,15)"},
		{"wraps running sums", CumSum{}, "u8[2](255,2)", "u8[2](255,1)"},
		{"multiplies up to an element", CumProd{}, "f32[3](1,2,3)", "f32[3](1,2,6)"},
		{"multiplies what is behind an element", CumProd{Exclusive: true, Reverse: true}, "i32[3](1,2,3)", "i32[3](6,3,1)"},

		{"makes probabilities", Softmax{Axis: 1}, "f32[2,2](1000,1000,-Inf,0)", "f32[2,2](0.5,0.5,0,1)"},
		{"makes probabilities along columns", Softmax{Axis: 0}, "f32[2,1](0,0)", "f32[2,1](0.5,0.5)"},
		{"makes logarithms of probabilities", LogSoftmax{Axis: 0}, "f32[2](1000,0)", "f32[2](0,-1000)"},
		{"has no probabilities beside NaN", Softmax{Axis: 0}, "f32[2](NaN,0)", "f32[2](NaN,NaN)"},
		{"marks the first greatest", Hardmax{Axis: 1}, "f32[2,3](1,3,3,5,4,5)", "f32[2,3](0,1,0,1,0,0)"},
		{"marks none beside NaN", Hardmax{Axis: 0}, "f32[2](1,NaN)", "f32[2](0,0)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := parsed(t, test.operand)
			out := run(t, nodeFunc(t, test.op, x.Type()), x)
			if got := out[0].String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestReductionTypes(t *testing.T) {
	for _, test := range []struct {
		name    string
		op      ir.Op
		operand string
		want    string // the result's type, or part of the error
	}{
		{"drops axes", Reduce{Kind: ReduceMean, Axes: []int{1, 2}}, "f32[N,3,S]", "f32[N]"},
		{"keeps axes", Reduce{Kind: ReduceMean, Axes: []int{0, 2}, KeepDims: true}, "f32[N,3,S]", "f32[1,3,1]"},
		{"refuses axes beyond the rank", Reduce{Kind: ReduceMean, Axes: []int{1}}, "f32[N]", "axes [1]"},
		{"refuses axes out of order", Reduce{Kind: ReduceMean, Axes: []int{1, 0}}, "f32[N,2]", "do not ascend"},
		{"refuses unknown kinds", Reduce{Kind: "median"}, "f32[N,2]", `unknown reduction "median"`},
		{"refuses sums of booleans", Reduce{Kind: ReduceSum}, "bool[N]", "numbers expected"},
		{"takes the maximum of booleans", Reduce{Kind: ReduceMax, Axes: []int{0}}, "bool[N]", "bool[]"},
		{"refuses strings", Reduce{Kind: ReduceMax}, "string[N]", "numbers expected"},
		{"gives positions", ArgMax{Axis: 1}, "f32[N,5]", "i64[N]"},
		{"refuses positions in nothing", ArgMin{Axis: 1}, "f32[N,0]", "no elements"},
		{"refuses positions beyond the rank", ArgMin{Axis: 2}, "f32[N,5]", "axis 2 out of range for rank 2"},
		{"keeps the shape", Softmax{Axis: 1}, "f32[N,S]", "f32[N,S]"},
		{"refuses an axis beyond the rank", LogSoftmax{Axis: 2}, "f32[N,S]", "axis 2 out of range for rank 2"},
		{"refuses integers", Softmax{Axis: 0}, "i32[N]", "floats expected"},
		{"sums up integers", CumSum{Axis: 0}, "i32[N]", "i32[N]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got string
			err := ir.Try(func() {
				b := ir.NewBuilder(&ir.Func{Name: "f"})
				got = b.Node(test.op, b.Param("x", typed(t, test.operand))).Type.String()
			})
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestReductionsLowerToWhatTheyEvaluate(t *testing.T) {
	for kind := range reductions {
		for _, d := range dtypesOf(t, "f32 f16 i32 u8 f64") {
			t.Run(fmt.Sprintf("%s of %s", kind, d), func(t *testing.T) {
				rapid.Check(t, func(r *rapid.T) {
					shape := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 5).Draw(r, "shape")
					dims := dim.Consts(shape...)
					var axes []int
					for i := range shape {
						if rapid.Bool().Draw(r, "reduced") {
							axes = append(axes, i)
						}
						if rapid.Bool().Draw(r, "symbolic") {
							dims[i] = dim.Sym(fmt.Sprintf("D%d", i))
						}
					}
					op := Reduce{Kind: kind, Axes: axes, KeepDims: rapid.Bool().Draw(r, "keep")}
					f := nodeFunc(t, op, ir.TensorOf(d, dims...))
					checkLower(t, f, 0.02, drawn(r, d, 0.5, 3, shape...))
				})
			})
		}
	}
}

func TestLinesLowerToWhatTheyEvaluate(t *testing.T) {
	for _, test := range []struct {
		along  func(axis int) ir.Op
		dtypes string
	}{
		{func(axis int) ir.Op { return ArgMax{Axis: axis} }, "f32 f16 i8 u4"},
		{func(axis int) ir.Op { return ArgMin{Axis: axis, KeepDims: true, Last: true} }, "f32 bf16 u8"},
		{func(axis int) ir.Op { return CumSum{Axis: axis, Reverse: true} }, "f32 f16 i32 u8"},
		{func(axis int) ir.Op { return CumProd{Axis: axis, Exclusive: true} }, "f32 f16 i32"},
		{func(axis int) ir.Op { return Softmax{Axis: axis} }, "f32 f16 f64"},
		{func(axis int) ir.Op { return LogSoftmax{Axis: axis} }, "f32 bf16 f64"},
		{func(axis int) ir.Op { return Hardmax{Axis: axis} }, "f32 f16 f64"},
	} {
		for _, d := range dtypesOf(t, test.dtypes) {
			t.Run(fmt.Sprintf("%s of %s", ir.OpName(test.along(0)), d), func(t *testing.T) {
				rapid.Check(t, func(r *rapid.T) {
					shape := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(r, "shape")
					dims := dim.Consts(shape...)
					dims[0] = dim.Sym("N")
					axis := rapid.IntRange(0, len(shape)-1).Draw(r, "axis")
					f := nodeFunc(t, test.along(axis), ir.TensorOf(d, dims...))
					checkLower(t, f, 0.02, drawn(r, d, -3, 3, shape...))
				})
			})
		}
	}
}

// What is reduced along one run of axes must not get lost along the next.
func TestReductionsAlongSeveralRunsKeepInfinities(t *testing.T) {
	x := parsed(t, "f32[2,2,2](-Inf,-Inf,-Inf,-Inf,-Inf,-Inf,+Inf,1)")
	for _, kind := range []Reduction{ReduceLogSumExp, ReduceMax, ReduceMin, ReduceSum} {
		f := nodeFunc(t, Reduce{Kind: kind, Axes: []int{0, 2}}, x.Type())
		checkLower(t, f, 0, x)
	}
}
