package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// PackRows is matrices [batch,M,K] of i8 or u8 as rows of u8, padded with zeros to a
// multiple of 4: [batch,M,4·⌈K/4⌉]. Elements of i8 move by 128. With Sums a second
// result, i32 [batch,M], holds the sums of the moved rows.
type PackRows struct{ Sums bool }

// PackColumns is matrices [batch,K,N] of i8 or u8 as panels of 16 columns of i8, four
// elements of a column side by side: [batch,⌈N/16⌉,⌈K/4⌉,16,4], padded with zeros.
// Elements of u8 move by −128. With Sums a second result, i32 [batch,N], holds the sums of
// the moved columns.
type PackColumns struct{ Sums bool }

// checkPack checks matrices to be packed.
func checkPack(in []ir.Type) error {
	if err := tensors(in, 1, 1); err != nil {
		return err
	}
	if in[0].Rank() != 3 {
		return fmt.Errorf("%s packed", in[0])
	}
	return checkFactor(in[0], ir.Type{})
}

// Infer gives the type of the rows.
func (op PackRows) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := checkPack(in); err != nil {
		return nil, err
	}
	s := in[0].Shape
	return rowTypes(s[0], s[1], s[2], op.Sums), nil
}

// Infer gives the type of the panels.
func (op PackColumns) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := checkPack(in); err != nil {
		return nil, err
	}
	s := in[0].Shape
	lanes, four := ir.Const(block), ir.Const(4)
	out := []ir.Type{ir.TensorOf(ir.I8, s[0], s[2].CeilDiv(lanes), s[1].CeilDiv(four), lanes, four)}
	if op.Sums {
		out = append(out, ir.TensorOf(ir.I32, s[0], s[2]))
	}
	return out, nil
}

// padFour returns d rounded up to a multiple of 4.
func padFour(d ir.Dim) ir.Dim { return d.CeilDiv(ir.Const(4)).Mul(ir.Const(4)) }

// rowTypes returns the types of m rows of k, and of their sums.
func rowTypes(batch, m, k ir.Dim, sums bool) []ir.Type {
	out := []ir.Type{ir.TensorOf(ir.U8, batch, m, padFour(k))}
	if sums {
		out = append(out, ir.TensorOf(ir.I32, batch, m))
	}
	return out
}

// moved returns an element of type from in the type to.
func moved(v int64, from, to ir.DType) int64 {
	switch {
	case from == ir.U8 && to == ir.I8:
		return v - 128
	case from == ir.I8 && to == ir.U8:
		return v + 128
	}
	return v
}

// Eval moves the elements.
func (op PackRows) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalPack(op, in, func(set func(to, sum int, v int64), width int) {
		k := x.Shape[2]
		for i := range x.Len() {
			set(i/k*width+i%k, i/k, moved(x.Int(i), x.DType, ir.U8))
		}
	})
}

// Eval moves the elements.
func (op PackColumns) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalPack(op, in, func(set func(to, sum int, v int64), _ int) {
		k, n := x.Shape[1], x.Shape[2]
		for i := range x.Len() {
			batch, row, column := i/n/k, i/n%k, i%n
			set(panelPlace(batch, row, column, k, n), batch*n+column, moved(x.Int(i), x.DType, ir.I8))
		}
	})
}

// panelPlace returns where an element of a matrix of k rows and n columns lies in
// panels.
func panelPlace(batch, row, column, k, n int) int {
	panels, groups := (n+block-1)/block, (k+3)/4
	return (((batch*panels+column/block)*groups+row/4)*block+column%block)*4 + row%4
}

// evalPack makes the results of an operator that packs; f sets the elements and
// adds them to their sums. The width is the last extent of the first result.
func evalPack(op ir.Op, in []*ir.Tensor, f func(set func(to, sum int, v int64), width int)) ([]*ir.Tensor, error) {
	types, err := inferOf(op, in)
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

// Call is cpu.PackRows.
func (op PackRows) Call(n *ir.Node) (ir.Call, error) { return callPack("PackRows", op.Sums, n) }

// Call is cpu.PackColumns.
func (op PackColumns) Call(n *ir.Node) (ir.Call, error) { return callPack("PackColumns", op.Sums, n) }

// callPack calls a kernel that packs matrices, and maybe sums.
func callPack(kernel string, sums bool, n *ir.Node) (ir.Call, error) {
	s := n.Arg(0).Type.Shape
	args := []any{ir.Out(0), nil, ir.In(0), s[0], s[1], s[2]}
	if sums {
		args[1] = ir.Out(1)
	}
	return ir.Call{Kernel: kernel, Args: args}, nil
}

// Lower drops what leaves the rows as they are.
func (op PackRows) Lower(_ *ir.Builder, n *ir.Node) []*ir.Value {
	if x := n.Arg(0); !op.Sums && x.Type.Equal(n.Results[0].Type) {
		return []*ir.Value{x}
	}
	return nil
}
