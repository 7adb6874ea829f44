package op

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

func TestImportElementwiseAndReductions(t *testing.T) {
	f32 := func(v ...float64) *ir.Tensor { return ir.FloatTensor(ir.F32, v...) }
	for _, test := range []struct {
		name      string
		op        string
		opset     int
		attrs     attrs
		operands  string // the operands' values, separated by blanks
		constants []*ir.Tensor
		want      string // the result's value, or part of the error
	}{
		{"adds with an axis of opset 6", "Add", 6, attrs{"broadcast": 1, "axis": 0}, "f32[2,2](1,2,3,4) f32[2](10,20)", nil, "f32[2,2](11,12,23,24)"},
		{"adds at the end by default", "Add", 6, attrs{"broadcast": 1}, "f32[2,2](1,2,3,4) f32[2](10,20)", nil, "f32[2,2](11,22,13,24)"},
		{"refuses ranks without broadcast", "Add", 6, nil, "f32[2,2](1,2,3,4) f32[2](10,20)", nil, "without broadcast"},
		{"refuses an axis without room", "Sub", 1, attrs{"broadcast": 1, "axis": 1}, "f32[2,2](1,2,3,4) f32[2,2](1,2,3,4)", nil, "axis 1 for shapes"},
		{"takes consumed_inputs of opset 1", "Exp", 1, attrs{"consumed_inputs": []int{0}}, "f32[1](0)", nil, "f32[1](1)"},
		{"knows no consumed_inputs of opset 6", "Exp", 6, attrs{"consumed_inputs": []int{0}}, "f32[1](0)", nil, "unknown attribute"},
		{"compares with an axis", "Greater", 1, attrs{"broadcast": 1, "axis": 0}, "f32[2,1](1,2) f32[2](1,1)", nil, "bool[2,1](0,1)"},
		{"sums many", "Sum", 13, nil, "f32[2](1,2) f32[](10) f32[2,1](100,200)", nil, "f32[2,2](111,112,211,212)"},
		{"sums one", "Sum", 8, nil, "f32[2](1,2)", nil, "f32[2](1,2)"},
		{"sums none", "Sum", 8, nil, "", nil, "no operands"},
		{"refuses broadcast of opset 6", "Sum", 6, nil, "f32[2](1,2) f32[](10)", nil, "differ"},
		{"averages many", "Mean", 13, nil, "f32[2](1,2) f32[2](2,4) f32[2](6,6)", nil, "f32[2](3,4)"},
		{"takes the greatest of many", "Max", 12, nil, "i8[2](1,2) i8[2](2,1) i8[](0)", nil, "i8[2](2,2)"},
		{"raises floats to integers", "Pow", 12, nil, "f32[2](2,3) i64[2](3,2)", nil, "f32[2](8,9)"},
		{"raises integers to floats", "Pow", 12, nil, "i32[2](2,9) f32[2](3,0.5)", nil, "i32[2](8,3)"},
		{"raises integers to wider ones", "Pow", 15, nil, "i32[2](2,3) i64[2](31,2)", nil, "i32[2](-2147483648,9)"},
		{"floors remainders", "Mod", 13, nil, "i8[1](-5) i8[1](3)", nil, "i8[1](1)"},
		{"truncates remainders", "Mod", 13, attrs{"fmod": 1}, "i8[1](-5) i8[1](3)", nil, "i8[1](-2)"},
		{"refuses floored remainders of floats", "Mod", 13, nil, "f32[1](-5) f32[1](3)", nil, "integers expected"},
		{"shifts left", "BitShift", 11, attrs{"direction": "LEFT"}, "u8[1](3) u8[1](1)", nil, "u8[1](6)"},
		{"refuses to shift nowhere", "BitShift", 11, nil, "u8[1](3) u8[1](1)", nil, "neither LEFT nor RIGHT"},
		{"scales channels before opset 7", "PRelu", 6, nil, "f32[1,2,2](-1,-1,-1,-1) f32[2](2,3)", nil, "f32[1,2,2](-2,-2,-3,-3)"},
		{"scales all channels alike", "PRelu", 6, nil, "f32[1,2,2](-1,-1,-1,-1) f32[1](2)", nil, "f32[1,2,2](-2,-2,-2,-2)"},
		{"scales the last axis from opset 7", "PRelu", 7, nil, "f32[1,2,2](-1,-1,-1,-1) f32[2](2,3)", nil, "f32[1,2,2](-2,-3,-2,-3)"},
		{"limits by attributes", "Clip", 6, attrs{"min": -1.0, "max": 1.0}, "f32[3](-5,0,5)", nil, "f32[3](-1,0,1)"},
		{"limits by nothing", "Clip", 6, nil, "f32[2](-1e38,1e38)", nil, "f32[2](-1e+38,1e+38)"},
		{"limits by constants", "Clip", 13, nil, "f32[3](-5,0,5)", []*ir.Tensor{ir.Scalar(ir.F32, -1), ir.Scalar(ir.F32, 1)}, "f32[3](-1,0,1)"},
		{"limits above only", "Clip", 13, nil, "i8[3](-5,0,5)", []*ir.Tensor{nil, ir.Scalar(ir.I8, 1)}, "i8[3](-5,0,1)"},
		{"limits by what is computed", "Clip", 13, nil, "f32[3](-5,0,5) f32[](1) f32[](-1)", nil, "f32[3](-1,-1,-1)"},
		{"limits by what f64 cannot hold", "Clip", 12, nil, "i64[2](0,9223372036854775807)", []*ir.Tensor{nil, ints(9223372036854775805).Reshape()}, "i64[2](0,9223372036854775805)"},
		{"refuses bounds of several elements", "Clip", 13, nil, "f32[3](-5,0,5)", []*ir.Tensor{f32(1, 2)}, "not a scalar"},
		{"refuses bounds of another type", "Clip", 13, nil, "f32[3](-5,0,5)", []*ir.Tensor{ir.Scalar(ir.I8, 1)}, "operand 1 is i8"},
		{"casts", "Cast", 13, attrs{"to": ir.I32}, "f32[1](2.5)", nil, "i32[1](2)"},
		{"refuses to cast to nothing", "Cast", 13, nil, "f32[1](2.5)", nil, "no type"},
		{"saturates unless told", "Cast", 19, attrs{"to": ir.F8E5M2, "saturate": 0}, "f32[1](1e6)", nil, "f8e5m2[1](+Inf)"},
		{"rounds powers of two down", "Cast", 24, attrs{"to": ir.F8E8M0, "round_mode": "down"}, "f32[1](3)", nil, "f8e8m0[1](2)"},
		{"knows no round_mode of opset 23", "Cast", 23, attrs{"to": ir.F8E8M0, "round_mode": "down"}, "f32[1](3)", nil, "unknown attribute"},
		{"casts like another", "CastLike", 15, nil, "f32[1](2.5) i8[2](1,1)", nil, "i8[1](2)"},
		{"approximates gelu", "Gelu", 20, attrs{"approximate": "tanh"}, "f32[1](0)", nil, "f32[1](0)"},
		{"refuses other approximations", "Gelu", 20, attrs{"approximate": "erf"}, "f32[1](0)", nil, "neither none nor tanh"},
		{"adds a bias before gelu", "com.microsoft:BiasGelu", 1, nil, "f32[2](1,2) f32[2](-1,-2)", nil, "f32[2](0,0)"},
		{"adds no bias before gelu", "com.microsoft:FastGelu", 1, nil, "f32[1](0)", nil, "f32[1](0)"},
		{"approximates gelu by a sigmoid", "com.microsoft:QuickGelu", 1, attrs{"alpha": 0.0}, "f32[1](3)", nil, "f32[1](1.5)"},
		{"finds infinities of both signs", "IsInf", 20, nil, "f32[2](-Inf,+Inf)", nil, "bool[2](1,1)"},
		{"chooses", "Where", 16, nil, "bool[2](1,0) f32[2](1,2) f32[](3)", nil, "f32[2](1,3)"},

		{"reduces all axes without axes", "ReduceSum", 11, nil, "f32[2,2](1,2,3,4)", nil, "f32[1,1](10)"},
		{"reduces by attribute", "ReduceSum", 11, attrs{"axes": []int{-1}, "keepdims": 0}, "f32[2,2](1,2,3,4)", nil, "f32[2](3,7)"},
		{"reduces by operand", "ReduceSum", 13, attrs{"keepdims": 0}, "f32[2,2](1,2,3,4)", []*ir.Tensor{ints(0)}, "f32[2](4,6)"},
		{"reduces by operand from opset 18", "ReduceMean", 18, attrs{"keepdims": 0}, "f32[2,2](1,2,3,4)", []*ir.Tensor{ints(0)}, "f32[2](2,3)"},
		{"reduces by attribute up to opset 17", "ReduceMean", 17, attrs{"axes": []int{1, 0}}, "f32[2,2](1,2,3,4)", nil, "f32[1,1](2.5)"},
		{"reduces all with empty axes", "ReduceSum", 13, nil, "f32[2](1,2)", []*ir.Tensor{ints()}, "f32[1](3)"},
		{"reduces none with empty axes if told", "ReduceSum", 13, attrs{"noop_with_empty_axes": 1}, "f32[2](1,2)", []*ir.Tensor{ints()}, "f32[2](1,2)"},
		{"squares none with empty axes if told", "ReduceSumSquare", 18, attrs{"noop_with_empty_axes": 1}, "f32[2](1,2)", nil, "f32[2](1,4)"},
		{"refuses axes twice", "ReduceL1", 13, attrs{"axes": []int{0, -1}}, "f32[2](1,2)", nil, "named twice"},
		{"refuses axes beyond the rank", "ReduceL1", 13, attrs{"axes": []int{1}}, "f32[2](1,2)", nil, "axis 1 out of range"},
		{"sums along axes to be computed", "ReduceSum", 13, nil, "f32[2](1,2) i64[1](-1)", nil, "f32[1](3)"},
		{"finds the last of equals", "ArgMax", 12, attrs{"axis": -1, "keepdims": 0, "select_last_index": 1}, "f32[3](2,1,2)", nil, "i64[](2)"},
		{"knows no last of equals of opset 11", "ArgMax", 11, attrs{"select_last_index": 1}, "f32[3](2,1,2)", nil, "unknown attribute"},
		{"finds the least", "ArgMin", 13, nil, "f32[3](2,1,2)", nil, "i64[1](1)"},
		{"sums up", "CumSum", 14, attrs{"reverse": 1}, "f32[3](1,2,3)", []*ir.Tensor{ints(-1).Reshape()}, "f32[3](6,5,3)"},
		{"sums along an axis to be computed", "CumSum", 14, nil, "f32[2,2](1,2,3,4) i32[](-1)", nil, "f32[2,2](1,3,3,7)"},
		{"sums along the axis there is", "CumSum", 14, nil, "f32[2](1,2) i64[](0)", nil, "f32[2](1,3)"},
		{"refuses an axis beyond the rank", "CumSum", 14, nil, "f32[2](1,2)", []*ir.Tensor{ints(1).Reshape()}, "axis 1 out of range"},
		{"reduces all for no axes to be computed", "ReduceSum", 13, nil, "f32[2](1,2) i64[0]()", nil, "f32[1](3)"},
		{"multiplies up", "CumProd", 26, nil, "f32[3](1,2,3)", []*ir.Tensor{ints(0).Reshape()}, "f32[3](1,2,6)"},
		{"takes the last axis of opset 13", "Softmax", 13, nil, "f32[1,2,2](0,0,0,0)", nil, "f32[1,2,2](0.5,0.5,0.5,0.5)"},
		{"flattens from axis 1 in opset 11", "Softmax", 11, nil, "f32[1,2,2](0,0,0,0)", nil, "f32[1,2,2](0.25,0.25,0.25,0.25)"},
		{"flattens from a later axis", "Hardmax", 11, attrs{"axis": -1}, "f32[2,2](1,2,4,3)", nil, "f32[2,2](0,1,1,0)"},
		{"normalises to mean 0", "MeanVarianceNormalization", 13, attrs{"axes": []int{0}}, "f32[2,1](1,3)", nil, "f32[2,1](-1,1)"},
		{"divides by the norm", "LpNormalization", 22, nil, "f32[2,2](3,4,0,0)", nil, "f32[2,2](0.6,0.8,0,0)"},
		{"divides by the sum", "LpNormalization", 1, attrs{"p": 1, "axis": 0}, "f32[2,1](-1,3)", nil, "f32[2,1](-0.25,0.75)"},
		{"refuses other norms", "LpNormalization", 1, attrs{"p": 3}, "f32[2,1](-1,3)", nil, "p is 3"},
		{"reads bits", "BitCast", 26, attrs{"to": ir.U8}, "i8[1](-1)", nil, "u8[1](255)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var args []*ir.Tensor
			var in []ir.Type
			for _, text := range strings.Fields(test.operands) {
				x := parsed(t, text)
				args, in = append(args, x), append(in, x.Type())
			}
			f, err := importFunc(test.op, test.opset, 1, test.attrs, in, test.constants...)
			if err == nil {
				checkLower(t, f, 1e-6, args...)
				if got := run(t, f, args...)[0].String(); got != test.want {
					t.Errorf("%s, want %s\n%s", got, test.want, f)
				}
				return
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}
