package op

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

func TestImportMicrosoft(t *testing.T) {
	f32 := func(v ...float64) *ir.Tensor { return ir.FloatTensor(ir.F32, v...) }
	i32 := func(v ...int64) *ir.Tensor { return ir.IntTensor(ir.I32, v...) }
	for _, test := range []struct {
		name      string
		op        string
		attrs     attrs
		operands  string // the operands' values, separated by blanks
		constants []*ir.Tensor
		want      string // the results' values, or part of the error
	}{
		{"transposes and scales", "FusedMatMul", attrs{"transA": 1, "alpha": 2.0}, "f32[2,1](1,2) f32[2,1](3,4)", nil, "f32[1,1](22)"},
		{"takes rows before the batch", "FusedMatMul", attrs{"transBatchA": 1}, "f32[2,1,1](1,2) f32[1,1,1](3)", nil, "f32[1,2,1](3,6)"},
		{"takes columns before the batch", "FusedMatMul", attrs{"transBatchB": 1, "transB": 1}, "f32[1,1,1](3) f32[2,1,1](1,2)", nil, "f32[1,1,2](3,6)"},
		{"transposes no vectors", "FusedMatMul", attrs{"transA": 1, "transB": 1}, "f32[2](1,2) f32[2](3,4)", nil, "f32[](11)"},
		{"keeps the former name", "TransposeMatMul", attrs{"transB": 1}, "f32[1,2](1,2) f32[1,2](3,4)", nil, "f32[1,1](11)"},
		{"activates a product", "FusedMatMulActivation", attrs{"activation": "Relu", "alpha": -1.0}, "f32[1,1](1) f32[1,2](3,-4)", nil, "f32[1,2](0,4)"},
		{"activates with a parameter", "FusedGemm", attrs{"activation": "LeakyRelu", "activation_alpha": 0.5}, "f32[1,1](2) f32[1,1](-3)", nil, "f32[1,1](-3)"},
		{"activates with defaults", "FusedGemm", attrs{"activation": "HardSigmoid", "transB": 1}, "f32[1,1](0) f32[1,1](1) f32[1](0)", nil, "f32[1,1](0.5)"},
		{"refuses an unknown activation", "FusedGemm", attrs{"activation": "Foo"}, "f32[1,1](2) f32[1,1](-3)", nil, `unknown activation "Foo"`},
		{"approximates gelu of a product", "GemmFastGelu", nil, "f32[1,1](2) f32[1,1](3) f32[1](-6)", nil, "f32[1,1](0)"},
		{"adds and activates", "FusedConv", attrs{"activation": "Clip", "activation_params": []float64{0, 5}}, "f32[1,1,1](2) f32[1,1,1](3)", []*ir.Tensor{nil, f32(1).Reshape(1, 1, 1)}, "f32[1,1,1](5)"},
		{"convolves only", "FusedConv", nil, "f32[1,1,1](2) f32[1,1,1](3) f32[1](-1)", nil, "f32[1,1,1](5)"},
		{"refuses too few parameters", "FusedConv", attrs{"activation": "Clip", "activation_params": []float64{0}}, "f32[1,1,1](2) f32[1,1,1](3)", nil, "1 parameters, 2 expected"},
		{"refuses to add another shape", "FusedConv", nil, "f32[1,1,1](2) f32[1,1,1](3)", []*ir.Tensor{nil, f32(1, 2).Reshape(1, 1, 2)}, "operand 3 and the result: 2 is not 1"},
		{"refuses to add another rank", "FusedConv", nil, "f32[1,1,1](2) f32[1,1,1](3)", []*ir.Tensor{nil, f32(1)}, "operand 3 is f32[1]"},
		{"convolves with channels last", "NhwcConv", nil, "f32[1,1,1,2](1,2) f32[1,2,1,1](3,4)", nil, "f32[1,1,1,1](11)"},
		{"adds with channels last", "NhwcFusedConv", attrs{"activation": "Relu"}, "f32[1,1,2,1](1,2) f32[2,1,1,1](3,-4) f32[2](0,0) f32[1,1,2,2](1,5,1,5)", nil, "f32[1,1,2,2](4,1,7,0)"},
		{"pools with channels last", "NhwcMaxPool", attrs{"kernel_shape": []int{1, 2}}, "u8[1,1,2,2](1,4,3,2)", nil, "u8[1,1,1,2](3,4)"},
		{"refuses channels alone", "NhwcConv", nil, "f32[1,2](1,2) f32[1,2](3,4)", nil, "no spatial axes"},

		{"normalises groups of the last axis", "GroupNorm", attrs{"groups": 2, "activation": 0, "epsilon": 3.0}, "f32[1,1,2,2](1,2,3,2) f32[2](2,1) f32[2](0,1)", nil, "f32[1,1,2,2](-1,1,1,1)"},
		{"normalises groups of the second axis", "GroupNorm", attrs{"groups": 2, "activation": 0, "epsilon": 3.0, "channels_last": 0}, "f32[1,2,1,2](1,3,2,2) f32[2](2,1) f32[2](0,1)", nil, "f32[1,2,1,2](-1,1,1,1)"},
		{"normalises in the precision of the scale", "GroupNorm", attrs{"groups": 1, "activation": 0, "epsilon": 3.0}, "f16[1,1,2,1](1,3) f32[1](2) f32[1](0)", nil, "f16[1,1,2,1](-1,1)"},
		{"activates what is normalised", "GroupNorm", attrs{"groups": 1, "activation": 1}, "f32[1,1,1,1](1) f32[1](2) f32[1](0)", nil, "f32[1,1,1,1](0)"},
		{"refuses uneven groups", "GroupNorm", attrs{"groups": 2, "activation": 0}, "f32[1,1,1,3](1,2,3) f32[3](1,1,1) f32[3](0,0,0)", nil, "3 channels in 2 groups"},
		{"refuses other activations", "GroupNorm", attrs{"groups": 1, "activation": 2}, "f32[1,1,1,1](1) f32[1](2) f32[1](0)", nil, "activation 2"},
		{"adds before it normalises", "SkipGroupNorm", attrs{"groups": 1, "activation": 0, "epsilon": 3.0}, "f32[1,1,2,1](0,2) f32[1](2) f32[1](0) f32[1,1](1) f32[1](-1)", nil, "f32[1,1,2,1](-1,1) f32[1,1,2,1](0,2)"},

		{"adds a bias and a residual", "BiasDropout", nil, "f32[2](1,2) f32[](1) f32[2](0,1)", nil, "f32[2](2,4) bool[2](1,1)"},
		{"adds what is gated", "GatedAdd", nil, "f32[1,2](1,2) f32[1,2](2,2) f32[1,1](3)", nil, "f32[1,2](7,8)"},
		{"multiplies complex numbers", "ComplexMul", nil, "f32[1,2](1,2) f32[2](3,4)", nil, "f32[1,2](-5,10)"},
		{"conjugates the second", "ComplexMulConj", nil, "f32[1,2](1,2) f32[2](3,4)", nil, "f32[1,2](11,2)"},
		{"refuses a part too many", "ComplexMul", nil, "f32[3](1,2,3) f32[2](3,4)", nil, "a last axis of 2 expected"},
		{"measures squared distances", "CDist", nil, "f32[1,2](0,0) f32[2,2](3,4,0,1)", nil, "f32[1,2](25,1)"},
		{"measures distances", "CDist", attrs{"metric": "euclidean"}, "f32[1,2](0,0) f32[2,2](3,4,0,1)", nil, "f32[1,2](5,1)"},
		{"measures the longest way", "CDist", attrs{"metric": "chebyshev"}, "f32[1,2](0,0) f32[2,2](3,-4,0,1)", nil, "f32[1,2](4,1)"},
		{"refuses other distances", "CDist", attrs{"metric": "yule"}, "f32[1,2](0,0) f32[1,2](3,4)", nil, `metric "yule"`},
		{"finds all finite", "IsAllFinite", nil, "f32[2](0,1) f32[](2)", nil, "bool[](1)"},
		{"finds one that is not", "IsAllFinite", nil, "f32[2](0,NaN) f32[](2)", nil, "bool[](0)"},
		{"finds infinities only", "IsAllFinite", attrs{"isinf_only": 1}, "f32[2](0,NaN)", nil, "bool[](1)"},
		{"sums bytes", "ReduceSumInteger", attrs{"axes": []int{0}, "keepdims": 0}, "u8[2](200,100)", nil, "u32[](300)"},

		{"pads a row of pads", "Pad", nil, "f32[2](1,2)", []*ir.Tensor{ir.IntTensor(ir.I64, 1, 0).Reshape(1, 2), f32(5)}, "f32[3](5,1,2)"},
		{"counts by one", "Range", nil, "", []*ir.Tensor{f32(1), f32(3.5)}, "f32[3](1,2,3)"},
		{"inserts an axis", "ExpandDims", nil, "f32[2](1,2)", []*ir.Tensor{i32(-1).Reshape()}, "f32[2,1](1,2)"},
		{"refuses an axis beyond", "ExpandDims", nil, "f32[2](1,2)", []*ir.Tensor{i32(2).Reshape()}, "axis 2 out of range"},
		{"looks up", "TorchEmbedding", nil, "f32[2,2](1,2,3,4) i64[1](1) i64[](0)", nil, "f32[1,2](3,4)"},
		{"overlaps runs", "UnfoldTensor", attrs{"size": 3}, "f32[4](1,2,3,4)", nil, "f32[2,3](1,2,3,2,3,4)"},
		{"leaves a rest", "UnfoldTensor", attrs{"size": 1, "step": 2, "dim": 0}, "f32[4,1](1,2,3,4)", nil, "f32[2,1,1](1,3)"},
		{"refuses too long runs", "UnfoldTensor", attrs{"size": 5}, "f32[4](1,2,3,4)", nil, "runs of 5 elements"},
		{"keeps the first of equals", "Unique", nil, "f32[4](2,1,2,3)", nil, "f32[3](2,1,3) i64[4](0,1,0,2) i64[3](2,1,1)"},
		{"samples", "GridSample", attrs{"mode": "nearest"}, "f32[1,1,1,1](5) f32[1,1,1,2](0,0)", nil, "f32[1,1,1,1](5)"},
		{"interpolates in a box", "CropAndResize", nil, "f32[1,1,2,2](0,1,2,3) f32[1,4](0,0,1,1) i32[1](0)", []*ir.Tensor{i32(3, 1)}, "f32[1,1,3,1](0.5,1.5,2.5)"},
		{"finds the nearest", "CropAndResize", attrs{"mode": "nearest"}, "f32[1,1,1,3](0,1,2) f32[1,4](0,0.5,0,0.9) i32[1](0)", []*ir.Tensor{i32(1, 2)}, "f32[1,1,1,2](1,2)"},
		{"has a value outside", "CropAndResize", attrs{"extrapolation_value": 7.0}, "f32[1,1,1,3](0,1,2) f32[1,4](0,0.5,0,1.5) i32[1](0)", []*ir.Tensor{i32(1, 2)}, "f32[1,1,1,2](1,7)"},
		{"takes the padding out", "RemovePadding", nil, "f32[2,2,1](1,2,3,4) i32[2](1,2)", nil, "f32[3,1](1,3,4) i32[2,2](0,2,3,1) i32[3](0,1,3) i32[1](2)"},
		{"puts the padding in", "RestorePadding", nil, "f32[3,1](1,3,4) i32[2,2](0,2,3,1)", nil, "f32[2,2,1](1,0,3,4)"},

		{"transforms", "Rfft", attrs{"signal_ndim": 1, "onesided": 1, "normalized": 0}, "f32[4](1,2,3,4)", nil, "f32[3,2](10,0,-2,2,-2,0)"},
		{"transforms planes", "Rfft", attrs{"signal_ndim": 2}, "f32[2,2](1,2,3,4)", nil, "f32[2,2,2](10,0,-2,0,-4,0,0,0)"},
		{"transforms back", "Irfft", attrs{"signal_ndim": 1}, "f32[3,2](10,0,-2,2,-2,0)", nil, "f32[4](1,2,3,4)"},
		{"transforms planes back", "Irfft", attrs{"signal_ndim": 2}, "f32[2,2,2](10,0,-2,0,-4,0,0,0)", nil, "f32[2,2](1,2,3,4)"},
		{"refuses to normalise", "Rfft", attrs{"normalized": 1}, "f32[4](1,2,3,4)", nil, "normalized 1"},
		{"hashes words", "MurmurHash3", nil, "u32[1](1684234849)", nil, "u32[1](1139631978)"},
		{"hashes texts", "MurmurHash3", attrs{"positive": 0}, `string[1]("abc")`, nil, "i32[1](-1277324294)"},
		{"refuses to hash bytes", "MurmurHash3", nil, "u8[1](1)", nil, "not defined for u8"},
		{"inverts", "Inverse", nil, "f32[1,2,2](0,2,1,0)", nil, "f32[1,2,2](0,1,0.5,0)"},
		{"inverts halves", "Inverse", nil, "f16[1,1](4)", nil, "f16[1,1](0.25)"},
		{"refuses to invert no square", "Inverse", nil, "f32[1,2](1,2)", nil, "rows and columns"},
		{"looks back", "RelativePositionBias", attrs{"max_distance": 4}, "f32[4,1](10,11,12,13)", []*ir.Tensor{ints(3), ints(3)}, "f32[1,1,3,3](10,10,10,11,10,10,12,11,10)"},
		{"looks both ways", "RelativePositionBias", attrs{"max_distance": 4, "is_bidirectional": 1}, "f32[4,1](10,11,12,13)", []*ir.Tensor{ints(2), ints(2)}, "f32[1,1,2,2](10,13,11,10)"},
		{"looks as far as it turns out", "RelativePositionBias", attrs{"max_distance": 4}, "f32[2,2](1,2,3,4) i64[](1) i64[](2)", nil, "f32[1,2,1,2](1,1,3,3)"},
		{"refuses a short distance", "RelativePositionBias", attrs{"max_distance": 1}, "f32[4,1](10,11,12,13)", []*ir.Tensor{ints(3), ints(3)}, "max_distance 1"},
		{"opens gates", "GatedRelativePositionBias", attrs{"num_heads": 1}, "f32[1,1,1](0) f32[1](0) f32[1,1,1,1](2) f32[1,2](0,0) f32[2](0,0) f32[1,1,1,1](3)", nil, "f32[1,1,1,1](4.5)"},
		{"opens gates for packed tokens", "GatedRelativePositionBias", attrs{"num_heads": 1}, "f32[1,1](0) f32[1](0) f32[1,1,1,1](2) f32[1,2](0,0) f32[2](0,0) f32[1,1,1,1](3) i32[1,1](0)", nil, "f32[1,1,1,1](4.5)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var args []*ir.Tensor
			var in []ir.Type
			for _, text := range strings.Fields(test.operands) {
				x := parsed(t, text)
				args, in = append(args, x), append(in, x.Type())
			}
			results := len(strings.Fields(test.want))
			f, err := importFunc("com.microsoft:"+test.op, 1, results, test.attrs, in, test.constants...)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %s", err, test.want)
				}
				return
			}
			checkLower(t, f, 1e-6, args...)
			for i, got := range run(t, f, args...) {
				if want := parsed(t, strings.Fields(test.want)[i]); !closeTo(got, want, 1e-6) {
					t.Errorf("result %d is %s, want %s\n%s", i, got, want, f)
				}
			}
		})
	}
}

