package gpu

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// Views are the device tensors that a call takes as arguments and results. A generated method for tensors gets a
// host slice or array for each tensor from [Elems], [Items] or [Array]. It passes these to the method for host
// memory, and calls Done at the end. [Begin] recognises the slices and uses the device memory of their tensors. The
// zero value is ready to use.
type Views struct {
	run   *Run
	where string
	used  []use
	err   error // the first
}

// use is the use of a tensor by a call.
type use struct {
	memory *tensorMemory
	access Access
	// kept so that it is not collected during the call
	tensor any
}

// ViewsOn returns views of tensors for a call of a session. prefix begins the errors.
func ViewsOn(r *Run, prefix string) Views { return Views{run: r, where: prefix} }

// Err returns the first error of a tensor, or nil. A tensor has an error if it is nil, closed, in use or on another
// device, or if its shape is not the expected one. It also has an error if it is both an argument and a result.
func (v *Views) Err() error { return v.err }

// Done ends the use of the tensors.
func (v *Views) Done() {
	for _, u := range v.used {
		u.memory.leave(u.access)
		runtime.KeepAlive(u.tensor)
	}
	v.used = nil
}

// fail sets v.err, unless it is set. name is the name of the tensor.
func (v *Views) fail(name, format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf("%s: %s: "+format, append([]any{v.where, name}, args...)...)
	}
}

// Elems returns host memory that stands for the elements of a tensor; see [Views]. The tensor is in use until Done.
// access says whether the call reads or writes the tensor, and name is the tensor's name in errors. Elems returns nil
// if the tensor has an error, see [Views.Err].
func Elems[T any](v *Views, access Access, name string, t *Tensor[T]) []T {
	if t == nil || t.memory == nil {
		v.fail(name, "the tensor is nil")
		return nil
	}
	m := t.memory
	if v.run.held != nil && v.run.program.loaded.device != m.device {
		v.fail(name, "the tensor is on another device, %s", m.device.Info().Name)
		return nil
	}
	for _, u := range v.used {
		if u.memory == m && (access == Write || u.access == Write) {
			v.fail(name, "the tensor is an argument and a result")
			return nil
		}
	}
	if err := m.enter(access); err != nil {
		v.fail(name, "%w", err)
		return nil
	}
	v.used = append(v.used, use{m, access, t})
	n := m.bytes() / int(unsafe.Sizeof(*new(T)))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.counterpart))), n)[:n:n]
}

// Items is [Elems] for a tensor that is a batch of items. A is T or an array of T. `item` is the shape of an A. The
// first extent of the tensor is the size of the batch; the others must be `item`.
func Items[A, T any](v *Views, access Access, name string, t *Tensor[T], item ...int) []A {
	elems := Elems(v, access, name, t)
	switch {
	case v.err != nil:
		return nil
	case len(t.shape) != len(item)+1 || !slices.Equal(t.shape[1:], item):
		want := strings.Trim(fmt.Sprint(item), "[]")
		v.fail(name, "the tensor has shape %v, want [%s]", t.shape, strings.TrimSpace("N "+want))
		return nil
	case len(elems) == 0:
		return make([]A, t.shape[0])
	}
	return unsafe.Slice((*A)(unsafe.Pointer(unsafe.SliceData(elems))), t.shape[0])
}

// Array is [Elems] for a tensor that is one array. A is T or an array of T, and `shape` is the shape of an A and of
// the tensor.
func Array[A, T any](v *Views, access Access, name string, t *Tensor[T], shape ...int) *A {
	elems := Elems(v, access, name, t)
	switch {
	case v.err != nil:
		return nil
	case !slices.Equal(t.shape, shape):
		v.fail(name, "the tensor has shape %v, want %v", t.shape, shape)
		return nil
	case len(elems) == 0:
		return new(A)
	}
	return (*A)(unsafe.Pointer(unsafe.SliceData(elems)))
}

// CheckShape compares the shape of tensor t with shape, the shape of a result. If they differ,
// [Views.Err] returns an error. name is the tensor's name in the error.
func CheckShape[T any](v *Views, name string, t *Tensor[T], shape []int) {
	if !slices.Equal(t.shape, shape) {
		v.fail(name, "the tensor has shape %v, want %v", t.shape, shape)
	}
}
