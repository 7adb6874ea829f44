package ir_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

const sample = `weight conv1.weight : f32[4,4]
weight plain : i64[0]

func @forward(%x: f32[N,4], %"odd name": f32[N,1]) -> (logits: f32[N,4], "": bool[]) {
  %w = load {name="conv1.weight"} : f32[4,4]
  %0 = add %x, %"odd name" : f32[N,4]  // /layer/Add
  %c = constant {value=f32[4](0.5...)} : f32[4]  // "line\nbreak"
  %1 = add %0, %c : f32[N,4]
  %e = extents {elems=[N,2*N]} : i64[2]
  check_dim {a=N b=4 what="batch"}
  %t = constant {value=bool[](1)} : bool[]
  %2 = pointwise %1, %"odd name" : f32[N,4]
    region (%p: f32[], %q: f32[]) {
      %r = add %p, %q : f32[]
      return %r
    }
  return %2, %t
}
`

func TestTextRoundTrip(t *testing.T) {
	m, err := ir.Parse(sample, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.String(); got != sample {
		t.Errorf("printed differently:\n%s", got)
	}
	if got := m.Clone().String(); got != sample {
		t.Errorf("the clone prints differently:\n%s", got)
	}
}

func TestParseReports(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"undefined value":   {"add %0, %c", "add %9, %c", "%9 is not defined"},
		"wrong type":        {"%1 = add %0, %c : f32[N,4]", "%1 = add %0, %c : f32[N,5]", "infers [f32[N,4]]"},
		"unknown operator":  {"= add %x", "= plus %x", `unknown operator "plus"`},
		"unbound symbol":    {"[N,2*N]", "[N,2*M]", "symbol M is not bound"},
		"missing weight":    {`load {name="conv1.weight"}`, `load {name="conv2.weight"}`, `no weight "conv2.weight"`},
		"defined twice":     {"%1 = add", "%0 = add", "%0 is defined twice"},
		"unknown attribute": {"what=", "which=", `no attribute "which"`},
		"operand count":     {"add %0, %c", "add %0", "1 operands, 2 expected"},
		"huge shape":        {"plain : i64[0]", "plain : i64[4611686018427387904]", "64-bit size"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ir.Parse(strings.Replace(sample, c.old, c.new, 1), op.Set)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ir.Parse(text, op.Set)
		if err != nil {
			return
		}
		again, err := ir.Parse(m.String(), op.Set)
		if err != nil {
			t.Fatalf("%v in its own print:\n%s", err, m)
		}
		if again.String() != m.String() {
			t.Fatalf("printed twice, differently:\n%s\n%s", m, again)
		}
	})
}
