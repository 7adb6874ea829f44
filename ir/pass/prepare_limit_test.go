package pass_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// Work that would make preparing too slow or prepared weights too large is left to each run.
func TestPrepareAllowance(t *testing.T) {
	weight := func(n int) *ir.Weight {
		return &ir.Weight{Name: "w", Type: ir.StaticTensor(ir.F32, n), Data: make([]byte, 4*n)}
	}
	// of is a model that computes a value from a weight of n elements.
	of := func(n int, build func(b *ir.Builder, w *ir.Value) *ir.Value) *ir.Module {
		f := &ir.Func{Name: pass.Forward, ResultNames: []string{"y"}}
		b := ir.NewBuilder(f)
		w := weight(n)
		v := build(b, b.Node(ir.Load{Name: w.Name, Type: w.Type}))
		f.Results = []*ir.Value{b.Node(op.Neg{}, v)}
		return &ir.Module{Funcs: []*ir.Func{f}, Weights: []*ir.Weight{w}}
	}
	doubled := func(times int) func(b *ir.Builder, w *ir.Value) *ir.Value {
		return func(b *ir.Builder, w *ir.Value) *ir.Value {
			for range times {
				w = b.Node(op.Exp{}, b.Node(op.Concat{}, w, w))
			}
			return w
		}
	}
	outer := func(b *ir.Builder, w *ir.Value) *ir.Value {
		n := w.Type.Shape[0]
		one := dim.Const(1)
		return b.Node(op.MatMul{}, b.Node(op.Reshape{Shape: []dim.Dim{n, one}}, w), b.Node(op.Reshape{Shape: []dim.Dim{one, n}}, w))
	}
	power := func(b *ir.Builder, w *ir.Value) *ir.Value {
		v := outer(b, w)
		for range 20 {
			v = b.Node(op.MatMul{}, v, v)
		}
		return b.Node(op.Reduce{Kind: "sum", Axes: []int{0, 1}}, v)
	}
	for name, c := range map[string]struct {
		m        *ir.Module
		prepared bool
	}{
		"twice the size":      {of(1000, doubled(1)), true},
		"1 MiB of 4 bytes":    {of(1, doubled(18)), true},
		"128 MiB of 4 bytes":  {of(1, doubled(25)), false},
		"powers of 256 rows":  {of(256, power), true},
		"powers of 4096 rows": {of(4096, power), false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := pass.All(&pass.Context{Target: cpu.Target{}}, c.m, pass.Options{}); err != nil {
				t.Fatal(err)
			}
			if prepared := pass.Left(c.m.Func(pass.Forward)) <= 1; prepared != c.prepared {
				t.Errorf("prepared: %v, want %v\n%s", prepared, c.prepared, c.m)
			}
		})
	}
}
