package op

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func TestFeatureOperators(t *testing.T) {
	nan := math.NaN()
	f32 := func(rows int, v ...float64) *ir.Tensor {
		return ir.FloatTensor(ir.F32, v...).Reshape(rows, len(v)/rows)
	}
	i64 := func(rows int, v ...int64) *ir.Tensor { return ir.IntTensor(ir.I64, v...).Reshape(rows, len(v)/rows) }
	for name, test := range map[string]struct {
		op   string
		a    attrs
		x    []*ir.Tensor
		want *ir.Tensor
	}{
		"scaler":                                 {"Scaler", attrs{"offset": []float64{1, 2}, "scale": []float64{2, 0.5}}, []*ir.Tensor{i64(2, 1, 2, 3, 4)}, f32(2, 0, 0, 4, 1)},
		"scaler, one for all":                    {"Scaler", attrs{"offset": []float64{1}, "scale": []float64{2}}, []*ir.Tensor{f32(1, 1, 2, 3)}, f32(1, 0, 2, 4)},
		"scaler of nothing":                      {"Scaler", attrs{}, []*ir.Tensor{f32(1, 1)}, f32(1, 1)},
		"normalizer":                             {"Normalizer", attrs{}, []*ir.Tensor{f32(3, -4, 2, 0, 0, -4, -2)}, f32(3, -2, 1, 0, 0, 2, 1)},
		"normalizer, L1":                         {"Normalizer", attrs{"norm": "L1"}, []*ir.Tensor{f32(2, -6, 2, 0, 0)}, f32(2, -0.75, 0.25, 0, 0)},
		"normalizer, L2":                         {"Normalizer", attrs{"norm": "L2"}, []*ir.Tensor{f32(1, -3, 4)}, ir.FloatTensor(ir.F32, -0.6, 0.8).Reshape(1, 2)},
		"imputer of NaN":                         {"Imputer", attrs{"imputed_value_floats": []float64{7, 8}, "replaced_value_float": nan}, []*ir.Tensor{f32(2, nan, 1, 2, nan)}, f32(2, 7, 1, 2, 8)},
		"imputer of a number":                    {"Imputer", attrs{"imputed_value_int64s": []int{7}, "replaced_value_int64": 1}, []*ir.Tensor{i64(1, 1, 2)}, i64(1, 7, 2)},
		"binarizer":                              {"Binarizer", attrs{"threshold": 0.5}, []*ir.Tensor{f32(1, 0.5, 1, -1, nan)}, f32(1, 0, 1, 0, 0)},
		"binarizer of integers":                  {"Binarizer", attrs{"threshold": 0.5}, []*ir.Tensor{i64(1, 0, 1)}, i64(1, 0, 1)},
		"extractor":                              {"ArrayFeatureExtractor", attrs{}, []*ir.Tensor{f32(2, 1, 2, 3, 4), i64(1, 1, 0, 1)}, f32(2, 2, 1, 2, 4, 3, 4)},
		"vectorizer":                             {"FeatureVectorizer", attrs{"inputdimensions": []int{1, 3}}, []*ir.Tensor{f32(2, 1, 2, 3, 4), f32(2, 5, 6)}, f32(2, 1, 5, 0, 0, 3, 6, 0, 0)},
		"linear regressor":                       {"LinearRegressor", attrs{"targets": 2, "coefficients": []float64{1, 2, 3, 4}, "intercepts": []float64{0.5, 0}}, []*ir.Tensor{i64(1, 1, 1)}, f32(1, 3.5, 7)},
		"linear regressor of one transforms not": {"LinearRegressor", attrs{"coefficients": []float64{1, 2}, "post_transform": "LOGISTIC"}, []*ir.Tensor{f32(1, 1, 1)}, f32(1, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			var in []ir.Type
			for _, x := range test.x {
				typ := x.Type()
				typ.Shape[0] = dim.Sym("N")
				if len(in) > 0 && test.op == "ArrayFeatureExtractor" {
					typ = x.Type()
				}
				in = append(in, typ)
			}
			f, err := importFunc("ai.onnx.ml:"+test.op, 1, 1, test.a, in)
			if err != nil {
				t.Fatal(err)
			}
			if y := checkLower(t, f, 1e-6, test.x...)[0]; !closeTo(y, test.want, 1e-6) {
				t.Errorf("%s, want %s", y, test.want)
			}
		})
	}
}

func TestLinearClassifier(t *testing.T) {
	x := ir.FloatTensor(ir.F32, 1, -1).Reshape(2, 1)
	for name, test := range map[string]struct {
		a      attrs
		labels []int64
		scores []float64
	}{
		"three classes": {attrs{"coefficients": []float64{1, 0, -1}, "intercepts": []float64{0, 0.5, 0}, "classlabels_ints": []int{7, 8, 9}}, []int64{7, 9}, []float64{1, 0.5, -1, -1, 0.5, 1}},
		"one score":     {attrs{"coefficients": []float64{2}, "intercepts": []float64{1}, "classlabels_ints": []int{7, 8}}, []int64{8, 7}, []float64{-2, 3, 2, -1}},
		"one score, logistic": {attrs{"coefficients": []float64{2}, "intercepts": []float64{0}, "classlabels_ints": []int{7, 8}, "post_transform": "LOGISTIC"},
			[]int64{8, 7}, []float64{0.11920292, 0.88079708, 0.88079708, 0.11920292}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := importFunc("ai.onnx.ml:LinearClassifier", 1, 2, test.a, types(t, "f32[N,1]"))
			if err != nil {
				t.Fatal(err)
			}
			y := checkLower(t, f, 1e-6, x)
			if want := ir.IntTensor(ir.I64, test.labels...); !y[0].Equal(want) {
				t.Errorf("labels %s, want %s", y[0], want)
			}
			if want := ir.FloatTensor(ir.F32, test.scores...).Reshape(2, len(test.scores)/2); !closeTo(y[1], want, 1e-6) {
				t.Errorf("scores %s, want %s", y[1], want)
			}
		})
	}
}

func TestPostTransforms(t *testing.T) {
	for transform, want := range map[string][]float64{
		"NONE":         {0.25, 0, 0.75},
		"LOGISTIC":     {0.5621765, 0.5, 0.6791787},
		"SOFTMAX":      {0.2917560, 0.2272198, 0.4810243},
		"SOFTMAX_ZERO": {0.3775407, 0, 0.6224593},
		"PROBIT":       {-0.6743, math.Inf(-1), 0.6743},
	} {
		t.Run(transform, func(t *testing.T) {
			f := buildFunc(t, types(t, "f64[N,3]"), func(b *ir.Builder, p []*ir.Value) []*ir.Value {
				return []*ir.Value{postTransform(b, p[0], transform)}
			})
			x := ir.FloatTensor(ir.F64, 0.25, 0, 0.75).Reshape(1, 3)
			if y := checkLower(t, f, 1e-6, x)[0]; !closeTo(y, ir.FloatTensor(ir.F64, want...).Reshape(1, 3), 1e-3) {
				t.Errorf("%s, want %v", y, want)
			}
		})
	}
}
