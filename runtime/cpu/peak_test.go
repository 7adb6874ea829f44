package cpu_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

// A multiply-add is two operations of each lane. Plain Go and WebAssembly have none.
func TestMultiplyAdds(t *testing.T) {
	lanes := map[cpu.Level]int64{cpu.Generic: 0, cpu.AVX2: 8, cpu.AVX512: 16, cpu.NEON: 4}
	atEachLevel(t, func(t *testing.T) {
		if got, want := cpu.MultiplyAdds(10), 10*12*2*lanes[cpu.CurrentLevel()]; got != want {
			t.Errorf("%d operations, want %d", got, want)
		}
		least := 4
		if cpu.CurrentLevel() == cpu.SIMD128 {
			least = 2 // with four registers for a row
		}
		if rows := cpu.TileRows(); rows < least {
			t.Errorf("a tile has %d rows", rows)
		}
	})
}
