package vulkan_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/vulkan"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	runtime "github.com/burngen/burngen/runtime/gpu"
	driver "github.com/burngen/burngen/runtime/vulkan"
	"github.com/burngen/burngen/templates/kernels"
)

// TestGrids launches kernels with more items along each dimension than many devices have blocks.
func TestGrids(t *testing.T) {
	target, err := vulkan.Target().Open(driver.Driver(), 0)
	if errors.Is(err, runtime.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	const n = 1<<16 + 3
	y := &ir.Value{Type: ir.StaticTensor(ir.I32, n)}
	for k := range 3 {
		items := dim.Consts(1, 1, 1)
		items[k] = dim.Const(n)
		l, err := kernels.Grid("numbers", items, []int{1}, func(e *kernels.Emitter) func([]*kernel.Value) {
			return func(at []*kernel.Value) { e.Write(y).Set(at[k], at[k]) }
		})
		if err != nil {
			t.Fatal(err)
		}
		var grid [3]int
		for i, d := range l.Grid {
			grid[i], _ = d.Int()
		}
		memory := make([]byte, 4*n)
		if err := target.Device.Launch(l.Kernel, grid, []gpu.Arg{{Memory: memory}}); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if got := binary.LittleEndian.Uint32(memory[4*i:]); got != uint32(i) {
				t.Fatalf("dimension %d: number %d is %d", k, i, got)
			}
		}
	}
}
