package learn

import (
	"fmt"

	"github.com/burngen/burngen/runtime/rt"
)

// Reducer lowers a learning rate when a metric has not become better for Times values in a row.
// PyTorch: ReduceLROnPlateau.
type Reducer struct {
	Key      string  // such as "valid loss"
	By       float64 // the rate is multiplied by this factor, between 0 and 1
	Times    int     // after this number of values in a row that are not better; at least 1
	MinDelta float64 // a value is better if it differs by more than MinDelta
	Least    float64 // the product of all factors does not go below Least

	better int
	counts patience
	factor float64
}

// Plateau returns a [Reducer] that looks at a metric, such as "valid loss". After n values in a row
// that are not better than the best, it multiplies the rate by factor. [New] returns an error
// unless 0 < factor < 1 and n is at least 1.
func Plateau(key string, factor float64, n int) *Reducer {
	return &Reducer{Key: key, By: factor, Times: n}
}

func (r *Reducer) begin() {
	if r.factor == 0 {
		r.factor, r.counts = 1, newPatience()
	}
}

// rate returns the factor, 1 for a nil Reducer.
func (r *Reducer) rate() float64 {
	if r == nil {
		return 1
	}
	r.begin()
	return r.factor
}

// see takes measured values and reports whether they changed the factor.
func (r *Reducer) see(values map[string]float64) (changed bool) {
	r.begin()
	value, ok := values[r.Key]
	if !ok || r.counts.see(value, r.better, r.MinDelta, 0) < int64(r.Times) {
		return false
	}
	r.counts.waits = 0
	before := r.factor
	r.factor = max(r.factor*r.By, r.Least)
	return r.factor < before
}

// State registers the factor, the best value and the counts.
func (r *Reducer) State(s *rt.State) {
	r.begin()
	rt.StateKind(s, "plateau "+r.Key)
	rt.StateScalar(s, "factor", &r.factor)
	r.counts.register(s)
}

func (r *Reducer) bind(d directions) error {
	better, err := d.of(r.Key)
	switch {
	case err != nil:
		return fmt.Errorf("plateau: %w", err)
	case r.Times < 1 || !(r.By > 0 && r.By < 1) || !(r.MinDelta >= 0) || !(r.Least >= 0 && r.Least < 1):
		return fmt.Errorf("plateau: %s: By is %g, Times %d, MinDelta %g and Least %g: between 0 and 1, at least 1, at least 0, and from 0 to below 1 expected",
			r.Key, r.By, r.Times, r.MinDelta, r.Least)
	}
	r.better = better
	return nil
}
