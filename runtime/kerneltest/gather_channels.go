package kerneltest

import (
	"math"
	"testing"
)

// GatherChannels tests the gathering of channels of blocked tensors.
func GatherChannels[T float32 | uint8](t *testing.T, gather func(dst []T, channels []int32, n, pixels int, counts []int, srcs ...[]T)) {
	shuffle := func(groups, each int) (channels []int32) {
		for i := range groups * each {
			channels = append(channels, int32(i%groups*each+i/groups))
		}
		return channels
	}
	some := func(from, to, step int) (channels []int32) {
		for i := from; i < to; i += step {
			channels = append(channels, int32(i))
		}
		return channels
	}
	for name, c := range map[string]struct {
		pixels   int
		counts   []int
		channels []int32
	}{
		"shuffle":                 {130, []int{136}, shuffle(4, 34)},
		"shuffle of whole blocks": {7, []int{64}, shuffle(2, 32)},
		"ragged concatenation":    {65, []int{3, 20, 58}, some(0, 81, 1)},
		"every other channel":     {9, []int{40}, some(1, 40, 2)},
		"of eight":                {5, []int{1, 2, 3, 4, 5, 6, 7, 8}, shuffle(6, 6)},
		"one channel twice":       {64, []int{17}, []int32{16, 16, 0}},
		"one pixel":               {1, []int{20, 20}, some(12, 33, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 2
			var srcs []*Slice[T]
			var data [][]T
			var at []func(image, pixel int) T // the elements of each channel, over all sources
			for i, count := range c.counts {
				blocks := (count + 15) / 16
				r := NewRandom(uint32(i))
				r.special = true
				src := NewSlice[T](n*blocks*c.pixels*16, i)
				for k := range src.Data {
					switch v := any(&src.Data[k]).(type) {
					case *float32:
						*v = r.Float32()
					case *uint8:
						*v = uint8(r.next())
					}
				}
				src.Freeze()
				srcs, data = append(srcs, src), append(data, src.Data)
				for channel := range count {
					at = append(at, func(image, pixel int) T {
						return src.Data[((image*blocks+channel/16)*c.pixels+pixel)*16+channel%16]
					})
				}
			}
			blocks := (len(c.channels) + 15) / 16
			dst := NewSlice[T](n*blocks*c.pixels*16, 3)
			gather(dst.Data, c.channels, n, c.pixels, c.counts, data...)
			dst.Check(t, "dst")
			for _, src := range srcs {
				src.Check(t, "src")
			}
			for i, got := range dst.Data {
				plane, pixel := i/16/c.pixels, i/16%c.pixels
				channel, want := plane%blocks*16+i%16, T(0)
				if channel < len(c.channels) {
					want = at[c.channels[channel]](plane/blocks, pixel)
				}
				if bitsOf(got) != bitsOf(want) {
					t.Fatalf("channel %d of image %d, pixel %d is %v, want %v", channel, plane/blocks, pixel, got, want)
				}
			}
		})
	}
}

func bitsOf[T float32 | uint8](v T) uint32 {
	if f, ok := any(v).(float32); ok {
		return math.Float32bits(f)
	}
	return uint32(v)
}
