package program_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// build is a target whose steps a function makes.
type build func(b *program.Builder, n *ir.Node) error

func (f build) Build(b *program.Builder, n *ir.Node) error { return f(b, n) }

const shifted = `
func @f(%x: f32[8], %z: f32[8]) -> (y: f32[8]) {
  %m = layer_normalization %x, _, %z {axis=0 epsilon=1e-05} : f32[8]
  %y = neg %m : f32[8]
  return %y
}`

// TestBuilder asserts what references a target gets: of absent operands none, and a name of its own
// for each piece of scratch memory.
func TestBuilder(t *testing.T) {
	var scratch []string
	_, err := program.Compile(parse(t, shifted), "f", build(func(b *program.Builder, n *ir.Node) error {
		for i, r := range b.Reads(n.Args) {
			if (r == nil) != (n.Args[i] == nil) || r != nil && r.Access != plan.Read {
				t.Errorf("%s: operand %d is %v", n, i, r)
			}
		}
		for range 2 {
			r := b.Scratch(ir.TensorOf(ir.F64, n.Results[0].Type.Elems()))
			scratch = append(scratch, r.Value.Name)
			if r.Access != plan.Scratch || r.DType != ir.F64 || r.Len.String() != "8" {
				t.Errorf("scratch memory %+v", r)
			}
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(scratch, " "); got != "mScratch1 mScratch2 yScratch1 yScratch2" {
		t.Errorf("scratch %s", got)
	}
}

// TestBuilderNamesTheNode asserts that an error of a target says which node it is about.
func TestBuilderNamesTheNode(t *testing.T) {
	no := errors.New("no kernel")
	_, err := program.Compile(parse(t, shifted), "f", build(func(_ *program.Builder, n *ir.Node) error {
		if n.Results[0].Name == "y" {
			return no
		}
		return nil
	}))
	if !errors.Is(err, no) || err.Error() != "neg: no kernel" {
		t.Errorf("error %v", err)
	}
}
