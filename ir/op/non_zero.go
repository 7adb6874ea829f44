package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// NonZero returns the coordinates of the elements of its operand. It leaves out elements that are zero, false or an
// empty string. The result is an i64 matrix with a row for each axis and a column for each element, in row-major
// order of the elements. NonZero binds the symbol Count to the number of columns.
type NonZero struct{ Count string }

// Infer returns i64[rank,Count], where rank is the rank of the operand.
func (op NonZero) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(ir.I64, dim.Const(in[0].Rank()), dim.Sym(op.Count))}, nil
}

// Eval returns the coordinates, i64[rank,Count].
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

// Lower converts floats of at most 16 bits to bools, because kernels cannot compare them.
func (op NonZero) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x := n.Arg(0)
	if d := x.Type.DType; !d.IsFloat() || wide(d) == d {
		return nil
	}
	return b.Nodes(op, ConvertTo(b, x, ir.Bool))
}

// Binds returns the symbol Count.
func (op NonZero) Binds() []string { return []string{op.Count} }

// BindValues returns the number of nonzero elements, which is Count.
func (op NonZero) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Shape[1])}, nil
}

func importNonZero(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	return []*ir.Value{b.Node(NonZero{Count: b.Symbol("nonzero")}, c.Arg(0))}, nil
}
