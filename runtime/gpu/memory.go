package gpu

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// Arg is an argument of a kernel: a number, an address of the device, or host memory. For host memory
// the kernel gets the address of the corresponding device memory.
type Arg struct {
	memory unsafe.Pointer
	bytes  int
	number uint64 // the number or address; the number of elements for memory of In and Out
	kind   argKind
}

type argKind uint8

// Access is the use of a tensor by a call: Read or Write.
type Access = argKind

// Read is the access to an argument, and Write the access to a result.
const (
	Read  = isRead
	Write = isWritten
)

const (
	isNumber  argKind = iota // of 32 bits
	isWide                   // a number of 64 bits
	isAddress                // of the device
	isRead
	isWritten
)

// In returns an argument for memory that a kernel reads.
func In[T any](s []T) Arg { return memoryOf(s, isRead) }

// Out returns an argument for memory that a kernel writes. The kernel may also read it.
func Out[T any](s []T) Arg { return memoryOf(s, isWritten) }

// Int returns an argument for a number that a kernel takes as an i32, such as an extent. If the number
// does not fit, [Run.Launch] returns an error.
func Int(n int) Arg { return Arg{number: uint64(n)} }

// Wide returns an argument for a number that a kernel takes as an i64.
func Wide(n int) Arg { return Arg{number: uint64(n), kind: isWide} }

func memoryOf[T any](s []T, kind argKind) Arg {
	return Arg{memory: unsafe.Pointer(unsafe.SliceData(s)), bytes: len(s) * int(unsafe.Sizeof(*new(T))), number: uint64(len(s)), kind: kind}
}

// maxElements is the largest number of elements of an argument in memory. Kernels count elements in an
// i32. A count may exceed the number of elements by up to the number of blocks of a grid. The margin
// of 65535 keeps it from overflowing.
const maxElements = math.MaxInt32 - math.MaxUint16

// check returns an error if a kernel could not count with the argument: a number does not fit an i32,
// or memory has more than maxElements elements.
func (a Arg) check() error {
	n := int64(a.number)
	switch {
	case a.kind == isNumber && n != int64(int32(n)):
		return fmt.Errorf("an extent is %d, and kernels count to %d", n, math.MaxInt32)
	case a.kind >= isRead && n > maxElements:
		return fmt.Errorf("a tensor has %d elements, and kernels count to %d", n, maxElements)
	}
	return nil
}

func (a Arg) isMemory() bool { return a.kind >= isRead && a.bytes > 0 }

func (a Arg) host() []byte { return unsafe.Slice((*byte)(a.memory), a.bytes) }

// region is host memory and its copy on the device.
type region struct {
	start uintptr
	bytes int
	at    Address
	// the host memory is valid
	onHost bool
	// the device memory is copied to the host at the end of a call
	result bool
	host   []byte
	// owns the device memory, or is nil
	tensor *tensorMemory
}

// regionOf returns the memory of argument a, with the address `at` of its copy on the device.
func regionOf(a Arg, at Address) region {
	return region{start: uintptr(a.memory), bytes: a.bytes, at: at, onHost: a.kind == isRead, result: a.kind == isWritten, host: a.host()}
}

// address returns the device address of argument a. ok is false if a is not inside the region.
func (r *region) address(a Arg) (at Address, ok bool) {
	offset := uintptr(a.memory) - r.start
	if offset > uintptr(r.bytes) || uintptr(a.bytes) > uintptr(r.bytes)-offset {
		return 0, false
	}
	return r.at + Address(offset), true
}

// change records that a kernel writes the device memory.
func (r *region) change() {
	r.onHost = false
	if r.tensor != nil {
		r.tensor.fetched = false
	}
}

// find returns the region that contains argument a, or nil. regions are sorted by start.
func find(regions []region, a Arg) *region {
	i, exact := slices.BinarySearchFunc(regions, uintptr(a.memory), func(r region, start uintptr) int { return cmp.Compare(r.start, start) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	if _, ok := regions[i].address(a); !ok {
		return nil
	}
	return &regions[i]
}

func sortRegions(regions []region) {
	slices.SortFunc(regions, func(a, b region) int { return cmp.Compare(a.start, b.start) })
}

// granularity is the alignment in bytes of the parts into which a buffer is divided.
const granularity = 256

func rounded(bytes int) int64 { return (int64(bytes) + granularity - 1) / granularity * granularity }

// buffer is a device allocation that grows on demand.
type buffer struct {
	at    Address
	bytes int64
}

// grow makes the buffer at least `bytes` bytes long. If it grows, its contents are lost. If it
// returns an error, the buffer is empty.
func (b *buffer) grow(d Opened, bytes int64) error {
	if b.bytes >= bytes {
		return nil
	}
	b.free(d)
	at, err := d.Alloc(bytes)
	if err != nil {
		return err
	}
	b.at, b.bytes = at, bytes
	return nil
}

func (b *buffer) free(d Opened) {
	if b.bytes > 0 {
		d.Free(b.at)
	}
	*b = buffer{}
}
