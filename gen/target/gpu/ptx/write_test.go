package ptx

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/internal/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

var update = flag.Bool("update", false, "write the golden files")

// goldens are kernels whose texts are kept.
func goldens(t testing.TB) map[string][]*kernel.Kernel {
	return map[string][]*kernel.Kernel{
		"pointwise": {swish(t)},
		"rows":      {normalise(t)},
		"transpose": {transpose(t)},
		"integers":  {sumKernel(t, 64), quantise(t)},
	}
}

// swish is pointwise, with vectors of bf16.
func swish(t testing.TB) *kernel.Kernel {
	return build(t, "hard_swish", []int{256}, func(b *kernel.Builder) {
		b.Doc("y = x · min(max(x + 3, 0), 6) / 6, of 8 elements a thread")
		x, y, n := b.Pointer("x", ir.BF16), b.Pointer("y", ir.BF16), b.Scalar("n", ir.I32)
		first := b.Mul(b.Global(0), b.Int(8))
		b.Do(b.Lt(first, n), func() {
			var out []*kernel.Value
			for _, e := range b.LoadN(x, first, 8) {
				f := b.Convert(ir.F32, e)
				gate := b.Min(b.Max(b.Add(f, b.Float(ir.F32, 3)), b.Float(ir.F32, 0)), b.Float(ir.F32, 6))
				out = append(out, b.Convert(ir.BF16, b.Div(b.Mul(f, gate), b.Float(ir.F32, 6))))
			}
			b.Store(y, first, out...)
		})
	})
}

// normalise has loops that are unrolled, and sums in shared memory.
func normalise(t testing.TB) *kernel.Kernel {
	const threads = 32
	return build(t, "rms_norm", []int{threads}, func(b *kernel.Builder) {
		b.Doc("divides each row of n columns by its root mean square")
		x, y, n, epsilon := b.Pointer("x", ir.F32), b.Pointer("y", ir.F32), b.Scalar("n", ir.I32), b.Scalar("epsilon", ir.F32)
		s := b.Shared("squares", ir.F32, threads)
		i, row := b.Thread(0), b.Mul(b.BlockIdx(0), n)
		sum := b.ForUnrolled(2, i, n, b.Int(threads), []*kernel.Value{b.Float(ir.F32, 0)}, func(j *kernel.Value, c []*kernel.Value) []*kernel.Value {
			v := b.Load(x, b.Add(row, j))
			return []*kernel.Value{b.Fma(v, v, c[0])}
		})
		b.Store(s, i, sum[0])
		b.Barrier()
		b.ForUnrolled(8, b.Int(0), b.Int(5), b.Int(1), nil, func(k *kernel.Value, _ []*kernel.Value) []*kernel.Value {
			half := b.Binary(kernel.Shr, b.Int(threads/2), k)
			b.Do(b.Lt(i, half), func() { b.Store(s, i, b.Add(b.Load(s, i), b.Load(s, b.Add(i, half)))) })
			b.Barrier()
			return nil
		})
		scale := b.Unary(kernel.Sqrt, b.Add(b.Div(b.Load(s, b.Int(0)), b.Convert(ir.F32, n)), epsilon))
		b.For(i, n, b.Int(threads), nil, func(j *kernel.Value, _ []*kernel.Value) []*kernel.Value {
			at := b.Add(row, j)
			b.Store(y, at, b.Div(b.Load(x, at), scale))
			return nil
		})
	})
}

// transpose moves a tile through shared memory, with indexes of 64 bits.
func transpose(t testing.TB) *kernel.Kernel {
	return build(t, "transpose", []int{16, 16}, func(b *kernel.Builder) {
		b.Doc("y[j, i] = x[i, j], in tiles of 16 × 16")
		x, y, rows, columns := b.Pointer("x", ir.F64), b.Pointer("y", ir.F64), b.Scalar("rows", ir.I64), b.Scalar("columns", ir.I64)
		tile := b.Shared("tile", ir.F64, 16*17)
		tx, ty := b.Thread(0), b.Thread(1)
		wide := func(v *kernel.Value) *kernel.Value { return b.Convert(ir.I64, v) }
		i, j := wide(b.Global(1)), wide(b.Global(0))
		b.Do(b.And(b.Lt(i, rows), b.Lt(j, columns)), func() {
			b.Store(tile, b.Add(b.Mul(ty, b.Int(17)), tx), b.Load(x, b.Add(b.Mul(i, columns), j)))
		})
		b.Barrier()
		k := wide(b.Add(b.Mul(b.BlockIdx(0), b.Int(16)), ty))
		l := wide(b.Add(b.Mul(b.BlockIdx(1), b.Int(16)), tx))
		b.Do(b.And(b.Lt(k, columns), b.Lt(l, rows)), func() {
			b.Store(y, b.Add(b.Mul(k, rows), l), b.Load(tile, b.Add(b.Mul(tx, b.Int(17)), ty)))
		})
	})
}

