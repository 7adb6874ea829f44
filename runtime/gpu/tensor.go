package gpu

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"unsafe"
)

// Tensor is a dense array in device memory, in row-major order. Models on the same device take tensors as
// arguments and results without copies: see ForwardDevice of generated packages. Its methods are safe for
// concurrent use. Calls that read a tensor may overlap. While a call writes a tensor, no other call may use
// it: the later call returns [ErrTensorBusy].
type Tensor[T any] struct {
	memory *tensorMemory
	shape  []int
}

// Errors of tensors.
var (
	ErrTensorClosed = errors.New("the tensor is closed")
	ErrTensorBusy   = errors.New("the tensor is in use by another call")
)

// NewTensor returns a tensor of zeros on the device of i. The instance i is the result of a model's method
// Device. Without extents the tensor is a scalar with one element. The memory of the tensor counts towards the
// limit [Memory]. NewTensor returns an error if i is nil, if T is not a boolean, an integer or a float, or if
// an extent is negative. It returns an error that wraps [ErrMemory] if there is not enough memory. It also
// returns the errors of [Instance.Open].
func NewTensor[T any](i *Instance, shape ...int) (*Tensor[T], error) {
	kind := reflect.TypeFor[T]().Kind()
	if kind < reflect.Bool || kind > reflect.Float64 || kind == reflect.Uintptr {
		return nil, fmt.Errorf("gpu.NewTensor: elements of type %s cannot be on a device", reflect.TypeFor[T]())
	}
	if i == nil {
		return nil, errors.New("gpu.NewTensor: the model is nil")
	}
	bytes := int(unsafe.Sizeof(*new(T)))
	for _, n := range shape {
		switch {
		case n < 0:
			return nil, fmt.Errorf("gpu.NewTensor: shape %v has a negative extent", slices.Clone(shape))
		case n > 0 && bytes > math.MaxInt/2/n:
			return nil, fmt.Errorf("gpu.NewTensor: %w: shape %v has too many elements", ErrMemory, slices.Clone(shape))
		}
		bytes *= n
	}
	m, err := newTensorMemory(i, bytes)
	if err != nil {
		return nil, fmt.Errorf("gpu.NewTensor: %w", err)
	}
	t := &Tensor[T]{memory: m, shape: slices.Clone(shape)}
	runtime.AddCleanup(t, (*tensorMemory).close, m)
	return t, nil
}

// Shape returns a copy of the extents.
func (t *Tensor[T]) Shape() []int {
	if t == nil {
		return nil
	}
	return slices.Clone(t.shape)
}

// Upload copies src to the device and waits for the copy. It returns an error if src does not have as
// many elements as the tensor.
func (t *Tensor[T]) Upload(src []T) error {
	return t.copied("Upload", len(src), isWritten, func(q Queue, m *tensorMemory) error {
		return q.Upload(m.buffer.at, In(src).host())
	})
}

// Download copies all elements to dst and waits for the copy. It returns an error if dst does not have
// as many elements as the tensor.
func (t *Tensor[T]) Download(dst []T) error {
	return t.copied("Download", len(dst), isRead, func(q Queue, m *tensorMemory) error {
		return q.Download(Out(dst).host(), m.buffer.at)
	})
}

// copied runs `do`, which copies all elements between host and device. Meanwhile the tensor counts as read, or
// as written if kind is isWritten. copied returns an error if the tensor does not have n elements. action is
// the prefix of errors.
func (t *Tensor[T]) copied(action string, n int, kind argKind, do func(Queue, *tensorMemory) error) (err error) {
	if t == nil || t.memory == nil {
		return fmt.Errorf("gpu: %s: the tensor is nil", action)
	}
	defer runtime.KeepAlive(t)
	m := t.memory
	if err := m.enter(kind); err != nil {
		return fmt.Errorf("gpu: %s: %w", action, err)
	}
	defer m.leave(kind)
	if have := m.bytes() / int(unsafe.Sizeof(*new(T))); n != have {
		return fmt.Errorf("gpu: %s: the tensor has %d elements, got %d", action, have, n)
	}
	if n == 0 {
		return nil
	}
	if err := m.device.copying(func(q Queue) error { return do(q, m) }); err != nil {
		return fmt.Errorf("gpu: %s: %w", action, err)
	}
	return nil
}

// Close frees the device memory. If calls use the tensor, the memory is freed when they end. Later calls with
// the tensor return [ErrTensorClosed]. The garbage collector frees a tensor that is not closed.
func (t *Tensor[T]) Close() {
	if t != nil && t.memory != nil {
		t.memory.close()
	}
}
