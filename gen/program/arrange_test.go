package program_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/targettest/text"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// parse parses a module.
func parse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(strings.TrimSpace(text)+"\n", op.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// describe prints a step: what it does, and the value or node that it is for.
func describe(s program.Step) string {
	switch s := s.(type) {
	case *program.Copy:
		return fmt.Sprintf("copy %s", s.From.Value.Name)
	case *program.Alloc:
		return "alloc " + s.Buffer.Name
	case *program.Hold:
		return "hold " + s.Variable.Name
	case *program.Bind:
		return "bind " + strings.Join(s.Symbols, " ")
	case *program.Resize:
		return fmt.Sprintf("resize result %d", s.Index)
	case *program.Check:
		return "check " + s.What
	}
	return s.At().Results[0].Name
}

func TestArrange(t *testing.T) {
	for _, c := range []struct {
		name, text string
		// from is the index from which nodes are of the same node of the model, 0 for all apart.
		from int
		want []string
	}{
		{"a result is computed in place", `
func @f(%x: f32[4]) -> (y: f32[4]) {
  %y = exp %x : f32[4]
  return %y
}`, 0, []string{"y"}},
		{"a value that is two results is copied", `
func @f(%x: f32[4]) -> (y: f32[4], z: f32[4]) {
  %y = exp %x : f32[4]
  return %y, %y
}`, 0, []string{"y", "copy y"}},
		{"an argument that is a result is copied", `
func @f(%x: f32[4]) -> (y: f32[4]) {
  return %x
}`, 0, []string{"copy x"}},
		{"a view of a buffer is not copied", `
func @f(%x: f32[4]) -> (y: f32[2,2]) {
  %a = exp %x : f32[4]
  %b = reshape %a {shape=[2,2]} : f32[2,2]
  %y = exp %b : f32[2,2]
  return %y
}`, 0, []string{"a", "y"}},
		{"parts of a concatenation are computed in place, arguments are copied", `
func @f(%x: f32[4]) -> (y: f32[8]) {
  %a = exp %x : f32[4]
  %y = concat %a, %x {axis=0} : f32[8]
  return %y
}`, 0, []string{"a", "copy x"}},
		{"memory follows the node that binds its size", `
func @f(%x: f32[N]) -> (y: f32[N]) {
  %i = non_zero %x {count="K"} : i64[1,K]
  %a = cast %i {to=f32} : f32[1,K]
  %s = reduce %a {kind="sum" axes=[0,1]} : f32[]
  %y = add %x, %s : f32[N]
  return %y
}`, 0, []string{"bind K", "alloc i", "i", "alloc a", "a", "s", "y"}},
		{"a late result is resized before it is written", `
func @f(%x: f32[N]) -> (y: i64[1,K]) {
  %y = non_zero %x {count="K"} : i64[1,K]
  return %y
}`, 0, []string{"bind K", "alloc y", "y", "resize result 0", "copy y"}},
		{"memory of a node of the model is allocated before its first step", `
func @f(%x: f32[N]) -> (y: f32[N]) {
  %i = non_zero %x {count="K"} : i64[1,K]
  %a = cast %i {to=f32} : f32[1,K]
  %t = transpose %a {perm=[1,0]} : f32[K,1]
  %s = reduce %t {kind="sum" axes=[0,1]} : f32[]
  %y = add %x, %s : f32[N]
  return %y
}`, 1, []string{"bind K", "alloc i", "i", "alloc a", "alloc t", "a", "t", "s", "y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, c.text)
			if c.from > 0 {
				for _, n := range m.Funcs[0].Nodes[c.from:] {
					n.Pos = "/Node"
				}
			}
			f, err := program.Compile(m, "f", text.Target{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range f.Steps {
				got = append(got, describe(s))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
