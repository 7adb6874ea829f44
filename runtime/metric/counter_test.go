package metric_test

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
)

// fails asserts that an output gives an error, that the value is NaN from then on, and that the first
// error stays.
func fails[O any](t *testing.T, m metric.Metric[O], wrong, right O, want string) {
	t.Helper()
	c := m.New()
	c.Add(right)
	if err := metric.Err(c); err != nil {
		t.Fatal(err)
	}
	c.Add(wrong)
	err := metric.Err(c)
	if err == nil || err.Error() != want {
		t.Fatalf("error %v, want %s", err, want)
	}
	c.Add(right)
	if metric.Err(c) != err || !math.IsNaN(c.Value()) || c.(metric.Texter).Text() != want {
		t.Errorf("after the error: %v, value %v, text %s", metric.Err(c), c.Value(), c.(metric.Texter).Text())
	}
	if _, err := rt.CollectState(map[string]rt.Stater{"metric": c}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("saving gives %v", err)
	}
	merged := m.New()
	merged.(metric.Merger[O]).Merge(c)
	if metric.Err(merged) != err {
		t.Errorf("merging gives %v", metric.Err(merged))
	}
}

// refuses asserts that a metric with wrong parameters reports an error, and nothing but that.
func refuses[O any](t *testing.T, m metric.Metric[O], o O, want string) {
	t.Helper()
	c := m.New()
	c.Add(o)
	if err := metric.Err(c); err == nil || err.Error() != want || !math.IsNaN(c.Value()) {
		t.Errorf("error %v, want %s; value %v", err, want, c.Value())
	}
}

func TestMergeChecks(t *testing.T) {
	one := metric.Classes{Scores: []float32{1, 2, 3}, Targets: []int64{2}}
	for _, tt := range []struct {
		name  string
		other metric.Counter[metric.Classes]
		want  string
	}{
		{"another k", metric.TopK(3).New(), "top-2 accuracy: merge: a counter of top-3 accuracy"},
		{"another tally", metric.MCC().New(), "top-2 accuracy: merge: a counter of another metric"},
		{"the same tally", metric.Accuracy().New(), "top-2 accuracy: merge: a counter of accuracy"},
		{"nothing", nil, "top-2 accuracy: merge: a counter of another metric"},
		{"a nil counter", (*metric.Confusion)(nil), "top-2 accuracy: merge: a counter of another metric"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := metric.TopK(2).New()
			c.Add(one)
			c.(metric.Merger[metric.Classes]).Merge(tt.other)
			if err := metric.Err(c); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
	c := metric.ConfusionMatrix().New()
	c.(metric.Merger[metric.Classes]).Merge((*metric.Confusion)(nil))
	if metric.Err(c) == nil {
		t.Error("a nil counter was merged")
	}
	a, b := metric.Kappa().New(), metric.Kappa().New()
	a.Add(one)
	b.Add(metric.Classes{Scores: []float32{1, 2}, Targets: []int64{1}})
	a.(metric.Merger[metric.Classes]).Merge(b)
	if err := metric.Err(a); err == nil || err.Error() != "kappa: merge: 2 classes, but 3 before" {
		t.Error(err)
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		c    metric.Counter[metric.Classes]
		want string
	}{
		{metric.Accuracy().New(), "66.67 %"},
		{metric.F1(metric.Macro).New(), "55.56 % (0: no data, 1: 66.67 %, 2: 100 %, 3: 0 %)"},
		{metric.F1(metric.Class(1)).New(), "66.67 %"},
		{metric.AUROC().New(), "1 (exact)"},
		{metric.ConfusionMatrix().New(), "target  0  1  2  3\n     0  0  0  0  0\n     1  0  1  0  1\n     2  0  0  1  0\n     3  0  0  0  0"},
	} {
		if got := tt.c.(metric.Texter).Text(); got != "no data" && got != "no data (exact)" {
			t.Errorf("without data: %q", got)
		}
		tt.c.Add(metric.Classes{Scores: []float32{0, 3, 2, 1, 0, 1, 2, 3, 1, 0, 3, 2}, Targets: []int64{1, 1, 2}})
		if got := tt.c.(metric.Texter).Text(); got != tt.want {
			t.Errorf("text %q, want %q", got, tt.want)
		}
	}
}
