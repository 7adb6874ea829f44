package kernel

import (
	"cmp"
	order "encoding/binary" // binary is a kind of operations
	"slices"
	"unsafe"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Arg is an argument for a kernel that [Kernel.Run] interprets. It is memory or a number. [Memory], [Bytes] and
// [Number] make one.
type Arg struct {
	typ  Type
	data []byte
	bits uint64
}

// Memory returns an argument for a pointer parameter. The kernel reads and writes the elements of
// x.
func Memory[T rt.Number | bool](x []T) Arg {
	var zero T
	size := int(unsafe.Sizeof(zero))
	return Bytes(dtypeOf[T](), unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*size))
}

// Bytes returns an argument for a pointer parameter to elements of type d. data holds the elements in the byte
// order of this machine.
func Bytes(d ir.DType, data []byte) Arg { return Arg{typ: Type{d, Global}, data: data} }

// Number returns an argument for a scalar parameter.
func Number[T int32 | uint32 | int64 | uint64 | float32 | float64](x T) Arg {
	b := make([]byte, 8)
	n, _ := order.Encode(b, order.LittleEndian, x)
	return Arg{typ: Type{DType: dtypeOf[T]()}, bits: order.LittleEndian.Uint64(b) & (^uint64(0) >> (64 - 8*n))}
}

func dtypeOf[T rt.Element]() ir.DType {
	d, err := ir.ParseDType(rt.DTypeOf[T]())
	if err != nil {
		panic(err)
	}
	return d
}

// array is the memory that a pointer refers to while a kernel runs.
type array struct {
	data   []byte
	dtype  ir.DType
	size   int  // bytes of an element
	n      int  // number of elements
	shared bool // whether it is in shared rather than global memory
	// ready identifies, for each element of shared memory, the block that wrote it last: by the
	// first epoch of that block.
	ready []uint32
	// history records the accesses to the memory of this array and of the arrays that overlap it.
	// It has a cell for every `unit` bytes. data begins `offset` bytes into that memory. history is
	// nil if races are ignored.
	history      []cell
	unit, offset int
}

type arguments struct {
	arrays  map[*Value]*array
	numbers map[*Value]uint64
}

// bind allocates the shared arrays of a kernel, and returns them together with args. If races is set, it also
// allocates the records of accesses by which races are detected. It panics, as [fail] does, if args do not fit the
// parameters.
func bind(k *Kernel, args []Arg, races bool) *arguments {
	if len(args) != len(k.Params) {
		fail("%d arguments for %d parameters", len(args), len(k.Params))
	}
	out := &arguments{map[*Value]*array{}, map[*Value]uint64{}}
	var global []*array
	for i, p := range k.Params {
		arg := args[i]
		if arg.typ != p.Type && (p.Map == nil || arg.typ != Type{p.Type.DType, Global}) {
			fail("the argument for %s is of type %s, want %s", p, arg.typ, p.Type)
		}
		if p.Type.Space == NoSpace {
			out.numbers[p] = arg.bits
			continue
		}
		if p.Map != nil {
			if n, want := len(arg.data)/p.Type.DType.Size(), p.Map.elements(out.numbers); n != want {
				fail("the argument for %s has %d elements, want %d", p, n, want)
			}
		}
		a := &array{data: arg.data, dtype: p.Type.DType, size: p.Type.DType.Size()}
		if a.n = len(a.data) / a.size; a.n*a.size != len(a.data) {
			fail("the argument for %s has %d bytes, which is not a number of elements", p, len(a.data))
		}
		out.arrays[p] = a
		global = append(global, a)
	}
	if races {
		record(global)
	}
	for _, v := range k.Shared {
		if v.Type.Space == Phases {
			continue
		}
		size := v.Type.DType.Size()
		a := &array{data: make([]byte, v.Len*size), dtype: v.Type.DType, size: size, n: v.Len, shared: true, ready: make([]uint32, v.Len)}
		if races {
			record([]*array{a})
		}
		out.arrays[v] = a
	}
	return out
}

// record allocates the history of each array, in which accesses to its memory are recorded. Arrays that overlap in
// memory share a history.
func record(arrays []*array) {
	begin := func(a *array) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(a.data))) }
	arrays = slices.Clone(arrays)
	slices.SortStableFunc(arrays, func(a, b *array) int { return cmp.Compare(begin(a), begin(b)) })
	for len(arrays) > 0 {
		first := arrays[0]
		end, unit, n := len(first.data), first.size, 1
		for ; n < len(arrays); n++ {
			a := arrays[n]
			if a.offset = int(begin(a) - begin(first)); a.offset >= end {
				a.offset = 0
				break
			}
			end = max(end, a.offset+len(a.data))
			unit = gcd(unit, gcd(a.size, a.offset))
		}
		history := make([]cell, end/unit)
		for _, a := range arrays[:n] {
			a.history, a.unit = history, unit
		}
		arrays = arrays[n:]
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// locate returns i as an int. i is the index of the first of n adjacent elements. locate panics, as [fail] does, if
// the elements are out of bounds or if i is not a multiple of n.
func (a *array) locate(i int64, n int) int {
	if i < 0 || i > int64(a.n-n) {
		fail("element %d of %d", i, a.n)
	}
	if i%int64(n) != 0 {
		fail("element %d begins %d adjacent ones, but is not at a multiple of %d", i, n, n)
	}
	return int(i)
}

func (a *array) get(i int) uint64 {
	switch at := a.data[i*a.size:]; {
	case a.size == 4:
		return uint64(order.NativeEndian.Uint32(at))
	case a.size == 8:
		return order.NativeEndian.Uint64(at)
	case a.size == 2:
		return uint64(order.NativeEndian.Uint16(at))
	case a.dtype == ir.Bool:
		return flag(at[0] != 0)
	default:
		return uint64(at[0])
	}
}

func (a *array) put(i int, bits uint64) {
	switch at := a.data[i*a.size:]; a.size {
	case 4:
		order.NativeEndian.PutUint32(at, uint32(bits))
	case 8:
		order.NativeEndian.PutUint64(at, bits)
	case 2:
		order.NativeEndian.PutUint16(at, uint16(bits))
	default:
		at[0] = byte(bits)
	}
}
