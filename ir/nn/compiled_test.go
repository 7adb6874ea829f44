package nn_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/pass"
)

// compiled compiles the function @forward of a module whose weights have data.
func compiled(m *ir.Module) (*exec.Machine, error) {
	if err := pass.All(&pass.Context{Target: cpu.Target{}}, m, pass.Options{Outline: true}); err != nil {
		return nil, err
	}
	return exec.Prepared(cpu.Target{}, m, pass.Prepare, pass.Forward)
}

// runs compares what kernels make of a recorded module with values.
func runs(t *testing.T, m *ir.Module, inputs, want []nn.Value) {
	t.Helper()
	machine, err := compiled(m)
	if err != nil {
		t.Fatalf("compiled: %v", err)
	}
	data, shapes := make([]any, len(inputs)), make([][]int, len(inputs))
	for i, x := range inputs {
		data[i], shapes[i] = value.Slice(tensor(x)), shapeOf(x)
	}
	got, outShapes, err := machine.Run(context.Background(), data, shapes)
	if err != nil {
		t.Fatalf("compiled: %v", err)
	}
	for i, v := range want {
		if !slices.Equal(outShapes[i], shapeOf(v)) {
			t.Fatalf("compiled: result %d has shape %v, want %v", i, outShapes[i], shapeOf(v))
		}
		elems := reflect.ValueOf(got[i])
		for k, w := range v.Floats() {
			var x float64
			switch e := elems.Index(k); {
			case e.CanFloat():
				x = e.Float()
			case e.CanInt():
				x = float64(e.Int())
			case e.CanUint():
				x = float64(e.Uint())
			case e.Kind() == reflect.Bool && e.Bool():
				x = 1
			}
			if d := math.Abs(x - w); d > 1e-4*(1+math.Abs(w)) && x != w || math.IsNaN(x) != math.IsNaN(w) {
				t.Fatalf("compiled: element %d of result %d is %v, want %v", k, i, x, w)
			}
		}
	}
}
