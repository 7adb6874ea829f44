package op

import "github.com/burngen/burngen/ir"

// wide returns the element type that kernels use to compute with elements of type d. It is f32 for floats of at
// most 16 bits, and i8 or u8 for integers narrower than a byte. For other types it is d.
func wide(d ir.DType) ir.DType {
	switch {
	case d.IsFloat() && d.Bits() < 32:
		return ir.F32
	case d.Class() == ir.Signed && d.Bits() < 8:
		return ir.I8
	case d.Class() == ir.Unsigned && d.Bits() < 8:
		return ir.U8
	}
	return d
}

// sumsOf returns the element type of a product whose operands have type d. It is wide(d) if isWide is set, see
// [Product.Widened], and otherwise d.
func sumsOf(d ir.DType, isWide bool) ir.DType {
	if isWide {
		return wide(d)
	}
	return d
}

// lowerNarrow appends n with operands converted to the types that kernels compute with ([wide]). It returns the
// results, converted back. It returns nil if no operand has a narrow type.
func lowerNarrow(b *ir.Builder, n *ir.Node) []*ir.Value {
	args, changed := make([]*ir.Value, len(n.Args)), false
	for i, a := range n.Args {
		if args[i] = a; a != nil && wide(a.Type.DType) != a.Type.DType {
			args[i], changed = ConvertTo(b, a, wide(a.Type.DType)), true
		}
	}
	if !changed {
		return nil
	}
	results := b.Nodes(n.Op, args...)
	out := make([]*ir.Value, len(results))
	for i, r := range results {
		out[i] = ConvertTo(b, r, n.Results[i].Type.DType)
	}
	return out
}

// ConvertTo appends a [Cast] of v to the element type `to`, or returns v if it has that type. It
// converts a constant at once.
func ConvertTo(b *ir.Builder, v *ir.Value, to ir.DType) *ir.Value {
	if v.Type.DType == to {
		return v
	}
	if t, ok := v.ConstValue(); ok {
		out, err := (Cast{To: to}).Eval([]*ir.Tensor{t})
		if err == nil {
			return b.Const(out[0])
		}
	}
	return b.Node(Cast{To: to}, v)
}