// quantise converts to bytes, and counts what it had to clip.
func quantise(t testing.TB) *kernel.Kernel {
	return build(t, "quantise", []int{128}, func(b *kernel.Builder) {
		b.Doc("y = x / scale rounded to i8; clipped counts the elements out of range")
		x, scale, y, clipped := b.Pointer("x", ir.F32), b.Scalar("scale", ir.F32), b.Pointer("y", ir.I8), b.Pointer("clipped", ir.U32)
		first := b.Mul(b.Global(0), b.Int(4))
		var out []*kernel.Value
		inside := b.Bool(true)
		for _, e := range b.LoadN(x, first, 4) {
			q := b.Unary(kernel.Round, b.Div(e, scale))
			inside = b.And(inside, b.Le(b.Abs(q), b.Float(ir.F32, 127)))
			out = append(out, b.Convert(ir.I8, q))
		}
		b.Store(y, first, out...)
		b.Do(b.Not(inside), func() { b.Atomic(kernel.AtomicAdd, clipped, b.Int(0), b.Whole(ir.U32, 1)) })
	})
}

// TestGolden compares texts with files.
func TestGolden(t *testing.T) {
	for name, kernels := range goldens(t) {
		text, err := Write(kernels...)
		if err != nil {
			t.Fatal(err)
		}
		if err := ptx.Check(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		file := filepath.Join("testdata", name+".ptx")
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			t.Errorf("%s differs; run with -update, and read what changed:\n%s", file, text)
		}
	}
}

// TestAssembler assembles the golden files with NVIDIA's assembler, where there is one.
func TestAssembler(t *testing.T) {
	assembler, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not in PATH: the golden files are not assembled")
	}
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		for _, arch := range []string{"sm_80", "sm_90"} {
			out, err := exec.Command(assembler, "-arch="+arch, "-o", filepath.Join(t.TempDir(), "out"), file).CombinedOutput()
			if err != nil {
				t.Errorf("%s for %s: %v\n%s", file, arch, err, out)
			}
		}
	}
}

// TestTransposeRuns runs the golden kernel on a matrix whose sides are not multiples of a tile.
func TestTransposeRuns(t *testing.T) {
	const rows, columns = 20, 37
	x, want, got := make([]uint64, rows*columns), make([]uint64, rows*columns), make([]uint64, rows*columns)
	for i := range rows {
		for j := range columns {
			x[i*columns+j] = uint64(i*1000 + j)
			want[j*rows+i] = x[i*columns+j]
		}
	}
	run(t, transpose(t), [3]int{3, 2, 1}, array(ir.F64, x...), array(ir.F64, got...), number(rows), number(columns))
	compare(t, "transposed", ir.F64, got, want)
}

// TestNames asserts that any name of a value becomes one of PTX, and that names stay apart.
func TestNames(t *testing.T) {
	names := []string{"x.1", "x_1", "add", "tid", "größe", "for_1", ""}
	k := build(t, "names", nil, func(b *kernel.Builder) {
		for range names {
			p, s := b.Pointer("p", ir.I32), b.Shared("s", ir.I32, 1)
			b.Store(s, b.Int(0), b.Add(b.Load(p, b.Int(0)), b.Int(1)))
			b.Store(p, b.Int(0), b.Load(s, b.Int(0)))
		}
	})
	// The builder makes other names. The writer does not depend on that.
	k.Doc = "two\nlines; }"
	for i, name := range names {
		k.Params[i].Name, k.Shared[i].Name = name, name
	}
	for _, in := range k.Body.Instrs {
		for _, r := range in.Results {
			r.Name = "tid"
		}
	}
	var args []arg
	for i := range 7 {
		args = append(args, array(ir.I32, uint64(i)))
	}
	text := run(t, k, single, args...)
	for i, a := range args {
		if a.values[0] != uint64(i+1) {
			t.Errorf("parameter %d: %d, want %d", i, a.values[0], i+1)
		}
	}
	if !strings.Contains(text, "// two lines; }\n") {
		t.Errorf("the comment is not one line in\n%s", text)
	}
}

// TestErrors asserts what cannot be written. The verifier of kernels refuses some of it, too, so these
// kernels are changed after they were built.
func TestErrors(t *testing.T) {
	nothing := func(*kernel.Builder) {}
	plain := build(t, "plain", nil, nothing)
	changed := func(name string, change func(k *kernel.Kernel)) *kernel.Kernel {
		k := build(t, "plain", nil, func(b *kernel.Builder) { b.Shared("s", ir.F64, 1) })
		k.Name = name
		change(k)
		return k
	}
	renamed := func(name string) *kernel.Kernel { return changed(name, func(*kernel.Kernel) {}) }
	sized := func(name string, x, y int) *kernel.Kernel {
		return changed(name, func(k *kernel.Kernel) { k.Block = [3]int{x, y, 1} })
	}
	for _, c := range []struct {
		kernels []*kernel.Kernel
		want    string
	}{
		{[]*kernel.Kernel{plain, plain}, "kernel plain: another kernel has the same name"},
		{[]*kernel.Kernel{build(t, "add", nil, nothing)}, "kernel add: the name is a word of PTX"},
		{[]*kernel.Kernel{renamed("2x")}, "kernel 2x: the name is not an identifier"},
		{[]*kernel.Kernel{renamed("a b")}, "kernel a b: the name is not an identifier"},
		{[]*kernel.Kernel{sized("large", 32, 33)}, "kernel large: blocks of 1056 threads, want 1 to 1024"},
		{[]*kernel.Kernel{sized("none", 0, 1)}, "kernel none: blocks of 0 threads, want 1 to 1024"},
		{[]*kernel.Kernel{changed("much", func(k *kernel.Kernel) { k.Shared[0].Len = 6145 })}, "kernel much: shared arrays of 49160 bytes, at most 49152 are possible"},
	} {
		if _, err := Write(c.kernels...); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
