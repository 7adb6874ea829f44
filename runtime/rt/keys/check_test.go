package keys_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

func TestCheck(t *testing.T) {
	wanted := []keys.Want{
		{Name: "a", DType: "f32", Shape: []int{2}},
		{Name: "b", DType: "f32", Shape: []int{1, 2}},
		{Name: "mask", DType: "bool", Shape: []int{1}, Optional: true},
	}
	pair := func(w *rt.Weights, name string, shape ...int) { rt.Add(w, name, []float32{1, 2}, shape...) }
	for _, c := range []struct {
		name string
		make func(w *rt.Weights)
		want []string
	}{
		{"all there", func(w *rt.Weights) { pair(w, "a", 2); pair(w, "b", 1, 2); pair(w, "more", 2) }, nil},
		{"missing and of another shape", func(w *rt.Weights) { pair(w, "b", 2) }, []string{
			`weights: "a": f32[2] expected, file has no such tensor`, `weights: "b": f32[1,2] expected, file has f32[2]`}},
		{"of another type", func(w *rt.Weights) { rt.Add(w, "a", []float64{1, 2}, 2); pair(w, "b", 1, 2) }, []string{
			`weights: "a": f32[2] expected, file has f64[2]`}},
		{"that cannot be read", func(w *rt.Weights) {
			w.AddFunc("a", "f32", []int{2}, func() ([]byte, error) { return nil, errors.New("disk") })
			pair(w, "b", 1, 2)
		}, []string{`weights: "a": disk`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := rt.NewWeights()
			c.make(w)
			got := ""
			if err := keys.Check(w, wanted); err != nil {
				got = err.Error()
			}
			if want := strings.Join(c.want, "\n"); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			if err := w.Err(); err != nil {
				t.Errorf("checking left an error: %v", err)
			}
		})
	}
	if err := keys.Check(nil, wanted); err == nil {
		t.Error("no weights: no error")
	}
}
