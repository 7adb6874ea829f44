package kerneltest

import (
	"bytes"
	"testing"
	"unsafe"
)

// Slice is a slice between two guard bands. A kernel must not write to the bands.
type Slice[T any] struct {
	Data   []T
	whole  []byte
	from   int    // index of Data in whole
	frozen []byte // expected content of whole, or nil
}

const (
	band  = 256
	stamp = 0xA5
)

// NewSlice returns a slice of n elements. All its bytes are filled with a pattern. Its address is
// `shift` elements after a multiple of 64 bytes.
func NewSlice[T any](n, shift int) *Slice[T] {
	var zero T
	size := int(unsafe.Sizeof(zero))
	whole := make([]byte, 2*band+64+(n+shift)*size)
	for i := range whole {
		whole[i] = stamp
	}
	start := unsafe.Pointer(unsafe.SliceData(whole))
	from := band + int(-uintptr(start)%64) + shift*size
	s := &Slice[T]{whole: whole, from: from}
	s.Data = unsafe.Slice((*T)(unsafe.Add(start, from)), n)
	return s
}

// Freeze makes the data an input: Check fails if the data change later.
func (s *Slice[T]) Freeze() { s.frozen = bytes.Clone(s.whole) }

// Check fails the test if the guard bands or an input have changed.
func (s *Slice[T]) Check(t testing.TB, name string) {
	t.Helper()
	var zero T
	end := s.from + len(s.Data)*int(unsafe.Sizeof(zero))
	for i, b := range s.whole {
		if (i < s.from || i >= end) && b != stamp {
			t.Fatalf("%s: the byte %d from its start has been overwritten", name, i-s.from)
		}
	}
	if s.frozen != nil && !bytes.Equal(s.whole, s.frozen) {
		t.Fatalf("%s: an input has been changed", name)
	}
}
