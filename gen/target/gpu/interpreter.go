package gpu

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// Interpreter is a [Device] that interprets kernels. It is slow, and finds races and accesses out of
// bounds.
type Interpreter struct {
	// Pipelined runs pipelined kernels where a launch has one.
	Pipelined bool
}

// Pipelines implements [Pipelining].
func (i Interpreter) Pipelines() bool { return i.Pipelined }

// Launch implements [Device]. It interprets the kernel, unless the grid has no blocks. It returns the errors of
// [kernel.Kernel.Run].
func (Interpreter) Launch(k *kernel.Kernel, grid [3]int, args []Arg) error {
	if grid[0] == 0 || grid[1] == 0 || grid[2] == 0 {
		return nil
	}
	list := make([]kernel.Arg, len(args))
	for i, a := range args {
		switch d := k.Params[i].Type.DType; {
		case a.Memory != nil:
			list[i] = kernel.Bytes(d, a.Memory)
		case d == ir.I64:
			list[i] = kernel.Number(a.Number)
		default:
			list[i] = kernel.Number(int32(a.Number))
		}
	}
	return k.Run(grid, list, kernel.Options{})
}
