package learn

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// patience counts the successive values that are not better than the best value before them.
type patience struct {
	best float64
	// number of values so far
	seen int64
	// number of values since the best one
	waits int64
}

func newPatience() patience { return patience{best: math.NaN()} }

// see adds a value and returns the number of values since the best one; [isBetter] explains better
// and delta. NaN is not better. The first `warmup` values are never counted.
func (p *patience) see(value float64, better int, delta float64, warmup int) int64 {
	p.seen++
	if isBetter(better, value, p.best, delta) {
		p.best, p.waits = value, 0
	} else {
		p.waits++
	}
	if p.seen <= int64(warmup) {
		p.waits = 0
	}
	return p.waits
}

func (p *patience) register(s *rt.State) {
	rt.StateScalar(s, "best", &p.best)
	rt.StateScalar(s, "seen", &p.seen)
	rt.StateScalar(s, "waits", &p.waits)
}

// Patience is a [Stopper] that ends a run when a metric has not become better for some time. A
// training loop without a [Learner] passes the values to Done.
type Patience struct {
	Key      string  // such as "valid loss"
	Times    int     // the run ends if this number of values in a row are not better than the best; at least 1
	MinDelta float64 // a value is better if it differs by more than MinDelta
	Warmup   int     // number of first values that do not count as worse
	Better   int     // 1: larger values are better; -1: smaller values; 0: as the metric says, or smaller in a loop by hand

	counts patience
	begun  bool
}

// NoBetter returns a [Patience] that ends the run when n values of a metric in a row are not better
// than the best value before them. key names the metric, such as "valid loss". [New] returns an
// error if n is below 1.
func NoBetter(key string, n int) *Patience { return &Patience{Key: key, Times: n} }

// Done takes the next value of the metric. It returns true if the last Times values, this one
// included, are all not better than the best value before them.
func (p *Patience) Done(value float64) bool {
	p.begin()
	return p.counts.see(value, p.Better, p.MinDelta, p.Warmup) >= int64(max(1, p.Times))
}

func (p *Patience) begin() {
	if !p.begun {
		p.begun, p.counts = true, newPatience()
		if p.Better == 0 {
			p.Better = -1
		}
	}
}

// Stop implements [Stopper]. Values of other metrics do not count.
func (p *Patience) Stop(at Progress) string {
	value, ok := at.Values[p.Key]
	if !ok || !p.Done(value) {
		return ""
	}
	return fmt.Sprintf("%s was not better than %.4g %s in a row", p.Key, p.counts.best, count(p.Times, "time"))
}

// State registers the best value and the counts.
func (p *Patience) State(s *rt.State) {
	p.begin()
	rt.StateKind(s, "no better "+p.Key)
	p.counts.register(s)
}

func (p *Patience) bind(d directions) error {
	better, err := d.of(p.Key)
	switch {
	case err != nil:
		return fmt.Errorf("stop: no better: %w", err)
	case p.Times < 1 || p.Warmup < 0 || !(p.MinDelta >= 0):
		return fmt.Errorf("stop: no better %s: Times is %d, Warmup %d and MinDelta %g: at least 1, 0 and 0 expected", p.Key, p.Times, p.Warmup, p.MinDelta)
	}
	if p.Better == 0 {
		p.Better = better
	}
	return nil
}
