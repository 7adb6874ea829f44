package kernels

import "math"

// AttentionTiles say how a pipelined attention is computed.
type AttentionTiles struct {
	// Groups is the number of groups of threads that multiply, 2 or 3. A group has 64 queries of a block's tile.
	Groups int
	// Keys is the number of keys that are multiplied at a time, a multiple of 64 up to 256.
	Keys int
	// Stages is how many tiles of keys and of values are in shared memory.
	Stages int
	// Blocks is the greatest number of blocks. A block computes several tiles, one after the other.
	Blocks int
	// Turns lets one group issue its products while the others compute weights.
	Turns bool
	// Cache is the largest number of bytes of keys and values that blocks should read at the same time. It matters
	// only in causal attention that has a block for each tile.
	Cache int
}

// multiprocessors is the number of blocks that run at the same time on the devices that the tiles were measured on.
const multiprocessors = 132

// AttentionTilesOf returns the tiles of a pipelined attention.
func AttentionTilesOf(a Attention) AttentionTiles {
	t := AttentionTiles{Groups: 2, Keys: 128, Stages: 2, Blocks: multiprocessors, Turns: true, Cache: 24 << 20}
	// time is about proportional to the time of an attention with this number of groups.
	time := func(groups int, rate float64) float64 {
		tiles := a.Batch * a.Heads * tilesOfHead(a.Queries, groups)
		return float64((tiles+t.Blocks-1)/t.Blocks*groups) / rate
	}
	if a.Width <= 64 && time(3, 1) < time(2, 0.85) { // registers suffice for three groups up to 64
		t.Groups = 3
	}
	if a.After >= 0 {
		// Blocks compute pairs of tiles, unless many blocks would then have no work at the end.
		pairs := a.Batch * a.Heads * ((tilesOfHead(a.Queries, t.Groups) + 1) / 2)
		if turns := (pairs + t.Blocks - 1) / t.Blocks; a.Before >= 0 || 10*pairs < 9*turns*t.Blocks {
			t.Blocks = math.MaxInt32
		}
	}
	return t
}

// tilesOfHead returns the number of tiles into which the queries of a head are divided. A tile has the queries of
// `groups` groups of threads.
func tilesOfHead(queries, groups int) int {
	n := groups * rowsOfGroup
	return (queries + n - 1) / n
}
