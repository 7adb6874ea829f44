package pytorch

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/pytorch/pickle"
)

var dtypes = []struct {
	// name of the storage class, and name of the type, as in torch.float32
	storage, name string
	// burngen's name, "" if not supported
	dtype string
	// in bytes
	width int64
}{
	{"DoubleStorage", "float64", "f64", 8},
	{"FloatStorage", "float32", "f32", 4},
	{"HalfStorage", "float16", "f16", 2},
	{"BFloat16Storage", "bfloat16", "bf16", 2},
	{"LongStorage", "int64", "i64", 8},
	{"IntStorage", "int32", "i32", 4},
	{"ShortStorage", "int16", "i16", 2},
	{"CharStorage", "int8", "i8", 1},
	{"ByteStorage", "uint8", "u8", 1},
	{"BoolStorage", "bool", "bool", 1},
	{"UntypedStorage", "", "u8", 1},
	{"", "uint64", "u64", 8},
	{"", "uint32", "u32", 4},
	{"", "uint16", "u16", 2},
	{"", "float8_e4m3fn", "f8e4m3fn", 1},
	{"", "float8_e4m3fnuz", "f8e4m3fnuz", 1},
	{"", "float8_e5m2", "f8e5m2", 1},
	{"", "float8_e5m2fnuz", "f8e5m2fnuz", 1},
	{"", "float8_e8m0fnu", "f8e8m0", 1},
	{"", "float4_e2m1fn_x2", "", 1},
	{"", "complex32", "", 4},
	{"ComplexFloatStorage", "complex64", "c64", 8},
	{"ComplexDoubleStorage", "complex128", "", 16},
	{"QInt8Storage", "qint8", "", 1},
	{"QUInt8Storage", "quint8", "", 1},
	{"QInt32Storage", "qint32", "", 4},
	{"QUInt4x2Storage", "quint4x2", "", 1},
	{"QUInt2x4Storage", "quint2x4", "", 1},
}

type element struct {
	name  string // PyTorch's name
	dtype string // burngen's name, "" if not supported
	// in bytes
	width int64
}

// storage is an array of elements. Tensors are views of it.
type storage struct {
	key     string
	element element
	numel   int64

	// returns the bytes of the storage; it returns an error unless there are numel elements
	read func() ([]byte, error)
	// the elements are big-endian
	big bool
}

// sub returns elements [offset, offset+numel) of the storage.
func (s *storage) sub(offset, numel int64) (*storage, error) {
	if offset < 0 || numel < 0 || offset > s.numel || numel > s.numel-offset {
		return nil, fmt.Errorf("view [%d,+%d] of storage %.100q, which has %d elements", offset, numel, s.key, s.numel)
	}
	part := *s
	part.numel = numel
	width := s.element.width
	part.read = func() ([]byte, error) {
		b, err := s.read()
		if err != nil {
			return nil, err
		}
		return b[offset*width : (offset+numel)*width], nil
	}
	return &part, nil
}

type tensor struct {
	storage *storage
	element element
	offset  int64 // in elements
	shape   []int
	// in elements
	strides []int64
	dense   bool // row-major without gaps
	// number of elements times the element size
	bytes int64

	refused error // why the elements cannot be read, or nil
}

const (
	maxRank = 64

	// maxRepeats is the maximum number of elements of a tensor that has more elements than its
	// storage. The elements of such a tensor overlap.
	maxRepeats = 1 << 22
)

// newTensor returns a view of a storage. It returns an error in these cases:
//
//   - The view exceeds the storage.
//   - An extent, a stride or the offset is negative.
//   - There are more than maxRank axes.
//   - There are more elements than the storage has, and more than maxRepeats.
//   - The elements have more bytes than an int can count.
//
// If burngen does not support the element type, newTensor returns a tensor whose use is an error.
func newTensor(s *storage, e element, offset int64, shape, strides []int64) (*tensor, error) {
	if e.dtype == "" {
		return &tensor{refused: fmt.Errorf("burngen does not have element type %s; convert the tensor before saving it", e.name)}, nil
	}
	if len(shape) != len(strides) || len(shape) > maxRank {
		return nil, fmt.Errorf("have %d extents and %d strides, want equal numbers, at most %d", len(shape), len(strides), maxRank)
	}
	t := &tensor{storage: s, element: e, offset: offset, shape: make([]int, len(shape)), strides: strides, dense: true}
	available := s.numel * s.element.width / e.width
	count, empty := int64(1), false
	for i, n := range slices.Backward(shape) {
		switch {
		case n < 0 || strides[i] < 0:
			return nil, fmt.Errorf("shape %v with strides %v has a negative number", shape, strides)
		case n == 0:
			empty = true
			continue
		case n > math.MaxInt/e.width/count:
			return nil, fmt.Errorf("the number of bytes of shape %v does not fit an int", shape)
		case n > 1 && strides[i] != count:
			t.dense = false
		}
		t.shape[i] = int(n)
		count *= n
	}
	if offset < 0 {
		return nil, fmt.Errorf("offset %d is negative", offset)
	}
	if empty {
		t.dense, t.offset = true, 0
		return t, nil
	}
	if count > max(available, maxRepeats) {
		return nil, fmt.Errorf("shape %v repeats the %d elements of storage %.100q too often", shape, available, s.key)
	}
	last := offset
	for i, n := range shape {
		if n > 1 && strides[i] > (math.MaxInt64-last)/(n-1) {
			return nil, fmt.Errorf("strides %v overflow", strides)
		}
		last += (n - 1) * strides[i]
	}
	if last >= available {
		return nil, fmt.Errorf("offset %d, shape %v and strides %v reach element %d of storage %.100q, which has %d", offset, shape, strides, last, s.key, available)
	}
	t.bytes = count * e.width
	return t, nil
}

// SetState implements [pickle.Stateful]. It ignores the attributes of a subclass or a parameter.
func (t *tensor) SetState(pickle.Value) error { return nil }

// read returns the elements in row-major order, little-endian. The result shares memory with the
// storage if the storage has this form.
func (t *tensor) read() ([]byte, error) {
	if t.bytes == 0 {
		return []byte{}, nil
	}
	b, err := t.storage.read()
	if err != nil {
		return nil, err
	}
	width := t.element.width
	if t.dense {
		b = b[t.offset*width : t.offset*width+t.bytes]
		if !t.storage.big || width == 1 {
			return b, nil
		}
		b = slices.Clone(b)
	} else {
		b = t.gather(b)
	}
	if t.storage.big && width > 1 {
		for i := int64(0); i < t.bytes; i += width {
			slices.Reverse(b[i : i+width])
		}
	}
	return b, nil
}

// gather returns a copy of the elements in row-major order. b has the bytes of the storage.
func (t *tensor) gather(b []byte) []byte {
	width := t.element.width
	out := make([]byte, 0, t.bytes)
	index := make([]int, len(t.shape))
	last := len(t.shape) - 1
	at, step := t.offset*width, t.strides[last]*width
	for {
		for i := range int64(t.shape[last]) {
			from := at + i*step
			out = append(out, b[from:from+width]...)
		}
		k := last - 1
		for ; k >= 0; k-- {
			index[k]++
			at += t.strides[k] * width
			if index[k] < t.shape[k] {
				break
			}
			at -= int64(t.shape[k]) * t.strides[k] * width
			index[k] = 0
		}
		if k < 0 {
			return out
		}
	}
}

// errSparse is the error for a tensor that is not a view of one storage.
var errSparse = errors.New("this is not a dense tensor in one storage; convert it before saving it")
