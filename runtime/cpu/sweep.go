package cpu

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// sweep describes a call of a kernel, which workers can divide among them. The operands may have
// any types. Operand 0 is the result.
type sweep struct {
	at     [4]unsafe.Pointer // the operands
	size   [4]uintptr        // distance between elements in bytes; 0 for a scalar
	copies [3][32]uint64     // copies of each scalar, which is operand 1 or 2
	n      int               // elements, a multiple of 64
	kind   int
	// do processes n elements, a multiple of 64. at holds the address of the first of them in each operand.
	do func(s *sweep, at *[4]unsafe.Pointer, n int)
}

var sweeps slot[sweep, *sweep]

// operand sets operand k to the elements of x.
func operand[T any](s *sweep, k int, x []T) {
	s.at[k], s.size[k] = unsafe.Pointer(unsafe.SliceData(onHeap(x))), unsafe.Sizeof(*new(T))
}

// scalar sets operand k to a number of 4 or 8 bytes. k is 1 or 2.
func scalar[T any](s *sweep, k int, v T) {
	bits := uint64(0)
	if p := unsafe.Pointer(&v); unsafe.Sizeof(v) == 4 {
		bits = uint64(*(*uint32)(p)) * (1<<32 + 1)
	} else {
		bits = *(*uint64)(p)
	}
	Fill(s.copies[k][:], bits)
}

// run processes the first elements: n rounded down to a multiple of 64. It returns the number of
// elements it processed.
func (s *sweep) run(n int) int {
	s.n = n &^ 63
	bytes := uintptr(0)
	for _, size := range s.size {
		bytes += size
	}
	if n < sharedFrom || !sweeps.run(s, rt.Parts(int64(n)*int64(bytes)/64)) {
		s.Part(0, 1)
	}
	return s.n
}

// sweepAtOnce is the maximum number of elements that one call of assembly processes.
const sweepAtOnce = 1 << 15

func (s *sweep) Part(i, parts int) {
	from, to := portion(s.n/64, i, parts)
	for first := 64 * from; first < 64*to; first += sweepAtOnce {
		var at [4]unsafe.Pointer
		for k, size := range s.size {
			switch {
			case size > 0:
				at[k] = unsafe.Add(s.at[k], uintptr(first)*size)
			case k < len(s.copies):
				at[k] = unsafe.Pointer(&s.copies[k])
			}
		}
		s.do(unseen(s), unseen(&at), min(sweepAtOnce, 64*to-first))
	}
}
