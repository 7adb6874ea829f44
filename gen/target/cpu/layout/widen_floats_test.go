package layout_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/gen/target/cpu/layout"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

func TestWidenFloats(t *testing.T) {
	half := func() (*ir.Module, error) {
		return newNet(func(n *net) []*ir.Value {
			x := n.b.Param("x", ir.StaticTensor(ir.F16, 1, 16, 4, 4))
			w := n.b.Param("w", ir.StaticTensor(ir.F16, 16, 16, 1, 1))
			conv := op.Conv{Window: op.Window{Kernel: []int{1, 1}}, Group: 1}
			y := n.b.Node(op.Relu{}, n.b.Node(conv, x, w))
			y = n.b.Node(op.MaxPool{Window: op.Window{Kernel: []int{1, 2}}}, n.b.Node(op.Concat{Axis: 2}, y, y))
			return []*ir.Value{n.b.Node(conv, y, w)}
		})
	}
	for name, c := range map[string]struct {
		strict bool
		want   string
	}{
		"stays in f32 between operators":   {false, "block cast×3 concat conv_blocked×2 max_pool relu unblock"},
		"strict keeps all that is rounded": {true, "block×2 cast×9 concat conv_blocked×2 max_pool relu unblock×2"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := half()
			if err != nil {
				t.Fatal(err)
			}
			widen := pass.WidenFloats
			widen.Run = func(_ *pass.Context, m *ir.Module) (bool, error) {
				return pass.WidenFloats.Run(&pass.Context{Target: cpu.Target{}, Strict: c.strict}, m)
			}
			checkPasses(t, m, 2e-3, 4, pass.DecomposeOps, widen, pass.EliminateCommon, layout.Assign(cost.Default()), pass.LowerOps)
			if got := countOps(m); got != c.want {
				t.Errorf("operators %s\nwant      %s\n%s", got, c.want, m)
			}
		})
	}
}
