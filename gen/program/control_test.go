package program_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/targettest/text"
)

// branches returns a module with a branch. The functions that it calls have as many buffers of 64
// bytes as given.
func branches(then, otherwise int) string {
	var s strings.Builder
	s.WriteString(`
func @f(%c: bool[], %x: f32[4,4]) -> (y: f32[4,4]) {
  %y = if %c : f32[4,4]
    region () {
      %a = invoke %x {func="then"} : f32[4,4]
      return %a
    }
    region () {
      %b = invoke %x {func="otherwise"} : f32[4,4]
      return %b
    }
  return %y
}
`)
	for i, n := range []int{then, otherwise} {
		fmt.Fprintf(&s, "\nfunc @%s(%%x: f32[4,4]) -> (y: f32[4,4]) {\n", []string{"then", "otherwise"}[i])
		sum := "%x"
		for k := range n {
			fmt.Fprintf(&s, "  %%m%d = mat_mul %%x, %s : f32[4,4]\n", k, sum)
			sum = fmt.Sprintf("%%m%d", k)
		}
		for k := range n { // every product is read at the end
			fmt.Fprintf(&s, "  %%s%d = mat_mul %s, %%m%d : f32[4,4]\n", k, sum, k)
			sum = fmt.Sprintf("%%s%d", k)
		}
		fmt.Fprintf(&s, "  %%y = neg %s : f32[4,4]\n  return %%y\n}\n", sum)
	}
	return s.String()
}

// TestBranchSharesArena asserts that both functions of a branch work in the arena of the one that
// needs more, because only one of them runs.
func TestBranchSharesArena(t *testing.T) {
	for _, n := range [][2]int{{1, 3}, {3, 1}, {2, 2}} {
		f, err := program.Compile(parse(t, branches(n[0], n[1])), "f", text.Target{})
		if err != nil {
			t.Fatal(err)
		}
		b, ok := f.Steps[0].(*program.Branch)
		if !ok || len(b.Then.Bases) != 1 || len(b.Otherwise.Bases) != 1 {
			t.Fatalf("%v: the first step is %T", n, f.Steps[0])
		}
		larger := max(b.Then.Callee.Plan.Size.String(), b.Otherwise.Callee.Plan.Size.String())
		if b.Then.Bases[0] != b.Otherwise.Bases[0] || f.Plan.Size.String() != larger {
			t.Errorf("%v: the arena has %s bytes, want %s", n, f.Plan.Size, larger)
		}
	}
}

// TestBranchKeepsArenas asserts that each function has an arena of its own if it is not known which
// is larger.
func TestBranchKeepsArenas(t *testing.T) {
	m := strings.ReplaceAll(branches(2, 2), "f32[4,4]", "f32[N,4,4]")
	f, err := program.Compile(parse(t, m), "f", text.Target{})
	if err != nil {
		t.Fatal(err)
	}
	b := f.Steps[0].(*program.Branch)
	if len(b.Then.Bases) != 1 || b.Then.Bases[0] == b.Otherwise.Bases[0] {
		t.Errorf("arenas %v and %v", b.Then.Bases, b.Otherwise.Bases)
	}
}

// TestControlNeedsCalls asserts that a block that is not a call is an error: planning knows flat
// functions only.
func TestControlNeedsCalls(t *testing.T) {
	for _, block := range []string{"%a = neg %x : f32[4]\n      return %a", "return %x"} {
		_, err := program.Compile(parse(t, `
func @f(%c: bool[], %x: f32[4]) -> (y: f32[4]) {
  %y = if %c : f32[4]
    region () {
      `+block+`
    }
    region () {
      return %x
    }
  return %y
}`), "f", text.Target{})
		if err == nil || !strings.HasSuffix(err.Error(), "its block is not a call of a function") {
			t.Errorf("error %v", err)
		}
	}
}

func TestRepeat(t *testing.T) {
	f, err := program.Compile(parse(t, `
func @f(%n: i64[], %x: f32[4], %z: f32[4]) -> (y: f32[4], s: f32[t,4]) {
  %y, %s = loop %n, _, %x {scans=[f32[4]] extents=[{symbol="t" result=1}]} : f32[4], f32[t,4]
    region (%i: i64[], %go: bool[], %v: f32[4]) {
      %g, %a, %r = invoke %i, %go, %v, %z {func="body"} : bool[], f32[4], f32[4]
      return %g, %a, %r
    }
  return %y, %s
}

func @body(%i: i64[], %go: bool[], %v: f32[4], %z: f32[4]) -> (g: bool[], a: f32[4], r: f32[4]) {
  %a = add %v, %z : f32[4]
  %r = neg %a : f32[4]
  return %go, %a, %r
}`), "f", text.Target{})
	if err != nil {
		t.Fatal(err)
	}
	var loop *program.Repeat
	for _, s := range f.Steps {
		if r, ok := s.(*program.Repeat); ok {
			loop = r
		}
	}
	switch {
	case loop == nil:
		t.Fatal("there is no loop")
	case loop.Counted || loop.Limit == nil || loop.Condition != nil:
		t.Errorf("the loop has a limit only: %+v", loop)
	case len(loop.Carried) != 1 || len(loop.Scans) != 1 || len(loop.Captured) != 1:
		t.Errorf("%d carried values, %d scans, %d captured operands", len(loop.Carried), len(loop.Scans), len(loop.Captured))
	case loop.Captured[0].Value.Name != "z" || loop.Carried[0].First.Value.Name != "x":
		t.Errorf("captured %v, carried %v", loop.Captured[0].Value, loop.Carried[0].First.Value)
	case loop.Carried[0].Other.Place.Same(loop.Carried[0].Result.Place):
		t.Error("an iteration would overwrite what it reads")
	case loop.Scans[0].Buffer != nil || len(loop.Extents) != 1 || loop.Extents[0].Symbol != "t":
		t.Errorf("scan %+v, extents %v", loop.Scans[0], loop.Extents)
	}
}
