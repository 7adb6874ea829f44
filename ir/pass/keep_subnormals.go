package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// keepSubnormals makes softmaxes exact in strict mode: subnormal exponentials are kept instead of
// replaced by zero.
func keepSubnormals(ctx *Context, m *ir.Module) (changed bool, err error) {
	if !ctx.Strict {
		return false, nil
	}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		o, ok := n.Op.(op.Softmax)
		if !ok || o.Exact {
			return nil
		}
		o.Exact = true
		return []*ir.Value{b.Node(o, n.Arg(0))}
	})
}
