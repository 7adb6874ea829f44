package op

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func TestLabelEncoder(t *testing.T) {
	nan := math.NaN()
	texts := func(s string) *ir.Tensor { return textTensor(strings.Split(s, " ")) }
	for name, test := range map[string]struct {
		opset   int
		a       attrs
		x, want *ir.Tensor
	}{
		"strings to places, opset 1": {1, attrs{"classes_strings": []string{"b", "a"}}, texts("a b c"), ir.IntTensor(ir.I64, 1, 0, -1)},
		"places to strings, opset 1": {1, attrs{"classes_strings": []string{"b", "a"}, "default_string": "?"}, ir.IntTensor(ir.I64, 1, 0, 2), texts("a b ?")},
		"strings to integers":        {2, attrs{"keys_strings": []string{"b", "a"}, "values_int64s": []int{5, 6}, "default_int64": 9}, texts("a b c"), ir.IntTensor(ir.I64, 6, 5, 9)},
		"integers to strings":        {2, attrs{"keys_int64s": []int{3, 1}, "values_strings": []string{"x", "y"}}, ir.IntTensor(ir.I64, 1, 2, 3), texts("y _Unused x")},
		"floats to floats, NaN":      {2, attrs{"keys_floats": []float64{2, nan}, "values_floats": []float64{7, 8}, "default_float": 0.5}, ir.FloatTensor(ir.F32, nan, 2, 3), ir.FloatTensor(ir.F32, 8, 7, 0.5)},
		"default of floats":          {2, attrs{"keys_int64s": []int{1}, "values_floats": []float64{7}}, ir.IntTensor(ir.I64, 2), ir.FloatTensor(ir.F32, math.Copysign(0, -1))},
		"repeated key":               {4, attrs{"keys_int64s": []int{1, 1}, "values_int64s": []int{2, 3}}, ir.IntTensor(ir.I64, 1), ir.IntTensor(ir.I64, 3)},
		"tensors": {4, attrs{"keys_tensor": ir.FloatTensor(ir.F64, nan, 1), "values_tensor": ir.IntTensor(ir.I16, 5, 6), "default_tensor": ir.IntTensor(ir.I16, 7)},
			ir.FloatTensor(ir.F64, 0, 1, nan), ir.IntTensor(ir.I16, 7, 6, 5)},
		"no elements": {2, attrs{"keys_int64s": []int{1}, "values_int64s": []int{2}}, ir.NewTensor(ir.I64, 0), ir.NewTensor(ir.I64, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := importFunc("ai.onnx.ml:LabelEncoder", test.opset, 1, test.a, []ir.Type{ir.TensorOf(test.x.DType, dim.Sym("N"))})
			if err != nil {
				t.Fatal(err)
			}
			lowered(t, f)
			if y := run(t, f, test.x)[0]; !y.Equal(test.want) {
				t.Errorf("%s, want %s", y, test.want)
			}
		})
	}
}

func TestLabelEncoderRefuses(t *testing.T) {
	for name, a := range map[string]attrs{
		"more keys than values":     {"keys_int64s": []int{1, 2}, "values_int64s": []int{2}},
		"keys of another type":      {"keys_strings": []string{"a"}, "values_int64s": []int{2}},
		"two lists of values":       {"keys_int64s": []int{1}, "values_int64s": []int{2}, "values_floats": []float64{2}},
		"no values":                 {"keys_int64s": []int{1}},
		"a default of two":          {"keys_int64s": []int{1}, "values_int64s": []int{2}, "default_tensor": ir.IntTensor(ir.I64, 1, 2)},
		"a default of another kind": {"keys_int64s": []int{1}, "values_int64s": []int{2}, "default_tensor": ir.FloatTensor(ir.F32, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := importFunc("ai.onnx.ml:LabelEncoder", 4, 1, a, types(t, "i64[N]")); err == nil {
				t.Error("imported")
			}
		})
	}
}

func TestOneHotEncoderOfAnUnknownCategory(t *testing.T) {
	for name, test := range map[string]struct {
		zeros int
		want  []float64
	}{
		"zeros": {1, []float64{0, 1, 0, 0}},
		"error": {0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := attrs{"cats_strings": []string{"b", "a"}, "zeros": test.zeros}
			f, err := importFunc("ai.onnx.ml:OneHotEncoder", 1, 1, a, types(t, "string[N]"))
			if err != nil {
				t.Fatal(err)
			}
			y, err := tryRun(f, textTensor([]string{"a", "c"}))
			if test.want == nil {
				if err == nil {
					t.Error(y[0])
				}
				return
			}
			if want := ir.FloatTensor(ir.F32, test.want...).Reshape(2, 2); err != nil || !y[0].Equal(want) {
				t.Errorf("%s %v, want %s", y, err, want)
			}
		})
	}
}
