package op

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"pgregory.net/rapid"
)

func TestSelectionValues(t *testing.T) {
	nan := math.NaN()
	texts := ir.NewTensor(ir.String, 3)
	for i, s := range []string{"b", "a", "b"} {
		texts.SetText(i, s)
	}
	for _, test := range []struct {
		name    string
		op      string
		opset   int
		attrs   attrs
		args    []*ir.Tensor
		results int
		want    []string
	}{
		{"takes the greatest", "TopK", 11, nil, []*ir.Tensor{f32s(1, 5, 2, 5, nan), ints(3)}, 2, []string{"f32[3](NaN,5,5)", "i64[3](4,1,3)"}},
		{"takes the least", "TopK", 11, attrs{"largest": 0, "sorted": 0}, []*ir.Tensor{f32s(nan, 5, 2, 2), ints(4)}, 2, []string{"f32[4](2,2,5,NaN)", "i64[4](2,3,1,0)"}},
		{"takes k from an attribute", "TopK", 1, attrs{"k": 1, "axis": 0}, []*ir.Tensor{parsed(t, "f32[2,2](1,4,3,2)")}, 2, []string{"f32[1,2](3,4)", "i64[1,2](1,0)"}},
		{"takes none", "TopK", 11, nil, []*ir.Tensor{f32s(1, 2), ints(0)}, 2, []string{"f32[0]()", "i64[0]()"}},
		{"orders large integers", "TopK", 11, nil, []*ir.Tensor{parsed(t, "u64[3](1,18446744073709551615,2)"), ints(2)}, 2, []string{"u64[2](18446744073709551615,2)", "i64[2](1,2)"}},
		{"orders narrow floats", "TopK", 24, nil, []*ir.Tensor{parsed(t, "bf16[3](1,3,2)"), ints(2)}, 2, []string{"bf16[2](3,2)", "i64[2](1,2)"}},

		{"keeps one of equals", "Unique", 11, nil, []*ir.Tensor{f32s(2, 1, nan, 2, nan)}, 4, []string{"f32[3](1,2,NaN)", "i64[3](1,0,2)", "i64[5](1,0,2,1,2)", "i64[3](1,2,2)"}},
		{"keeps the order", "Unique", 11, attrs{"sorted": 0}, []*ir.Tensor{ints(2, 1, 1, 3, 4, 3)}, 4, []string{"i64[4](2,1,3,4)", "i64[4](0,1,3,4)", "i64[6](0,1,1,2,3,2)", "i64[4](1,2,2,1)"}},
		{"keeps one of equal rows", "Unique", 11, attrs{"axis": 0}, []*ir.Tensor{parsed(t, "u8[3,2](1,0,0,9,1,0)")}, 4, []string{"u8[2,2](0,9,1,0)", "i64[2](1,0)", "i64[3](1,0,1)", "i64[2](1,2)"}},
		{"keeps one of equal columns", "Unique", 11, attrs{"axis": -1, "sorted": 0}, []*ir.Tensor{parsed(t, "bool[2,3](1,1,0,0,0,1)")}, 3, []string{"bool[2,2](1,0,0,1)", "i64[2](0,2)", "i64[3](0,0,1)"}},
		{"keeps one of equal texts", "Unique", 11, nil, []*ir.Tensor{texts}, 1, []string{`string[2]("a","b")`}},
		{"keeps nothing", "Unique", 11, nil, []*ir.Tensor{ir.NewTensor(ir.F32, 0, 2)}, 4, []string{"f32[0]()", "i64[0]()", "i64[0]()", "i64[0]()"}},

		{"compresses", "Compress", 11, nil, []*ir.Tensor{parsed(t, "f32[2,2](1,2,3,4)"), parsed(t, "bool[3](0,1,1)")}, 1, []string{"f32[2](2,3)"}},
		{"compresses columns", "Compress", 9, attrs{"axis": -1}, []*ir.Tensor{parsed(t, "f32[2,2](1,2,3,4)"), parsed(t, "bool[3](0,1,1)")}, 1, []string{"f32[2,1](2,4)"}},

		{"reverses sequences", "ReverseSequence", 10, nil, []*ir.Tensor{parsed(t, "f32[3,2](0,1,2,3,4,5)"), ints(3, 2)}, 1, []string{"f32[3,2](4,3,2,1,0,5)"}},
		{"reverses rows", "ReverseSequence", 10, attrs{"batch_axis": 0, "time_axis": 1}, []*ir.Tensor{parsed(t, "f32[2,3,1](0,1,2,3,4,5)"), ints(0, 2)}, 1, []string{"f32[2,3,1](0,1,2,4,3,5)"}},

		{
			"suppresses what overlaps", "NonMaxSuppression", 11, nil,
			[]*ir.Tensor{parsed(t, "f32[1,3,4](0,0,1,1,1,1,0,0.1,0,5,1,6)"), parsed(t, "f32[1,1,3](0.5,0.9,0.9)"), ints(9), f32s(0.5)},
			1, []string{"i64[2,3](0,0,1,0,0,2)"},
		},
		{
			"suppresses low scores", "NonMaxSuppression", 10, attrs{"center_point_box": 1},
			[]*ir.Tensor{parsed(t, "f32[1,2,4](0,0,2,2,9,9,2,2)"), parsed(t, "f32[1,2,2](0.5,0.9,0.1,0.5)"), ints(1), f32s(0), f32s(0.5)},
			1, []string{"i64[1,3](0,0,1)"},
		},
		{
			"chooses none by default", "NonMaxSuppression", 11, nil,
			[]*ir.Tensor{ir.NewTensor(ir.F32, 1, 2, 4), ir.NewTensor(ir.F32, 1, 1, 2)},
			1, []string{"i64[0,3]()"},
		},
	} {
		t.Run(test.op+" "+test.name, func(t *testing.T) {
			var params []ir.Type
			for _, a := range test.args {
				params = append(params, a.Type())
			}
			f, err := importFunc(test.op, test.opset, test.results, test.attrs, params)
			if err != nil {
				t.Fatal(err)
			}
			got := checkLower(t, f, 0, test.args...)
			for i, text := range test.want {
				if want := parsed(t, text); !got[i].Equal(want) {
					t.Errorf("result %d is %s, want %s", i, got[i], want)
				}
			}
		})
	}
}

func TestSelectionErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		op   ir.Op
		in   []ir.Type
	}{
		{"k beyond the axis", TopK{K: dim.Const(4)}, types(t, "f32[3]")},
		{"k beyond a symbol", TopK{K: dim.Sym("N").Add(dim.Const(1))}, types(t, "f32[N]")},
		{"no axis", TopK{K: dim.Const(0)}, types(t, "f32[]")},
		{"the greatest of texts", TopK{K: dim.Const(1)}, types(t, "string[3]")},
		{"rows of a list", SortRows{}, types(t, "f32[3]")},
		{"an order of other rows", Unique{Count: "K"}, types(t, "f32[3,1]", "i64[2]")},
		{"boxes of 3 numbers", SelectBoxes{}, types(t, "f32[1,2,3]", "f32[1,1,2]", "i64[]", "f32[]")},
		{"scores of other boxes", SelectBoxes{}, types(t, "f32[1,2,4]", "f32[1,1,3]", "i64[]", "f32[]")},
		{"a share of f64", SelectBoxes{}, types(t, "f32[1,2,4]", "f32[1,1,2]", "i64[]", "f64[]")},
	} {
		t.Run(test.name, func(t *testing.T) {
			if out, err := test.op.Infer(test.in); err == nil {
				t.Errorf("infers %v", out)
			}
		})
	}
}

// TestElementsAreTracedToTheirOrigins checks that an element of one list becomes one symbol, even
// if several operators read it in different ways. Arithmetic on the element makes another symbol.
func TestElementsAreTracedToTheirOrigins(t *testing.T) {
	f := buildFunc(t, types(t, "i64[3]", "f32[]"), func(b *ir.Builder, p []*ir.Value) []*ir.Value {
		size, x := p[0], p[1]
		cut := mustImport(b, "Slice", 13, nil, size, b.Const(ints(1)), b.Const(ints(3)))
		joined := mustImport(b, "Concat", 13, attrs{"axis": 0}, b.Const(ints(2)), cut)
		a := mustImport(b, "Expand", 13, nil, x, joined)
		back := mustImport(b, "Gather", 13, nil, size, b.Const(ints(2, 1)))
		c := mustImport(b, "Expand", 13, nil, x, mustImport(b, "Cast", 13, attrs{"to": ir.I32}, back))
		positive := mustImport(b, "Max", 13, nil, back, b.Const(ints(0)))
		d := mustImport(b, "Expand", 13, nil, x, positive)
		width := mustImport(b, "Squeeze", 13, nil, mustImport(b, "Gather", 13, nil, size, b.Const(ints(2))))
		e := mustImport(b, "Range", 11, nil, b.Const(ir.NewTensor(ir.I64)), width, b.Const(ints(1).Reshape()))
		return []*ir.Value{a, c, d, e}
	})
	verifyFunc(t, f)
	a, c, d, e := f.Results[0].Type, f.Results[1].Type, f.Results[2].Type, f.Results[3].Type
	if !a.Shape[1].Equal(c.Shape[1]) || !a.Shape[2].Equal(c.Shape[0]) || !e.Shape[0].Equal(c.Shape[0]) {
		t.Errorf("%s, %s and %s have other symbols\n%s", a, c, e, f)
	}
	if d.Shape[0].Equal(c.Shape[0]) {
		t.Errorf("%s is not %s\n%s", d, c, f)
	}
	out := run(t, f, ints(-1, 3, 4), ir.Scalar(ir.F32, 1))
	for i, want := range []string{"f32[2,3,4]", "f32[4,3]", "f32[4,3]", "i64[4]"} {
		if got := out[i].Type().String(); got != want {
			t.Errorf("result %d is %s, want %s", i, got, want)
		}
	}
}

// TestSlicesKnownWhenTheModelRuns compares random slices with constant bounds with the same slices
// with bounds that are known only at run time.
func TestSlicesKnownWhenTheModelRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.OneOf(rapid.Int64Range(-9, 9), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32}))
		d := rapid.IntRange(0, 6).Draw(t, "d")
		lists := []*ir.Tensor{
			ints(bound.Draw(t, "start")), ints(bound.Draw(t, "end")), ints(0),
			ints(rapid.OneOf(rapid.Int64Range(1, 7), rapid.Int64Range(-7, -1), bound.Filter(func(v int64) bool { return v != 0 })).Draw(t, "step")),
		}
		x := counted(ir.I32, d)
		f, err := importFunc("Slice", 13, 1, nil, []ir.Type{x.Type()}, lists...)
		if err != nil {
			t.Fatal(err)
		}
		params, args := []ir.Type{x.Type()}, []*ir.Tensor{x}
		for _, l := range lists {
			params, args = append(params, l.Type()), append(args, l)
		}
		g, err := importFunc("Slice", 13, 1, nil, params)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := run(t, f, x)[0], run(t, g, args...)[0]; !got.Equal(want) {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}
