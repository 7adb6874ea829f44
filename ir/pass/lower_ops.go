package pass

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// lowerOps replaces operators by others until a kernel computes each, or it is a
// view, an elementwise operator, control flow, the user's, or one of package ir. Its error
// names, on a line each, the nodes that are left.
func lowerOps(_ *Context, m *ir.Module) (bool, error) {
	changed, err := lowerWhere(m, func(*ir.Node) bool { return true })
	if err != nil {
		return changed, err
	}
	var left []error
	for _, f := range m.Funcs {
		for n := range f.All() {
			if err := lowered(n); err != nil {
				left = append(left, fmt.Errorf("%s: %w", n, err))
			}
		}
	}
	return changed, errors.Join(left...)
}

var errNoKernel = errors.New("no kernel computes it")

// lowered returns why n has to be lowered and cannot be.
func lowered(n *ir.Node) error {
	if _, binder := n.Op.(ir.Binder); binder && len(n.Results) == 0 {
		return nil
	}
	switch o := n.Op.(type) {
	case ir.Constant, ir.Load, ir.Extents, ir.CheckDim, ir.Invoke, ir.Viewer, op.Custom, op.Pointwise:
		return nil
	case ir.Caller:
		_, err := o.Call(n)
		return err
	case ir.RegionOp:
		return nil
	}
	var types []any
	for _, t := range n.ArgTypes() {
		types = append(types, t)
	}
	return fmt.Errorf("%w for %v", errNoKernel, types)
}

// lowerWhere applies the operators' own lowerings, also to what they make, where
// a node may be lowered.
func lowerWhere(m *ir.Module, may func(*ir.Node) bool) (changed bool, err error) {
	for range maxLowerings {
		c, err := rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
			if o, ok := n.Op.(ir.Lowerer); ok && may(n) {
				return o.Lower(b, n)
			}
			return nil
		})
		if err != nil || !c {
			return changed, err
		}
		changed = true
		for _, f := range m.Funcs {
			f.Prune()
		}
	}
	return changed, errors.New("lowering does not end")
}

// maxLowerings bounds how deep operators are made of others.
const maxLowerings = 32
