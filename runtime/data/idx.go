package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// IDXElement is an element type of IDX files.
type IDXElement interface {
	uint8 | int8 | int16 | int32 | float32 | float64
}

// codes maps the type codes of IDX files to element types.
var codes = map[byte]string{0x08: "u8", 0x09: "i8", 0x0b: "i16", 0x0c: "i32", 0x0d: "f32", 0x0e: "f64"}

// IDX reads a file in the format of the MNIST files: an element type, up to 255 extents, and the
// elements, all big-endian. The file may be compressed with gzip. If path does not exist, IDX reads
// path+".gz". It returns an error if the file is truncated or has extra bytes, if the element type
// is not T, or if the elements exceed [rt.ArenaLimit].
func IDX[T IDXElement](path string) (x rt.Tensor[T], err error) {
	err = readFile(path, func(r io.Reader) (err error) {
		x, err = ReadIDX[T](r)
		return err
	})
	if err != nil {
		return rt.Tensor[T]{}, fmt.Errorf("idx: %w", err)
	}
	return x, nil
}

// ReadIDX reads the contents of an IDX file from r, like [IDX]. r must not be compressed. ReadIDX
// returns an error if r is nil.
func ReadIDX[T IDXElement](r io.Reader) (rt.Tensor[T], error) {
	var none rt.Tensor[T]
	if r == nil {
		return none, errors.New("no reader to read from")
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return none, fmt.Errorf("header: %w", whole(err))
	}
	if head[0] != 0 || head[1] != 0 {
		return none, fmt.Errorf("begins with %#02x %#02x: not IDX", head[0], head[1])
	}
	if got, want := codes[head[2]], rt.DTypeOf[T](); got != want {
		if got == "" {
			got = fmt.Sprintf("of an unknown type, %#02x", head[2])
		}
		return none, fmt.Errorf("elements are %s: %s expected", got, want)
	}
	shape := make([]int, head[3])
	for i := range shape {
		var extent [4]byte
		if _, err := io.ReadFull(r, extent[:]); err != nil {
			return none, fmt.Errorf("extent %d: %w", i, whole(err))
		}
		n := binary.BigEndian.Uint32(extent[:])
		if uint64(n) > math.MaxInt {
			return none, fmt.Errorf("extent %d is %d: too large", i, n)
		}
		shape[i] = int(n)
	}
	n, err := rt.Elems(shape)
	if err != nil {
		return none, err
	}
	if err := rt.CheckSize[T](n); err != nil {
		return none, fmt.Errorf("shape %v: %w", shape, err)
	}
	width := int(unsafe.Sizeof(*new(T)))
	var raw bytes.Buffer // grows with the bytes that arrive, whatever the header says
	got, err := io.Copy(&raw, io.LimitReader(r, int64(n*width)+1))
	switch {
	case err != nil:
		return none, fmt.Errorf("elements: %w", err)
	case got > int64(n*width):
		return none, fmt.Errorf("there is more after %d elements of %v", n, shape)
	case got < int64(n*width):
		return none, fmt.Errorf("%d bytes of elements: shape %v needs %d", got, shape, n*width)
	}
	x := rt.Tensor[T]{Data: make([]T, n), Shape: shape}
	if n == 0 {
		return x, nil
	}
	_, err = binary.Decode(raw.Bytes(), binary.BigEndian, x.Data)
	return x, err
}

// whole turns io.EOF into io.ErrUnexpectedEOF.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
