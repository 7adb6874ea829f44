package kernels

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Tensor is memory in which the elements of a tensor lie one after the other, the last axis
// innermost.
type Tensor struct {
	e       *Emitter
	pointer *kernel.Value
	// DType is the element type of the tensor, and Shape its extents.
	DType ir.DType
	Shape []dim.Dim
}

// Read returns the memory of a value that the kernel reads.
func (e *Emitter) Read(v *ir.Value) *Tensor {
	return e.tensor(v, v.Type.DType, v.Type.Shape, "x", Arg{Read: v})
}

// Write returns the memory of a value that the kernel writes.
func (e *Emitter) Write(v *ir.Value) *Tensor {
	return e.tensor(v, v.Type.DType, v.Type.Shape, "y", Arg{Write: v})
}

// Scratch returns memory that the launches of a node share.
func (e *Emitter) Scratch(s *Scratch) *Tensor {
	return e.tensor(s, s.DType, s.Shape, "t", Arg{Scratch: s})
}

func (e *Emitter) tensor(key any, d ir.DType, shape []dim.Dim, prefix string, a Arg) *Tensor {
	if t, ok := e.tensors[key]; ok {
		return t
	}
	t := &Tensor{e: e, pointer: e.Pointer(fmt.Sprint(prefix, len(e.tensors)), Memory(d)), DType: d, Shape: shape}
	e.tensors[key] = t
	e.args = append(e.args, a)
	return t
}

// Memory returns the type in which elements of a type lie in memory: packed numbers and floats of 8
// bits are bytes.
func Memory(d ir.DType) ir.DType {
	switch {
	case kernel.IsArithmetic(d), kernel.IsStorage(d):
		return d
	case d.Class() == ir.Signed:
		return ir.I8
	}
	return ir.U8
}

// Arithmetic returns the type in which a kernel computes with elements of a type: floats of 16 bits
// as f32, narrow integers as 32-bit ones. ok is false if kernels only move elements of the type.
func Arithmetic(d ir.DType) (wide ir.DType, ok bool) {
	wide = kernel.Arithmetic(d)
	return wide, wide != ir.Invalid
}

// Raw returns the element at an index, counted from the first element, in its type in memory.
func (t *Tensor) Raw(i *kernel.Value) *kernel.Value { return t.e.Load(t.pointer, i) }

// SetRaw stores what Raw returned of a tensor of the same element type.
func (t *Tensor) SetRaw(i, x *kernel.Value) { t.e.Store(t.pointer, i, x) }

// Get returns the element at an index, counted from the first element, in the type in which kernels
// compute.
func (t *Tensor) Get(i *kernel.Value) *kernel.Value {
	wide, ok := Arithmetic(t.DType)
	if !ok {
		t.e.Fail("arithmetic on %s", t.DType)
	}
	return t.e.Convert(wide, t.Raw(i))
}

// Set stores an element that is in the type in which kernels compute.
func (t *Tensor) Set(i, x *kernel.Value) {
	t.e.Store(t.pointer, i, t.e.Convert(Memory(t.DType), x))
}

// Offset returns the index, counted from the first element, of the element at an index on each axis.
// Axes of extent 1 do not count.
func (t *Tensor) Offset(at []*kernel.Value) *kernel.Value {
	e, offset := t.e, t.e.Int(0)
	for i, d := range t.Shape {
		if n, ok := d.Int(); ok && n == 1 {
			continue
		}
		offset = e.Add(e.Mul(offset, e.Dim(d)), at[i])
	}
	return offset
}

// BroadcastOffset returns the index of the element that broadcasting reads for an element of a result
// of the same or a higher rank, of which at is the index on each axis.
func (t *Tensor) BroadcastOffset(at []*kernel.Value) *kernel.Value {
	return t.Offset(at[len(at)-len(t.Shape):])
}

// At is [Tensor.Get] at an index on each axis.
func (t *Tensor) At(at ...*kernel.Value) *kernel.Value { return t.Get(t.Offset(at)) }

// Pointer returns the parameter that points to the first element.
func (t *Tensor) Pointer() *kernel.Value { return t.pointer }
