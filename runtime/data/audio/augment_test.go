package audio_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data/audio"
	"github.com/burngen/burngen/runtime/rt"
)

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func TestFit(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5}
	for n, want := range map[int][]float32{0: {}, 1: {3}, 2: {2, 3}, 5: x, 6: {1, 2, 3, 4, 5, 0}, 8: {0, 1, 2, 3, 4, 5, 0, 0}} {
		got := slices.Repeat([]float32{9}, n)
		audio.Fit(got, x, nil)
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	r := random()
	var cut, placed [4]int
	for range 4000 {
		short, long := make([]float32, 2), slices.Repeat([]float32{9}, 8)
		audio.Fit(short, x, r)
		audio.Fit(long, x, r)
		if short[1] != short[0]+1 {
			t.Fatal(short)
		}
		cut[int(short[0])-1]++
		at := slices.Index(long, 1)
		if !slices.Equal(long[at:at+5], x) || slices.Contains(long, 9) {
			t.Fatal(long)
		}
		placed[at]++
	}
	for i := range 4 {
		if cut[i] < 850 || placed[i] < 850 {
			t.Errorf("places %v and %v: a quarter of 4000 expected each", cut, placed)
		}
	}
}

func TestGain(t *testing.T) {
	x := []float32{1, -0.5}
	audio.Gain(x, 20)
	if x[0] != 10 || x[1] != -5 {
		t.Error(x)
	}
	audio.Gain(x, -6.0206)
	if math.Abs(float64(x[0])-5) > 1e-4 {
		t.Error(x)
	}
}

// TestNoise measures the ratio of sound and noise.
func TestNoise(t *testing.T) {
	clean := sine(100000, 440, 0, 16000)
	for _, ratio := range []float64{0, 20, -6} {
		x := slices.Clone(clean)
		audio.Noise(x, ratio, random())
		power, noise, mean := 0.0, 0.0, 0.0
		for i := range x {
			d := float64(x[i] - clean[i])
			power, noise, mean = power+float64(clean[i])*float64(clean[i]), noise+d*d, mean+d
		}
		if got := 10 * math.Log10(power/noise); math.Abs(got-ratio) > 0.1 || math.Abs(mean)/math.Sqrt(noise) > 4 {
			t.Errorf("ratio %g, want %g; mean %g", got, ratio, mean/100000)
		}
	}
	silence := make([]float32, 5)
	audio.Noise(silence, 10, random())
	audio.Noise(nil, 10, random())
	if !slices.Equal(silence, make([]float32, 5)) {
		t.Error(silence)
	}
	a, b := slices.Clone(clean[:9]), slices.Clone(clean[:9])
	audio.Noise(a, 3, nil)
	if !slices.Equal(a, clean[:9]) {
		t.Errorf("noise without a generator: %v", a)
	}
	audio.Noise(a, 3, random())
	audio.Noise(b, 3, random())
	if !slices.Equal(a, b) {
		t.Error("equal generators give different noise")
	}
}

func TestShift(t *testing.T) {
	for n, want := range map[int][]float32{
		0: {1, 2, 3}, 1: {0, 1, 2}, 3: {0, 0, 0}, 9: {0, 0, 0}, -1: {2, 3, 0}, -3: {0, 0, 0}, math.MinInt: {0, 0, 0}, math.MaxInt: {0, 0, 0},
	} {
		x := []float32{1, 2, 3}
		audio.Shift(x, n)
		if !slices.Equal(x, want) {
			t.Errorf("by %d: %v, want %v", n, x, want)
		}
	}
	audio.Shift(nil, 1)
}

// TestMasks asserts that each range of each width is drawn equally often.
func TestMasks(t *testing.T) {
	r := random()
	for axis, mask := range []func(rt.Tensor[float32], int, float32, *rand.Rand) error{audio.MaskBands, audio.MaskFrames} {
		counts := map[[2]int]int{}
		const bands, frames, draws = 4, 5, 6000
		n := []int{bands, frames}[axis]
		for range draws {
			s := rt.Tensor[float32]{Data: make([]float32, bands*frames), Shape: []int{bands, frames}}
			if err := mask(s, 2, 7, r); err != nil {
				t.Fatal(err)
			}
			var line []float32 // along the axis
			for i := range n {
				at := i * frames
				if axis == 1 {
					at = i
				}
				line = append(line, s.Data[at])
			}
			for i, x := range s.Data {
				at := i / frames
				if axis == 1 {
					at = i % frames
				}
				if x != line[at] {
					t.Fatalf("axis %d: %v", axis, s.Data)
				}
			}
			first, width := max(0, slices.Index(line, 7)), 0
			for _, x := range line {
				if x == 7 {
					width++
				}
			}
			if width == 2 && line[first+1] != 7 {
				t.Fatalf("axis %d: %v", axis, line)
			}
			counts[[2]int{first, width}]++
		}
		for at, count := range counts {
			want := float64(draws) / 3
			if at[1] > 0 {
				want /= float64(n - at[1] + 1)
			}
			if math.Abs(float64(count)-want) > 5*math.Sqrt(want) {
				t.Errorf("axis %d: %d elements from %d on %d times, want %.0f", axis, at[1], at[0], count, want)
			}
		}
		if len(counts) != 1+n+n-1 {
			t.Errorf("axis %d: %d ranges", axis, len(counts))
		}
	}
	s := rt.Tensor[float32]{Data: make([]float32, 6), Shape: []int{2, 3}}
	wantError(t, audio.MaskBands(s, 3, 0, r), "mask: at most 3 of 2: from 0 to 2 expected")
	wantError(t, audio.MaskFrames(s, -1, 0, r), "mask: at most -1 of 3: from 0 to 3 expected")
	wantError(t, audio.MaskFrames(rt.Tensor[float32]{Data: make([]float32, 6), Shape: []int{6}}, 1, 0, r), "mask: shape [6]: [bands frames] expected")
	wantError(t, audio.MaskBands(s, 1, 0, nil), "mask: no generator of random numbers")
	if err := audio.MaskBands(rt.Tensor[float32]{Data: make([]float32, 5), Shape: []int{2, 3}}, 1, 0, r); err == nil {
		t.Error("no error for a tensor of another size")
	}
	for _, shape := range [][]int{{0, 3}, {3, 0}} {
		if err := audio.MaskFrames(rt.Tensor[float32]{Shape: shape}, 0, 0, r); err != nil {
			t.Error(err)
		}
	}
}
