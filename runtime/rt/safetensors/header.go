package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

const (
	maxHeader = 100_000_000
	maxRank   = 128
	metadata  = "__metadata__"
)

// ErrShort is wrapped by the errors of files that are shorter than their header says.
var ErrShort = errors.New("file is cut short")

// Tensor is one entry of a header.
type Tensor struct {
	Name  string
	DType DType
	Shape []int64 // nil for a scalar

	// Begin and End are the byte range of the tensor, relative to Header.Data.
	Begin, End int64
}

// Header describes the tensors and metadata of a file. The tensors satisfy every rule of the
// format.
type Header struct {
	Tensors  []Tensor          // sorted by name
	Metadata map[string]string // nil if the file has none
	Data     int64             // offset of the data section from the start of the file, in bytes
	Size     int64             // size of the file in bytes
}

// Lookup returns the tensor called name, and whether it exists.
func (h *Header) Lookup(name string) (Tensor, bool) {
	i, ok := slices.BinarySearchFunc(h.Tensors, name, func(t Tensor, name string) int {
		return strings.Compare(t.Name, name)
	})
	if !ok {
		return Tensor{}, false
	}
	return h.Tensors[i], true
}

// Parse parses the header of a complete file in memory. The result does not share memory with data.
// It returns an error if the file is truncated or violates the format.
func Parse(data []byte) (*Header, error) {
	size := int64(len(data))
	n, err := headerLen(data[:min(size, 8)], size)
	if err != nil {
		return nil, err
	}
	return parse(data[8:8+n], size)
}

// ReadHeader reads the header of a file of `size` bytes. It reads nothing after the header. It
// returns the errors of [Parse] and of r.
func ReadHeader(r io.ReaderAt, size int64) (*Header, error) {
	start := make([]byte, min(max(size, 0), 8))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, 8), start); err != nil && size > 0 {
		return nil, fmt.Errorf("safetensors: read header length: %w", err)
	}
	n, err := headerLen(start, size)
	if err != nil {
		return nil, err
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, 8, n), head); err != nil {
		return nil, fmt.Errorf("safetensors: read header: %w", err)
	}
	return parse(head, size)
}

// headerLen decodes `start`, the first 8 bytes of a file: the length of the header in bytes. It
// returns an error if a file of `size` bytes cannot have such a header.
func headerLen(start []byte, size int64) (int64, error) {
	if len(start) < 8 {
		return 0, fmt.Errorf("safetensors: file has %d bytes: 8 needed for the header length: %w", size, ErrShort)
	}
	n := binary.LittleEndian.Uint64(start)
	if n > maxHeader {
		return 0, fmt.Errorf("safetensors: header of %d bytes: limit is %d", n, maxHeader)
	}
	if int64(n) > size-8 {
		return 0, fmt.Errorf("safetensors: header of %d bytes: file has %d after the header length: %w", n, size-8, ErrShort)
	}
	return int64(n), nil
}

// parse parses head, the header of a file of size bytes.
func parse(head []byte, size int64) (*Header, error) {
	s := scanner{text: head}
	h := &Header{Data: 8 + int64(len(head)), Size: size}
	if err := s.header(h); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return h, nil
}

// check sorts the tensors by name and verifies sizes, names and layout.
func (h *Header) check() error {
	for i := range h.Tensors {
		t := &h.Tensors[i]
		want, err := t.DType.bytes(t.Shape)
		if err != nil {
			return fmt.Errorf("tensor %.100q: %w", t.Name, err)
		}
		if t.Begin > t.End {
			return fmt.Errorf("tensor %.100q: data_offsets [%d,%d] are reversed", t.Name, t.Begin, t.End)
		}
		if t.End-t.Begin != want {
			return fmt.Errorf("tensor %.100q: %s%v needs %d bytes: data_offsets hold %d", t.Name, t.DType, t.Shape, want, t.End-t.Begin)
		}
	}
	slices.SortFunc(h.Tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End))
	})
	var at int64
	for _, t := range h.Tensors {
		if t.Begin < at {
			return fmt.Errorf("tensor %.100q: overlaps the one before it: starts at byte %d, expected %d", t.Name, t.Begin, at)
		}
		if t.Begin > at {
			return fmt.Errorf("tensor %.100q: gap before it: starts at byte %d, expected %d", t.Name, t.Begin, at)
		}
		at = t.End
	}
	if have := h.Size - h.Data; at > have {
		return fmt.Errorf("data section has %d bytes: tensors need %d: %w", have, at, ErrShort)
	} else if at < have {
		return fmt.Errorf("data section has %d bytes: tensors end at %d", have, at)
	}
	slices.SortFunc(h.Tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(h.Tensors); i++ {
		if h.Tensors[i-1].Name == h.Tensors[i].Name {
			return fmt.Errorf("tensor %.100q: name appears twice", h.Tensors[i].Name)
		}
	}
	return nil
}

// bytes returns the size of a tensor in bytes. It returns an error if the product of the nonzero
// extents overflows 64 bits. It does so even if the tensor is empty, because a stride could
// overflow.
func (d DType) bytes(shape []int64) (int64, error) {
	bits := int64(d.Bits())
	if bits == 0 {
		return 0, fmt.Errorf("unknown dtype %.100q", string(d))
	}
	if len(shape) > maxRank {
		return 0, fmt.Errorf("rank %d: limit is %d", len(shape), maxRank)
	}
	total, empty := bits, false
	for _, n := range shape {
		switch {
		case n < 0:
			return 0, fmt.Errorf("extent %d is negative", n)
		case n == 0:
			empty = true
		case total > math.MaxInt64/n:
			return 0, fmt.Errorf("%s%v has more bits than fit 64-bit arithmetic", d, shape)
		default:
			total *= n
		}
	}
	if empty {
		return 0, nil
	}
	if total%8 != 0 {
		return 0, fmt.Errorf("%s%v does not fill whole bytes", d, shape)
	}
	return total / 8, nil
}
