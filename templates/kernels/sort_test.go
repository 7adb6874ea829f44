package kernels

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// TestSort sorts numbers with equal ones among them, of a known and an unknown number.
func TestSort(t *testing.T) { limits(t, testSort) }

func testSort(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 63, 64, 65, 257, 1000} {
		for _, tile := range []int{4, 256} {
			for _, length := range []dim.Dim{dim.Const(n), dim.Sym("n")} {
				x, y := &ir.Value{Type: ir.TensorOf(ir.I32, length)}, &ir.Value{Type: ir.TensorOf(ir.I32, length)}
				launches, err := Sort("sort", Order{
					Length: length, Tile: tile,
					Less:  func(e *Emitter, i, j *kernel.Value) *kernel.Value { return e.Lt(e.Read(x).Get(i), e.Read(x).Get(j)) },
					Store: func(e *Emitter, place, i *kernel.Value) { e.Write(y).Set(place, i) },
				})
				if err != nil {
					t.Fatal(err)
				}
				keys, got, want := make([]int32, n), make([]int32, n), make([]int32, n)
				for i := range keys {
					keys[i], want[i] = int32(i*i%37), int32(i)
				}
				slices.SortStableFunc(want, func(i, j int32) int { return int(keys[i] - keys[j]) })
				m := memory{x: kernel.Memory(keys), y: kernel.Memory(got)}
				for _, l := range launches {
					for _, a := range l.Args {
						if a.Scratch != nil {
							m[a.Scratch] = kernel.Memory(make([]int32, 2*n))
						}
					}
				}
				m.run(t, map[string]int{"n": n}, launches...)
				if !slices.Equal(got, want) {
					t.Fatalf("%d elements, tiles of %d: the order is %v, want %v", n, tile, got, want)
				}
			}
		}
	}
}
