package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// PackPanels packs matrices f32[batch…,K,N] in panels of 16 columns: f32[batch…,⌈N/16⌉,K,16]. With Trans, the operand
// has the transposes of the matrices, f32[batch…,N,K]. Columns beyond N are zero.
type PackPanels struct{ Trans bool }

// Infer returns f32[batch…,⌈N/16⌉,K,16].
func (o PackPanels) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if in[0].DType != ir.F32 || in[0].Rank() < 2 {
		return nil, fmt.Errorf("%s cannot be packed", in[0])
	}
	batch, k, n := o.Extents(in[0].Shape)
	return []ir.Type{ir.TensorOf(ir.F32, append(batch[:len(batch):len(batch)], n.CeilDiv(dim.Const(block)), k, dim.Const(block))...)}, nil
}

// Extents returns the batch, the rows k and the columns n of matrices of a shape. If Trans is set,
// k and n are the rows and columns of the transposes.
func (o PackPanels) Extents(shape []dim.Dim) (batch []dim.Dim, k, n dim.Dim) {
	r := len(shape)
	batch, k, n = shape[:r-2], shape[r-2], shape[r-1]
	if o.Trans {
		k, n = n, k
	}
	return batch, k, n
}

// Eval packs the columns. Columns beyond N are zero.
func (o PackPanels) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	r := len(x.Shape)
	rows, columns, panels, k := x.Shape[r-2], x.Shape[r-1], shape[r-2], shape[r-1]
	y := ir.NewTensor(ir.F32, shape...)
	for i := range x.Len() {
		matrix, row, column := i/columns/rows, i/columns%rows, i%columns
		if o.Trans {
			row, column = column, row
		}
		y.Copy(((matrix*panels+column/block)*k+row)*block+column%block, x, i)
	}
	return []*ir.Tensor{y}, nil
}

// IsMemoryBound marks the operator as an [op.MemoryBound]: memory bandwidth limits its speed.
func (PackPanels) IsMemoryBound() {}

// ReadTransposed implements [op.TransposedReader]: it returns the operator with the opposite Trans.
func (o PackPanels) ReadTransposed() ir.Op { return PackPanels{Trans: !o.Trans} }
