package lora

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// adapted has a layer with an update, and one without.
func adapted() *rt.Weights {
	w := rt.NewWeights()
	rt.Add(w, "fc.base_layer.weight", []float32{1, 0, 0, 0, 1, 0}, 2, 3)
	rt.Add(w, "fc.base_layer.bias", []float32{10, 20}, 2)
	rt.Add(w, "fc.lora_A.weight", []float32{1, 2, 3, 0, 0, 1}, 2, 3)
	rt.Add(w, "fc.lora_B.weight", []float32{1, 0, -1, 5}, 2, 2)
	rt.Add(w, "head.weight", []float32{7}, 1)
	return w
}

func TestMerge(t *testing.T) {
	w, err := Merge(adapted(), 4) // alpha/rank is 2
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(slices.Values(w.Names()))
	if !slices.Equal(names, []string{"fc.bias", "fc.weight", "head.weight"}) {
		t.Errorf("got %v", names)
	}
	// B·A is [1 2 3], [-1 -2 2].
	if got := rt.WeightsOf[float32](w, "fc.weight", 2, 3); !slices.Equal(got, []float32{3, 4, 6, -2, -3, 4}) {
		t.Errorf("got %v", got)
	}
	if got := rt.WeightsOf[float32](w, "fc.bias", 2); !slices.Equal(got, []float32{10, 20}) || w.Err() != nil {
		t.Errorf("got %v, %v", got, w.Err())
	}
}

func TestUpdates(t *testing.T) {
	w, err := Updates(adapted())
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(slices.Values(w.Names()))
	if !slices.Equal(names, []string{"fc.lora_A.weight", "fc.lora_B.weight"}) {
		t.Errorf("got %v", names)
	}
	if got := rt.WeightsOf[float32](w, "fc.lora_B.weight", 2, 2); !slices.Equal(got, []float32{1, 0, -1, 5}) {
		t.Errorf("got %v", got)
	}
}

func TestUpdatesThatDoNotFit(t *testing.T) {
	plain := rt.NewWeights()
	rt.Add(plain, "fc.weight", []float32{1}, 1, 1)
	alone := rt.NewWeights()
	rt.Add(alone, "a.lora_A.weight", []float32{1}, 1, 1)
	rt.Add(alone, "b.lora_A.weight", []int64{1}, 1, 1)
	rt.Add(alone, "b.base_layer.weight", []float32{1}, 1, 1)
	odd := adapted()
	rt.Add(odd, "odd.base_layer.weight", []float32{1}, 1, 1)
	rt.Add(odd, "odd.lora_A.weight", []float32{1, 2}, 2, 1)
	rt.Add(odd, "odd.lora_B.weight", []float32{1}, 1, 1)
	for _, c := range []struct {
		w    *rt.Weights
		want []string
	}{
		{plain, []string{"lora: no tensor is called lora_A.weight"}},
		{alone, []string{`lora: "a": base_layer.weight is missing`, `lora: "b": lora_A.weight is i64[1 1]: a matrix of f32 expected`}},
		{odd, []string{`lora: "odd": shapes [1 1] of the weight, [2 1] of A and [1 1] of B do not fit`}},
	} {
		_, err := Merge(c.w, 1)
		if err == nil || strings.Join(c.want, "\n") != err.Error() {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := Updates(plain); err == nil {
		t.Error("weights without updates have some")
	}
}
