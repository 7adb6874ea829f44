package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// lost is an output that has nothing but a loss.
type lost struct {
	loss  float64
	items int
}

func (l lost) Lost() (float64, int) { return l.loss, l.items }

func TestLoss(t *testing.T) {
	c := metric.Loss[lost]().New()
	for _, o := range []lost{{1, 3}, {5, 1}, {math.NaN(), 0}} {
		c.Add(o)
	}
	if got := c.Value(); got != 2 {
		t.Errorf("loss %v, want 2: three items of 1 and one of 5", got)
	}
	c.Add(lost{math.NaN(), 1})
	if got := c.Value(); !math.IsNaN(got) || metric.Err(c) != nil {
		t.Errorf("loss %v, want NaN; error %v", got, metric.Err(c))
	}
	fails(t, metric.Loss[lost](), lost{1, -1}, lost{1, 1}, "loss: -1 items")
}
