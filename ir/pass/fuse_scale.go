package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// fuseScale fuses operations on the result of an integer matrix product into the product. It first
// fuses the conversion of the sums to f32 and their multiplication by a scale. It then fuses the
// addition of a row to each row of the result.
func fuseScale(ctx *Context, m *ir.Module) (changed bool, err error) {
	for _, fuse := range []func(b *ir.Builder, n *ir.Node, a, other *ir.Value) *ir.Value{scaledSums, offsetSums} {
		c, err := rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
			if len(n.Args) != 2 {
				return nil
			}
			for i := range 2 {
				if y := fuse(b, n, n.Args[i], n.Args[1-i]); y != nil {
					ctx.Count(FusedQuantized, 1)
					return []*ir.Value{y}
				}
			}
			return nil
		})
		if err != nil {
			return changed, err
		}
		changed = changed || c
	}
	return changed, nil
}

// Indices of the last operands of an integer product.
const (
	productScale  = 5
	productOffset = 6
)

// scaledSums returns an integer product that replaces n if n is `floats`·`scale`. `floats` must be
// the sums of an integer product, converted to f32. The sums and `floats` must have no other uses.
// `scale` must have one element, or one for each column, and becomes an operand of the product.
// Otherwise scaledSums returns nil.
func scaledSums(b *ir.Builder, n *ir.Node, floats, scale *ir.Value) *ir.Value {
	if _, ok := n.Op.(op.Mul); !ok {
		return nil
	}
	cast, ok := opOf(floats).(op.Cast)
	if !ok || cast.To != ir.F32 || b.Uses(floats) != 1 {
		return nil
	}
	sums := floats.Def.Args[0]
	product, ok := opOf(sums).(op.MatMulInteger)
	if !ok || product.To != ir.Invalid || b.Uses(sums) != 1 {
		return nil
	}
	product.To = ir.F32
	return withVector(b, n, product, sums.Def, productScale, scale)
}

// offsetSums returns an integer product that replaces n if n is `scaled` + `offset`. `scaled` must be
// the f32 result of an integer product that has no offset yet, and must have no other uses. `offset`
// must have one element, or one for each column, and becomes an operand of the product. Otherwise
// offsetSums returns nil.
func offsetSums(b *ir.Builder, n *ir.Node, scaled, offset *ir.Value) *ir.Value {
	if _, ok := n.Op.(op.Add); !ok {
		return nil
	}
	product, ok := opOf(scaled).(op.MatMulInteger)
	if !ok || product.To != ir.F32 || scaled.Def.Arg(productOffset) != nil || b.Uses(scaled) != 1 {
		return nil
	}
	return withVector(b, n, product, scaled.Def, productOffset, offset)
}

// withVector returns an integer product that replaces n. Its operator is `product`. Its operands
// are the operands of the node `source`, with v at index `operand`. withVector returns nil unless v
// is f32 with one element, or with one element for each column.
func withVector(b *ir.Builder, n *ir.Node, product op.MatMulInteger, source *ir.Node, operand int, v *ir.Value) *ir.Value {
	y := n.Results[0].Type
	if source.Args[1].Type.Rank() < 2 || v.Type.DType != ir.F32 || !y.With(ir.I32).Equal(source.Results[0].Type.With(ir.I32)) {
		return nil
	}
	switch columns := lastOf(y); {
	case isSingle(v):
		v = reshaped(b, v)
	case isRow(v.Type, columns):
		v = reshaped(b, v, columns)
	default:
		return nil
	}
	args := make([]*ir.Value, operand+1)
	copy(args, source.Args)
	args[operand] = v
	return b.Node(product, args...)
}
