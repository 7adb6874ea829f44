package narrow

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// built returns the kernel that fill describes.
func built(t *testing.T, block int, fill func(b *kernel.Builder)) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Build("k", []int{block}, fill)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// agree runs a kernel and its narrow form, and fails unless they leave the same bytes in memory. args are arrays,
// as []byte, and numbers.
func agree(t *testing.T, k *kernel.Kernel, grid int, args ...any) {
	t.Helper()
	short, err := Kernel(k)
	if err != nil {
		t.Fatal(err)
	}
	checkTypes(t, short)
	run := func(k *kernel.Kernel) (arrays [][]byte) {
		var list []kernel.Arg
		for i, a := range args {
			switch a := a.(type) {
			case []byte:
				arrays = append(arrays, bytes.Clone(a))
				list = append(list, kernel.Bytes(k.Params[i].Type.DType, arrays[len(arrays)-1]))
			case int32:
				list = append(list, kernel.Number(a))
			case int64:
				list = append(list, kernel.Number(a))
			case uint64:
				list = append(list, kernel.Number(a))
			}
		}
		if err := k.Run([3]int{grid, 1, 1}, list, kernel.Options{}); err != nil {
			t.Fatalf("%v\n%s", err, k)
		}
		return arrays
	}
	want, got := run(k), run(short)
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("array %d is\n%x, want\n%x\n%s", i, got[i], want[i], short)
		}
	}
}

// checkTypes fails if a kernel has an integer of 64 bits besides parameters that are split.
func checkTypes(t *testing.T, k *kernel.Kernel) {
	t.Helper()
	if err := k.Verify(); err != nil {
		t.Fatal(err)
	}
	if hasWide(k.Body) {
		t.Fatalf("integers of 64 bits are left:\n%s", k)
	}
	for _, v := range append(k.Params, k.Shared...) {
		if v.Type.Space != kernel.NoSpace && is64(v.Type.DType) {
			t.Fatalf("%s is %s", v, v.Type)
		}
	}
}

// memory returns the bytes of numbers.
func memory[T any](x []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(zero)))
}

// TestMemory moves integers of 64 bits through arrays of both spaces, one and two at a time, at indices of both
// types, and takes them from parameters.
func TestMemory(t *testing.T) {
	const n = 16
	for _, d := range []ir.DType{ir.I64, ir.U64} {
		k := built(t, n, func(b *kernel.Builder) {
			b.Doc("moves %d numbers", n)
			x, y := b.Pointer("x", d), b.Pointer("y", d)
			c := b.Scalar("c", d)
			s := b.Shared("s", d, 2*n)
			i := b.Thread(0)
			at := b.Mul(i, b.Int(2))
			v := b.LoadN(x, b.Convert(ir.I64, at), 2)
			b.Store(s, at, v...)
			b.Barrier()
			w := b.Load(s, b.Convert(ir.I64, b.Sub(b.Int(2*n-1), at)))
			b.Store(y, at, b.Add(w, c), c)
		})
		x := make([]uint64, 2*n)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range x {
			x[i] = r.Uint64()
		}
		var c any = uint64(1<<63 + 5)
		if d == ir.I64 {
			c = int64(-1 << 40)
		}
		agree(t, k, 1, memory(x), make([]byte, 16*n), c)
		short, err := Kernel(k)
		if err != nil {
			t.Fatal(err)
		}
		if p, q := short.Params[0], short.Params[1]; short.Name != k.Name || short.Doc != k.Doc || short.Block != k.Block || p.Written || !q.Written ||
			p.Name != "x" || short.Params[2].Type != k.Params[2].Type || short.Shared[0].Len != 4*n {
			t.Errorf("the kernel has changed:\n%s", short)
		}
	}
}

