package kernels

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Tensor is memory of a kernel that holds the elements of a tensor in row-major order. pointer points to the first.
type Tensor struct {
	e       *Emitter
	pointer *kernel.Value
	// DType is the element type of the tensor, and Shape its extents.
	DType ir.DType
	Shape []dim.Dim
}

// Read returns the memory of v, a value that the kernel reads, and adds an argument for v to the
// launch.
func (e *Emitter) Read(v *ir.Value) *Tensor {
	return e.tensor(v, v.Type.DType, v.Type.Shape, "x", Arg{Read: v})
}

// Write returns the memory of v, a value that the kernel writes, and adds an argument for v to the
// launch.
func (e *Emitter) Write(v *ir.Value) *Tensor {
	return e.tensor(v, v.Type.DType, v.Type.Shape, "y", Arg{Write: v})
}

// Scratch returns the memory s and adds an argument for s to the launch. Several launches of a node may use s.
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

// Memory returns the type of elements of type d in memory. Numbers of less than 8 bits and floats
// of 8 bits are bytes.
func Memory(d ir.DType) ir.DType {
	switch {
	case kernel.IsArithmetic(d), kernel.IsStorage(d):
		return d
	case d.Class() == ir.Signed:
		return ir.I8
	}
	return ir.U8
}

// Arithmetic returns the type in which a kernel computes with elements of type d, as
// [kernel.Arithmetic] does. ok is false if kernels can only move the elements.
func Arithmetic(d ir.DType) (wide ir.DType, ok bool) {
	wide = kernel.Arithmetic(d)
	return wide, wide != ir.Invalid
}

// Raw loads the element at index i in row-major order, without conversion.
func (t *Tensor) Raw(i *kernel.Value) *kernel.Value {
	if t.e.waiting != nil {
		return t.e.waiting.load(t, i)
	}
	return t.e.Load(t.pointer, i)
}

// SetRaw stores x as the element at index i in row-major order, without conversion. x must have the type that Raw
// returns.
func (t *Tensor) SetRaw(i, x *kernel.Value) {
	if t.e.waiting != nil {
		t.e.waiting.stores = append(t.e.waiting.stores, element{t, i, x})
		return
	}
	t.e.Store(t.pointer, i, x)
}

// Get loads the element at index i in row-major order. It converts the element to the type of
// [Arithmetic].
func (t *Tensor) Get(i *kernel.Value) *kernel.Value {
	wide, ok := Arithmetic(t.DType)
	if !ok {
		t.e.Fail("arithmetic on %s", t.DType)
	}
	return t.e.Convert(wide, t.Raw(i))
}

// Set stores x as the element at index i in row-major order. It converts x from the type of [Arithmetic] to the
// type of the element.
func (t *Tensor) Set(i, x *kernel.Value) {
	t.SetRaw(i, t.e.Convert(Memory(t.DType), x))
}

// Rounded returns what [Tensor.Get] loads after [Tensor.Set] has stored x in an element of type d.
func (e *Emitter) Rounded(d ir.DType, x *kernel.Value) *kernel.Value {
	return e.Convert(x.Type.DType, e.Convert(Memory(d), x))
}

// Offset returns the row-major index of an element. indices holds the element's index on each axis.
// Axes of extent 1 are ignored.
func (t *Tensor) Offset(indices []*kernel.Value) *kernel.Value { return t.e.Flatten(indices, t.Shape) }

// Flatten returns the row-major index of an element in a tensor of this shape. at[i] is the element's index on axis
// i; it is ignored if the axis has extent 1.
func (e *Emitter) Flatten(at []*kernel.Value, shape []dim.Dim) *kernel.Value {
	offset := e.Int(0)
	for i, d := range shape {
		if n, ok := d.Int(); ok && n == 1 {
			continue
		}
		offset = e.Add(e.Mul(offset, e.Dim(d)), at[i])
	}
	return offset
}

// BroadcastOffset returns the row-major index of the element of t that is broadcast to an element of a result.
// `indices` are the indices of the result's element on each axis of the result. The rank of the result is at least
// the rank of t.
func (t *Tensor) BroadcastOffset(indices []*kernel.Value) *kernel.Value {
	return t.Offset(indices[len(indices)-len(t.Shape):])
}

// At is [Tensor.Get] for the element with this index on each axis.
func (t *Tensor) At(at ...*kernel.Value) *kernel.Value { return t.Get(t.Offset(at)) }

// Pointer returns the parameter that points to the first element.
func (t *Tensor) Pointer() *kernel.Value { return t.pointer }
