package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// spillConstants makes constants that kernels read from memory weights, named
// const/… after their values. Large ones of equal elements are filled in
// instead. Constants inside fused regions are numbers in the program.
func spillConstants(_ *Context, m *ir.Module) (bool, error) {
	inRegion := regionNodes(m)
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		c, ok := n.Op.(ir.Constant)
		if !ok || inRegion[n] || b.Uses(n.Results[0]) == 0 {
			return nil
		}
		t := c.Value
		if t.IsSplat() && t.DType != ir.String && t.Len() > 1 && t.Len()*t.DType.Size() > maxTextBytes {
			return []*ir.Value{b.Node(op.Fill{Value: single(t), Shape: n.Results[0].Type.Shape})}
		}
		name := weightName(m, rt.ConstPrefix+n.Results[0].Name)
		m.Weights = append(m.Weights, &ir.Weight{Name: name, Type: t.Type(), Data: t.Bytes()})
		return []*ir.Value{b.Node(ir.Load{Name: name, Type: t.Type()})}
	})
}
