package data

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// Bins divides numbers into ranges. The zero value has a single bin for all numbers. [rt.SaveState]
// saves the edges with a run.
type Bins struct{ edges []float64 } // increasing; bin i is below edge i

// NewBins returns bins that are separated by edges. Bin 0 has the numbers below the first edge, and
// the last bin has the numbers from the last edge on. NewBins returns an error unless the edges are
// finite and increasing.
func NewBins(edges ...float64) (*Bins, error) {
	for i, e := range edges {
		if math.IsNaN(e) || math.IsInf(e, 0) || i > 0 && e <= edges[i-1] {
			return nil, fmt.Errorf("bins: edges %v: finite and increasing numbers expected", edges)
		}
	}
	return &Bins{slices.Clone(edges)}, nil
}

// EqualBins returns n bins of the same width from `low` to `high`. A number below `low` belongs to
// the first bin, and a number above `high` to the last one. EqualBins returns an error in these cases:
//
//   - n is below 1.
//   - low ≥ high, or one of them is NaN.
//   - n numbers exceed [rt.ArenaLimit].
//   - `low` and `high` are too close together or too far apart to compute n bins.
func EqualBins(low, high float64, n int) (*Bins, error) {
	if n < 1 || !(low < high) {
		return nil, fmt.Errorf("bins: %d bins from %v to %v", n, low, high)
	}
	if err := rt.CheckSize[float64](n); err != nil {
		return nil, fmt.Errorf("bins: %w", err)
	}
	edges := make([]float64, n-1)
	for i := range edges {
		edges[i] = low + float64((high-low)*(float64(i+1)/float64(n)))
	}
	return NewBins(edges...)
}

// QuantileBins returns at most n bins with about the same number of values in each. Equal values
// are in the same bin, so there may be fewer than n bins. NaN is a missing value and does not
// count. QuantileBins returns an error if n is below 1 or a value is infinite.
func QuantileBins(values []float64, n int) (*Bins, error) {
	if n < 1 {
		return nil, fmt.Errorf("bins: %d bins: at least 1 expected", n)
	}
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(values)), math.IsNaN)
	if len(sorted) > 0 && (math.IsInf(sorted[0], -1) || math.IsInf(sorted[len(sorted)-1], 1)) {
		return nil, fmt.Errorf("bins: values from %v to %v: finite ones expected", sorted[0], sorted[len(sorted)-1])
	}
	n = min(n, max(1, len(sorted)))
	var edges []float64
	for i := 1; i < n; i++ {
		e := sorted[fraction(len(sorted), i, n)]
		if e > sorted[0] && (len(edges) == 0 || e > edges[len(edges)-1]) {
			edges = append(edges, e)
		}
	}
	return NewBins(edges...)
}

// Len returns the number of bins.
func (b *Bins) Len() int { return len(b.edges) + 1 }

// Index returns the bin of a number, from 0 to Len()-1. It returns -1 for NaN.
func (b *Bins) Index(x float64) int {
	if math.IsNaN(x) {
		return -1
	}
	i, ok := slices.BinarySearch(b.edges, x)
	if ok {
		i++
	}
	return i
}

// State registers the edges. Restoring replaces them.
func (b *Bins) State(s *rt.State) {
	rt.StateBytes(s, "edges", func() ([]byte, error) { return json.Marshal(b.edges) }, func(saved []byte) (func(), error) {
		var edges []float64
		if err := json.Unmarshal(saved, &edges); err != nil {
			return nil, err
		}
		restored, err := NewBins(edges...)
		if err != nil {
			return nil, err
		}
		return func() { *b = *restored }, nil
	})
}
