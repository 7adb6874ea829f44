package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Patches extracts the cells under each window over x, [N,C,spatial…] of i8 or u8, as rows in the form of [PackRows]:
// [N·Group,P,4·⌈K/4⌉] for P windows. K is the number of cells of a window in all channels of a group. Elements of i8
// are shifted by 128. Cells of padding have the value of the optional second operand, i32 of one element, or 0. With
// Sums, a second result, i32 [N·Group,P], holds the sums of the rows. There are at most eight spatial axes.
type Patches struct {
	op.Window
	Group int
	Sums  bool
}

// patchAxes is the maximum number of spatial axes that the kernel takes.
const patchAxes = 8

// Infer returns u8[N·Group,P,4·⌈K/4⌉] and, with Sums, i32[N·Group,P].
func (o Patches) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 2); err != nil {
		return nil, err
	}
	x, zero := in[0], op.Operand(in, 1)
	if err := op.CheckFactor(x, ir.Type{}); err != nil {
		return nil, err
	}
	if !zero.IsZero() && (zero.DType != ir.I32 || !op.HasOneElement(zero)) {
		return nil, fmt.Errorf("padding %s", zero)
	}
	if x.Rank() < 3 || x.Rank() > 2+patchAxes || o.Group < 1 {
		return nil, fmt.Errorf("patches of %s in %d groups", x, o.Group)
	}
	if err := o.Check(x.Rank() - 2); err != nil {
		return nil, err
	}
	out, err := o.Places(x.Shape[2:])
	if err != nil {
		return nil, err
	}
	group := dim.Const(o.Group)
	width, ok := x.Shape[1].DivExact(group)
	if !ok {
		return nil, fmt.Errorf("%s channels in %d groups", x.Shape[1], o.Group)
	}
	k := width.Mul(dim.Const(op.LenOf(o.Kernel)))
	return rowTypes(x.Shape[0].Mul(group), dim.Product(out...), k, o.Sums), nil
}

// Eval copies the cells under each window to a row and, with Sums, sums the rows.
func (o Patches) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	pad := op.ZeroAt(op.OperandOf(in, 1), 0)
	if pad != int64(uint8(pad)) {
		return nil, fmt.Errorf("padding %d", pad)
	}
	var failed error
	out, err := evalPack(o, in, func(set func(to, sum int, v int64), pitch int) {
		kernel, width, plane := op.LenOf(o.Kernel), x.Shape[1]/o.Group, op.LenOf(x.Shape[2:])
		dims, err := o.Places(dim.Consts(x.Shape[2:]...))
		if err != nil {
			failed = err
			return
		}
		spatial, _ := dim.Ints(dims)
		places := op.LenOf(spatial)
		failed = o.Visit(x.Shape[2:], func(place int, c op.Cells) {
			from := make([]int, kernel)
			for t := range from {
				from[t] = -1
			}
			for t, at := range c.At {
				from[c.Tap[t]] = at
			}
			for batch := range x.Shape[0] * o.Group {
				for row := range width * kernel {
					v := pad
					if at := from[row%kernel]; at >= 0 {
						v = moved(x.Int((batch*width+row/kernel)*plane+at), x.DType, ir.U8)
					}
					set((batch*places+place)*pitch+row, batch*places+place, v)
				}
			}
		})
	})
	if err == nil {
		err = failed
	}
	return out, err
}
