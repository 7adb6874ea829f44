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

// typed reads a type of the text form.
func typed(t testing.TB, text string) ir.Type {
	t.Helper()
	m, err := ir.Parse("func @f(%x: "+text+") -> (x: "+text+") { return %x }", Set)
	if err != nil {
		t.Fatal(err)
	}
	return m.Funcs[0].Params[0].Type
}

func types(t testing.TB, texts ...string) []ir.Type {
	t.Helper()
	var all []ir.Type
	for _, s := range texts {
		all = append(all, typed(t, s))
	}
	return all
}

// ints returns a rank-1 tensor of i64.
func ints(v ...int64) *ir.Tensor { return ir.IntTensor(ir.I64, v...) }

func TestImportTypes(t *testing.T) {
	for _, test := range []struct {
		name      string
		op        string
		opset     int
		attrs     attrs
		operands  string // types of the parameters, separated by blanks
		constants []*ir.Tensor
		want      string // type of the first result, or part of the error
		checks    int    // CheckDim nodes
	}{
		{"copies extents of 0", "Reshape", 14, nil, "f32[N,S,768]", []*ir.Tensor{ints(0, 0, 12, 64)}, "f32[N,S,12,64]", 0},
		{"infers a symbolic extent", "Reshape", 14, nil, "f32[N,S,768]", []*ir.Tensor{ints(-1, 768)}, "f32[N*S,768]", 0},
		{"infers by exact division", "Reshape", 14, nil, "f32[N,12,S,64]", []*ir.Tensor{ints(0, -1, 768)}, "f32[N,S,768]", 0},
		{"infers by division to be checked", "Reshape", 14, nil, "f32[N,C]", []*ir.Tensor{ints(-1, 4)}, "f32[floor(C*N/4),4]", 1},
		{"takes a shape to be checked", "Reshape", 14, nil, "f32[N,4]", []*ir.Tensor{ints(8, 2)}, "f32[8,2]", 1},
		{"reads the attribute of opset 1", "Reshape", 1, attrs{"shape": []int{2, -1}}, "f32[N,2]", nil, "f32[2,N]", 0},
		{"keeps extents of 0 when allowed", "Reshape", 14, attrs{"allowzero": 1}, "f32[0,3]", []*ir.Tensor{ints(3, 0)}, "f32[3,0]", 0},
		{"refuses other sizes", "Reshape", 14, nil, "f32[2,3]", []*ir.Tensor{ints(4)}, "does not have the 4 elements", 0},
		{"refuses other sizes of symbols", "Reshape", 14, nil, "f32[N,3]", []*ir.Tensor{ints(0, 4)}, "f32[N,4]", 1},
		{"refuses two open extents", "Reshape", 14, nil, "f32[2,3]", []*ir.Tensor{ints(-1, -1)}, "more than one -1", 0},
		{"refuses a 0 beyond the rank", "Reshape", 14, nil, "f32[2,3]", []*ir.Tensor{ints(2, 3, 0)}, "element 2", 0},
		{"refuses -1 beside 0", "Reshape", 14, attrs{"allowzero": 1}, "f32[0,3]", []*ir.Tensor{ints(0, -1)}, "has no value", 0},
		{"refuses negative extents", "Reshape", 14, nil, "f32[2,3]", []*ir.Tensor{ints(-2, 3)}, "negative", 0},
		{"refuses an unknown rank", "Reshape", 14, nil, "f32[2,3] i64[N]", nil, "the rank is not known", 0},

		{"reverses the axes", "Transpose", 13, nil, "f32[N,3,5]", nil, "f32[5,3,N]", 0},
		{"permutes", "Transpose", 13, attrs{"perm": []int{0, 2, 1}}, "f32[N,3,5]", nil, "f32[N,5,3]", 0},
		{"refuses a short permutation", "Transpose", 13, attrs{"perm": []int{0, 1}}, "f32[N,3,5]", nil, "rank 3", 0},
		{"refuses a repeated axis", "Transpose", 13, attrs{"perm": []int{0, 0, 1}}, "f32[N,3,5]", nil, "not a permutation", 0},

		{"flattens at 1", "Flatten", 13, nil, "f32[N,3,5]", nil, "f32[N,15]", 0},
		{"flattens at 0", "Flatten", 13, attrs{"axis": 0}, "f32[N,3,5]", nil, "f32[1,15*N]", 0},
		{"flattens at the rank", "Flatten", 13, attrs{"axis": 3}, "f32[N,3,5]", nil, "f32[15*N,1]", 0},
		{"flattens from the back", "Flatten", 13, attrs{"axis": -1}, "f32[N,3,5]", nil, "f32[3*N,5]", 0},
		{"refuses an axis beyond the rank", "Flatten", 13, attrs{"axis": 4}, "f32[N,3,5]", nil, "axis 4 out of range", 0},

		{"squeezes all axes of 1", "Squeeze", 13, nil, "f32[1,N,1,5]", nil, "f32[N,5]", 0},
		{"squeezes named axes", "Squeeze", 13, nil, "f32[1,N,1,5]", []*ir.Tensor{ints(-2)}, "f32[1,N,5]", 0},
		{"takes a symbol to be 1", "Squeeze", 13, nil, "f32[N,5]", []*ir.Tensor{ints(0)}, "f32[5]", 0},
		{"squeezes by attribute", "Squeeze", 11, attrs{"axes": []int{0}}, "f32[1,5]", nil, "f32[5]", 0},
		{"refuses to squeeze 5", "Squeeze", 13, nil, "f32[1,5]", []*ir.Tensor{ints(1)}, "extent 5", 0},
		{"unsqueezes", "Unsqueeze", 13, nil, "f32[N,5]", []*ir.Tensor{ints(0, -1)}, "f32[1,N,5,1]", 0},
		{"unsqueezes by attribute", "Unsqueeze", 1, attrs{"axes": []int{1}}, "f32[N,5]", nil, "f32[N,1,5]", 0},
		{"refuses an axis twice", "Unsqueeze", 13, nil, "f32[N,5]", []*ir.Tensor{ints(0, -4)}, "named twice", 0},

		{"widens the filter of a symbol", "Resize", 18, attrs{"mode": "linear", "antialias": 1}, "f32[N]", []*ir.Tensor{nil, nil, ints(4)}, "f32[4]", 0},
		{"scales a symbol by a decimal fraction", "Resize", 13, nil, "f32[N]", []*ir.Tensor{nil, ir.FloatTensor(ir.F32, 0.7)}, "f32[floor(7*N/10)]", 0},
		{"splits a symbol evenly with a check", "Split", 13, nil, "f32[N]", nil, "f32[N]", 0},
		{"adds symbolic extents", "Concat", 13, attrs{"axis": 1}, "f32[N,P,64] f32[N,S,64]", nil, "f32[N,P+S,64]", 0},
		{"unifies the other extents", "Concat", 13, attrs{"axis": -1}, "f32[N,2] f32[M,3]", nil, "f32[N,5]", 0},
		{"takes axis 1 before opset 4", "Concat", 1, nil, "f32[N,2] f32[N,3]", nil, "f32[N,5]", 0},
		{"refuses other extents", "Concat", 13, attrs{"axis": 0}, "f32[1,2] f32[1,3]", nil, "axis 1 of operands 0 and 1", 0},
		{"refuses other ranks", "Concat", 13, attrs{"axis": 0}, "f32[1,2] f32[1]", nil, "rank", 0},
		{"refuses other element types", "Concat", 13, attrs{"axis": 0}, "f32[1] i64[1]", nil, "operand 1 is i64", 0},
		{"refuses no axis", "Concat", 13, nil, "f32[1] f32[1]", nil, "no axis", 0},

		{"drops the first", "Slice", 13, nil, "f32[N,S]", []*ir.Tensor{ints(1), ints(9223372036854775807), ints(1)}, "f32[N,max(S-1,0)]", 0},
		{"drops the last", "Slice", 13, nil, "f32[N,S]", []*ir.Tensor{ints(0), ints(-1), ints(1)}, "f32[N,max(S-1,0)]", 0},
		{"takes at most 512", "Slice", 13, nil, "f32[N,S]", []*ir.Tensor{ints(0), ints(512), ints(1)}, "f32[N,min(S,512)]", 0},
		{"takes the last two", "Slice", 13, nil, "f32[5]", []*ir.Tensor{ints(-2), ints(2147483647)}, "f32[2]", 0},
		{"takes every second", "Slice", 13, nil, "f32[N,S]", []*ir.Tensor{ints(0), ints(2147483647), ints(1), ints(2)}, "f32[N,floor((S+1)/2)]", 0},
		{"reverses", "Slice", 13, nil, "f32[N,S]", []*ir.Tensor{ints(-1), ints(-9223372036854775807), ints(1), ints(-1)}, "f32[N,S]", 0},
		{"clamps to nothing", "Slice", 13, nil, "f32[5]", []*ir.Tensor{ints(4), ints(2)}, "f32[0]", 0},
		{"reads attributes before opset 10", "Slice", 1, attrs{"starts": []int{0, 1}, "ends": []int{1, 1000}}, "f32[20,10]", nil, "f32[1,9]", 0},
		{"refuses a step of 0", "Slice", 13, nil, "f32[5]", []*ir.Tensor{ints(0), ints(2), ints(0), ints(0)}, "step", 0},
		{"refuses bounds of other lengths", "Slice", 13, nil, "f32[5]", []*ir.Tensor{ints(0), ints(2, 3), ints(0)}, "1 starts, 2 ends", 0},
		{"refuses an axis twice", "Slice", 13, nil, "f32[5]", []*ir.Tensor{ints(0, 0), ints(2, 3), ints(0, -1)}, "named twice", 0},

		{"gathers rows", "Gather", 13, nil, "f32[30522,768] i64[N,S]", nil, "f32[N,S,768]", 0},
		{"gathers a scalar from the back", "Gather", 13, attrs{"axis": -2}, "f32[N,S,768] i64[]", nil, "f32[N,768]", 0},
		{"refuses float indices", "Gather", 13, nil, "f32[4] f32[1]", nil, "indices are f32", 0},
		{"refuses an axis beyond the rank", "Gather", 13, attrs{"axis": 1}, "f32[4] i64[1]", nil, "axis 1 out of range", 0},

		{"expands an extent of 1", "Expand", 13, nil, "f32[N,1,5]", []*ir.Tensor{ints(1, 7, 1)}, "f32[N,7,5]", 0},
		{"expands the rank", "Expand", 13, nil, "f32[5]", []*ir.Tensor{ints(2, 3, 5)}, "f32[2,3,5]", 0},
		{"checks a symbol", "Expand", 13, nil, "f32[N]", []*ir.Tensor{ints(4)}, "f32[4]", 1},
		{"refuses to expand 3 to 4", "Expand", 13, nil, "f32[3]", []*ir.Tensor{ints(4)}, "do not broadcast", 0},

		{"knows its extents", "Shape", 13, nil, "f32[N,3]", nil, "i64[2]", 0},
		{"knows some extents", "Shape", 15, attrs{"start": -2, "end": 7}, "f32[N,3,4]", nil, "i64[2]", 0},
		{"knows no extents", "Shape", 15, attrs{"start": 2, "end": 1}, "f32[N,3,4]", nil, "i64[0]", 0},
		{"knows its size", "Size", 13, nil, "f32[N,3]", nil, "i64[]", 0},
		{"fills", "ConstantOfShape", 9, attrs{"value": ints(7)}, "", []*ir.Tensor{ints(2, 3)}, "i64[2,3]", 0},
		{"fills with zeros", "ConstantOfShape", 9, nil, "", []*ir.Tensor{ints()}, "f32[]", 0},
		{"refuses to fill a negative extent", "ConstantOfShape", 9, nil, "", []*ir.Tensor{ints(-1)}, "negative", 0},
		{"refuses to fill with two values", "ConstantOfShape", 9, attrs{"value": ints(7, 8)}, "", []*ir.Tensor{ints(2, 3)}, "one expected", 0},
		{"takes an integer", "Constant", 13, attrs{"value_int": 3}, "", nil, "i64[]", 0},
		{"takes floats", "Constant", 13, attrs{"value_floats": []float64{1, 2}}, "", nil, "f32[2]", 0},
		{"takes texts", "Constant", 13, attrs{"value_strings": []string{"a"}}, "", nil, "string[1]", 0},
		{"refuses no value", "Constant", 13, nil, "", nil, "no value", 0},
	} {
		t.Run(test.op+" "+test.name, func(t *testing.T) {
			f, err := importFunc(test.op, test.opset, 1, test.attrs, types(t, strings.Fields(test.operands)...), test.constants...)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Fatalf("error %q, want %q", err, test.want)
				}
				return
			}
			verifyFunc(t, f)
			if got := f.Results[0].Type.String(); got != test.want {
				t.Errorf("%s, want %s\n%s", got, test.want, f)
			}
			checks := 0
			for n := range f.All() {
				if _, ok := n.Op.(ir.CheckDim); ok {
					checks++
				}
			}
			if checks != test.checks {
				t.Errorf("%d checks, want %d\n%s", checks, test.checks, f)
			}
		})
	}
}

