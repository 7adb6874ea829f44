package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ResizeNearest picks elements along two axes of a tensor [outer, height, width, inner]. The other operands are
// rows and cols, both i32. result[o, y, x, i] = operand[o, rows[y], cols[x], i].
type ResizeNearest struct{}

// Infer returns [outer,len(rows),len(cols),inner].
func (ResizeNearest) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := resizeOperands(in, 4, ir.I32, ir.I32); err != nil {
		return nil, err
	}
	x := in[0].Shape
	return []ir.Type{ir.TensorOf(in[0].DType, x[0], in[1].Shape[0], in[2].Shape[0], x[3])}, nil
}

func resizeOperands(in []ir.Type, rank int, tables ...ir.DType) error {
	if err := CheckTensors(in, 1+len(tables), 1+len(tables)); err != nil {
		return err
	}
	if in[0].Rank() != rank {
		return fmt.Errorf("rank %d, %d expected", in[0].Rank(), rank)
	}
	for i, d := range tables {
		if t := in[1+i]; t.DType != d || t.Rank() != 1 {
			return fmt.Errorf("operand %d is %s, a list of %s expected", 1+i, t, d)
		}
	}
	return nil
}

// Eval returns the picked elements. It returns an error if an index is out of range.
func (ResizeNearest) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	rows, err := wrapIndices(in[1], x.Shape[1])
	if err != nil {
		return nil, err
	}
	cols, err := wrapIndices(in[2], x.Shape[2])
	if err != nil {
		return nil, err
	}
	return move(x, []int{x.Shape[0], len(rows), len(cols), x.Shape[3]}, func(at, from []int) {
		copy(from, at)
		from[1], from[2] = rows[at[1]], cols[at[2]]
	})
}

// ResizeLinear interpolates along two axes of a tensor [outer, height, width, inner]. The other operands are rows
// (i32), rowWeights (f32), cols (i32) and colWeights (f32). Row y of the result is a weighted sum of two rows of
// the tensor: row rows[2y] with weight rowWeights[2y], and row rows[2y+1] with weight rowWeights[2y+1]. Columns are
// interpolated in the same way.
type ResizeLinear struct{}

// Infer returns [outer,len(rows)/2,len(cols)/2,inner].
func (ResizeLinear) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := resizeOperands(in, 4, ir.I32, ir.F32, ir.I32, ir.F32); err != nil {
		return nil, err
	}
	x, two := in[0].Shape, dim.Const(2)
	return []ir.Type{ir.TensorOf(in[0].DType, x[0], divide(in[1].Shape[0], two), divide(in[3].Shape[0], two), x[3])}, nil
}

// Eval returns the interpolated tensor. It interpolates along the rows' axis first.
func (ResizeLinear) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y, err := weighted(in[0], 1, 2, in[1], in[2])
	if err != nil {
		return nil, err
	}
	y, err = weighted(y, 2, 2, in[3], in[4])
	return []*ir.Tensor{y}, err
}

// weighted returns x with axis k resized. Element y of the new axis is Σ_t weights[y·taps+t] · x[index[y·taps+t]],
// where t runs from 0 to taps−1 and x is indexed along axis k.
func weighted(x *ir.Tensor, k, taps int, index, weights *ir.Tensor) (*ir.Tensor, error) {
	elements, err := wrapIndices(index, x.Shape[k])
	if err != nil {
		return nil, err
	}
	if len(elements) != weights.Len() || len(elements)%taps != 0 {
		return nil, fmt.Errorf("%d elements, %d weights", len(elements), weights.Len())
	}
	shape := append([]int{}, x.Shape...)
	shape[k] = len(elements) / taps
	y := ir.NewTensor(x.DType, shape...)
	sums := make([]float64, y.Len())
	for t := range taps {
		walk := newIndex(shape, shape)
		visitMove(x.Shape, shape, func(at, from []int) {
			copy(from, at)
			from[k] = elements[at[k]*taps+t]
		}, func(i, j int) {
			sums[i] += float64(weights.Float(walk.at[k]*taps+t) * x.Float(j))
			walk.Next()
		})
	}
	for i, s := range sums {
		y.SetFloat(i, s)
	}
	return y, nil
}

// ResizeAxis computes weighted sums of elements along the middle axis of a tensor [outer, extent, inner]. Each sum
// has Taps elements: result[o, y, i] = Σ_t weights[y·Taps+t] · operand[o, index[y·Taps+t], i]. The operands after
// the tensor are index (i32) and weights (f32), both of Out·Taps elements.
type ResizeAxis struct{ Taps, Out dim.Dim }

// Infer returns [outer,Out,inner] with the operand's element type.
func (op ResizeAxis) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := resizeOperands(in, 3, ir.I32, ir.F32); err != nil {
		return nil, err
	}
	x := in[0].Shape
	for _, t := range in[1:] {
		if err := Same(t.Shape[0], op.Out.Mul(op.Taps), "entries of the table"); err != nil {
			return nil, err
		}
	}
	return []ir.Type{ir.TensorOf(in[0].DType, x[0], op.Out, x[2])}, nil
}

// Eval returns the weighted sums, [outer,Out,inner].
func (op ResizeAxis) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	taps, ok := op.Taps.Int()
	if !ok || taps < 1 {
		return nil, fmt.Errorf("%s taps", op.Taps)
	}
	y, err := weighted(in[0], 1, taps, in[1], in[2])
	return []*ir.Tensor{y}, err
}
