package rt

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// buffers are arguments of Layout.
type buffers struct {
	bytes, offsets []int64
	first, last    []int32
}

func (b *buffers) add(bytes int64, first, last int32) {
	b.bytes, b.offsets = append(b.bytes, bytes), append(b.offsets, -1)
	b.first, b.last = append(b.first, first), append(b.last, last)
}

func (b *buffers) layout() int64 { return Layout(b.bytes, b.first, b.last, b.offsets) }

// live returns the largest number of bytes, in whole lines, alive at one step.
func (b *buffers) live() int64 {
	var most int64
	for step := range slices.Max(append(b.last, 0)) + 1 {
		var sum int64
		for i, n := range b.bytes {
			if b.first[i] <= step && step <= b.last[i] {
				sum += (n + alignment - 1) / alignment * alignment
			}
		}
		most = max(most, sum)
	}
	return most
}

// network returns the buffers of n steps. Each step makes one buffer, and mostly the next few steps
// read it.
func network(n int, seed uint32) *buffers {
	b := &buffers{}
	for i := range n {
		draw := Hash(seed, uint32(i))
		life := int32(1 + draw%3)
		if draw%7 == 0 {
			life += int32(draw >> 8 % 40)
		}
		b.add(int64(1+draw>>16%64)<<(6+draw>>24%6), int32(i), min(int32(i)+life, int32(n)))
	}
	return b
}

func TestLayoutSharesOnlyDeadMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &buffers{}
		for range rapid.IntRange(0, 40).Draw(t, "buffers") {
			first := rapid.Int32Range(0, 30).Draw(t, "first")
			b.add(rapid.Int64Range(0, 1000).Draw(t, "bytes"), first, first+rapid.Int32Range(0, 10).Draw(t, "life"))
		}
		total := b.layout()
		if total < b.live() {
			t.Fatalf("%d bytes hold %d", total, b.live())
		}
		for i, o := range b.offsets {
			if o < 0 || o%alignment != 0 || o+b.bytes[i] > total {
				t.Fatalf("buffer %d of %d bytes is at %d of %d", i, b.bytes[i], o, total)
			}
			for j := range i {
				if b.first[i] <= b.last[j] && b.first[j] <= b.last[i] && o < b.offsets[j]+b.bytes[j] && b.offsets[j] < o+b.bytes[i] {
					t.Fatalf("buffers %d and %d overlap", i, j)
				}
			}
		}
	})
}

func TestLayoutReusesGaps(t *testing.T) {
	b := &buffers{}
	b.add(128, 0, 1)
	b.add(64, 1, 2)
	b.add(64, 2, 3)
	if total := b.layout(); total != 192 {
		t.Errorf("total %d, offsets %v", total, b.offsets)
	}
}

func TestLayoutPlacesAnewWhatReachesTheEnd(t *testing.T) {
	// The third comes last in the order and finds room only above all others,
	// though the last could lie beside it.
	b := &buffers{}
	b.add(256, 0, 1)
	b.add(128, 1, 2)
	b.add(64, 2, 4)
	b.add(256, 3, 4)
	if total, live := b.layout(), b.live(); total != live {
		t.Errorf("%d bytes for a live set of %d: %v", total, live, b.offsets)
	}
}

func TestLayoutIsTight(t *testing.T) {
	var size, live int64
	for seed := range uint32(40) {
		b := network(150, seed)
		size += b.layout()
		live += b.live()
	}
	if size > live+live/50 {
		t.Errorf("%d bytes for live sets of %d", size, live)
	}
}

func TestLayoutIsTheSameTwice(t *testing.T) {
	for _, n := range []int{0, 1, 100, layoutRoom, layoutRoom + 1} {
		a, b := network(n, 1), network(n, 1)
		if a.layout() != b.layout() || !slices.Equal(a.offsets, b.offsets) {
			t.Errorf("%d buffers lie differently", n)
		}
	}
}

func TestLayoutDoesNotAllocate(t *testing.T) {
	b := network(layoutRoom, 2)
	if n := testing.AllocsPerRun(2, func() { b.layout() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLayoutOfImpossibleSizes(t *testing.T) {
	for name, sizes := range map[string][]int64{
		"one":     {math.MaxInt64},
		"rounded": {math.MaxInt64 - 63},
		"sum":     {math.MaxInt64 / 2, math.MaxInt64 / 2, 64},
	} {
		b := &buffers{}
		for _, n := range sizes {
			b.add(n, 0, 1)
		}
		if total := b.layout(); total != math.MaxInt64 {
			t.Errorf("%s: total %d", name, total)
		}
	}
	b := &buffers{}
	b.add(-100, 0, 1)
	b.add(64, 0, 1)
	if total := b.layout(); total != 64 || slices.Min(b.offsets) < 0 {
		t.Errorf("negative: total %d, offsets %v", total, b.offsets)
	}
}

func BenchmarkLayout(b *testing.B) {
	for name, n := range map[string]int{"300": 300, "5000": 5000} {
		b.Run(name, func(b *testing.B) {
			x := network(n, 3)
			b.ReportAllocs()
			for b.Loop() {
				x.layout()
			}
		})
	}
}
