package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// accesses returns the loads and stores of a kernel, as "load 4" for one of 4 elements, in order.
func accesses(k *kernel.Kernel) string {
	var out []string
	var visit func(b *kernel.Block)
	visit = func(b *kernel.Block) {
		for _, in := range b.Instrs {
			switch in.Op {
			case kernel.Load:
				out = append(out, "load "+string(rune('0'+len(in.Results))))
			case kernel.Store:
				out = append(out, "store "+string(rune('0'+len(in.Args)-2)))
			}
			for _, inner := range in.Blocks {
				visit(inner)
			}
		}
	}
	visit(k.Body)
	return strings.Join(out, ", ")
}

// TestJoin builds kernels that access adjacent elements one by one.
func TestJoin(t *testing.T) {
	type values = []*kernel.Value
	copied := func(first func(b *kernel.Builder, x *kernel.Value) *kernel.Value, offsets ...int) func(b *kernel.Builder) {
		return func(b *kernel.Builder) {
			x, y := b.Pointer("x", ir.F32), b.Pointer("y", ir.F32)
			at := first(b, x)
			var list values
			for _, k := range offsets {
				list = append(list, b.Load(x, b.Add(at, b.Int(k))))
			}
			for i, k := range offsets {
				b.Store(y, b.Add(at, b.Int(k)), list[i])
			}
		}
	}
	by := func(n int) func(b *kernel.Builder, _ *kernel.Value) *kernel.Value {
		return func(b *kernel.Builder, _ *kernel.Value) *kernel.Value { return b.Mul(b.Thread(0), b.Int(n)) }
	}
	for name, c := range map[string]struct {
		fill func(b *kernel.Builder)
		want string
	}{
		"four":                     {copied(by(4), 0, 1, 2, 3), "load 4, store 4"},
		"the last offset first":    {copied(by(4), 1, 0, 2, 3), "load 1, load 1, load 2, store 4"},
		"eight":                    {copied(by(8), 0, 1, 2, 3, 4, 5, 6, 7), "load 4, load 4, store 4, store 4"},
		"from an odd offset":       {copied(by(4), 1, 2, 3), "load 1, load 2, store 1, store 2"},
		"a gap":                    {copied(by(4), 0, 1, 3), "load 2, load 1, store 2, store 1"},
		"a factor that is too low": {copied(by(2), 0, 1, 2, 3), "load 2, load 2, store 2, store 2"},
		"an unknown factor": {copied(func(b *kernel.Builder, x *kernel.Value) *kernel.Value {
			return b.Convert(ir.I32, b.Load(x, b.Int(0)))
		}, 0, 1), "load 1, load 1, load 1, store 1, store 1"},
		"a store between loads": {func(b *kernel.Builder) {
			x, at := b.Pointer("x", ir.F32), b.Mul(b.Thread(0), b.Int(4))
			v := b.Load(x, at)
			b.Store(x, b.Add(at, b.Int(2)), v)
			b.Store(x, b.Add(at, b.Int(3)), b.Load(x, b.Add(at, b.Int(1))))
		}, "load 1, store 1, load 1, store 1"},
		"stores to places that may be the same": {func(b *kernel.Builder) {
			x, n := b.Pointer("x", ir.F32), b.Scalar("n", ir.I32)
			at, other := b.Mul(b.Thread(0), b.Int(2)), b.Mul(n, b.Int(2))
			b.Store(x, at, b.Float(ir.F32, 1))
			b.Store(x, other, b.Float(ir.F32, 2))
			b.Store(x, b.Add(at, b.Int(1)), b.Float(ir.F32, 3))
		}, "store 1, store 1, store 1"},
		"in a loop": {func(b *kernel.Builder) {
			x, y := b.Pointer("x", ir.BF16), b.Pointer("y", ir.BF16)
			b.For(b.Mul(b.Thread(0), b.Int(8)), b.Int(64), b.Int(16), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
				var list values
				for k := range 8 {
					list = append(list, b.Load(x, b.Add(i, b.Int(k))))
				}
				for k := range 8 {
					b.Store(y, b.Add(i, b.Int(k)), list[k])
				}
				return nil
			})
		}, "load 8, store 8"},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := kernel.Build("k", []int{2}, c.fill)
			if err != nil {
				t.Fatal(err)
			}
			if got := accesses(k); got != c.want {
				t.Errorf("%s, want %s\n%s", got, c.want, k)
			}
			if has := strings.ContainsAny(c.want, "2348"); k.HasVectors() != has {
				t.Errorf("HasVectors is %v", !has)
			}
		})
	}
}

// TestJoinedKernels runs kernels whose accesses are joined, in place and with elements that are stored twice.
func TestJoinedKernels(t *testing.T) {
	k, err := kernel.Build("k", []int{2}, func(b *kernel.Builder) {
		x, at := b.Pointer("x", ir.I32), b.Mul(b.Thread(0), b.Int(4))
		var list []*kernel.Value
		for i := range 4 {
			list = append(list, b.Load(x, b.Add(at, b.Int(i))))
		}
		for i := range 4 {
			b.Store(x, b.Add(at, b.Int(i)), b.Mul(list[3-i], b.Int(10)))
		}
		b.Store(x, b.Add(at, b.Int(3)), b.Int(7))
	})
	if err != nil {
		t.Fatal(err)
	}
	x := []int32{1, 2, 3, 4, 5, 6, 7, 8}
	if err := k.Run([3]int{1, 1, 1}, []kernel.Arg{kernel.Memory(x)}, kernel.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := []int32{40, 30, 20, 7, 80, 70, 60, 7}; !slices.Equal(x, want) {
		t.Errorf("%v, want %v\n%s", x, want, k)
	}
}
