package layout_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/gen/target/cpu/layout"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

func TestTransposedConvolutionsBecomeConvolutions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		spatial := rapid.IntRange(1, 3).Draw(r, "spatial axes")
		list := func(name string, n, lo, hi int) []int {
			return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(r, name)
		}
		o := op.ConvTranspose{
			Kernel: list("kernel", spatial, 1, 4), Strides: list("strides", spatial, 1, 3), Dilations: list("dilations", spatial, 1, 2),
			Crop: list("crop", 2*spatial, 0, 2), Group: rapid.IntRange(1, 2).Draw(r, "group"),
		}
		for i := range spatial {
			o.Crop[spatial+i] -= rapid.IntRange(0, 3).Draw(r, "beyond the end")
		}
		m, err := newNet(func(n *net) []*ir.Value {
			shape := []dim.Dim{dim.Sym("N"), dim.Const(2 * o.Group)}
			for range spatial {
				shape = append(shape, dim.Const(rapid.IntRange(2, 4).Draw(r, "extent")))
			}
			x := n.b.Param("x", ir.TensorOf(ir.F32, shape...))
			args := []*ir.Value{x, n.weight(append([]int{2 * o.Group, 3}, o.Kernel...)...)}
			if rapid.Bool().Draw(r, "bias") {
				args = append(args, n.weight(3*o.Group))
			}
			y, err := o.Infer([]ir.Type{x.Type, args[1].Type})
			if err != nil || y[0].Elems().Equal(dim.Const(0)) {
				return []*ir.Value{x} // cropped away
			}
			return []*ir.Value{n.b.Node(o, args...)}
		})
		if err != nil {
			r.Fatal(err)
		}
		checkPasses(r, m, 1e-4, 2, pass.DecomposeOps, layout.Assign(cost.Default()), pass.LowerOps)
	})
}

func TestTransposedConvolutionOfSymbolicExtents(t *testing.T) {
	m, err := newNet(func(n *net) []*ir.Value {
		s := dim.Sym("S")
		x := n.b.Param("x", ir.TensorOf(ir.F32, dim.Const(1), dim.Const(16), s, s))
		o := op.ConvTranspose{Kernel: []int{2, 2}, Strides: []int{2, 2}, Group: 1}
		return []*ir.Value{n.b.Node(o, x, n.weight(16, 8, 2, 2), n.weight(8))}
	})
	if err != nil {
		t.Fatal(err)
	}
	checkPasses(t, m, 1e-4, 3, pass.DecomposeOps, layout.Assign(cost.Default()), pass.LowerOps)
	if got, want := countOps(m), "block conv_blocked strided_copy×3 unblock"; got != want {
		t.Errorf("operators %s, want %s\n%s", got, want, m)
	}
}
