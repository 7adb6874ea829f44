package rt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

func TestInitialWeights(t *testing.T) {
	given := rt.NewWeights()
	rt.Add(given, "table", []float32{1, 2}, 2)
	list := []rt.Initial{
		{Name: "w", DType: "f32", Shape: []int{2, 2}, Init: rt.Init{Kind: rt.InitUniform, A: -1, B: 1}},
		{Name: "count", DType: "i64", Init: rt.Init{Kind: rt.InitConstant, A: 3}},
		{Name: "table", DType: "f32", Shape: []int{2}, Init: rt.Init{Kind: rt.InitGiven}},
	}
	w := rt.InitialWeights(1, list, given)
	if got := rt.WeightsOf[int64](w, "count"); !slices.Equal(got, []int64{3}) {
		t.Errorf("count is %v", got)
	}
	if got := rt.WeightsOf[float32](w, "table", 2); !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("table is %v", got)
	}
	same := rt.WeightsOf[float32](rt.InitialWeights(1, list, given), "w", 2, 2)
	other := rt.WeightsOf[float32](rt.InitialWeights(2, list, given), "w", 2, 2)
	if got := rt.WeightsOf[float32](w, "w", 2, 2); !slices.Equal(got, same) || slices.Equal(got, other) {
		t.Errorf("w is %v, then %v, with another seed %v", got, same, other)
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
	bad := []rt.Initial{
		{Name: "a", DType: "f32", Init: rt.Init{Kind: rt.InitGiven}},
		{Name: "b", DType: "i64", Shape: []int{2}, Init: rt.Init{Kind: rt.InitUniform}},
		{Name: "c", DType: "f16", Shape: []int{2}, Init: rt.Init{Kind: rt.InitConstant}},
		{Name: "d", DType: "f32", Shape: []int{-1}, Init: rt.Init{Kind: rt.InitConstant}},
	}
	err := rt.InitialWeights(1, bad, nil).Err()
	for _, name := range []string{`"a"`, `"b"`, `"c"`, `"d"`} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
