package learn

import (
	"fmt"
	"time"
)

// Progress is the position of a run, with the values that were just measured.
type Progress struct {
	Epoch   int           // epochs that are done
	Step    int           // steps that were taken
	Elapsed time.Duration // time of training, without pauses between continuations of the run
	// Values are the values that were just measured, by keys such as "valid accuracy". It is empty
	// between measurements.
	Values map[string]float64
}

// Stopper ends a run. Stop is called after each step, and also after each epoch and each
// validation, with the values of the metrics. A Stopper that is an [rt.Stater] is saved with the
// run.
type Stopper interface {
	// Stop returns the reason to end the run, or "" to go on.
	Stop(p Progress) string
}

// Above ends a run when a metric such as "valid accuracy" exceeds a limit. [New] returns an error
// if the metric is not measured or the limit is NaN.
func Above(key string, limit float64) Stopper { return threshold{key, limit, 1} }

// Below ends a run when a metric such as "valid loss" is less than a limit. [New] returns the same
// errors as for [Above].
func Below(key string, limit float64) Stopper { return threshold{key, limit, -1} }

type threshold struct {
	key    string
	limit  float64
	better int
}

func (t threshold) Stop(p Progress) string {
	value, ok := p.Values[t.key]
	if !ok || !isBetter(t.better, value, t.limit, 0) {
		return ""
	}
	side := "above"
	if t.better < 0 {
		side = "below"
	}
	return fmt.Sprintf("%s is %.4g, %s %g", t.key, value, side, t.limit)
}

func (t threshold) bind(d directions) error {
	if t.limit != t.limit {
		return fmt.Errorf("stop: %s: the limit is not a number", t.key)
	}
	if _, ok := d[t.key]; !ok {
		return fmt.Errorf("stop: %w", d.unknown(t.key))
	}
	return nil
}

// After ends a run that has trained for the time d, over all its continuations.
func After(d time.Duration) Stopper { return after(d) }

type after time.Duration

func (a after) Stop(p Progress) string {
	if p.Elapsed < time.Duration(a) {
		return ""
	}
	return fmt.Sprintf("%v are over", time.Duration(a))
}

// Any ends a run when one of several stoppers does. Its reason is the reason of the first stopper
// that ends the run. All stoppers are asked each time, even after one has ended the run. Without
// stoppers it never ends a run.
func Any(stoppers ...Stopper) Stopper { return anyOf(stoppers) }

type anyOf []Stopper

func (a anyOf) Stop(p Progress) string {
	reason := ""
	for _, s := range a {
		if r := s.Stop(p); reason == "" {
			reason = r
		}
	}
	return reason
}

func (a anyOf) bind(d directions) error {
	for _, s := range a {
		if s == nil {
			return fmt.Errorf("stop: a stopper of Any is nil")
		}
		if err := bind(s, d); err != nil {
			return err
		}
	}
	return nil
}

func stoppers(s Stopper) []Stopper {
	if all, ok := s.(anyOf); ok {
		var list []Stopper
		for _, one := range all {
			list = append(list, stoppers(one)...)
		}
		return list
	}
	if s == nil {
		return nil
	}
	return []Stopper{s}
}
