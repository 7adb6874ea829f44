package pass

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// lowerOps replaces operators by others until a kernel computes each of them. Views, elementwise
// operators, control flow, custom operators and operators of package ir stay. It returns an error
// that lists the nodes that it cannot lower, one per line.
func lowerOps(ctx *Context, m *ir.Module) (changed bool, err error) {
	changed, err = ctx.lowerWhere(m, func(*ir.Node) bool { return true })
	if err != nil {
		return changed, err
	}
	var left []error
	for _, f := range m.Funcs {
		for n := range f.All() {
			if err := ctx.lowered(n); err != nil {
				left = append(left, fmt.Errorf("%s: %w", n, err))
			}
		}
	}
	return changed, errors.Join(left...)
}

// lowered returns nil if n needs no further lowering: a kernel computes n, or n is a node that
// [lowerOps] leaves as it is, such as a view. Otherwise it returns an error with the reason.
func (c *Context) lowered(n *ir.Node) error {
	if _, binder := n.Op.(ir.Binder); binder && len(n.Results) == 0 {
		return nil
	}
	if _, region := n.Op.(ir.RegionOp); region && !isFused(n.Op) {
		return nil
	}
	switch n.Op.(type) {
	case ir.Constant, ir.Load, ir.Extents, ir.CheckDim, ir.Invoke, ir.Viewer, ir.Opaque, op.Pointwise:
		return nil
	}
	return c.Target.Computes(n)
}

// lowerWhere lowers the nodes for which `pred` returns true, and then the nodes that the lowering
// has created. For each node, it tries the target's lowering first, and then [ir.Lowerer]. For an
// [op.Whole] that a kernel computes, it tries only the target's lowering.
func (c *Context) lowerWhere(m *ir.Module, pred func(*ir.Node) bool) (changed bool, err error) {
	for range maxLowerings {
		ch, err := rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
			if !pred(n) {
				return nil
			}
			if out := c.Target.Lower(b, n); out != nil {
				return out
			}
			if _, ok := n.Op.(op.Whole); ok && c.Target.Computes(n) == nil {
				return nil
			}
			if o, ok := n.Op.(ir.Lowerer); ok {
				return o.Lower(b, n)
			}
			return nil
		})
		if err != nil || !ch {
			return changed, err
		}
		changed = true
		for _, f := range m.Funcs {
			f.Prune()
		}
	}
	return changed, errors.New("lowering does not end")
}

// maxLowerings is the maximum number of times that the result of a lowering is lowered again. If
// this does not suffice, lowering is an error.
const maxLowerings = 32
