// Package calibrate measures the machine parameters of the cost model on the current machine. It
// knows kernels and clocks, but not models.
package calibrate

import (
	"math"
	"time"

	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/runtime/cpu"
)

// Machine measures the kernels of [cpu.CurrentLevel], the instruction set in use, on one core and
// returns the result. The measurement takes at most about budget. name is the name of the machine; if it
// is "", the name of the level is used. The machine seems slower if other programs load it.
func Machine(name string, budget time.Duration) cost.Machine {
	if name == "" {
		name = cpu.CurrentLevel().String()
	}
	each := budget / 20
	m := cost.Machine{Name: name, Rows: cpu.TileRows(), Cache: cacheSize(each)}
	m.MultiplyAdds = multiplyAdds(each)
	m.Stream = stream(each)
	m.Move = move(each, m)
	return m
}

// least calls f once without timing it, and then for about budget, at least three times. It returns the
// time of the fastest timed call in nanoseconds, at least 1.
func least(budget time.Duration, f func()) float64 {
	f()
	best := math.Inf(1)
	for begin, n := time.Now(), 0; n < 3 || time.Since(begin) < budget; n++ {
		start := time.Now()
		f()
		best = min(best, float64(time.Since(start)))
	}
	return max(best, 1)
}

// multiplyAdds returns the multiply-adds per nanosecond of a product whose operands stay in the
// second-level cache.
func multiplyAdds(budget time.Duration) float64 {
	const rows, depth, columns = 168, 256, 256
	t := least(budget, product(rows, depth, columns))
	return rows * depth * columns / t
}

// ones returns a slice of n ones. It writes all pages, because the system may back unwritten pages with
// one shared page of zeros.
func ones(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

func product(rows, depth, columns int) func() {
	a, b, dst := ones(rows*depth), ones(cpu.PanelsLen(depth, columns)), ones(rows*columns)
	s := &cpu.MatMulShape{M: rows, N: columns, K: depth, LDA: depth, LDC: columns, Batch: 1}
	return func() { cpu.MatMul(dst, a, b, s, nil) }
}

// stream returns the bytes per nanosecond at which weights stream from memory. It measures a product
// with so few rows that loading the weights takes all of its time.
func stream(budget time.Duration) float64 {
	const rows, depth, columns = 4, 256, 64 << 10
	return 4 * depth * columns / least(4*budget, product(rows, depth, columns))
}

// move returns the bytes per nanosecond that the transforms of a Winograd convolution write. It times a convolution
// with few channels, and subtracts the time that the machine m needs for the convolution's products.
func move(budget time.Duration, m cost.Machine) float64 {
	const size, tile = 56, 4
	c := cost.Conv{N: 1, InC: 16, OutC: 16, OutH: size, OutW: size, Group: 1}
	s := &cpu.WinogradShape{N: 1, InC: 16, InH: size, InW: size, OutC: 16, OutH: size, OutW: size, Top: 1, Left: 1, Group: 1, Tile: tile}
	src, dst, weights := ones(16*size*size), ones(16*size*size), ones(cpu.WinogradWeightsLen(s))
	tiles := (size / tile) * (size / tile)
	scratch := ones(cpu.WinogradScratch(s, 1, tiles))
	t := least(budget, func() { cpu.Winograd(dst, src, weights, scratch, s, nil) })
	still := m
	still.Move = math.Inf(1)
	bytes := float64(64 * (tile + 2) * (tile + 2) * 2 * tiles)
	return bytes / max(t-c.Winograd(still, tile), t/10)
}

// cacheSize returns the size of the second-level cache in bytes, a power of two from 128 KiB to 32 MiB. It sums
// arrays of 128 KiB, 256 KiB and so on. It stops at the first array that takes at least 1.4 times the time per byte
// of 128 KiB. It returns the size before that.
func cacheSize(budget time.Duration) int {
	const sure, most = 128 << 10, 32 << 20
	src, sum := ones(most/4), ones(1)
	perByte := func(size int) float64 {
		return least(budget/8, func() { cpu.ReduceSum(sum, src[:size/4], 1, size/4, 1) }) / float64(size)
	}
	near := perByte(sure)
	size := sure
	for size < most && perByte(2*size) < 1.4*near {
		size *= 2
	}
	return size
}