func TestImportValues(t *testing.T) {
	for _, test := range []struct {
		name      string
		op        string
		opset     int
		attrs     attrs
		operands  string // tensors of the text form, separated by blanks
		constants []*ir.Tensor
		want      string // results separated by blanks, or part of the error
	}{
		{"moves rows to columns", "Transpose", 13, nil, "f32[2,3](1,2,3,4,5,6)", nil, "f32[3,2](1,4,2,5,3,6)"},
		{"permutes three axes", "Transpose", 13, attrs{"perm": []int{1, 2, 0}}, "i32[2,1,3](1,2,3,4,5,6)", nil, "i32[1,3,2](1,4,2,5,3,6)"},
		{"moves axes of 1", "Transpose", 13, attrs{"perm": []int{2, 0, 1}}, "f32[2,3,1](1,2,3,4,5,6)", nil, "f32[1,2,3](1,2,3,4,5,6)"},
		{"joins columns", "Concat", 13, attrs{"axis": 1}, "f32[2,1](1,2) f32[2,2](3,4,5,6)", nil, "f32[2,3](1,3,4,2,5,6)"},
		{"joins an empty operand", "Concat", 13, attrs{"axis": 0}, "f32[0]() f32[2](3,4)", nil, "f32[2](3,4)"},
		{"cuts a window", "Slice", 13, nil, "f32[3,4](0,1,2,3,4,5,6,7,8,9,10,11)", []*ir.Tensor{ints(1, 1), ints(3, -1)}, "f32[2,2](5,6,9,10)"},
		{"steps backwards", "Slice", 13, nil, "f32[5](0,1,2,3,4)", []*ir.Tensor{ints(-1), ints(-9223372036854775807), ints(0), ints(-2)}, "f32[3](4,2,0)"},
		{"steps backwards from beyond", "Slice", 13, nil, "f32[5](0,1,2,3,4)", []*ir.Tensor{ints(20), ints(0), ints(0), ints(-3)}, "f32[2](4,1)"},
		{"steps over everything", "Slice", 13, nil, "f32[5](0,1,2,3,4)", []*ir.Tensor{ints(1), ints(1000), ints(0), ints(9223372036854775807)}, "f32[1](1)"},
		{"begins before the first", "Slice", 13, nil, "f32[3](0,1,2)", []*ir.Tensor{ints(-10), ints(2)}, "f32[2](0,1)"},
		{"takes nothing beyond the last", "Slice", 13, nil, "f32[3](0,1,2)", []*ir.Tensor{ints(7), ints(9)}, "f32[0]()"},
		{"splits evenly", "Split", 11, attrs{"axis": 1}, "f32[1,4](1,2,3,4)", nil, "f32[1,2](1,2) f32[1,2](3,4)"},
		{"splits by attribute", "Split", 2, attrs{"split": []int{1, 2}}, "f32[3](1,2,3)", nil, "f32[1](1) f32[2](2,3)"},
		{"splits by operand", "Split", 13, attrs{"axis": -1}, "f32[3](1,2,3)", []*ir.Tensor{ints(3, 0)}, "f32[3](1,2,3) f32[0]()"},
		{"splits unevenly", "Split", 18, attrs{"num_outputs": 3}, "f32[7](1,2,3,4,5,6,7)", nil, "f32[3](1,2,3) f32[3](4,5,6) f32[1](7)"},
		{"refuses sizes of another sum", "Split", 13, nil, "f32[3](1,2,3)", []*ir.Tensor{ints(1, 1)}, "sizes [1,1]"},
		{"refuses an uneven split", "Split", 13, nil, "f32[3](1,2,3)", nil, "sizes [1,1]"},
		{"gathers and wraps", "Gather", 13, nil, "f32[3,2](0,1,2,3,4,5) i64[2](-1,0)", nil, "f32[2,2](4,5,0,1)"},
		{"gathers columns", "Gather", 13, attrs{"axis": 1}, "f32[2,3](0,1,2,3,4,5) i32[1,2](2,0)", nil, "f32[2,1,2](2,0,5,3)"},
		{"refuses an index beyond the axis", "Gather", 13, nil, "f32[3](0,1,2) i64[1](3)", nil, "index 3 out of range"},
		{"gathers constant columns", "Gather", 13, attrs{"axis": 1}, "f32[2,3](0,1,2,3,4,5)", []*ir.Tensor{ints(2, 1)}, "f32[2,2](2,1,5,4)"},
		{"gathers no order", "Gather", 13, nil, "f32[3](0,1,2)", []*ir.Tensor{ints(2, 0, 1)}, "f32[3](2,0,1)"},
		{"gathers a constant scalar", "Gather", 13, attrs{"axis": 1}, "f32[2,3](0,1,2,3,4,5)", []*ir.Tensor{parsed(t, "i64[](-1)")}, "f32[2](2,5)"},
		{"gathers elements", "GatherElements", 13, attrs{"axis": 1}, "f32[2,2](1,2,3,4) i64[2,2](0,0,1,-2)", nil, "f32[2,2](1,1,4,3)"},
		{"gathers elements of some rows", "GatherElements", 13, nil, "f32[3,2](1,2,3,4,5,6) i32[1,2](2,0)", nil, "f32[1,2](5,2)"},
		{"refuses an element beyond the axis", "GatherElements", 13, nil, "f32[2](1,2) i64[1](-3)", nil, "index -3 out of range"},
		{"gathers single elements by tuples", "GatherND", 11, nil, "f32[2,2](0,1,2,3) i64[2,2](0,0,1,-1)", nil, "f32[2](0,3)"},
		{"gathers rows by tuples", "GatherND", 12, nil, "f32[2,2,2](0,1,2,3,4,5,6,7) i64[2,1,2](0,1,1,0)", nil, "f32[2,1,2](2,3,4,5)"},
		{"gathers within batches", "GatherND", 12, attrs{"batch_dims": 1}, "f32[2,2,2](0,1,2,3,4,5,6,7) i32[2,1](1,0)", nil, "f32[2,2](2,3,4,5)"},
		{"refuses a coordinate beyond the axis", "GatherND", 13, nil, "f32[2,2](0,1,2,3) i64[1,2](0,2)", nil, "index 2 out of range"},
		{"refuses more coordinates than axes", "GatherND", 13, nil, "f32[2](0,1) i64[1,2](0,0)", nil, "2 coordinates for rank 1"},
		{"refuses as many batch axes as axes", "GatherND", 13, attrs{"batch_dims": 1}, "f32[2](0,1) i64[2,1](0,0)", nil, "1 batch axes"},
		{"puts elements", "ScatterElements", 11, attrs{"axis": 1}, "f32[1,5](1,2,3,4,5) i64[1,2](1,-2) f32[1,2](8,9)", nil, "f32[1,5](1,8,3,9,5)"},
		{"puts elements by its old name", "Scatter", 9, nil, "f32[2](1,2) i32[1](1) f32[1](7)", nil, "f32[2](1,7)"},
		{"adds to elements", "ScatterElements", 16, attrs{"reduction": "add"}, "f32[2](1,2) i64[3](1,1,0) f32[3](10,20,30)", nil, "f32[2](31,32)"},
		{"takes the greatest", "ScatterElements", 18, attrs{"reduction": "max"}, "f16[2](1,2) i64[3](1,1,0) f16[3](3,1,-5)", nil, "f16[2](1,3)"},
		{"refuses updates of another shape", "ScatterElements", 18, nil, "f32[2](1,2) i64[1](1) f32[2](3,1)", nil, "axis 0 of indices and updates"},
		{"refuses to put beyond the axis", "ScatterElements", 18, nil, "f32[2](1,2) i64[1](2) f32[1](3)", nil, "index 2 out of range"},
		{"refuses an unknown reduction", "ScatterElements", 18, attrs{"reduction": "mean"}, "f32[2](1,2) i64[1](1) f32[1](3)", nil, "reduction \"mean\""},
		{"puts rows", "ScatterND", 11, nil, "f32[3,2](1,2,3,4,5,6) i64[1,1](-1) f32[1,2](8,9)", nil, "f32[3,2](1,2,3,4,8,9)"},
		{"multiplies single elements", "ScatterND", 16, attrs{"reduction": "mul"}, "i32[2,2](1,2,3,4) i64[3,2](0,0,1,1,0,0) i32[3](5,6,7)", nil, "i32[2,2](35,2,3,24)"},
		{"refuses updates of another rank", "ScatterND", 18, nil, "f32[2](1,2) i64[1,1](1) f32[1,1](3)", nil, "updates of rank 2"},
		{"expands rows", "Expand", 8, nil, "f32[2,1](1,2)", []*ir.Tensor{ints(2, 1, 3)}, "f32[2,2,3](1,1,1,2,2,2,1,1,1,2,2,2)"},
		{"tiles", "Tile", 13, nil, "f32[1,2](1,2)", []*ir.Tensor{ints(2, 2)}, "f32[2,4](1,2,1,2,1,2,1,2)"},
		{"tiles one axis", "Tile", 1, nil, "f32[2](1,2)", []*ir.Tensor{ints(2), ints(0)}, "f32[4](1,2,1,2)"},
		{"tiles to nothing", "Tile", 13, nil, "f32[2](1,2)", []*ir.Tensor{ints(0)}, "f32[0]()"},
		{"refuses negative repeats", "Tile", 13, nil, "f32[2](1,2)", []*ir.Tensor{ints(-1)}, "repeated -1 times"},
		{"pads with zeros", "Pad", 13, nil, "f32[2,2](1,2,3,4)", []*ir.Tensor{ints(0, 1, 1, 0)}, "f32[3,3](0,1,2,0,3,4,0,0,0)"},
		{"pads with a value", "Pad", 2, attrs{"pads": []int{1, 1}, "value": 9.0}, "f32[2](1,2)", nil, "f32[4](9,1,2,9)"},
		{"pads by paddings", "Pad", 1, attrs{"paddings": []int{1, 0}}, "f32[2](1,2)", nil, "f32[3](0,1,2)"},
		{"pads named axes", "Pad", 18, nil, "f32[1,2](1,2)", []*ir.Tensor{ints(1, 0), parsed(t, "f32[](7)"), ints(-1)}, "f32[1,3](7,1,2)"},
		{"pads and cuts", "Pad", 13, nil, "f32[3](1,2,3)", []*ir.Tensor{ints(-1, 2)}, "f32[4](2,3,0,0)"},
		{"repeats the edge", "Pad", 13, attrs{"mode": "edge"}, "f32[2](1,2)", []*ir.Tensor{ints(2, 1)}, "f32[5](1,1,1,2,2)"},
		{"mirrors", "Pad", 13, attrs{"mode": "reflect"}, "f32[3](1,2,3)", []*ir.Tensor{ints(2, 1)}, "f32[6](3,2,1,2,3,2)"},
		{"mirrors again", "Pad", 13, attrs{"mode": "reflect"}, "f32[3](1,2,3)", []*ir.Tensor{ints(5, 3)}, "f32[11](2,1,2,3,2,1,2,3,2,1,2)"},
		{"mirrors one element", "Pad", 13, attrs{"mode": "reflect"}, "f32[1](1)", []*ir.Tensor{ints(2, 1)}, "f32[4](1,1,1,1)"},
		{"wraps", "Pad", 19, attrs{"mode": "wrap"}, "f32[3](1,2,3)", []*ir.Tensor{ints(1, 2)}, "f32[6](3,1,2,3,1,2)"},
		{"wraps again", "Pad", 19, attrs{"mode": "wrap"}, "f32[3](1,2,3)", []*ir.Tensor{ints(4, 5)}, "f32[12](3,1,2,3,1,2,3,1,2,3,1,2)"},
		{"refuses pads of other axes", "Pad", 13, nil, "f32[3](1,2,3)", []*ir.Tensor{ints(1, 1, 1)}, "3 pads for 1 axes"},
		{"refuses to repeat nothing", "Pad", 13, attrs{"mode": "wrap"}, "f32[0]()", []*ir.Tensor{ints(1, 1)}, "no elements"},
		{"refuses an unknown mode", "Pad", 13, attrs{"mode": "mirror"}, "f32[1](1)", []*ir.Tensor{ints(1, 1)}, "mode \"mirror\""},
		{"moves depth to columns and rows", "DepthToSpace", 13, attrs{"blocksize": 2}, "f32[1,8,1,1](0,1,2,3,4,5,6,7)", nil, "f32[1,2,2,2](0,2,4,6,1,3,5,7)"},
		{"moves depth in order", "DepthToSpace", 13, attrs{"blocksize": 2, "mode": "CRD"}, "f32[1,8,1,1](0,1,2,3,4,5,6,7)", nil, "f32[1,2,2,2](0,1,2,3,4,5,6,7)"},
		{"refuses a depth that does not divide", "DepthToSpace", 13, attrs{"blocksize": 2}, "f32[1,3,1,1](0,1,2)", nil, "elements"},
		{"moves space to depth", "SpaceToDepth", 13, attrs{"blocksize": 2}, "f32[1,1,2,4](0,1,2,3,4,5,6,7)", nil, "f32[1,4,1,2](0,2,1,3,4,6,5,7)"},
		{"drops nothing", "Dropout", 13, nil, "f32[2](1,2)", nil, "f32[2](1,2) bool[2](1...)"},
		{"drops nothing in opset 7", "Dropout", 7, attrs{"ratio": 0.1}, "f32[2](1,2)", nil, "f32[2](1,2) f32[2](1...)"},
		{"keeps the upper triangle", "Trilu", 14, nil, "f32[2,3](1,2,3,4,5,6)", nil, "f32[2,3](1,2,3,0,5,6)"},
		{"keeps below diagonal 1", "Trilu", 14, attrs{"upper": 0}, "f32[2,3](1,2,3,4,5,6) i64[](1)", nil, "f32[2,3](1,2,0,4,5,6)"},
		{"keeps nothing above the corner", "Trilu", 14, nil, "i64[1,2](1,2)", []*ir.Tensor{parsed(t, "i64[](9)")}, "i64[1,2](0,0)"},
		{"makes a diagonal", "EyeLike", 9, attrs{"k": -1}, "i32[3,2](1,2,3,4,5,6)", nil, "i32[3,2](0,0,1,0,0,1)"},
		{"makes a diagonal of another type", "EyeLike", 9, attrs{"dtype": ir.F16}, "i32[2,2](1,2,3,4)", nil, "f16[2,2](1,0,0,1)"},
		{"marks indices", "OneHot", 11, nil, "i64[3](0,-1,5)", []*ir.Tensor{ints(3), ir.FloatTensor(ir.F32, 2, 5)}, "f32[3,3](5,2,2,2,2,5,2,2,2)"},
		{"marks columns of float indices", "OneHot", 9, attrs{"axis": 0}, "f32[3](0,-1,5)", []*ir.Tensor{ir.Scalar(ir.F32, 2), ints(0, 1)}, "i64[2,3](1,0,0,0,1,0)"},
		{"counts up", "Range", 11, nil, "", []*ir.Tensor{parsed(t, "i64[](3)"), parsed(t, "i64[](8)"), parsed(t, "i64[](2)")}, "i64[3](3,5,7)"},
		{"counts down", "Range", 11, nil, "", []*ir.Tensor{parsed(t, "i32[](5)"), parsed(t, "i32[](0)"), parsed(t, "i32[](-2)")}, "i32[3](5,3,1)"},
		{"counts floats", "Range", 11, nil, "", []*ir.Tensor{ir.Scalar(ir.F32, 1), ir.Scalar(ir.F32, 2), ir.Scalar(ir.F32, 0.3)}, "f32[4](1,1.3,1.6,1.9)"},
		{"counts narrow floats", "Range", 27, nil, "", []*ir.Tensor{ir.Scalar(ir.F16, 1), ir.Scalar(ir.F16, 2), ir.Scalar(ir.F16, 0.5)}, "f16[2](1,1.5)"},
		{"counts nothing", "Range", 11, nil, "", []*ir.Tensor{parsed(t, "i64[](3)"), parsed(t, "i64[](1)"), parsed(t, "i64[](2)")}, "i64[0]()"},
		{"refuses to stand still", "Range", 11, nil, "", []*ir.Tensor{parsed(t, "i64[](3)"), parsed(t, "i64[](1)"), parsed(t, "i64[](0)")}, "delta is 0"},
		{"refuses to count for ever", "Range", 11, nil, "", []*ir.Tensor{ir.Scalar(ir.F32, 1), ir.Scalar(ir.F32, 2), ir.Scalar(ir.F32, 0)}, "delta is 0"},

		{"doubles", "Upsample", 9, attrs{"mode": "nearest"}, "f32[1,1,2,2](1,2,3,4)", []*ir.Tensor{ir.FloatTensor(ir.F32, 1, 1, 2, 2)}, "f32[1,1,4,4](1,1,2,2,1,1,2,2,3,3,4,4,3,3,4,4)"},
		{"doubles by attribute", "Upsample", 7, attrs{"scales": []float64{1, 1, 2, 1}}, "f32[1,1,1,2](1,2)", nil, "f32[1,1,2,2](1,2,1,2)"},
		{"doubles by two attributes", "Upsample", 1, attrs{"height_scale": 1.0, "width_scale": 2.0}, "f32[1,1,1,2](1,2)", nil, "f32[1,1,1,4](1,1,2,2)"},
		{"interpolates asymmetrically", "Upsample", 9, attrs{"mode": "linear"}, "f32[2](1,3)", []*ir.Tensor{ir.FloatTensor(ir.F32, 2)}, "f32[4](1,2,3,3)"},
		{"takes the ceiling below scale 1", "Resize", 10, nil, "f32[1,4](1,2,3,4)", []*ir.Tensor{ir.FloatTensor(ir.F32, 1, 0.6)}, "f32[1,2](1,3)"},
		{"interpolates at half pixels", "Resize", 13, attrs{"mode": "linear"}, "f32[2](1,3)", []*ir.Tensor{nil, ir.FloatTensor(ir.F32, 2)}, "f32[4](1,1.5,2.5,3)"},
		{"interpolates between corners", "Resize", 13, attrs{"mode": "linear", "coordinate_transformation_mode": "align_corners"}, "f32[2,2](1,4,7,10)", []*ir.Tensor{nil, nil, ints(4, 4)}, "f32[4,4](1,2,3,4,3,4,5,6,5,6,7,8,7,8,9,10)"},
		{"interpolates integers", "Resize", 13, attrs{"mode": "linear"}, "u8[2](1,4)", []*ir.Tensor{nil, ir.FloatTensor(ir.F32, 2)}, "u8[4](1,1,3,4)"},
		{"widens the filter", "Resize", 18, attrs{"mode": "linear", "antialias": 1}, "f32[4](1,2,3,4)", []*ir.Tensor{nil, ir.FloatTensor(ir.F32, 0.5)}, "f32[2](1.625,3.375)"},
		{"widens the filter inside", "Resize", 18, attrs{"mode": "linear", "antialias": 1, "exclude_outside": 1}, "f32[4](1,2,3,4)", []*ir.Tensor{nil, ir.FloatTensor(ir.F32, 0.5)}, "f32[2](1.7142857,3.2857143)"},
		{"widens nothing that grows", "Resize", 18, attrs{"mode": "linear", "antialias": 1}, "f16[2](1,3)", []*ir.Tensor{nil, nil, ints(4)}, "f16[4](1,1.5,2.5,3)"},
		{"interpolates by cubes", "Resize", 13, attrs{"mode": "cubic", "cubic_coeff_a": -0.5}, "f32[4](0,1,8,27)", []*ir.Tensor{nil, nil, ints(2)}, "f32[2](0.0625,17.9375)"},
		{"resizes one axis in the middle", "Resize", 18, attrs{"axes": []int{1}}, "f32[1,2,2](1,2,3,4)", []*ir.Tensor{nil, nil, ints(4)}, "f32[1,4,2](1,2,1,2,3,4,3,4)"},
		{"resizes three axes", "Resize", 11, nil, "f32[2,1,2](1,2,3,4)", []*ir.Tensor{ir.FloatTensor(ir.F32), ir.FloatTensor(ir.F32), ints(3, 2, 1)}, "f32[3,2,1](1,1,1,1,3,3)"},
		{"keeps what keeps its size", "Resize", 18, attrs{"mode": "cubic"}, "f32[2](1,2)", []*ir.Tensor{nil, nil, ints(2)}, "f32[2](1,2)"},
		{"keeps the ratio", "Resize", 18, attrs{"keep_aspect_ratio_policy": "not_larger"}, "f32[1,2](1,2)", []*ir.Tensor{nil, nil, ints(3, 4)}, "f32[2,4](1,1,2,2,1,1,2,2)"},
		{"crops", "Resize", 13, attrs{"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear", "extrapolation_value": 9.0}, "f32[3](1,2,3)", []*ir.Tensor{ir.FloatTensor(ir.F32, 0.5, 1.5), nil, ints(3)}, "f32[3](2,3,9)"},
		{"refuses both sizes and scales", "Resize", 13, nil, "f32[1](1)", []*ir.Tensor{nil, ir.FloatTensor(ir.F32, 1), ints(1)}, "one of scales and sizes"},
		{"refuses a scale of 0", "Resize", 13, nil, "f32[1](1)", []*ir.Tensor{nil, ir.FloatTensor(ir.F32, 0)}, "scale 0"},
		{"refuses an unknown transformation", "Resize", 13, attrs{"coordinate_transformation_mode": "x"}, "f32[1](1)", []*ir.Tensor{nil, ir.FloatTensor(ir.F32, 2)}, "coordinate transformation \"x\""},
	} {
		t.Run(test.op+" "+test.name, func(t *testing.T) {
			var args []*ir.Tensor
			var params []ir.Type
			for _, text := range strings.Fields(test.operands) {
				x := parsed(t, text)
				args, params = append(args, x), append(params, x.Type())
			}
			results := len(strings.Fields(test.want))
			f, err := importFunc(test.op, test.opset, results, test.attrs, params, test.constants...)
			var got []*ir.Tensor
			if err == nil {
				if got, err = tryRun(f, args...); err == nil {
					got = checkLower(t, f, 1e-6, args...)
				}
			}
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Fatalf("error %q, want %q", err, test.want)
				}
				return
			}
			for i, text := range strings.Fields(test.want) {
				if want := parsed(t, text); !closeTo(got[i], want, 1e-6) {
					t.Errorf("result %d is %s, want %s", i, got[i], want)
				}
			}
		})
	}
}

