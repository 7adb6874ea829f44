package rt

import (
	"slices"
	"strings"
	"testing"
)

func TestRenamed(t *testing.T) {
	w := NewWeights()
	Add(w, "a", []int32{1}, 1)
	Add(w, "b", []int32{2}, 1)
	r, err := w.Renamed(map[string]string{"a": "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := WeightsOf[int32](r, "x", 1); !slices.Equal(got, []int32{1}) || len(r.Names()) != 1 || r.Err() != nil {
		t.Error(got, r.Names(), r.Err())
	}
	if info, _ := r.Info("x"); info.Name != "x" {
		t.Error(info)
	}
	if _, err := r.Renamed(map[string]string{"a": "y"}); err == nil {
		t.Error("a tensor that is not there")
	}
	if _, err := w.Renamed(nil); err == nil {
		t.Error("closed weights")
	}
	w = NewWeights()
	Add(w, "a", []int32{1}, 1)
	Add(w, "b", []int32{2}, 1)
	if _, err := w.Renamed(map[string]string{"a": "x", "b": "x"}); err == nil || !strings.Contains(err.Error(), `"a" and "b" are both called "x"`) {
		t.Error(err)
	}
}
