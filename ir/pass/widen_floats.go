package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// widenFloats removes roundings to f16 and bf16. If an f32 value is rounded and converted back to
// f32, its readers read the value before rounding. An operator that rearranges or concatenates
// rounded elements is applied before the rounding instead. In strict mode widenFloats does nothing.
func widenFloats(c *Context, m *ir.Module) (changed bool, err error) {
	if c.Strict {
		return false, nil
	}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if o, ok := n.Op.(op.Cast); ok {
			if x := beforeRounding(n.Args[0]); x != nil && o.To == ir.F32 {
				return []*ir.Value{x}
			}
			return nil
		}
		switch op.MovementOf(n.Op) {
		case op.Rearranges, op.Joins:
			args := make([]*ir.Value, len(n.Args))
			for i, a := range n.Args {
				if args[i] = beforeRounding(a); args[i] == nil {
					return nil
				}
			}
			return []*ir.Value{b.Node(op.Cast{To: n.Results[0].Type.DType}, b.Node(n.Op, args...))}
		}
		return nil
	})
}

// beforeRounding returns the f32 value that a Cast rounds to v, which is f16 or bf16. It returns
// nil if v is not the result of such a Cast.
func beforeRounding(v *ir.Value) *ir.Value {
	if v.Def == nil || v.Type.DType != ir.F16 && v.Type.DType != ir.BF16 {
		return nil
	}
	if _, ok := v.Def.Op.(op.Cast); !ok || v.Def.Args[0].Type.DType != ir.F32 {
		return nil
	}
	return v.Def.Args[0]
}
