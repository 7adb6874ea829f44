package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
	"pgregory.net/rapid"
)

// wrapped is an output that holds another.
type wrapped struct{ o metric.Classes }

func TestOf(t *testing.T) {
	unwrap := func(w wrapped) metric.Classes { return w.o }
	k := kind[wrapped]{
		metrics: []metric.Metric[wrapped]{metric.Of(unwrap, metric.F1(metric.Macro)), metric.Of(unwrap, metric.AUROC())},
		draw:    func(r *rapid.T) wrapped { return wrapped{drawClasses(r)} },
		items:   func(w wrapped) int { return len(w.o.Targets) },
		part:    func(w wrapped, from, to int) wrapped { return wrapped{partOfClasses(w.o, from, to)} },
	}
	testLaws(t, k)
	m, f1 := k.metrics[0], metric.F1(metric.Macro)
	if m.Name != f1.Name || m.Unit != f1.Unit || m.Better != f1.Better || m.Curve != f1.Curve {
		t.Errorf("the metric is %v, not %v", m, f1)
	}
	right := metric.Classes{Scores: []float32{0, 1}, Targets: []int64{1}}
	fails(t, metric.Of(unwrap, metric.Accuracy()), wrapped{metric.Classes{Scores: []float32{0, 1}, Targets: []int64{2}}},
		wrapped{right}, "accuracy: item 0: target 2 is not a class from 0 to 1")
	c := metric.Of(unwrap, metric.ConfusionMatrix()).New()
	if p := c.(metric.Picturer).Picture(); p != nil {
		t.Errorf("without data there is a picture: %v", p)
	}
	c.Add(wrapped{right})
	if p := c.(metric.Picturer).Picture(); p == nil {
		t.Error("the confusion matrix has no picture")
	}
	if p := metric.Of(unwrap, metric.Accuracy()).New().(metric.Picturer).Picture(); p != nil {
		t.Errorf("accuracy has a picture: %v", p)
	}
}

// plain is a counter that has the methods of a Counter only.
type plain struct{ n float64 }

func (p *plain) Add(metric.Classes) { p.n++ }
func (p *plain) Value() float64     { return p.n }
func (p *plain) State(s *rt.State)  { rt.StateScalar(s, "n", &p.n) }

func TestOfPlainCounter(t *testing.T) {
	own := metric.Metric[metric.Classes]{Name: "batches", Unit: "batches", New: func() metric.Counter[metric.Classes] { return &plain{} }}
	m := metric.Of(func(w wrapped) metric.Classes { return w.o }, own)
	a, b := m.New(), m.New()
	a.Add(wrapped{})
	if got := a.(metric.Texter).Text(); got != "1 batches" {
		t.Errorf("text %q", got)
	}
	if err := metric.Err(a); err != nil {
		t.Error(err)
	}
	a.(metric.Merger[wrapped]).Merge(b)
	if metric.Err(a) == nil || !math.IsNaN(a.Value()) {
		t.Error("a counter without Merge was merged")
	}
	b.(metric.Merger[wrapped]).Merge(nil)
	if metric.Err(b) == nil {
		t.Error("nil was merged")
	}
	if _, err := rt.CollectState(map[string]rt.Stater{"b": b}); err == nil {
		t.Error("a counter with an error was saved")
	}
	good := m.New()
	good.Add(wrapped{})
	w, err := rt.CollectState(map[string]rt.Stater{"b": good})
	if err == nil {
		err = rt.RestoreState(w, map[string]rt.Stater{"b": b})
	}
	if err != nil || metric.Err(b) != nil || b.Value() != 1 {
		t.Errorf("restored: error %v, %v, value %v", err, metric.Err(b), b.Value())
	}
	none := metric.Of[wrapped](nil, own).New()
	none.Add(wrapped{})
	if metric.Err(none) == nil {
		t.Error("no function adapts outputs, and there is no error")
	}
}
