package kernels

// measured lists tiles of pipelined products. rate is the speed of a block with these tiles, in sums per second,
// divided by the speed with the first tiles. The rates were measured in bf16 on an H200, with products of 2048 × 4096
// × 4096 and of 1024 × 1024 × 1024, and with the convolutions of ResNet-50; the benchmarks of products and of
// convolutions measure them.
var measured = []struct {
	Tiles
	rate float64
}{
	{Tiles{M: 128, N: 128, Turns: true, Stages: 6, Blocks: 132, Raster: 8}, 1},
	{Tiles{M: 64, N: 128, Stages: 8, Blocks: 132, Raster: 16}, 0.73},
	{Tiles{M: 128, N: 64, Turns: true, Stages: 6, Blocks: 132, Raster: 16}, 0.72},
	{Tiles{M: 64, N: 64, Stages: 8, Blocks: 132, Raster: 16}, 0.52},
}

// TilesOf returns the tiles for a pipelined product with m × n sums. It returns the element of [measured] that takes
// the least time. The estimate assumes that all blocks run at the same time.
func TilesOf(m, n int) Tiles {
	best, least := 0, 0.0
	for i, t := range measured {
		tiles := (m + t.M - 1) / t.M * ((n + t.N - 1) / t.N)
		time := float64((tiles+t.Blocks-1)/t.Blocks*t.M*t.N) / t.rate
		if i == 0 || time < least {
			best, least = i, time
		}
	}
	return measured[best].Tiles
}
