package pass

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

func TestWidenFloats(t *testing.T) {
	m, err := newNet(func(n *net) []*ir.Value {
		x := n.b.Param("x", ir.StaticTensor(ir.F16, 1, 16, 4, 4))
		w := n.b.Param("w", ir.StaticTensor(ir.F16, 16, 16, 1, 1))
		conv := op.Conv{Window: op.Window{Kernel: []int{1, 1}}, Group: 1}
		y := n.b.Node(op.Relu{}, n.b.Node(conv, x, w))
		y = n.b.Node(op.MaxPool{Window: op.Window{Kernel: []int{1, 2}}}, n.b.Node(op.Concat{Axis: 2}, y, y))
		return []*ir.Value{n.b.Node(conv, y, w)}
	})
	if err != nil {
		t.Fatal(err)
	}
	checkPasses(t, m, 2e-3, 4, decomposeOps, widenFloats, eliminateCommon, assignLayout, lowerOps)
	if got, want := countOps(m), "block cast×3 concat conv_blocked×2 max_pool relu unblock"; got != want {
		t.Errorf("operators %s\nwant      %s\n%s", got, want, m)
	}
}