// graph builds with import functions; its nodes are named after ONNX operators.
type graph struct {
	*ir.Builder
	t testing.TB
}

// node imports a node of opset 17.
func (c graph) node(op string, a attrs, args ...*ir.Value) *ir.Value {
	return mustImport(c.Builder, op, 17, a, args...)
}

// ints is a constant list of i64.
func (c graph) ints(v ...int64) *ir.Value { return c.Const(ints(v...)) }

// int is a constant i64 scalar.
func (c graph) int(v int64) *ir.Value { return c.Const(parsed(c.t, fmt.Sprintf("i64[](%d)", v))) }

// extent is Shape → Gather → Unsqueeze, one element of a shape.
func (c graph) extent(x *ir.Value, axis int64) *ir.Value {
	return c.node("Unsqueeze", nil, c.node("Gather", nil, c.node("Shape", nil, x), c.int(axis)), c.ints(0))
}

func TestShapesOfExporters(t *testing.T) {
	for _, test := range []struct {
		name     string
		operands string
		build    func(c graph, x ...*ir.Value) *ir.Value
		want     string
		checks   int
	}{
		{"splits heads", "f32[N,S,768]", func(c graph, x ...*ir.Value) *ir.Value {
			shape := c.node("Concat", attrs{"axis": 0}, c.extent(x[0], 0), c.extent(x[0], 1), c.ints(12), c.ints(64))
			return c.node("Transpose", attrs{"perm": []int{0, 2, 1, 3}}, c.node("Reshape", nil, x[0], shape))
		}, "f32[N,12,S,64]", 0},
		{"joins heads", "f32[N,12,S,64]", func(c graph, x ...*ir.Value) *ir.Value {
			y := c.node("Transpose", attrs{"perm": []int{0, 2, 1, 3}}, x[0])
			return c.node("Reshape", nil, y, c.node("Concat", attrs{"axis": 0}, c.extent(y, 0), c.extent(y, 1), c.ints(-1)))
		}, "f32[N,S,768]", 0},
		{"multiplies extents", "f32[N,C,H,W]", func(c graph, x ...*ir.Value) *ir.Value {
			hw := c.node("Mul", nil, c.extent(x[0], 2), c.extent(x[0], 3))
			return c.node("Reshape", nil, x[0], c.node("Concat", attrs{"axis": 0}, c.extent(x[0], 0), c.ints(-1), hw))
		}, "f32[N,C,H*W]", 0},
		{"divides channels", "f32[N,64,H,W]", func(c graph, x ...*ir.Value) *ir.Value {
			groups := c.node("Div", nil, c.extent(x[0], 1), c.ints(2))
			shape := c.node("Concat", attrs{"axis": 0}, c.extent(x[0], 0), c.ints(2), groups, c.extent(x[0], 2), c.extent(x[0], 3))
			y := c.node("Transpose", attrs{"perm": []int{0, 2, 1, 3, 4}}, c.node("Reshape", nil, x[0], shape))
			return c.node("Reshape", nil, y, c.node("Concat", attrs{"axis": 0}, c.extent(x[0], 0), c.ints(-1), c.extent(x[0], 2), c.extent(x[0], 3)))
		}, "f32[N,64,H,W]", 0},
		{"slices shapes", "f32[N,C,H,W] f32[N,C,T,U]", func(c graph, x ...*ir.Value) *ir.Value {
			lead := c.node("Slice", nil, c.node("Shape", nil, x[0]), c.ints(0), c.ints(2), c.ints(0))
			tail := c.node("Slice", nil, c.node("Shape", nil, x[1]), c.ints(2), c.ints(9223372036854775807), c.ints(0))
			sizes := c.node("Concat", attrs{"axis": 0}, lead, tail)
			return c.node("Resize", nil, x[0], nil, nil, sizes)
		}, "f32[N,C,T,U]", 0},
		{"scales through floats", "f32[N,C,H,W]", func(c graph, x ...*ir.Value) *ir.Value {
			hw := c.node("Slice", nil, c.node("Shape", nil, x[0]), c.ints(2), c.ints(4), c.ints(0))
			half := c.node("Mul", nil, c.node("Cast", attrs{"to": ir.F32}, hw), c.Const(ir.FloatTensor(ir.F32, 0.5)))
			sizes := c.node("Cast", attrs{"to": ir.I64}, c.node("Floor", nil, half))
			lead := c.node("Slice", nil, c.node("Shape", nil, x[0]), c.ints(0), c.ints(2), c.ints(0))
			return c.node("Resize", attrs{"mode": "linear"}, x[0], nil, nil, c.node("Concat", attrs{"axis": 0}, lead, sizes))
		}, "f32[N,C,floor(H/2),floor(W/2)]", 0},
		{"scales up through floats", "f32[N,C,H,W]", func(c graph, x ...*ir.Value) *ir.Value {
			h := c.node("Cast", attrs{"to": ir.F32}, c.node("Gather", nil, c.node("Shape", nil, x[0]), c.int(2)))
			h = c.node("Floor", nil, c.node("Mul", nil, h, c.Const(ir.Scalar(ir.F32, 2))))
			h = c.node("Unsqueeze", nil, c.node("Cast", attrs{"to": ir.I64}, h), c.ints(0))
			return c.node("Resize", nil, x[0], nil, nil, c.node("Concat", attrs{"axis": 0}, c.extent(x[0], 0), c.extent(x[0], 1), h, c.extent(x[0], 3)))
		}, "f32[N,C,2*H,W]", 0},
		{"expands as PyTorch does", "f32[1,1,768] f32[N,S,768]", func(c graph, x ...*ir.Value) *ir.Value {
			want := c.node("Concat", attrs{"axis": 0}, c.extent(x[1], 0), c.ints(-1), c.ints(-1))
			ones := c.node("ConstantOfShape", attrs{"value": ints(1)}, c.node("Shape", nil, want))
			minus := c.node("Mul", nil, ones, c.ints(-1))
			return c.node("Expand", nil, x[0], c.node("Where", nil, c.node("Equal", nil, want, minus), ones, want))
		}, "f32[N,1,768]", 0},
		{"counts positions", "i64[N,S] f32[512,8]", func(c graph, x ...*ir.Value) *ir.Value {
			s := c.node("Gather", nil, c.node("Shape", nil, x[0]), c.int(1))
			at := c.node("Unsqueeze", nil, c.node("Range", nil, c.int(0), s, c.int(1)), c.ints(0))
			return c.node("Gather", nil, x[1], at)
		}, "f32[1,S,8]", 0},
		{"counts positions after a past", "f32[N,P,8] i64[N,S]", func(c graph, x ...*ir.Value) *ir.Value {
			p := c.node("Gather", nil, c.node("Shape", nil, x[0]), c.int(1))
			s := c.node("Gather", nil, c.node("Shape", nil, x[1]), c.int(1))
			return c.node("Range", nil, p, c.node("Add", nil, p, s), c.int(1))
		}, "i64[S]", 0},
		{"cuts a table to the length", "f32[N,S,8] f32[1,512,8]", func(c graph, x ...*ir.Value) *ir.Value {
			table := c.node("Slice", nil, x[1], c.ints(0), c.extent(x[0], 1), c.ints(1))
			return c.node("Add", nil, x[0], table)
		}, "f32[N,S,8]", 0},
		{"cuts a causal mask", "f32[N,P,8] f32[N,S,8] bool[1024,1024]", func(c graph, x ...*ir.Value) *ir.Value {
			all := c.node("Concat", attrs{"axis": 1}, x[0], x[1])
			end, s := c.extent(all, 1), c.extent(x[1], 1)
			rows := c.node("Slice", nil, x[2], c.node("Sub", nil, end, s), end, c.ints(0))
			return c.node("Slice", nil, rows, c.ints(0), end, c.ints(1))
		}, "bool[max(min(1024-P,S),0),min(P+S,1024)]", 0},
		{"pads to a multiple", "f32[N,S]", func(c graph, x ...*ir.Value) *ir.Value {
			rest := c.node("Mod", nil, c.node("Neg", nil, c.extent(x[0], 1)), c.ints(4))
			return c.node("Pad", nil, x[0], c.node("Concat", attrs{"axis": 0}, c.ints(0, 0, 0), rest))
		}, "f32[N,4*floor((S+3)/4)]", 0},
		{"pads as PyTorch does", "f32[N,C,H,W]", func(c graph, x ...*ir.Value) *ir.Value {
			fill := c.node("ConstantOfShape", attrs{"value": ints(0)}, c.ints(4))
			pads := c.node("Reshape", nil, c.node("Concat", attrs{"axis": 0}, c.ints(1, 2, 3, 4), fill), c.ints(-1, 2))
			pads = c.node("Transpose", attrs{"perm": []int{1, 0}}, c.node("Slice", nil, pads, c.ints(-1), c.ints(-9223372036854775807), c.ints(0), c.ints(-1)))
			return c.node("Pad", attrs{"mode": "reflect"}, x[0], c.node("Cast", attrs{"to": ir.I64}, c.node("Reshape", nil, pads, c.ints(-1))))
		}, "f32[N,C,H+7,W+3]", 0},
		{"cuts what a check says is not negative", "f32[A] f32[B] f32[N]", func(c graph, x ...*ir.Value) *ir.Value {
			start := c.node("Sub", nil, c.extent(x[1], 0), c.extent(x[0], 0))
			return c.node("Slice", nil, x[2], start, c.ints(9223372036854775807))
		}, "f32[max(N-max(B-A,0),0)]", 1},
		{"cuts the last as many", "f32[A] f32[N]", func(c graph, x ...*ir.Value) *ir.Value {
			return c.node("Slice", nil, x[1], c.node("Neg", nil, c.extent(x[0], 0)), c.ints(9223372036854775807))
		}, "f32[N-max(N-A,0)]", 1},
		{"repeats and expands shapes", "f32[N,S]", func(c graph, x ...*ir.Value) *ir.Value {
			twice := c.node("Tile", nil, c.node("Shape", nil, x[0]), c.ints(2))
			last := c.node("Expand", nil, c.extent(x[0], 1), c.ints(2))
			pick := c.node("Concat", attrs{"axis": 0}, c.node("Gather", nil, twice, c.ints(2)), c.node("Gather", nil, last, c.ints(-1)))
			return c.node("ConstantOfShape", nil, pick)
		}, "f32[N,S]", 0},
		{"repeats by the batch", "f32[N,4] f32[1,8]", func(c graph, x ...*ir.Value) *ir.Value {
			return c.node("Tile", nil, x[1], c.node("Concat", attrs{"axis": 0}, c.extent(x[0], 0), c.ints(1)))
		}, "f32[N,8]", 0},
		{"fills as long as the input", "f32[N,S]", func(c graph, x ...*ir.Value) *ir.Value {
			return c.node("ConstantOfShape", nil, c.node("Concat", attrs{"axis": 0}, c.extent(x[0], 0), c.ints(1), c.extent(x[0], 1)))
		}, "f32[N,1,S]", 0},
		{"multiplies all extents", "f32[N,3,4]", func(c graph, x ...*ir.Value) *ir.Value {
			return c.node("Reshape", nil, x[0], c.node("Unsqueeze", nil, c.node("ReduceProd", attrs{"keepdims": 0}, c.node("Shape", nil, x[0])), c.ints(0)))
		}, "f32[12*N]", 0},
		{"flattens by the size", "f32[N,3,4]", func(c graph, x ...*ir.Value) *ir.Value {
			return c.node("Reshape", nil, x[0], c.node("Unsqueeze", nil, c.node("Size", nil, x[0]), c.ints(0)))
		}, "f32[12*N]", 0},
		{"splits a shape", "f32[N,3,H,W]", func(c graph, x ...*ir.Value) *ir.Value {
			parts, err := importNode(c.Builder, "Split", 17, 2, attrs{"axis": 0}, c.node("Shape", nil, x[0]))
			if err != nil {
				ir.FailWith(err)
			}
			return c.node("Reshape", nil, x[0], c.node("Concat", attrs{"axis": 0}, parts[1], parts[0]))
		}, "f32[H,W,N,3]", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := buildFunc(t, types(t, strings.Fields(test.operands)...), func(b *ir.Builder, params []*ir.Value) []*ir.Value {
				return []*ir.Value{test.build(graph{b, t}, params...)}
			})
			if got := f.Results[0].Type.String(); got != test.want {
				t.Errorf("%s, want %s\n%s", got, test.want, f)
			}
			f.Prune()
			checks := 0
			for n := range f.All() {
				if _, ok := n.Op.(ir.CheckDim); ok {
					checks++
				}
			}
			if checks != test.checks {
				t.Errorf("%d checks, want %d\n%s", checks, test.checks, f)
			}
			checkRandomly(t, f)
		})
	}
}

