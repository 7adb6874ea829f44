package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// PackRows packs matrices [batch,M,K] of i8 or u8 as rows of u8, padded with zeros to a multiple of 4:
// [batch,M,4·⌈K/4⌉]. Elements of i8 are shifted by 128. With Sums, a second result, i32 [batch,M],
// holds the sums of the shifted rows.
type PackRows struct{ Sums bool }

// PackColumns packs matrices [batch,K,N] of i8 or u8 as panels of 16 columns: i8 [batch,⌈N/16⌉,⌈K/4⌉,16,4], padded
// with zeros. The last axis has four adjacent elements of a column. Elements of u8 are shifted by −128. With Sums, a
// second result, i32 [batch,N], holds the sums of the shifted columns.
type PackColumns struct{ Sums bool }

// checkPack returns an error unless there is a single operand: i8 or u8 [batch,rows,columns].
func checkPack(in []ir.Type) error {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return err
	}
	if in[0].Rank() != 3 {
		return fmt.Errorf("%s packed", in[0])
	}
	return op.CheckFactor(in[0], ir.Type{})
}

// Infer returns u8[batch,M,4·⌈K/4⌉] and, with Sums, i32[batch,M].
func (o PackRows) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := checkPack(in); err != nil {
		return nil, err
	}
	s := in[0].Shape
	return rowTypes(s[0], s[1], s[2], o.Sums), nil
}

// Infer returns i8[batch,⌈N/16⌉,⌈K/4⌉,16,4] and, with Sums, i32[batch,N].
func (o PackColumns) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := checkPack(in); err != nil {
		return nil, err
	}
	s := in[0].Shape
	lanes, four := dim.Const(block), dim.Const(4)
	out := []ir.Type{ir.TensorOf(ir.I8, s[0], s[2].CeilDiv(lanes), s[1].CeilDiv(four), lanes, four)}
	if o.Sums {
		out = append(out, ir.TensorOf(ir.I32, s[0], s[2]))
	}
	return out, nil
}

func padFour(d dim.Dim) dim.Dim { return d.CeilDiv(dim.Const(4)).Mul(dim.Const(4)) }

// rowTypes returns the type of packed matrices with m rows of k elements. If sums is true, it also returns the type
// of the rows' sums.
func rowTypes(batch, m, k dim.Dim, sums bool) []ir.Type {
	out := []ir.Type{ir.TensorOf(ir.U8, batch, m, padFour(k))}
	if sums {
		out = append(out, ir.TensorOf(ir.I32, batch, m))
	}
	return out
}

// moved converts v, an element, between i8 and u8 by a shift of 128. It returns v if the types are
// equal.
func moved(v int64, from, to ir.DType) int64 {
	switch {
	case from == ir.U8 && to == ir.I8:
		return v - 128
	case from == ir.I8 && to == ir.U8:
		return v + 128
	}
	return v
}

// Eval packs the rows and, with Sums, sums them.
func (o PackRows) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalPack(o, in, func(set func(to, sum int, v int64), width int) {
		k := x.Shape[2]
		for i := range x.Len() {
			set(i/k*width+i%k, i/k, moved(x.Int(i), x.DType, ir.U8))
		}
	})
}

// Eval packs the columns and, with Sums, sums them.
func (o PackColumns) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalPack(o, in, func(set func(to, sum int, v int64), _ int) {
		k, n := x.Shape[1], x.Shape[2]
		for i := range x.Len() {
			batch, row, column := i/n/k, i/n%k, i%n
			set(panelPlace(batch, row, column, k, n), batch*n+column, moved(x.Int(i), x.DType, ir.I8))
		}
	})
}

// panelPlace returns the index that an element of a [batch,k,n] tensor has in the packed panels, see [PackColumns].
func panelPlace(batch, row, column, k, n int) int {
	panels, groups := (n+block-1)/block, (k+3)/4
	return (((batch*panels+column/block)*groups+row/4)*block+column%block)*4 + row%4
}

// evalPack computes the results of an operator that packs. It calls f, and f calls `set` for each element. set stores
// v as element `to` of the first result. If there is a second result, set also adds v to element `sum` of that
// result. width is the last extent of the first result.
func evalPack(o ir.Op, in []*ir.Tensor, f func(set func(to, sum int, v int64), width int)) ([]*ir.Tensor, error) {
	types, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	out := make([]*ir.Tensor, len(types))
	for i, t := range types {
		shape, _ := t.Static()
		out[i] = ir.NewTensor(t.DType, shape...)
	}
	f(func(to, sum int, v int64) {
		out[0].SetInt(to, v)
		if len(out) > 1 {
			out[1].SetInt(sum, out[1].Int(sum)+v)
		}
	}, out[0].Shape[len(out[0].Shape)-1])
	return out, nil
}

// Lower implements [ir.Lowerer]. It returns the operand if packing does not change it, and else nil.
func (o PackRows) Lower(_ *ir.Builder, n *ir.Node) []*ir.Value {
	if x := n.Arg(0); !o.Sums && x.Type.Equal(n.Results[0].Type) {
		return []*ir.Value{x}
	}
	return nil
}
