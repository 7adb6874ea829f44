package spirv

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// trial is a kernel, what it is called with, and what it must compute.
type trial struct {
	name string
	k    *kernel.Kernel
	grid [3]int
	args []any // a []byte is the contents of an array, a uint64 the bits of a scalar
	// shift is how many bytes after a multiple of 256 arrays begin. It is less than 256.
	shift int
	// check compares the arrays after the call with what they must be.
	check func(t *testing.T, arrays [][]byte)
}

// write returns the module of a trial's kernel.
func (c trial) write(t *testing.T, o Options) []byte {
	t.Helper()
	code, err := o.Write(c.k)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// types are the types of values.
var types = []ir.DType{
	ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.F32, ir.F64,
}

// encode returns numbers as memory holds them.
func encode(d ir.DType, bits []uint64) []byte {
	var out []byte
	for _, v := range bits {
		out = append(out, binary.LittleEndian.AppendUint64(nil, v)[:d.Size()]...)
	}
	return out
}

// decode returns the numbers that memory holds.
func decode(d ir.DType, b []byte) []uint64 {
	var out []uint64
	for ; len(b) > 0; b = b[d.Size():] {
		out = append(out, binary.LittleEndian.Uint64(append(append([]byte{}, b[:d.Size()]...), make([]byte, 8)...)))
	}
	return out
}

// low returns as many low bits of n as a type has in memory.
func low(d ir.DType, n uint64) uint64 { return n << (64 - 8*d.Size()) >> (64 - 8*d.Size()) }

// signed returns the integer with these bits.
func signed(d ir.DType, n uint64) int64 {
	return int64(n<<(64-8*d.Size())) >> (64 - 8*d.Size())
}

// real64 returns the float of 32 or 64 bits with these bits.
func real64(d ir.DType, n uint64) float64 {
	if d == ir.F32 {
		return float64(math.Float32frombits(uint32(n)))
	}
	return math.Float64frombits(n)
}

// bitsOf rounds a float to a type of 32 or 64 bits.
func bitsOf(d ir.DType, x float64) uint64 {
	if d == ir.F32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// samples returns numbers of a type: what is odd about it, and some at random.
func samples(d ir.DType) []uint64 {
	r := rand.New(rand.NewPCG(1, uint64(d)))
	var out []uint64
	switch {
	case d == ir.Bool:
		return []uint64{0, 1, 1, 0, 2, 0, 0x80, 255}
	case d == ir.F16:
		out = []uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3e00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x5640}
	case d == ir.BF16:
		out = []uint64{0, 0x8000, 0x80, 0x3f80, 0xbf80, 0x3fc0, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x4f00, 0xcf00, 0x4380}
	case d.IsFloat():
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 2.5, -2.5, -0.75, 100, 127.5, -128.9, 255.5, 32767.5, 65519, 65520,
			-70000, 1 << 24, 1<<24 + 2, 1<<31 - 128, 1 << 31, -1 << 31, -(1<<31 + 256), 1 << 32, 1<<63 - 1<<39, 1 << 63, -1 << 63, 1 << 64, 1e30, 6e-5, 6e-8, 3e-8, 2.9e-8, -1e-9,
			math.Inf(1), math.Inf(-1), math.NaN(), math.Pi, 1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-20, 1 + 0x3p-11, 1 + 0x1p-8, 1 + 0x3p-8} {
			out = append(out, bitsOf(d, x))
		}
		if d == ir.F64 {
			for _, x := range []float64{1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 - 0x1p-40, 1<<53 + 2, 1e300, -1e300, 1e-300, 1<<31 - 0.5, -1<<31 - 0.5} {
				out = append(out, bitsOf(d, x))
			}
		}
	default:
		out = []uint64{0, 1, 2, 3, 5, 7, 8, 100, low(d, ^uint64(0)), low(d, ^uint64(1)), low(d, ^uint64(99)), low(d, ^uint64(0)) >> 1, low(d, ^uint64(0))>>1 + 1, low(d, ^uint64(0))>>1 + 2}
		if d.Size() >= 4 {
			out = append(out, 1<<24, 1<<24+1, 1<<24+1<<16, 1<<24+1<<16+1, 1<<24+3<<16-1, 0xadf7488d)
		}
		if d.Size() == 8 {
			out = append(out, 1<<53+1, 1<<40+1<<32+1, 1<<60+1<<52, 1<<60+1<<52+1<<9, 1<<60+3<<52-1<<9)
		}
	}
	for range 5 {
		n := low(d, r.Uint64())
		if d.IsFloat() && d.Size() >= 4 {
			n = bitsOf(d, r.NormFloat64()*100)
		}
		out = append(out, n)
	}
	return out
}