func TestImportExperimental(t *testing.T) {
	for _, test := range []struct {
		name, op string
		attrs    attrs
		operand  string
		want     string // the result, or part of the error
	}{
		{"scales and shifts", "Affine", attrs{"alpha": 2.0, "beta": 1.0}, "f32[2](1,2)", "f32[2](3,5)"},
		{"scales", "Scale", attrs{"scale": 2.0}, "f32[2](1,2)", "f32[2](2,4)"},
		{"shifts channels", "ImageScaler", attrs{"scale": 2.0, "bias": []float64{1, -1}}, "f32[1,2,1,1](1,2)", "f32[1,2,1,1](3,3)"},
		{"refuses other channels", "ImageScaler", attrs{"bias": []float64{1}}, "f32[1,2,1,1](1,2)", "channels and bias: 2 is not 1"},
		{"scales inside and outside", "ScaledTanh", attrs{"alpha": 2.0, "beta": 0.0}, "f32[1](1)", "f32[1](0)"},
		{"scales a softplus", "ParametricSoftplus", attrs{"alpha": 0.0, "beta": 2.0}, "f32[1](1)", "f32[1](0)"},
		{"cuts a border off", "Crop", attrs{"border": []int{1, 0, 0, 1}}, "f32[1,1,2,2](1,2,3,4)", "f32[1,1,1,1](2)"},
		{"keeps a part", "Crop", attrs{"border": []int{1, 1, 0, 0}, "scale": []int{1, 1}}, "f32[1,1,2,2](1,2,3,4)", "f32[1,1,1,1](4)"},
		{"refuses a part beyond", "Crop", attrs{"border": []int{1, 1, 0, 0}, "scale": []int{2, 1}}, "f32[1,1,2,2](1,2,3,4)", "scale [2 1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := parsed(t, test.operand)
			f, err := importFunc(test.op, 8, 1, test.attrs, []ir.Type{x.Type()})
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %s", err, test.want)
				}
				return
			}
			checkLower(t, f, 1e-6, x)
			if got := run(t, f, x)[0].String(); got != test.want {
				t.Errorf("%s, want %s\n%s", got, test.want, f)
			}
		})
	}
}
