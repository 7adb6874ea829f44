package report

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/learn"
)

func TestCompare(t *testing.T) {
	a := read(t, folder(t, "a", whole(1.5), nil))
	b := read(t, folder(t, "b\tc", append([]learn.Event{started(0)}, epoch(0, 3)...), nil))
	rows := Compare(a, b)
	got := Table(a.Name, b.Name, rows)
	want := `metric          a         b\tc      difference
train loss      0.015415  0.024691  +0.009277   worse
train accuracy  –         –         –
valid loss      0.016956  0.02716   +0.0102     worse
valid accuracy  60 %      55 %      -5          worse
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if w := rows[3].Worse(); w != 5 {
		t.Errorf("worse by %v", w)
	}
	if w := Compare(b, a)[3].Worse(); w != -5 {
		t.Errorf("worse by %v", w)
	}
	if w := rows[1].Worse(); !math.IsNaN(w) {
		t.Errorf("worse by %v", w)
	}
	if w := Compare(a, a)[0].Worse(); w != 0 {
		t.Errorf("worse by %v", w)
	}
}
