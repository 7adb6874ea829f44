package peaks

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// TestFind calls the operator as generated code does.
func TestFind(t *testing.T) {
	c := rt.NewCall("heart.Peaks", 1, 2, []string{"P"}, rt.Attr{Name: "above", Value: float32(0.5)}, rt.Attr{Name: "apart", Value: int64(2)})
	for name, test := range map[string]struct {
		signal  []float32
		at      []int64
		heights []float32
	}{
		"nothing":         {nil, nil, nil},
		"silence":         {make([]float32, 9), nil, nil},
		"two peaks":       {[]float32{0, 3, 0, 0, 4, 1}, []int64{1, 4}, []float32{3, 4}},
		"a low one":       {[]float32{0, 1, 0, 0, 4, 1}, []int64{4}, []float32{4}},
		"too close":       {[]float32{0, 3, 0, 4, 1}, []int64{3}, []float32{4}},
		"a plateau":       {[]float32{0, 4, 4, 0}, []int64{1}, []float32{4}},
		"at both its end": {[]float32{4, 0, 0, 0, 4}, []int64{0, 4}, []float32{4, 4}},
	} {
		var at rt.Tensor[int64]
		var heights rt.Tensor[float32]
		rt.CallIn(c, 0, test.signal, len(test.signal))
		rt.CallOpen(c, 0, &at, rt.Sym(0))
		rt.CallOpen(c, 1, &heights, rt.Sym(0))
		if err := c.Run(Find); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(at.Data, test.at) || !slices.Equal(heights.Data, test.heights) {
			t.Errorf("%s: peaks at %v of heights %v, %v and %v expected", name, at.Data, heights.Data, test.at, test.heights)
		}
	}
}
