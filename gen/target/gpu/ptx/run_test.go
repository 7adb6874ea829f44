package ptx

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/internal/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// buffers is global memory. Each buffer is an allocation, far from the others.
type buffers [][]byte

func (b buffers) address(i int) uint64 { return uint64(i+1)<<40 + 256 }

// Allocation returns the buffer that an address is in.
func (b buffers) Allocation(addr uint64) (uint64, []byte, error) {
	for i, data := range b {
		if first := b.address(i); addr >= first && addr < first+uint64(len(data)) {
			return first, data, nil
		}
	}
	return 0, nil, fmt.Errorf("address %#x is not allocated", addr)
}

// arg is an argument of a kernel: the elements of a buffer, or a number.
type arg struct {
	d      ir.DType
	values []uint64 // bits
	number bool
}

// array is a buffer with these elements. The kernel may change them.
func array(d ir.DType, values ...uint64) arg { return arg{d, values, false} }

func number(x uint64) arg { return arg{values: []uint64{x}, number: true} }

// build returns the kernel that fill describes.
func build(t testing.TB, name string, block []int, fill func(b *kernel.Builder)) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Build(name, block, fill)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// run writes a kernel, checks the text, and runs it. It returns the text.
func run(t testing.TB, k *kernel.Kernel, blocks [3]int, args ...arg) string {
	t.Helper()
	text, err := Write(k)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ptx.Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var mem buffers
	params := make([]uint64, len(args))
	for i, a := range args {
		if a.number {
			mem = append(mem, nil)
			params[i] = a.values[0]
			continue
		}
		size := a.d.Size()
		data := make([]byte, size*len(a.values)+8)
		for j, x := range a.values {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], x)
			copy(data[j*size:], b[:size])
		}
		mem = append(mem, data[:size*len(a.values)])
		params[i] = mem.address(i)
	}
	if err := m.Launch(k.Name, blocks, k.Block, 0, params, mem); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for i, a := range args {
		for j := 0; !a.number && j < len(a.values); j++ {
			var b [8]byte
			copy(b[:], mem[i][j*a.d.Size():(j+1)*a.d.Size()])
			a.values[j] = binary.LittleEndian.Uint64(b[:])
		}
	}
	return text
}

// single is a grid of a block.
var single = [3]int{1, 1, 1}

// oddValues are bits of numbers of a type at which operations tend to go wrong.
func oddValues(d ir.DType) []uint64 {
	switch d {
	case ir.Bool:
		return []uint64{0, 1}
	case ir.F32:
		var bits []uint64
		for _, x := range []float32{0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, -3.75, 126.5, 127.5, -128.5, 255.5, 256, 32767.5, -32769,
			65519, 65520, 65536, 3e5, 8388609, 16777216, 2147483520, 2147483648, -2147483648, 4294967040, 4294967296, 9.2233715e18, 9.223372e18,
			-9.223372e18, 1.8446743e19, 1.8446744e19, 3.4028235e38, -3.4028235e38, 1e-45, -1e-45, 1.1754942e-38, 1.1754944e-38, 6e-8, 2.98e-8, 6.1e-5,
			1.0039062, 1.0117188, 3.3961775e38} {
			bits = append(bits, uint64(math.Float32bits(x)))
		}
		return append(bits, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001)
	case ir.F64:
		var bits []uint64
		for _, x := range []float64{0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, -3.75, 127.9, -128.9, 255.9, 32767.9, 65535.9, 65520, 65519.99,
			1 + 1.0/256, 1 + 1.0/256 + 1e-15, 1 + 3.0/256, 1 + 1.0/2048, 1 + 1.0/2048 + 1e-15, 2147483647.5, 2147483648, -2147483649, 4294967295.5,
			9007199254740993, 9.223372036854775e18, 9.223372036854775807e18, -9.223372036854775808e18, 1.8446744073709550e19, 1.8446744073709552e19,
			3.4028235e38, 3.4028236e38, 1e39, 1.7976931348623157e308, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-40, 1e-46, 1e-60, 4e-41, 3e-8, 6e-8} {
			bits = append(bits, math.Float64bits(x))
		}
		return append(bits, 1<<63, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001)
	case ir.F16:
		return []uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3e00, 0xc500, 0x57f8, 0x5bfc, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01}
	case ir.BF16:
		return []uint64{0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xbf80, 0x3fc0, 0xc0a0, 0x42ff, 0x437f, 0x4f00, 0xcf00, 0x5f00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1}
	}
	n := d.Bits()
	mask := uint64(math.MaxUint64) >> (64 - n)
	var bits []uint64
	for _, x := range []uint64{0, 1, 2, 3, 7, 100, 127, 128, 255, 256, 257, 32767, 32768, 65519, 65520, 65535, 65536, 8388609, 16777217, 33554433, 50331649,
		math.MaxInt32, 1 << 31, 1<<31 + 128, 1<<31 + 129, math.MaxUint32, 1<<32 + 5, 1<<53 + 1, 1<<62 + 1<<38, 1<<62 + 1<<38 + 1, math.MaxInt64} {
		for _, y := range []uint64{x, -x, ^x} {
			bits = append(bits, y&mask)
		}
	}
	return bits
}

// arithmetic are the types that operations compute on.
var arithmetic = []ir.DType{ir.Bool, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}

// all are the types of memory.
var all = append([]ir.DType{ir.I8, ir.U8, ir.I16, ir.U16, ir.F16, ir.BF16}, arithmetic...)

// same reports whether two numbers of a type have the same bits, or are both NaN.
func same(d ir.DType, x, y uint64) bool {
	isNaN := func(x uint64) bool {
		switch d {
		case ir.F16:
			return x&0x7fff > 0x7c00
		case ir.BF16:
			return x&0x7fff > 0x7f80
		case ir.F32:
			return x&0x7fffffff > 0x7f800000
		case ir.F64:
			return x&(1<<63-1) > 0x7ff<<52
		}
		return false
	}
	return x == y || isNaN(x) && isNaN(y)
}

// compare reports elements that differ.
func compare(t *testing.T, what string, d ir.DType, got, want []uint64) {
	t.Helper()
	for i := range want {
		if !same(d, got[i], want[i]) {
			t.Errorf("%s: element %d is %#x, want %#x", what, i, got[i], want[i])
			return
		}
	}
}
