package nn_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/nn"
)

// numbered lists the trials of one operand of rank 3 that need numbers as all extents, or extents
// that differ from the drawn ones.
var numbered = map[string]string{
	"Reshape": "-1 is what is left of 24 elements", "Unflatten": "of an axis of 4", "CumMax": "unrolled", "CumMin": "unrolled", "Roll": "the places that come in are counted",
	"Diagonal": "counted", "Expand": "",
	"PixelShuffle": "", "PadReflect": "reflects within the axis", "PadCircular": "repeats within the axis",
	"TopK": "takes two", "ArgTopK": "takes two", "Narrow": "takes two", "PadNegative": "leaves two out", "SliceAssign": "of three", "Unfold": "windows of two", "SelectDim": "the second of three", "GLU": "halves",
	"Slice": "begins at the second of an axis",
}

// TestRandomShapes compares functions with their recordings, on operands of random shapes. All
// extents of a recording are symbols.
func TestRandomShapes(t *testing.T) {
	table := trials()
	type recording struct {
		name   string
		trial  trial
		module *ir.Module
	}
	var list []recording
	for _, c := range references(t) {
		if _, ok := numbered[c.Name]; ok || len(c.Inputs) != 1 || table[c.Name].module != nil || !slices.Equal(c.Inputs[0].Shape, []int{2, 3, 4}) {
			continue
		}
		trial := table[c.Name]
		out := 0
		types := []ir.Type{ir.TensorOf(ir.F32, dim.Sym("A"), dim.Sym("B"), dim.Sym("C"))}
		m, err := recorded(nil, types, func(in []nn.Value) []nn.Value { y := trial.f(in); out = len(y); return y[:1] }, 1)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if out != 1 {
			t.Errorf("%s has %d results", c.Name, out)
		}
		list = append(list, recording{c.Name, trial, m.Module})
	}
	if len(list) < 80 {
		t.Errorf("%d functions", len(list))
	}
	rapid.Check(t, func(r *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 5), 3, 3).Draw(r, "shape")
		n := shape[0] * shape[1] * shape[2]
		x := nn.Of(rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(r, "elements"), shape...)
		c := rapid.SampledFrom(list).Draw(r, "function")
		var want []nn.Value
		if err := nn.Try(func() { want = c.trial.f([]nn.Value{x}) }); err != nil {
			r.Fatalf("%s: %v", c.name, err)
		}
		got, err := (&ir.Evaluator{Module: c.module}).Run(c.module.Func("forward"), []*ir.Tensor{tensor(x)})
		if err != nil {
			r.Fatalf("%s: %v", c.name, err)
		}
		if w := tensor(want[0]); !got[0].Equal(w) {
			r.Errorf("%s: %s, want %s", c.name, got[0], w)
		}
	})
	for _, name := range slices.Sorted(maps.Keys(numbered)) {
		if _, ok := table[name]; !ok {
			t.Errorf("%s is not a trial", name)
		}
	}
}
