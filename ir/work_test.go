package ir_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

func TestWork(t *testing.T) {
	n := dim.Sym("N")
	product := func(k dim.Dim) *ir.Node {
		f := &ir.Func{Name: "f"}
		b := ir.NewBuilder(f)
		x := b.Param("x", ir.TensorOf(ir.F32, k, k))
		return b.Node(op.MatMul{}, x, x).Def
	}
	value := func(v int64) func(string) (int64, bool) {
		return func(string) (int64, bool) { return v, true }
	}
	for name, c := range map[string]struct {
		node   *ir.Node
		symbol func(string) (int64, bool)
		want   int64
	}{
		"constant":       {product(dim.Const(10)), nil, 3*100 + 2*1000},
		"of a symbol":    {product(n), value(10), 3*100 + 2*1000},
		"of 0":           {product(n), value(0), 0},
		"without values": {product(n), nil, math.MaxInt64},
		"too much":       {product(n), value(1 << 30), math.MaxInt64},
	} {
		if got := c.node.Work().Total(c.symbol); got != c.want {
			t.Errorf("%s: %d operations, want %d", name, got, c.want)
		}
	}
}
