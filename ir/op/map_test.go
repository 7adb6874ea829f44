package op

import (
	"testing"

	"github.com/burngen/burngen/ir"
)

// mapOf returns a map from keys to numbers or texts.
func mapOf(keys, values *ir.Tensor) *ir.Tensor {
	items := make([]*ir.Tensor, keys.Len())
	for i := range items {
		items[i] = ir.NewTensor(values.DType)
		items[i].Copy(0, values, i)
	}
	return ir.MapTensor(ir.TensorOf(values.DType), keys, items)
}

func TestZipMap(t *testing.T) {
	for name, test := range map[string]struct {
		a    attrs
		x    string
		data *ir.Tensor
		want []*ir.Tensor
	}{
		"strings, sorted": {attrs{"classlabels_strings": []string{"b", "a"}}, "f32[N,2]", ir.FloatTensor(ir.F32, 1, 2, 3, 4).Reshape(2, 2), []*ir.Tensor{
			mapOf(textTensor([]string{"a", "b"}), ir.FloatTensor(ir.F32, 2, 1)),
			mapOf(textTensor([]string{"a", "b"}), ir.FloatTensor(ir.F32, 4, 3)),
		}},
		"integers, one row":   {attrs{"classlabels_int64s": []int{7, -1}}, "f32[2]", ir.FloatTensor(ir.F32, 1, 2), []*ir.Tensor{mapOf(ir.IntTensor(ir.I64, -1, 7), ir.FloatTensor(ir.F32, 2, 1))}},
		"a key twice":         {attrs{"classlabels_int64s": []int{7, 7}}, "f32[2]", ir.FloatTensor(ir.F32, 1, 2), []*ir.Tensor{mapOf(ir.IntTensor(ir.I64, 7), ir.FloatTensor(ir.F32, 2))}},
		"no rows":             {attrs{"classlabels_int64s": []int{7}}, "f32[N,1]", ir.NewTensor(ir.F32, 0, 1), nil},
		"a symbol of columns": {attrs{"classlabels_int64s": []int{7}}, "f32[1,C]", ir.NewTensor(ir.F32, 1, 1), []*ir.Tensor{mapOf(ir.IntTensor(ir.I64, 7), ir.FloatTensor(ir.F32, 0))}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := importFunc("ai.onnx.ml:ZipMap", 1, 1, test.a, types(t, test.x))
			if err != nil {
				t.Fatal(err)
			}
			lowered(t, f)
			y := run(t, f, test.data)[0]
			if want := ir.SequenceTensor(y.Elem, test.want...); !y.Equal(want) {
				t.Errorf("%v, want %v", y, want)
			}
		})
	}
	if _, err := importFunc("ai.onnx.ml:ZipMap", 1, 1, attrs{"classlabels_int64s": []int{7}}, types(t, "f32[N,2]")); err == nil {
		t.Error("two columns for one key")
	}
}

func TestMapsToTensors(t *testing.T) {
	numbers := mapOf(ir.IntTensor(ir.I64, 1, 3), ir.FloatTensor(ir.F32, 1.5, 2.5))
	texts := mapOf(ir.IntTensor(ir.I64, 1, 3), textTensor([]string{"7", "8"}))
	for name, test := range map[string]struct {
		op      string
		a       attrs
		x, want *ir.Tensor
	}{
		"dense":               {"CastMap", attrs{}, numbers, ir.FloatTensor(ir.F32, 1.5, 2.5)},
		"dense to integers":   {"CastMap", attrs{"cast_to": "TO_INT64"}, numbers, ir.IntTensor(ir.I64, 1, 2)},
		"dense of texts":      {"CastMap", attrs{"cast_to": "TO_FLOAT"}, texts, ir.FloatTensor(ir.F32, 7, 8)},
		"sparse":              {"CastMap", attrs{"map_form": "SPARSE", "max_map": 5}, numbers, ir.FloatTensor(ir.F32, 0, 1.5, 0, 2.5, 0)},
		"sparse of texts":     {"CastMap", attrs{"map_form": "SPARSE", "max_map": 2, "cast_to": "TO_INT64"}, texts, ir.IntTensor(ir.I64, 0, 7)},
		"a vocabulary":        {"DictVectorizer", attrs{"int64_vocabulary": []int{3, 2, 1}}, numbers, ir.FloatTensor(ir.F32, 2.5, 0, 1.5)},
		"texts by vocabulary": {"DictVectorizer", attrs{"int64_vocabulary": []int{3, 2}}, texts, textTensor([]string{"8", ""})},
	} {
		t.Run(name, func(t *testing.T) {
			typ := ir.MapOf(ir.I64, ir.TensorOf(test.x.Elem.DType))
			f, err := importFunc("ai.onnx.ml:"+test.op, 1, 1, test.a, []ir.Type{typ})
			if err != nil {
				t.Fatal(err)
			}
			lowered(t, f)
			if y := run(t, f, test.x)[0]; !y.Equal(test.want.Reshape(1, test.want.Len())) {
				t.Errorf("%v, want %v", y, test.want)
			}
		})
	}
}
