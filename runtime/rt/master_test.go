package rt

import (
	"slices"
	"testing"
)

// TestMasters asserts that weights of each type which can be trained become float32 and back, and that
// f32 is read in place.
func TestMasters(t *testing.T) {
	x := []float32{0, 1, -2.5, 1024}
	for _, dtype := range []string{"f32", "f16", "bf16", "f64"} {
		w := NewWeights()
		addFloat32(w, dtype, "w", x, []int{2, 2})
		if info, ok := w.Info("w"); !ok || info.DType != dtype {
			t.Errorf("%s: added as %v", dtype, info)
		}
		got := asFloat32(w, dtype, "w", []int{2, 2})
		if err := w.Err(); err != nil || !slices.Equal(got, x) {
			t.Errorf("%s: %v, error %v", dtype, got, err)
		}
		if &got[0] == &x[0] {
			t.Errorf("%s: what was added is not a copy", dtype)
		}
	}
	w, aligned := NewWeights(), Make[float32](4)
	Add(w, "aligned", aligned, 4)
	if got := asFloat32(w, "f32", "aligned", []int{4}); littleEndian && &got[0] != &aligned[0] {
		t.Error("f32 in aligned memory is copied")
	}
	Add(w, "w", []int64{1}, 1)
	if asFloat32(w, "i64", "w", []int{1}); w.Err() == nil {
		t.Error("integers are trained")
	}
}
