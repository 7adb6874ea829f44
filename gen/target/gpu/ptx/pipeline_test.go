package ptx

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// pipelined is a kernel with all instructions of pipelined kernels.
func pipelined(t testing.TB) *kernel.Kernel {
	const terms, steps = 64, 4
	return build(t, "steps", []int{2 * kernel.Group}, func(b *kernel.Builder) {
		b.Doc("y = a·b of 64 × 64, in steps of 64 terms")
		b.Early()
		a, w, y := b.Map("a", ir.F16, &kernel.Map{Extents: []int{64, steps * terms}, Box: []int{64, terms}}), b.Map("b", ir.F16, &kernel.Map{Extents: []int{2, steps * terms, 64}, Box: []int{1, terms, 64}}), b.Pointer("y", ir.F32)
		x, z := b.Shared("x", ir.F16, 64*terms), b.Shared("z", ir.F16, 64*terms)
		full, empty, sums := b.Phases("full", 1, 1), b.Phases("empty", 1, 1), b.Sums("sums", 64)
		b.If(b.Eq(b.Group(), b.Int(0)), func() []*kernel.Value {
			b.Registers(40)
			b.Do(b.Eq(b.Thread(0), b.Int(0)), func() {
				b.Times(b.Int(steps), nil, func(step *kernel.Value, _ []*kernel.Value) []*kernel.Value {
					b.Await(empty, b.Int(0), b.Rem(b.Add(step, b.Int(1)), b.Int(2)))
					b.Arrive(full, b.Int(0), b.Int(2*2*64*terms))
					k := b.Mul(step, b.Int(terms))
					b.CopyBox(x, b.Int(0), a, full, b.Int(0), b.Int(0), k)
					b.CopyBox(z, b.Int(0), w, full, b.Int(0), b.BlockIdx(0), k, b.Int(0))
					return nil
				})
			})
			return nil
		}, func() []*kernel.Value {
			b.Registers(232)
			b.Times(b.Int(steps), nil, func(step *kernel.Value, _ []*kernel.Value) []*kernel.Value {
				b.Await(full, b.Int(0), b.Rem(step, b.Int(2)))
				for k := 0; k < terms; k += 16 {
					b.MultiplyTiles(sums, kernel.Tile{Array: x, First: b.Int(k)}, kernel.Tile{Array: z, First: b.Int(k * 64), Across: true}, b.Or(b.Bool(k > 0), b.Gt(step, b.Int(0))))
				}
				b.Commit()
				b.Drain(0)
				b.Do(b.Eq(b.Thread(0), b.Int(kernel.Group)), func() { b.Arrive(empty, b.Int(0), nil) })
				return nil
			})
			b.GroupBarrier()
			thread := b.Sub(b.Thread(0), b.Int(kernel.Group))
			for i := range 32 {
				b.Store(y, b.Add(b.Mul(thread, b.Int(32)), b.Int(i)), b.Sum(sums, i))
			}
			return nil
		})
	})
}

// windowed is a kernel that copies a cell of windows.
func windowed(t testing.TB) *kernel.Kernel {
	return build(t, "windowed", []int{kernel.Group}, func(b *kernel.Builder) {
		b.Doc("copies the cell (2, 1) of 64 windows to shared memory")
		images := b.Scalar("images", ir.I32)
		x := b.Map("x", ir.BF16, &kernel.Map{
			Extents: []int{0, 9, 11, 64}, Outer: images, Box: []int{64, 64},
			Windows: &kernel.Windows{First: []int{-1, -1}, Last: []int{7, 9}, Step: []int{2, 1}},
		})
		box, full := b.Shared("box", ir.BF16, 64*64), b.Phases("full", 1, 1)
		b.Do(b.Eq(b.Thread(0), b.Int(0)), func() {
			b.Arrive(full, b.Int(0), b.Int(2*64*64))
			b.CopyBox(box, b.Int(0), x, full, b.Int(0), b.BlockIdx(0), b.Int(1), b.Int(3), b.Int(0), b.Int(2), b.Int(1))
		})
		b.Await(full, b.Int(0), b.Int(0))
	})
}

// heldProduct is a kernel with a product of a matrix that threads hold.
func heldProduct(t testing.TB) *kernel.Kernel {
	return build(t, "held", []int{2 * kernel.Group}, func(b *kernel.Builder) {
		b.Doc("y = 2*a*b, where thread t of 128 holds t in all its elements of a")
		from, y := b.Map("b", ir.BF16, &kernel.Map{Extents: []int{16, 64}, Box: []int{16, 64}}), b.Pointer("y", ir.F32)
		box, full, sums := b.Shared("box", ir.BF16, 16*64), b.Phases("full", 1, 1), b.Sums("sums", 64)
		b.If(b.Eq(b.Group(), b.Int(0)), func() []*kernel.Value {
			b.Do(b.Eq(b.Thread(0), b.Int(0)), func() {
				b.Arrive(full, b.Int(0), b.Int(2*16*64))
				b.CopyBox(box, b.Int(0), from, full, b.Int(0), b.Int(0), b.Int(0))
			})
			return nil
		}, func() []*kernel.Value {
			thread := b.Sub(b.Thread(0), b.Int(kernel.Group))
			x := b.Convert(ir.BF16, b.Convert(ir.F32, thread))
			word := b.Join(x, x)
			b.Await(full, b.Int(0), b.Int(0))
			b.MultiplyHeld(sums, [4]*kernel.Value{word, word, word, word}, kernel.Tile{Array: box, First: b.Int(0), Across: true}, b.Bool(false))
			b.Commit()
			b.Drain(0)
			for i := range 32 {
				b.SetSum(sums, i, b.Mul(b.Sum(sums, i), b.Float(ir.F32, 2)))
			}
			for i := range 32 {
				b.Store(y, b.Add(b.Mul(thread, b.Int(32)), b.Int(i)), b.Sum(sums, i))
			}
			return nil
		})
	})
}

// TestPipelined compares the texts of pipelined kernels with files, and assembles them where there is an assembler. The package
// internal/ptx does not interpret such kernels: they are interpreted by ir/kernel, and run on cards.
func TestPipelined(t *testing.T) {
	if got, want := Dynamic(pipelined(t)), 1024+2*64*64*2+16+8; got != want {
		t.Errorf("%d bytes of shared memory, want %d", got, want)
	}
	for name, k := range map[string]*kernel.Kernel{"pipelined": pipelined(t), "held": heldProduct(t), "windowed": windowed(t)} {
		t.Run(name, func(t *testing.T) { testPipelined(t, k, filepath.Join("testdata", name+".sm90a")) })
	}
}

func testPipelined(t *testing.T, k *kernel.Kernel, file string) {
	text, err := Write(k)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || text != string(want) {
		t.Errorf("%s differs: %v; run with -update, and read what changed:\n%s", file, err, text)
	}
	assembler, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not in PATH: the kernel is not assembled")
	}
	said, err := exec.Command(assembler, "-v", "-arch=sm_90a", "-o", os.DevNull, file).CombinedOutput()
	if err != nil || !strings.Contains(string(said), " 0 bytes spill stores, 0 bytes spill loads") || strings.Contains(string(said), "serialized") || strings.Contains(string(said), "ignored") {
		t.Errorf("%v: %s", err, said)
	}
}
