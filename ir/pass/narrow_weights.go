package pass

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// narrowWeights rounds to [Context.WeightsDType] the f32 weights of products of matrices,
// whose kernel widens them as it reads, and tables that rows are gathered from, which
// are widened after, in the functions that load prepared weights. Sums stay in f32.
func narrowWeights(c *Context, m *ir.Module) (bool, error) {
	to := c.WeightsDType
	if to == ir.F32 || to == ir.Invalid {
		return false, nil
	}
	known := fixed{}
	count := 0
	narrow := func(b *ir.Builder, v *ir.Value) *ir.Value {
		if v.Type.DType != ir.F32 || !known.has(v) {
			return nil
		}
		count++
		return b.Node(op.Cast{To: to}, v)
	}
	visit := func(b *ir.Builder, n *ir.Node) []*ir.Value {
		switch n.Op.(type) {
		case op.MatMulPanels:
			if w := narrow(b, n.Args[1]); w != nil {
				args := append([]*ir.Value{n.Args[0], w}, n.Args[2:]...)
				return []*ir.Value{b.Node(n.Op, args...)}
			}
		case op.Gather:
			if known.has(n.Results[0]) {
				return nil
			}
			if w := narrow(b, n.Args[0]); w != nil {
				return []*ir.Value{b.Node(op.Cast{To: ir.F32}, b.Node(n.Op, w, n.Args[1]))}
			}
		}
		return nil
	}
	changed := false
	for _, f := range c.prepared(m) {
		ch, err := f.Rewrite(visit)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		changed = changed || ch
	}
	c.count(NarrowedWeights, count)
	return changed, nil
}