// checkRandomly runs f and its lowered form with small values of its symbols. The elements of the
// inputs are 0 to 4, repeated.
func checkRandomly(t *testing.T, f *ir.Func) {
	t.Helper()
	values := map[string]int{}
	for i, s := range f.Symbols() {
		values[s] = 8 + 3*i
	}
	args := make([]*ir.Tensor, len(f.Params))
	for i, p := range f.Params {
		shape := make([]int, p.Type.Rank())
		for k, d := range p.Type.Shape {
			n, err := d.Eval(func(s string) (int64, bool) { return int64(values[s]), true })
			if err != nil {
				t.Fatal(err)
			}
			shape[k] = int(n)
		}
		args[i] = ir.NewTensor(p.Type.DType, shape...)
		for k := range args[i].Len() {
			args[i].SetNumber(k, float64(k%5))
		}
	}
	checkLower(t, f, 1e-5, args...)
}

// movement is a node that moves elements, drawn by a property test.
type movement struct {
	op        string
	opset     int
	results   int
	attrs     attrs
	operands  [][]int
	constants []*ir.Tensor
}

// drawMovement draws a node that is valid for the operands it has.
func drawMovement(t *rapid.T) movement {
	small := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	shapeOf := func(lo, hi int) []int {
		return rapid.SliceOfN(rapid.IntRange(lo, hi), 1, 4).Draw(t, "shape")
	}
	list := func(n int, f func(i int) int) *ir.Tensor {
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(f(i))
		}
		return ints(v...)
	}
	all := func(n int) *ir.Tensor { return list(n, func(i int) int { return i }) }
	switch op := rapid.SampledFrom([]string{
		"Slice", "Transpose", "Expand", "Tile", "Pad", "Gather", "Concat", "Reshape", "Split", "Resize", "DepthToSpace", "SpaceToDepth",
	}).Draw(t, "op"); op {
	case "Slice":
		shape := shapeOf(0, 5)
		bound := func(int) int { return small("bound", -7, 7) }
		steps := list(len(shape), func(int) int { return rapid.SampledFrom([]int{-3, -2, -1, 1, 2, 3}).Draw(t, "step") })
		return movement{op, 13, 1, nil, [][]int{shape}, []*ir.Tensor{list(len(shape), bound), list(len(shape), bound), all(len(shape)), steps}}
	case "Transpose":
		shape := shapeOf(1, 4)
		axes := make([]int, len(shape))
		for i := range axes {
			axes[i] = i
		}
		return movement{op, 13, 1, attrs{"perm": rapid.Permutation(axes).Draw(t, "perm")}, [][]int{shape}, nil}
	case "Expand":
		shape := shapeOf(1, 4)
		from := slices.Clone(shape[small("lead", 0, len(shape)-1):])
		for i := range from {
			if rapid.Bool().Draw(t, "one") {
				from[i] = 1
			}
		}
		return movement{op, 13, 1, nil, [][]int{from}, []*ir.Tensor{list(len(shape), func(i int) int { return shape[i] })}}
	case "Tile":
		shape := shapeOf(1, 3)
		return movement{op, 13, 1, nil, [][]int{shape}, []*ir.Tensor{list(len(shape), func(int) int { return small("repeat", 0, 3) })}}
	case "Pad":
		shape := shapeOf(2, 5)
		mode := rapid.SampledFrom([]string{"constant", "edge", "reflect", "wrap"}).Draw(t, "mode")
		pads := list(2*len(shape), func(i int) int { return small("pad", 0, shape[i%len(shape)]-1) })
		return movement{op, 19, 1, attrs{"mode": mode}, [][]int{shape}, []*ir.Tensor{pads}}
	case "Gather":
		shape := shapeOf(1, 4)
		axis := small("axis", 0, len(shape)-1)
		indices := list(small("count", 0, 4), func(int) int { return small("index", -shape[axis], shape[axis]-1) })
		return movement{op, 13, 1, attrs{"axis": axis}, [][]int{shape}, []*ir.Tensor{indices}}
	case "Concat":
		shape := shapeOf(1, 3)
		axis := small("axis", 0, len(shape)-1)
		m := movement{op, 13, 1, attrs{"axis": axis}, nil, nil}
		for range small("operands", 1, 3) {
			shape = slices.Clone(shape)
			shape[axis] = small("extent", 0, 3)
			m.operands = append(m.operands, shape)
		}
		return m
	case "Reshape":
		shape := shapeOf(1, 4)
		open := small("open", 0, len(shape)-1)
		want := list(len(shape), func(i int) int {
			if i == open {
				return -1
			}
			return 0
		})
		return movement{op, 13, 1, nil, [][]int{shape}, []*ir.Tensor{want}}
	case "Split":
		shape := shapeOf(0, 7)
		parts, axis := small("parts", 1, 4), small("axis", 0, len(shape)-1)
		return movement{op, 18, parts, attrs{"num_outputs": parts, "axis": axis}, [][]int{shape}, nil}
	case "Resize":
		shape := shapeOf(1, 4)
		a := attrs{
			"mode":                           rapid.SampledFrom([]string{"nearest", "linear", "cubic"}).Draw(t, "mode"),
			"coordinate_transformation_mode": rapid.SampledFrom([]string{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"}).Draw(t, "place"),
			"nearest_mode":                   rapid.SampledFrom([]string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}).Draw(t, "nearest"),
			"exclude_outside":                small("exclude", 0, 1),
		}
		if rapid.Bool().Draw(t, "by scales") {
			scales := make([]float64, len(shape))
			for i := range scales {
				scales[i] = rapid.SampledFrom([]float64{1, 2, 0.5, 1.5, 0.7, 3.3}).Draw(t, "scale")
			}
			return movement{op, 19, 1, a, [][]int{shape}, []*ir.Tensor{nil, ir.FloatTensor(ir.F32, scales...)}}
		}
		sizes := list(len(shape), func(int) int { return small("size", 1, 6) })
		return movement{op, 19, 1, a, [][]int{shape}, []*ir.Tensor{nil, nil, sizes}}
	case "DepthToSpace":
		block := small("block", 1, 3)
		shape := []int{small("n", 1, 2), block * block * small("c", 1, 2), small("h", 1, 3), small("w", 1, 3)}
		return movement{op, 13, 1, attrs{"blocksize": block, "mode": rapid.SampledFrom([]string{"DCR", "CRD"}).Draw(t, "mode")}, [][]int{shape}, nil}
	default:
		block := small("block", 1, 3)
		shape := []int{small("n", 1, 2), small("c", 1, 2), block * small("h", 1, 3), block * small("w", 1, 3)}
		return movement{op, 13, 1, attrs{"blocksize": block}, [][]int{shape}, nil}
	}
}

