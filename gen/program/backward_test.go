package program_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// compiled compiles the only function of a module.
func compiled(t *testing.T, text string) *program.Func {
	t.Helper()
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	f, err := program.Compile(m, m.Funcs[0].Name, cpu.Target{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// stepsOf returns the names of the values that steps compute.
func stepsOf(steps []program.Step) (names []string) {
	for _, s := range steps {
		if n := s.At(); n != nil {
			names = append(names, n.Results[0].Name)
		}
	}
	return names
}

func TestBackward(t *testing.T) {
	f := compiled(t, `func @step(%x: f32[8], %y: f32[8]) -> (loss: f32[8], dx: f32[8], dy: f32[8], dz: f32[8]) {
  %p = mul %x, %y : f32[8]
  %loss = neg %p : f32[8]
  %e = exp %p : f32[8]
  %dx = neg %e : f32[8]
  %s = sin %x : f32[8]
  %dy = mul %s, %dx : f32[8]
  %dz = cos %y : f32[8]
  return %loss, %dx, %dy, %dz
}
`)
	b := f.Backward(func(result int) bool { return result > 0 })
	only := map[string]int{}
	for s, i := range b.Only {
		only[s.At().Results[0].Name] = i
	}
	// %e and %dx are needed for two gradients, %p and %loss for the loss.
	if want := map[string]int{"s": 2, "dy": 2, "dz": 3}; !maps.Equal(only, want) {
		t.Errorf("steps of one gradient: %v, want %v", only, want)
	}
	// %dx is an operand of what %dy needs.
	if want := []bool{true, true, false, false}; !slices.Equal(b.Needed, want) {
		t.Errorf("needed results: %v, want %v", b.Needed, want)
	}
	exits := map[string]int{}
	for s, n := range b.Exits {
		exits[s.At().Results[0].Name] = n
	}
	if want := map[string]int{"dx": 1, "dy": 2}; !maps.Equal(exits, want) {
		t.Errorf("exits: %v, want %v", exits, want)
	}
	if want := map[int]int{1: 1, 2: 2, 3: 3}; !maps.Equal(b.End, want) {
		t.Errorf("ends: %v, want %v", b.End, want)
	}
}

func TestHalve(t *testing.T) {
	const text = `func @train(%x: f32[8], %dy: f32[8]) -> (y: f32[8], dx: f32[8]) {
  %e = exp %x : f32[8]
  %y = neg %e : f32[8]
  %c = cos %x : f32[8]
  %g = mul %dy, %e : f32[8]
  %dx = mul %g, %c : f32[8]
  return %y, %dx
}
`
	f := compiled(t, text)
	first, second, ok := f.Halve(f.IR.Params[1:], 1)
	if !ok {
		t.Fatal("it is not halved")
	}
	if got, want := stepsOf(first), []string{"e", "y", "c"}; !slices.Equal(got, want) {
		t.Errorf("first half %v, want %v", got, want)
	}
	if got, want := stepsOf(second), []string{"g", "dx"}; !slices.Equal(got, want) {
		t.Errorf("second half %v, want %v", got, want)
	}
	// The first result would need what is known only later.
	if _, _, ok := f.Halve(f.IR.Params[:1], 1); ok {
		t.Error("a result of the first half depends on an argument of the second")
	}
}
