// Package calibrate measures what the cost model wants to know of the machine that it
// runs on. It knows kernels and clocks; it does not know models.
package calibrate

import (
	"math"
	"time"

	"github.com/burngen/burngen/ir/cost"
	"github.com/burngen/burngen/runtime/cpu"
)

// Machine measures one core at the level that the kernels use now, for about as long as
// given; name is what to call it, "" the level. Neighbours that use the machine at the same time make
// it seem slower than it is.
func Machine(name string, about time.Duration) cost.Machine {
	if name == "" {
		name = cpu.CurrentLevel().String()
	}
	each := about / 20
	m := cost.Machine{Name: name, Rows: cpu.TileRows(), Cache: cacheSize(each)}
	m.MultiplyAdds = multiplyAdds(each)
	m.Stream = stream(each)
	m.Move = move(each, m)
	return m
}

// least returns the nanoseconds of the fastest of the calls of f that take about so long.
func least(about time.Duration, f func()) float64 {
	f()
	best := math.Inf(1)
	for begin, n := time.Now(), 0; n < 3 || time.Since(begin) < about; n++ {
		start := time.Now()
		f()
		best = min(best, float64(time.Since(start)))
	}
	return max(best, 1)
}

// multiplyAdds is the rate of a product whose operands stay in the second-level cache.
func multiplyAdds(about time.Duration) float64 {
	const rows, depth, columns = 168, 256, 256
	t := least(about, product(rows, depth, columns))
	return rows * depth * columns / t
}

// ones returns so many numbers in memory of their own: pages that nobody has written to
// are all the same one.
func ones(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// product returns the call of a product.
func product(rows, depth, columns int) func() {
	a, b, dst := ones(rows*depth), ones(cpu.PanelsLen(depth, columns)), ones(rows*columns)
	s := &cpu.MatMulShape{M: rows, N: columns, K: depth, LDA: depth, LDC: columns, Batch: 1}
	return func() { cpu.MatMul(dst, a, b, s, nil) }
}

// stream is the bytes of weights in the nanoseconds of a product of so few rows that it does
// nothing but wait for them.
func stream(about time.Duration) float64 {
	const rows, depth, columns = 4, 256, 64 << 10
	return 4 * depth * columns / least(4*about, product(rows, depth, columns))
}

// move is the bytes that the transforms of a minimal filtering of few channels write in
// the nanoseconds that it takes beyond its products.
func move(about time.Duration, m cost.Machine) float64 {
	const size, tile = 56, 4
	c := cost.Conv{N: 1, InC: 16, OutC: 16, OutH: size, OutW: size, Group: 1}
	s := &cpu.WinogradShape{N: 1, InC: 16, InH: size, InW: size, OutC: 16, OutH: size, OutW: size, Top: 1, Left: 1, Group: 1, Tile: tile}
	src, dst, weights := ones(16*size*size), ones(16*size*size), ones(cpu.WinogradWeightsLen(s))
	tiles := (size / tile) * (size / tile)
	scratch := ones(cpu.WinogradScratch(s, 1, tiles))
	t := least(about, func() { cpu.Winograd(dst, src, weights, scratch, s, nil) })
	still := m
	still.Move = math.Inf(1)
	bytes := float64(64 * (tile + 2) * (tile + 2) * 2 * tiles)
	return bytes / max(t-c.Winograd(still, tile), t/10)
}

// cacheSize is the size of the second-level cache: the largest array, of a power of two
// bytes, that is summed nearly as fast as one that is sure to be in it.
func cacheSize(about time.Duration) int {
	const sure, most = 128 << 10, 32 << 20
	src, sum := ones(most/4), ones(1)
	perByte := func(size int) float64 {
		return least(about/8, func() { cpu.ReduceSum(sum, src[:size/4], 1, size/4, 1) }) / float64(size)
	}
	near := perByte(sure)
	size := sure
	for size < most && perByte(2*size) < 1.4*near {
		size *= 2
	}
	return size
}