// TestSymbolsAgreeWithNumbers imports nodes for operands with constant extents and with symbolic
// extents. It runs both and their lowered forms, and compares all four.
func TestSymbolsAgreeWithNumbers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := drawMovement(r)
		var numbers, symbols []ir.Type
		var args []*ir.Tensor
		for i, shape := range m.operands {
			dims := dim.Consts(shape...)
			numbers = append(numbers, ir.TensorOf(ir.F32, slices.Clone(dims)...))
			for k := range dims {
				if rapid.Bool().Draw(r, "symbolic") {
					dims[k] = dim.Sym(fmt.Sprintf("d%d_%d", i, k))
				}
			}
			symbols = append(symbols, ir.TensorOf(ir.F32, dims...))
			args = append(args, counted(ir.F32, shape...))
		}
		f, err := importFunc(m.op, m.opset, m.results, m.attrs, numbers, m.constants...)
		if err != nil {
			r.Fatalf("%+v: %v", m, err)
		}
		g, err := importFunc(m.op, m.opset, m.results, m.attrs, symbols, m.constants...)
		if err != nil {
			r.Fatalf("%+v for %s: %v", m, symbols, err)
		}
		want, got := checkLower(r, f, 1e-5, args...), checkLower(r, g, 1e-5, args...)
		for i := range want {
			if !closeTo(got[i], want[i], 0) {
				r.Fatalf("result %d is %s with symbols, %s with numbers\n%s%s", i, got[i], want[i], g, f)
			}
		}
	})
}

