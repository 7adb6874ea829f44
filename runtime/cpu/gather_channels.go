package cpu

import "unsafe"

const maxGathered = 8

// GatherChannels builds a blocked tensor from channels of at most eight other blocked tensors. dst
// is [n][⌈m/16⌉][pixels][16] with m = len(channels), and a source is [n][⌈c/16⌉][pixels][16].
// counts[k] is the number c of channels of source k. The channels of all sources are numbered one
// after the other; channel i of dst is channel number channels[i]. Channels beyond m are zero.
func GatherChannels[T float32 | uint8](dst []T, channels []int32, n, pixels int, counts []int, srcs ...[]T) {
	if n <= 0 || pixels <= 0 || len(channels) == 0 {
		return
	}
	if len(counts) != len(srcs) || len(srcs) > maxGathered {
		panic("cpu: channels of too many tensors")
	}
	g := gather[T]{channels: channels, pixels: pixels, blocks: ceil(len(channels), 16)}
	g.dst = dst[:volume(n, g.blocks, pixels, 16)]
	total := 0
	for i, src := range srcs {
		if counts[i] < 1 {
			panic("cpu: a tensor without channels")
		}
		g.first[i], g.width[i] = total, ceil(counts[i], 16)
		g.srcs[i] = src[:volume(n, g.width[i], pixels, 16)]
		total += counts[i]
	}
	for i := len(srcs); i < maxGathered; i++ {
		g.first[i] = total
	}
	for _, c := range channels {
		if c < 0 || int(c) >= total {
			panic("cpu: a channel that there is not")
		}
	}
	shared, parts := false, partsFor(0, 2*int64(len(g.dst))*int64(unsafe.Sizeof(g.dst[0])))
	switch g := any(&g).(type) {
	case *gather[float32]:
		shared = gathers.run(g, parts)
	case *gather[uint8]:
		shared = gathersOfBytes.run(g, parts)
	}
	if !shared {
		g.Part(0, 1)
	}
}

type gather[T float32 | uint8] struct {
	dst            []T
	channels       []int32
	srcs           [maxGathered][]T
	first, width   [maxGathered]int // first channel and blocks of each
	blocks, pixels int
}

var (
	gathers        slot[gather[float32], *gather[float32]]
	gathersOfBytes slot[gather[uint8], *gather[uint8]]
)

// laneMoves describes how elements move from the pixels of one block to the pixels of another.
type laneMoves struct {
	src, block int       // the block that holds the elements
	from       [16]int32 // the source lane of each lane
	used       [16]int32 // −1 for lanes that have a source, else 0
	bytes      [16]uint8 // from, or noLane for lanes without a source
}

// gatherPixels is a number of pixels. This many pixels of a few blocks stay in a first-level cache.
const gatherPixels = 64

func (g *gather[T]) Part(i, parts int) {
	var moves [16]laneMoves
	from, to := portion(len(g.dst)/16, i, parts)
	for from < to {
		plane, pixel := from/g.pixels, from%g.pixels
		image, end := plane/g.blocks, min(to, (plane+1)*g.pixels)
		count := g.plan(plane%g.blocks, &moves)
		full := (plane%g.blocks+1)*16 <= len(g.channels)
		for from < end {
			n := min(gatherPixels, end-from)
			part := g.dst[16*from:][:16*n]
			if !full {
				clear(part)
			}
			for k := range moves[:count] {
				m := &moves[k]
				at := (image*g.width[m.src]+m.block)*g.pixels + pixel
				src := g.srcs[m.src][16*at:][:16*n]
				switch part := any(part).(type) {
				case []float32:
					moveLanes(part, any(src).([]float32), &m.from, &m.used)
				case []uint8:
					moveBytes(part, any(src).([]uint8), &m.bytes)
				}
			}
			from += n
			pixel += n
		}
	}
}

// plan finds the source blocks from which a block of dst is gathered. For each of them it sets an
// element of moves. It returns the number of source blocks.
func (g *gather[T]) plan(block int, moves *[16]laneMoves) (count int) {
	for lane, c := range g.channels[16*block : min(len(g.channels), 16*block+16)] {
		src := 0
		for src+1 < maxGathered && int(c) >= g.first[src+1] {
			src++
		}
		at := int(c) - g.first[src]
		k := 0
		for k < count && (moves[k].src != src || moves[k].block != at/16) {
			k++
		}
		if k == count {
			moves[k] = laneMoves{src: src, block: at / 16}
			Fill(moves[k].bytes[:], noLane)
			count++
		}
		moves[k].from[lane], moves[k].used[lane], moves[k].bytes[lane] = int32(at%16), -1, uint8(at%16)
	}
	return count
}
