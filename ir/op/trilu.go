package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Trilu keeps a triangle of the matrices in the last two axes, and sets the other elements to zero (ONNX Trilu,
// from opset 14). With Upper it keeps the elements on and above diagonal k. Otherwise it keeps the elements on and
// below this diagonal. Diagonal k starts at column k of row 0 or, if k is negative, at column 0 of row -k. The
// optional second operand is k, an i64 scalar; its default is 0.
type Trilu struct{ Upper bool }

// Infer returns the operand's type. It returns an error unless the operand has rank 2 or more. It also returns an
// error if k is present and not an i64 of one element.
func (op Trilu) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 2); err != nil {
		return nil, err
	}
	if in[0].Rank() < 2 {
		return nil, fmt.Errorf("rank %d, at least 2 expected", in[0].Rank())
	}
	if len(in) > 1 {
		if n, ok := in[1].Elems().Int(); !ok || n != 1 || in[1].DType != ir.I64 {
			return nil, fmt.Errorf("k is %s, one i64 expected", in[1])
		}
	}
	return in[:1], nil
}

// Eval returns the operand, with zeros on the side of diagonal k that is not kept.
func (op Trilu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, k := in[0], int64(0)
	if len(in) > 1 {
		k = in[1].Int(0)
	}
	y := ir.NewTensor(x.DType, x.Shape...)
	rows, cols := x.Shape[x.Rank()-2], x.Shape[x.Rank()-1]
	for i := range y.Len() {
		row, col := int64(i/cols%rows), int64(i%cols)
		if op.Upper && col-row >= k || !op.Upper && col-row <= k {
			y.Copy(i, x, i)
		}
	}
	return []*ir.Tensor{y}, nil
}

// Grad returns the same triangle of dy, with zeros elsewhere.
func (op Trilu) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(op, append([]*ir.Value{dy[0]}, n.Args[1:]...)...)}
}

// Overwrites returns the index of the operand. The result may reuse its memory, because elements do not move.
func (Trilu) Overwrites() []int { return []int{0} }

func importTrilu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Trilu{Upper: c.Int("upper", 1) != 0}, c.Arg(0), c.Arg(1))}, nil
}

// IsMemoryBound marks the operator as bound by memory bandwidth.
func (Trilu) IsMemoryBound() {}
