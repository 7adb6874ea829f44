package gpu

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/templates/kernels"
)

// Device executes kernels on host memory, for running steps without generating code.
type Device interface {
	// Launch runs a kernel and waits for it. The kernel writes to the memory of its arguments.
	Launch(k *kernel.Kernel, grid [3]int, args []Arg) error
}

// Pipelining is a [Device] that may run pipelined kernels.
type Pipelining interface {
	Device
	// Pipelines reports whether it does.
	Pipelines() bool
}

// Pipelines reports whether a device runs pipelined kernels.
func Pipelines(d Device) bool {
	p, ok := d.(Pipelining)
	return ok && p.Pipelines()
}

// Arg is an argument of a kernel: memory, or a number if Memory is nil.
type Arg struct {
	Memory []byte
	Number int64
}

var errNoDevice = errors.New("no device executes kernels of this target")

// Run implements [exec.Runner]. It returns an error if the target has no device for a launch, or if a kernel
// records a fault, see [Fault].
func (t Target) Run(f *exec.Frame, s program.Step) error {
	switch s := s.(type) {
	case *Launch:
		return t.launch(f, s, 0)
	case *Rounds:
		return t.rounds(f, s)
	}
	return t.host.Run(f, s)
}

// launch launches a kernel. round is the index of the repetition, from 0. launch returns an error if the kernel
// takes an extent as an i32 and the extent is larger. It also returns the error of a fault that the kernel finds.
func (t Target) launch(f *exec.Frame, l *Launch, round int) error {
	if t.Device == nil {
		return errNoDevice
	}
	var args []Arg
	record, fault := make([]int32, kernels.FaultWords), Fault{}
	for _, a := range l.Args {
		switch a := a.(type) {
		case *plan.Ref:
			memory, err := f.Slice(a)
			if err != nil {
				return err
			}
			args = append(args, Arg{Memory: bytesOf(memory)})
		case dim.Dim:
			n, err := f.Int(a)
			if err != nil {
				return err
			}
			if int(int32(n)) != n {
				return fmt.Errorf("%s = %d: a kernel counts to %d", a, n, 1<<31-1)
			}
			args = append(args, Arg{Number: int64(n)})
		case Wide:
			n, err := f.Int(a.Dim)
			if err != nil {
				return err
			}
			args = append(args, Arg{Number: int64(n)})
		case Round:
			args = append(args, Arg{Number: int64(round)})
		case Fault:
			args, fault = append(args, Arg{Memory: bytesOf(reflect.ValueOf(record))}), a
		}
	}
	grid, err := f.Ints(l.Grid[:])
	if err != nil {
		return err
	}
	k, all := l.Kernel, args
	args = all[:len(k.Params)]
	if l.Faster != nil && Pipelines(t.Device) && !slices.Contains(grid, 0) {
		k, grid, args = l.Faster.Kernel, l.Faster.Grid[:], nil
		for _, from := range l.Faster.From {
			args = append(args, all[from])
		}
	}
	if err := t.Device.Launch(k, [3]int(grid), args); err != nil {
		return err
	}
	if record[0] == 0 {
		return nil
	}
	return fault.err(f, gpu.FaultNumber(record))
}

// bytesOf returns the memory of a slice of numbers. The result is not nil, even if the slice is empty.
func bytesOf(slice reflect.Value) []byte {
	n := slice.Len() * int(slice.Type().Elem().Size())
	if n == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(slice.UnsafePointer()), n)
}
