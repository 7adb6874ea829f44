package program_test

import (
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/targettest/text"
)

// TestCustoms asserts that the calls of the user's functions are found in called functions too, once.
func TestCustoms(t *testing.T) {
	m := parse(t, `
func @f(%x: f32[4]) -> (y: f32[4]) {
  %a = invoke %x {func="g"} : f32[4]
  %b = invoke %a {func="g"} : f32[4]
  %y = custom %b {name="A" func="ops.A" type="(f32[N]) -> f32[N]"} : f32[4]
  return %y
}

func @g(%x: f32[4]) -> (y: f32[4]) {
  %e = exp %x : f32[4]
  %y = custom %e {name="B" func="ops.B" type="(f32[N]) -> f32[N]"} : f32[4]
  return %y
}`)
	f, err := program.Compile(m, "f", text.Target{})
	if err != nil {
		t.Fatal(err)
	}
	var names string
	for _, c := range f.Customs() {
		names += c.Op.Name
		if len(c.Args) != 1 || len(c.Results) != 1 || len(c.Refs()) != 2 {
			t.Errorf("%s: %d operands, %d results, %d references", c.Op.Name, len(c.Args), len(c.Results), len(c.Refs()))
		}
	}
	if names != "BA" {
		t.Errorf("customs %q, want those of the called function first", names)
	}
}