// TestNegativeExtentsAreErrors evaluates operators whose extents turn out to be
// negative.
func TestNegativeExtentsAreErrors(t *testing.T) {
	less := dim.Sym("N").Sub(dim.Const(5))
	dims := []dim.Dim{less}
	zero := []dim.Dim{dim.Const(0)}
	for _, test := range []struct {
		op     ir.Op
		inputs []ir.Type
	}{
		{Reshape{Shape: dims}, types(t, "f32[N]")},
		{Slice{Starts: zero, Shape: dims, Steps: []int{1}}, types(t, "f32[N]")},
		{Expand{Shape: dims}, types(t, "f32[1]")},
		{Tile{Repeats: dims}, types(t, "f32[N]")},
		{Pad{Mode: "constant", Before: dims, After: dims}, types(t, "f32[N]")},
		{Pad{Mode: "edge", Before: dims, After: dims}, types(t, "f32[N]")},
		{StridedCopy{Shape: dims, Strides: zero}, types(t, "f32[N]")},
		{Resize{Mode: "linear", Coordinates: "half_pixel", Shape: dims, Scales: []float64{0}}, types(t, "f32[N]")},
		{ResizeTable{Mode: "linear", Coordinates: "half_pixel", In: dim.Const(4), Out: less, Taps: dim.Const(2)}, nil},
		{Range{Count: less}, types(t, "f32[]", "f32[]")},
		{OneHot{Depth: less}, types(t, "i64[N]", "f32[2]")},
		{Eye{DType: ir.F32, Rows: less, Cols: less}, nil},
		{Fill{Value: ir.Scalar(ir.F32, 0), Shape: dims}, nil},
	} {
		t.Run(ir.OpName(test.op), func(t *testing.T) {
			three := func(s string) (dim.Dim, bool) { return dim.Const(3), s == "N" }
			var args []*ir.Tensor
			for _, typ := range test.inputs {
				shape, _ := typ.Subst(three).Static()
				args = append(args, counted(typ.DType, shape...))
			}
			if out, err := ir.SubstOp(test.op, three).Eval(args); err == nil {
				t.Errorf("no error but %s", out[0])
			}
		})
	}
}
