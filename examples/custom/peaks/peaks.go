// Package peaks finds peaks in a signal. It is the custom operator of the example's model.
package peaks

import (
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// Find computes the operator heart.Peaks, (f32[S]) -> (i64[P], f32[P]): the positions and the
// heights of the peaks of a signal. A peak is higher than the attribute "above" times the greatest
// height. It is also the highest element within "apart" elements on both sides. The function
// determines the number of peaks P.
func Find(c *rt.Call) error {
	signal := rt.Data[float32](c.In[0])
	above, apart := c.Attrs.Float("above", 0.5), int(c.Attrs.Int("apart", 1))
	var at []int
	if len(signal) > 0 {
		at = find(signal, above*slices.Max(signal), apart)
	}
	c.Out[0].Resize(len(at))
	c.Out[1].Resize(len(at))
	places, heights := rt.Data[int64](c.Out[0]), rt.Data[float32](c.Out[1])
	for i, k := range at {
		places[i], heights[i] = int64(k), signal[k]
	}
	return c.Err()
}

// find returns the indices of peaks above a height. Within `apart` elements of a peak, no element is higher, and no
// earlier element is equal.
func find(signal []float32, above float32, apart int) []int {
	var at []int
	for i, v := range signal {
		if v <= above {
			continue
		}
		before, after := signal[max(0, i-apart):i], signal[i+1:min(len(signal), i+1+apart)]
		higher := func(w float32) bool { return w > v }
		asHigh := func(w float32) bool { return w >= v }
		if !slices.ContainsFunc(before, asHigh) && !slices.ContainsFunc(after, higher) {
			at = append(at, i)
		}
	}
	return at
}