// TestControl carries integers of 64 bits through loops and branches, beside other values.
func TestControl(t *testing.T) {
	k := built(t, 8, func(b *kernel.Builder) {
		y := b.Pointer("y", ir.I64)
		seed := b.Scalar("seed", ir.U64)
		i := b.Thread(0)
		v := b.ForUnrolled(2, b.Int(0), b.Int(5), b.Int(2), []*kernel.Value{seed, i, b.Convert(ir.I64, i)}, func(j *kernel.Value, c []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Mul(c[0], b.Whole(ir.U64, 6364136223846793005)), b.Add(c[1], j), b.Sub(c[2], b.Convert(ir.I64, c[0]))}
		})
		v = b.If(b.Lt(v[1], b.Int(8)),
			func() []*kernel.Value { return []*kernel.Value{v[2], v[1]} },
			func() []*kernel.Value { return []*kernel.Value{b.Bitcast(ir.I64, v[0]), b.Int(3)} })
		v = b.While(v, func(c []*kernel.Value) *kernel.Value { return b.Gt(c[1], b.Int(0)) },
			func(c []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{b.Add(c[0], b.Whole(ir.I64, 1<<33+1)), b.Sub(c[1], b.Int(1))}
			})
		b.Store(y, i, v[0])
	})
	agree(t, k, 1, make([]byte, 64), uint64(0x9e3779b97f4a7c15))
}

// TestOther asserts that a kernel without integers of 64 bits stays, and that everything else in a kernel with
// them is kept.
func TestOther(t *testing.T) {
	plain := built(t, 1, func(b *kernel.Builder) { b.Store(b.Pointer("y", ir.F64), b.Int(0), b.Float(ir.F64, 1.5)) })
	if k, err := Kernel(plain); k != plain || err != nil {
		t.Errorf("%v, %v", k, err)
	}
	k := built(t, 32, func(b *kernel.Builder) {
		a, y, z, count := b.Pointer("a", ir.F16), b.Pointer("y", ir.F32), b.Pointer("z", ir.F64), b.Pointer("count", ir.U32)
		half := b.Bitcast(ir.F16, b.Whole(ir.U16, 0x3c01))
		i := b.Add(b.Mul(b.BlockIdx(0), b.Int(32)), b.Thread(0))
		b.Atomic(kernel.AtomicAdd, count, b.Convert(ir.I64, b.Int(0)), b.Convert(ir.U32, i))
		x := b.LoadN(a, b.Mul(i, b.Int(4)), 4)
		f := b.Fma(b.Convert(ir.F32, x[1]), b.Unary(kernel.Sqrt, b.Convert(ir.F32, x[2])), b.Convert(ir.F32, half))
		one := b.Bitcast(ir.F32, b.Whole(ir.U32, 0x3f800000))
		sums := b.MatMulAdd(append(x, x...), x, []*kernel.Value{f, one, one, f})
		wide := b.Select(b.Lt(sums[0], b.Float(ir.F32, 8)), b.Float(ir.F64, 1e300), b.Convert(ir.F64, sums[1]))
		b.Store(y, i, b.Max(sums[2], sums[3]))
		low, high := b.Split(wide)
		b.Store(z, i, b.Add(wide, b.Convert(ir.F64, b.Bitcast(ir.I64, wide))))
		b.Atomic(kernel.AtomicAdd, count, b.Int(1), b.Or(low, high))
	})
	a := make([]byte, 0, 64*4*2)
	for i := range 64 * 4 {
		a = binary.LittleEndian.AppendUint16(a, uint16(0x3800+7*i))
	}
	agree(t, k, 2, a, make([]byte, 64*4), make([]byte, 64*8), make([]byte, 8))
}

// TestRefused asserts that kernels without a narrow form are errors.
func TestRefused(t *testing.T) {
	for want, fill := range map[string]func(b *kernel.Builder){
		"kernel k: atomic_add on i64 has no form without integers of 64 bits": func(b *kernel.Builder) {
			b.Atomic(kernel.AtomicAdd, b.Pointer("x", ir.I64), b.Int(0), b.Whole(ir.I64, 1))
		},
		"kernel k: the bits of an integer as f64 have no form without integers of 64 bits": func(b *kernel.Builder) {
			b.Store(b.Pointer("x", ir.F64), b.Int(0), b.Bitcast(ir.F64, b.Scalar("n", ir.U64)))
		},
	} {
		_, err := Kernel(built(t, 1, fill))
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
