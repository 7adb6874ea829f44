package kernels

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestRowsInGroups subtracts the sum of each row from its elements, for rows that threads hold and others.
func TestRowsInGroups(t *testing.T) {
	for _, length := range []int{1, 31, 65, 96, 520, 2056, 8200, 33001} {
		for _, symbolic := range []bool{false, true} {
			t.Run(fmt.Sprint(length, symbolic), func(t *testing.T) {
				limits(t, func(t *testing.T) { subtractSums(t, length, symbolic) })
			})
		}
	}
}

func subtractSums(t *testing.T, length int, symbolic bool) {
	rows := 3
	if length > 10_000 {
		rows = 1
	}
	dims, symbols := extentsOf(symbolic, rows, length)
	x, y := &ir.Value{Type: ir.TensorOf(ir.I32, dims...)}, &ir.Value{Type: ir.TensorOf(ir.I32, dims...)}
	numbers, got, sums := make([]int32, rows*length), make([]int32, rows*length), make([]int32, rows)
	for i := range numbers {
		numbers[i] = int32(i%17 + i/length)
		sums[i/length] += numbers[i]
	}
	l, err := RowsInGroups("rows", dims[0], dims[1], 4, Threads, func(g *RowGroups) {
		first := g.Mul(g.Index, g.Length)
		element := func(l *Lane) *kernel.Value {
			if l.Known["x"] == nil {
				l.Known["x"] = g.Read(x).Get(g.Add(first, l.Index))
			}
			return l.Known["x"]
		}
		sum := g.JoinThreads(g.Fold([]*kernel.Value{g.Int(0)}, func(m *Group, s []*kernel.Value) []*kernel.Value {
			for _, l := range m.Lanes {
				s = []*kernel.Value{g.Add(s[0], element(l))}
			}
			return s
		}), func(e *Emitter, s, t []*kernel.Value) []*kernel.Value { return []*kernel.Value{e.Add(s[0], t[0])} })[0]
		g.Each(func(m *Group) {
			for _, l := range m.Lanes {
				l.Known["y"] = g.Sub(element(l), sum)
			}
		}, func(m *Group) {
			for _, l := range m.Lanes {
				g.Write(y).Set(g.Add(first, l.Index), l.Known["y"])
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	memory{x: kernel.Memory(numbers), y: kernel.Memory(got)}.run(t, symbols, l)
	for i, v := range got {
		if want := numbers[i] - sums[i/length]; v != want {
			t.Fatalf("element %d is %d, want %d", i, v, want)
		}
	}
	if has := l.Kernel.HasVectors(); has != (!symbolic && length%2 == 0) {
		t.Errorf("vectors: %v\n%s", has, l.Kernel)
	}
}
