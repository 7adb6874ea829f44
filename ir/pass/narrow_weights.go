package pass

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// narrowWeights rounds f32 weights to [Context.WeightsDType], in the functions that load prepared
// weights. It rounds two kinds of weights. The first is weights of matrix products whose kernels
// convert weights to f32 when they read them. The second is tables from which rows are gathered;
// the gathered rows are converted to f32. Sums remain in f32.
func narrowWeights(c *Context, m *ir.Module) (changed bool, err error) {
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
		switch o := n.Op.(type) {
		case op.NarrowReader:
			at := o.NarrowOperand()
			if w := narrow(b, n.Args[at]); w != nil {
				args := slices.Clone(n.Args)
				args[at] = w
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
	for _, f := range c.prepared(m) {
		ch, err := f.Rewrite(visit)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		changed = changed || ch
	}
	c.Count(NarrowedWeights, count)
	return changed, nil
}
