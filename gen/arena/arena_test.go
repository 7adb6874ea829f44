package arena

import (
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// kernels is a target whose kernels take scratch memory of the type of their result.
type kernels struct{}

type call struct {
	node *ir.Node
	refs []*plan.Ref
}

func (c *call) At() *ir.Node      { return c.node }
func (c *call) Refs() []*plan.Ref { return c.refs }

func (kernels) Build(b *program.Builder, n *ir.Node) error {
	b.Add(&call{n, append(append(b.Reads(n.Args), b.Writes(n.Results)...), b.Scratch(n.Results[0].Type))})
	return nil
}

// TestSize asserts that scratch memory and the memory of called functions count, and that extents
// that are not known are 32.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		want int64
	}{
		{"constant extents", `func @f(%x: f32[64]) -> (y: f32[64]) {
  %a = exp %x : f32[64]
  %y = exp %a : f32[64]
  return %y
}`, 2 * 256},
		{"one symbol", `func @f(%x: f32[N,16]) -> (y: f32[N,16]) {
  %a = exp %x : f32[N,16]
  %y = exp %a : f32[N,16]
  return %y
}`, 2 * 32 * 64},
		{"two symbols", `func @f(%x: f32[N,T]) -> (y: f32[N,T]) {
  %a = exp %x : f32[N,T]
  %y = exp %a : f32[N,T]
  return %y
}`, 2 * 32 * 32 * 4},
		{"a call", `func @f(%x: f32[64]) -> (y: f32[64]) {
  %y = invoke %x {func="g"} : f32[64]
  return %y
}

func @g(%x: f32[64]) -> (y: f32[64]) {
  %y = exp %x : f32[64]
  return %y
}`, 256},
		{"no such function", `func @g(%x: f32[64]) -> (y: f32[64]) {
  return %x
}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.Parse(c.text, op.Set)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := size(kernels{}, m, "f"); err != nil || got != c.want {
				t.Errorf("%d bytes, error %v, want %d bytes", got, err, c.want)
			}
		})
	}
}