// build returns a kernel that a test cannot go on without.
func build(name string, block []int, fill func(b *kernel.Builder)) *kernel.Kernel {
	k, err := kernel.Build(name, block, fill)
	if err != nil {
		panic(err)
	}
	return k
}

// judge says what a kernel must compute from numbers, and whether it has computed that.
type judge func(x []uint64, got uint64) (want uint64, ok bool)

// exactly judges by a function. Where that has no certain result, any number is right.
func exactly(d ir.DType, f func(x []uint64) (bits uint64, ok bool)) judge {
	return func(x []uint64, got uint64) (uint64, bool) {
		want, ok := f(x)
		return want, !ok || same(d, got, want)
	}
}

// within judges floats by a function, up to a number of units in the last place.
func within(d ir.DType, units uint64, f func(x []uint64) (bits uint64, ok bool)) judge {
	return func(x []uint64, got uint64) (uint64, bool) {
		want, ok := f(x)
		return want, !ok || same(d, got, want) || !isNaN(d, got) && (got-want <= units || want-got <= units)
	}
}

// each returns a trial of a kernel that computes a number from numbers of arrays.
func each(name string, in []ir.DType, out ir.DType, x [][]uint64, fill func(b *kernel.Builder, x []*kernel.Value) *kernel.Value, judge judge) trial {
	n := len(x[0])
	k := build(name, []int{32}, func(b *kernel.Builder) {
		b.Doc("computes %s of %d arrays", name, len(in))
		var arrays, values []*kernel.Value
		for i, d := range in {
			arrays = append(arrays, b.Pointer(string(rune('a'+i)), d))
		}
		result := b.Pointer("out", out)
		count := b.Scalar("n", ir.I32)
		i := b.Global(0)
		b.Do(b.Lt(i, count), func() {
			for _, p := range arrays {
				values = append(values, b.Load(p, i))
			}
			b.Store(result, i, fill(b, values))
		})
	})
	t := trial{name: name, k: k, grid: [3]int{(n + 31) / 32, 1, 1}}
	for i, d := range in {
		t.args = append(t.args, encode(d, x[i]))
	}
	t.args = append(t.args, make([]byte, n*out.Size()), uint64(n))
	t.check = func(t *testing.T, arrays [][]byte) {
		for i, got := range decode(out, arrays[len(in)]) {
			row := make([]uint64, len(in))
			for j := range in {
				row[j] = x[j][i]
			}
			if want, ok := judge(row, got); !ok {
				t.Errorf("%x gives %x, want %x", row, got, want)
			}
		}
	}
	return t
}

// same reports whether two numbers are equal. All NaNs are.
func same(d ir.DType, x, y uint64) bool {
	return x == y || isNaN(d, x) && isNaN(d, y)
}

func isNaN(d ir.DType, x uint64) bool {
	switch d {
	case ir.F16:
		return x&0x7fff > 0x7c00
	case ir.BF16:
		return x&0x7fff > 0x7f80
	case ir.F32, ir.F64:
		return math.IsNaN(real64(d, x))
	}
	return false
}

// pairs returns all pairs of numbers.
func pairs(x, y []uint64) [][]uint64 {
	out := make([][]uint64, 2)
	for _, p := range x {
		for _, q := range y {
			out[0], out[1] = append(out[0], p), append(out[1], q)
		}
	}
	return out
}

// trialsOf returns the trials whose kernels can be written with options: in words, there are no atomic operations
// on 64 bits, and no floats of 64 bits that are made of the bits of an integer.
func trialsOf(o Options) []trial {
	all := trials()
	if o.Words {
		all = slices.DeleteFunc(all, func(c trial) bool {
			isAtomic := strings.Contains(c.name, "atomic_") && strings.Contains(c.name, "64_")
			return isAtomic || c.name == "bitcast_i64_f64" || c.name == "bitcast_u64_f64"
		})
	}
	return all
}

// trials returns all trials.
func trials() []trial {
	var out []trial
	for _, list := range [][]trial{operations(), conversions(), accesses(), flows(), atomicTrials()} {
		out = append(out, list...)
	}
	seen := map[string]bool{}
	for _, t := range out {
		if seen[t.name] {
			panic(fmt.Sprintf("two trials have the name %s", t.name))
		}
		seen[t.name] = true
	}
	return out
}
