package progress

import (
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

func TestSummary(t *testing.T) {
	r := New()
	if r.Summary() != "" {
		t.Error("a summary of nothing")
	}
	for _, e := range []learn.Event{started(), measured(learn.Train, 2, 30, 0.3, 91), measured(learn.Valid, 2, 30, 0.25, 92.6),
		learn.Stopped{Step: 30, Reason: "3 epochs are done", Done: true, Took: 192 * time.Second}} {
		r.Event(e)
	}
	want := "mnist: 30 steps in 00:03:12; 3 epochs are done\n" +
		"          train   valid   best @\n" +
		"loss      0.3000  0.2500  0.2500 e3\n" +
		"accuracy  91.0 %  92.6 %  92.6 % e3\n"
	if got := r.Summary(); got != want {
		t.Errorf("got\n%s", got)
	}
}
