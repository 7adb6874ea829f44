package program_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestParts checks which results become parts of their own. It compares the results and the number
// of nodes of each part.
func TestParts(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"results of weights of their own": {`
func @prepare() -> (a: f32[2], b: f32[2]) {
  %x = load {name="x"} : f32[2]
  %y = load {name="y"} : f32[2]
  %a = neg %x : f32[2]
  %b = neg %y : f32[2]
  return %a, %b
}`, "a:2 b:2"},
		"a weight is not a tie": {`
func @prepare() -> (a: f32[2], b: f32[2]) {
  %x = load {name="x"} : f32[2]
  %a = neg %x : f32[2]
  %b = abs %x : f32[2]
  return %a, %b
}`, "a:2 b:2"},
		"what is computed once is a tie": {`
func @prepare() -> (a: f32[2], b: f32[2], c: f32[2]) {
  %x = load {name="x"} : f32[2]
  %y = load {name="y"} : f32[2]
  %b = neg %y : f32[2]
  %s = exp %x : f32[2]
  %a = neg %s : f32[2]
  %c = abs %s : f32[2]
  return %a, %b, %c
}`, "a,c:4 b:2"},
		"a later node ties what was apart": {`
func @prepare() -> (a: f32[2], b: f32[2], c: f32[2]) {
  %x = load {name="x"} : f32[2]
  %y = load {name="y"} : f32[2]
  %a = neg %x : f32[2]
  %b = neg %y : f32[2]
  %c = add %a, %b : f32[2]
  return %a, %b, %c
}`, "a,b,c:5"},
		"a weight as it is": {`
func @prepare() -> (a: f32[2], b: f32[2]) {
  %x = load {name="x"} : f32[2]
  %b = neg %x : f32[2]
  return %x, %b
}`, "a:1 b:2"},
		"arguments": {`
func @prepare(%x: f32[2]) -> (a: f32[2], b: f32[2]) {
  %a = neg %x : f32[2]
  %b = abs %x : f32[2]
  return %a, %b
}`, "a,b:2"},
		"what is known while it runs": {`
func @prepare() -> (a: i64[1,K], b: f32[2]) {
  %x = load {name="x"} : f32[2]
  %a = non_zero %x {count="K"} : i64[1,K]
  %b = neg %x : f32[2]
  return %a, %b
}`, "a,b:3"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := ir.Parse("weight x : f32[2]\nweight y : f32[2]\n"+c.text+"\n", op.Set)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := program.Parts(m, "prepare", cpu.Target{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range parts {
				got = append(got, fmt.Sprintf("%s:%d", strings.Join(p.IR.ResultNames, ","), len(p.IR.Nodes)))
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
		})
	}
	if parts, err := program.Parts(&ir.Module{}, "prepare", cpu.Target{}); err != nil || len(parts) != 0 {
		t.Error(parts, err)
	}
}
