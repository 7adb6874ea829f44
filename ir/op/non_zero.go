package op

import "github.com/burngen/burngen/ir"

// NonZero gives the places of the elements that are not zero, false or an empty
// string: a matrix i64 with a row for each axis and a column for each place, in
// row-major order. It binds Count to the number of places.
type NonZero struct{ Count string }

// Infer gives the matrix Count columns.
func (op NonZero) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(ir.I64, ir.Const(in[0].Rank()), ir.Sym(op.Count))}, nil
}

// Eval collects the places.
func (op NonZero) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	var places []int
	for i := range x.Len() {
		if isText := x.DType == ir.String; isText && x.Text(i) != "" || !isText && x.Number(i) != 0 {
			places = append(places, i)
		}
	}
	y := ir.NewTensor(ir.I64, x.Rank(), len(places))
	for k, at := range places {
		for axis := x.Rank() - 1; axis >= 0; axis-- {
			y.SetInt(axis*len(places)+k, int64(at%x.Shape[axis]))
			at /= x.Shape[axis]
		}
	}
	return []*ir.Tensor{y}, nil
}

// Lower asks of narrow floats, which kernels only store, whether they are zero.
func (op NonZero) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	if d := x.Type.DType; !d.IsFloat() || wide(d) == d {
		return nil
	}
	return b.Nodes(op, convert(b, x, ir.Bool))
}

// Binds returns Count.
func (op NonZero) Binds() []string { return []string{op.Count} }

// BindValues returns the number of places.
func (op NonZero) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Shape[1])}, nil
}

// Measure is cpu.CountNonZero.
func (op NonZero) Measure(*ir.Node) ([]ir.Call, error) {
	return []ir.Call{{Kernel: "CountNonZero", Args: []any{ir.In(0)}}}, nil
}

// Call is cpu.NonZero.
func (op NonZero) Call(n *ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "NonZero", Args: []any{ir.Out(0), ir.In(0), n.Args[0].Type.Shape}}, nil
}

// importNonZero reads NonZero.
func importNonZero(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	return []*ir.Value{b.Node(NonZero{Count: b.Symbol("nonzero")}, c.Arg(0))}, nil
}
