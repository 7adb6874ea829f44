package arena

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

func TestPeak(t *testing.T) {
	buffer := func(name string, bytes dim.Dim, first, last int) *plan.Buffer {
		return &plan.Buffer{Name: name, Bytes: bytes, First: first, Last: last}
	}
	p := &plan.Plan{Buffers: []*plan.Buffer{
		buffer("early", dim.Const(1000), 0, 1), buffer("long", dim.Const(64), 1, 5),
		buffer("scaled", dim.Sym("N").Mul(dim.Const(40)), 3, 4), buffer("short", dim.Const(128), 4, 4), buffer("late", dim.Const(900), 5, 6),
	}}
	var names []string
	for _, b := range Peak(p) {
		names = append(names, b.Name)
	}
	// 32·40 bytes and what is beside them are more than the 1064 bytes before.
	if got := fmt.Sprint(names); got != "[scaled short long]" {
		t.Errorf("got %s", got)
	}
	if Peak(&plan.Plan{}) != nil {
		t.Error("an empty arena has a peak")
	}
}
