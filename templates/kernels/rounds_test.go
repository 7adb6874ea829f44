package kernels

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// TestRounds repeats two launches. The second reads what the first of the same round has written.
func TestRounds(t *testing.T) {
	const rounds = 5
	x := &ir.Value{Type: ir.StaticTensor(ir.I32, 1)}
	y := &ir.Value{Type: ir.StaticTensor(ir.I32, rounds)}
	double, err := Map("double", dim.Consts(1), func(e *Emitter, _ []*kernel.Value, i *kernel.Value) {
		e.Write(x).Set(i, e.Add(e.Mul(e.Int(2), e.Write(x).Get(i)), e.Round()))
	})
	if err != nil {
		t.Fatal(err)
	}
	keep, err := Map("keep", dim.Consts(1), func(e *Emitter, _ []*kernel.Value, i *kernel.Value) {
		e.Write(y).Set(e.Round(), e.Read(x).Get(i))
	})
	launches, err := (&Rounds{Count: dim.Sym("rounds")}).Repeat([]Launch{double, keep}, err)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int32, rounds)
	memory{x: kernel.Memory([]int32{1}), y: kernel.Memory(got)}.run(t, map[string]int{"rounds": rounds}, launches...)
	if want := [rounds]int32{2, 5, 12, 27, 58}; [rounds]int32(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
