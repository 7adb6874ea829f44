package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// PackPanels is matrices f32[batch…,K,N], or their transposes f32[batch…,N,K]
// with Trans, in panels of 16 columns, those beyond N zero:
// f32[batch…,⌈N/16⌉,K,16].
type PackPanels struct{ Trans bool }

// Infer gives the type of the panels.
func (op PackPanels) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if in[0].DType != ir.F32 || in[0].Rank() < 2 {
		return nil, fmt.Errorf("%s cannot be packed", in[0])
	}
	batch, k, n := op.extents(in[0].Shape)
	return []ir.Type{ir.TensorOf(ir.F32, append(batch[:len(batch):len(batch)], n.CeilDiv(ir.Const(block)), k, ir.Const(block))...)}, nil
}

func (op PackPanels) extents(shape []ir.Dim) (batch []ir.Dim, k, n ir.Dim) {
	r := len(shape)
	batch, k, n = shape[:r-2], shape[r-2], shape[r-1]
	if op.Trans {
		k, n = n, k
	}
	return batch, k, n
}

// Eval moves the elements.
func (op PackPanels) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	r := len(x.Shape)
	rows, columns, panels, k := x.Shape[r-2], x.Shape[r-1], shape[r-2], shape[r-1]
	y := ir.NewTensor(ir.F32, shape...)
	for i := range x.Len() {
		matrix, row, column := i/columns/rows, i/columns%rows, i%columns
		if op.Trans {
			row, column = column, row
		}
		y.Copy(((matrix*panels+column/block)*k+row)*block+column%block, x, i)
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.PackPanels.
func (op PackPanels) Call(n *ir.Node) (ir.Call, error) {
	shape := n.Arg(0).Type.Shape
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	batch, k, width := op.extents(shape)
	return ir.Call{Kernel: "PackPanels", Args: []any{
		ir.Out(0), ir.In(0), k, width, columns, op.Trans, ir.Product(batch...), rows.Mul(columns),
	}}, nil
}

// IsMemoryBound marks the operator.
func (PackPanels) IsMemoryBound() {}
