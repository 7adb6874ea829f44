package kernels

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Launch is a kernel with its grid and its arguments.
type Launch struct {
	Kernel *kernel.Kernel
	// Args has an argument for each parameter of the kernel.
	Args []Arg
	// Grid is the number of blocks in each dimension.
	Grid [3]dim.Dim
	// Rounds says that the launch is repeated. It is nil for a launch that runs once.
	Rounds *Rounds
	// Binds is memory of i32. After the launch, it holds the values of the symbols that the node binds. It is nil if
	// the launch does not bind symbols.
	Binds *Scratch
	// Faster is a launch that computes the same on devices that run pipelined kernels. Its arguments are numbers, and
	// memory that is also among Args. It is nil for most launches.
	Faster *Launch
}

// Arg is an argument of a launch: memory or a number. For memory, exactly one of Read, Write, Scratch and Fault is
// set. For a number, none of them is set.
type Arg struct {
	Read    *ir.Value // a value that the kernel reads
	Write   *ir.Value // a value that the kernel writes
	Scratch *Scratch  // memory that only the launches of a node use
	Round   bool      // the number of the round, an i32
	Fault   bool      // the record of a fault, see [Emitter.SetFault]
	Dim     dim.Dim   // an i32, or an i64 if Wide is set
	Wide    bool
}

// IsMemory reports whether the argument is memory.
func (a Arg) IsMemory() bool { return a.Read != nil || a.Write != nil || a.Scratch != nil || a.Fault }

// Scratch is memory for a tensor of this type and shape. The launches of a node pass data to each other in it.
type Scratch struct {
	DType ir.DType
	Shape []dim.Dim
}

// Emitter builds a kernel, and collects the arguments of its launch in args.
type Emitter struct {
	*kernel.Builder
	args    []Arg
	tensors map[any]*Tensor          // by *ir.Value or *Scratch
	dims    map[string]*kernel.Value // i32, by their text
	extents map[string]*kernel.Value // i64, by their text
	round   *kernel.Value            // nil unless the kernel reads it
	fault   *kernel.Value            // the record of a fault, or nil
	waiting *waiting                 // the stores of [Emitter.storesLast], or nil
}

// Threads is the number of threads of a block in kernels without a special need.
const Threads = 256

// New returns the [Launch] of a kernel that `fill` builds. grid is the number of blocks in each dimension, and block
// the number of threads of a block; a missing dimension is 1. New returns the errors of [kernel.Build].
func New(name string, grid []dim.Dim, block []int, fill func(e *Emitter)) (Launch, error) {
	l := Launch{Grid: [3]dim.Dim{dim.Const(1), dim.Const(1), dim.Const(1)}}
	copy(l.Grid[:], grid)
	e := &Emitter{tensors: map[any]*Tensor{}, dims: map[string]*kernel.Value{}, extents: map[string]*kernel.Value{}}
	var err error
	l.Kernel, err = kernel.Build(name, block, func(b *kernel.Builder) {
		e.Builder = b
		fill(e)
	})
	l.Args = e.args
	return l, err
}

// Dim returns an extent as an i32 value: a constant, or a parameter of the kernel. If the extent does not fit an
// i32, launching the kernel fails.
func (e *Emitter) Dim(d dim.Dim) *kernel.Value {
	if n, ok := d.Int(); ok {
		return e.Int(n)
	}
	text := d.String()
	v, ok := e.dims[text]
	if !ok {
		v = e.Scalar(fmt.Sprint("n", len(e.dims)), ir.I32)
		e.dims[text] = v
		e.args = append(e.args, Arg{Dim: d})
	}
	return v
}

// Extent returns an extent as a number of the arithmetic type d, which is not bool. Unlike the result of
// [Emitter.Dim], which is for indices, it may exceed an i32.
func (e *Emitter) Extent(d ir.DType, x dim.Dim) *kernel.Value {
	lo, hi := x.Bounds()
	n, known := x.Int()
	switch {
	case known:
		return e.Convert(d, e.Whole(ir.I64, int64(n)))
	case lo >= math.MinInt32 && hi <= math.MaxInt32:
		return e.Convert(d, e.Dim(x))
	}
	text := x.String()
	v, ok := e.extents[text]
	if !ok {
		v = e.Scalar(fmt.Sprint("w", len(e.extents)), ir.I64)
		e.extents[text] = v
		e.args = append(e.args, Arg{Dim: x, Wide: true})
	}
	return e.Convert(d, v)
}

// Dims returns extents as i32 values, see [Emitter.Dim].
func (e *Emitter) Dims(dims []dim.Dim) []*kernel.Value {
	out := make([]*kernel.Value, len(dims))
	for i, d := range dims {
		out[i] = e.Dim(d)
	}
	return out
}
