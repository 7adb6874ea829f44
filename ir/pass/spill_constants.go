package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// spillConstants replaces constants by weights if kernels read them from memory. The names of these
// weights begin with const/ and are made from the values. A large constant with equal elements is
// filled at run time instead. A constant inside a fused region becomes a number in the program.
func spillConstants(_ *Context, m *ir.Module) (changed bool, err error) {
	inRegion, own := regionNodes(m), &weights{module: m}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		c, ok := n.Op.(ir.Constant)
		if !ok || inRegion[n] || b.Uses(n.Results[0]) == 0 {
			return nil
		}
		t := c.Value
		if t.IsSplat() && t.DType != ir.String && t.Len() > 1 && t.Len()*t.DType.Size() > maxTextBytes {
			return []*ir.Value{b.Node(op.Fill{Value: single(t), Shape: n.Results[0].Type.Shape})}
		}
		return []*ir.Value{b.Node(own.add(rt.ConstPrefix+n.Results[0].Name, t.Type(), t.Bytes()))}
	})
}
