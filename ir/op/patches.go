package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Patches is the cells under each place of a window over x, [N,C,spatial…] of i8 or
// u8, as rows: for each place the cells of each channel of a group, as [PackRows] makes
// them: [N·Group,P,4·⌈K/4⌉] for P places and K cells. Elements of i8 move by 128. Cells
// of padding hold the second operand, i32 of one element; without it they hold 0. With
// Sums a second result, i32 [N·Group,P], holds the sums of the rows. There are at most
// eight spatial axes.
type Patches struct {
	Window
	Group int
	Sums  bool
}

// patchAxes is how many spatial axes the kernel knows.
const patchAxes = 8

// Infer gives the type of the rows.
func (op Patches) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 2); err != nil {
		return nil, err
	}
	x, zero := in[0], operand(in, 1)
	if err := checkFactor(x, ir.Type{}); err != nil {
		return nil, err
	}
	if !zero.IsZero() && (zero.DType != ir.I32 || !isOne(zero)) {
		return nil, fmt.Errorf("padding %s", zero)
	}
	if x.Rank() < 3 || x.Rank() > 2+patchAxes || op.Group < 1 {
		return nil, fmt.Errorf("patches of %s in %d groups", x, op.Group)
	}
	if err := op.check(x.Rank() - 2); err != nil {
		return nil, err
	}
	out, err := op.shape(x.Shape[2:])
	if err != nil {
		return nil, err
	}
	group := ir.Const(op.Group)
	width, ok := x.Shape[1].DivExact(group)
	if !ok {
		return nil, fmt.Errorf("%s channels in %d groups", x.Shape[1], op.Group)
	}
	k := width.Mul(ir.Const(lenOf(op.Kernel)))
	return rowTypes(x.Shape[0].Mul(group), ir.Product(out...), k, op.Sums), nil
}

// Eval moves the elements.
func (op Patches) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	pad := zeroAt(operandOf(in, 1), 0)
	if pad != int64(uint8(pad)) {
		return nil, fmt.Errorf("padding %d", pad)
	}
	var failed error
	out, err := evalPack(op, in, func(set func(to, sum int, v int64), pitch int) {
		kernel, width, plane := lenOf(op.Kernel), x.Shape[1]/op.Group, lenOf(x.Shape[2:])
		dims, err := op.shape(ir.Dims(x.Shape[2:]...))
		if err != nil {
			failed = err
			return
		}
		spatial, _ := ir.Ints(dims)
		places := lenOf(spatial)
		failed = op.visit(x.Shape[2:], func(o int, c cells) {
			from := make([]int, kernel)
			for t := range from {
				from[t] = -1
			}
			for t, at := range c.at {
				from[c.tap[t]] = at
			}
			for batch := range x.Shape[0] * op.Group {
				for row := range width * kernel {
					v := pad
					if at := from[row%kernel]; at >= 0 {
						v = moved(x.Int((batch*width+row/kernel)*plane+at), x.DType, ir.U8)
					}
					set((batch*places+o)*pitch+row, batch*places+o, v)
				}
			}
		})
	})
	if err == nil {
		err = failed
	}
	return out, err
}

// Call is cpu.Patches.
func (op Patches) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type
	spatial, group := len(op.Kernel), ir.Const(op.Group)
	out, err := op.shape(x.Shape[2:])
	if err != nil {
		return ir.Call{}, err
	}
	args := []any{
		ir.Out(0), nil, ir.In(0), ir.In(1), x.Shape[0].Mul(group), x.Shape[1].FloorDiv(group), x.Shape[2:], out,
		ir.Dims(op.Kernel...), ir.Dims(op.strides(spatial)...), ir.Dims(op.dilations(spatial)...), op.pads(x.Shape[2:])[:spatial],
	}
	if op.Sums {
		args[1] = ir.Out(1)
	}
	return ir.Call{Kernel: "Patches", Args: args}, nil
}
