package cpu

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// TestRandomNumbersAreThoseOfTheirPlaces compares arrays with rt.UniformAt and rt.NormalAt, at all levels, for one
// worker and for several.
func TestRandomNumbersAreThoseOfTheirPlaces(t *testing.T) {
	defer rt.Threads(rt.Threads(3))
	const most = 100_003
	uniform, normal := make([]float64, most), make([]float64, most)
	for i := range uniform {
		uniform[i], normal[i] = -2+float64(5*rt.UniformAt(5, uint64(i))), 10+float64(0.5*rt.NormalAt(1<<64-5, uint64(i)))
	}
	for _, l := range Levels() {
		restore := SetLevel(l)
		for _, n := range []int{0, 1, 31, 32, 33, 100, most} {
			single, double := make([]float32, n+1), make([]float64, n+1)
			RandomUniform(single[:n], -2, 3, 5, nil)
			RandomUniform(double[:n], -2, 3, 5, nil)
			samePlaces(t, l, "uniform", single, uniform[:n])
			samePlaces(t, l, "uniform", double, uniform[:n])
			RandomNormal(single[:n], 10, 0.5, -5, nil)
			RandomNormal(double[:n], 10, 0.5, -5, nil)
			samePlaces(t, l, "normal", single, normal[:n])
			samePlaces(t, l, "normal", double, normal[:n])
		}
		restore()
	}
}

// samePlaces compares random numbers with those wanted. After them, got has one element more, which is 0.
func samePlaces[T Float](t *testing.T, l Level, name string, got []T, want []float64) {
	t.Helper()
	for i, w := range append(slices.Clone(want), 0) {
		if got[i] != T(w) {
			t.Fatalf("%v: %s number %d of %d is %v, want %v", l, name, i, len(want), got[i], T(w))
		}
	}
}

// TestUniformKernel compares the assembly with rt.UniformAt where the counter exceeds 32 bits, and for seeds and
// ranges at which a bit that is lost would show.
func TestUniformKernel(t *testing.T) {
	for _, l := range Levels() {
		restore := SetLevel(l)
		for _, first := range []uint64{0, 1<<32 - 9, 1<<63 - 5, 1<<64 - 8} {
			for _, seed := range []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<64 - 1, 0x0123456789abcdef} {
				for _, ends := range [][2]float64{{0, 1}, {-1e30, 3e38}, {0, 0x1p-140}, {1, 0x1p-1070}} {
					if !hasUniform() {
						continue
					}
					var got [48]float32
					uniform(&got[0], 32, first, seed, ends[0], ends[1])
					for i, x := range got {
						want := float32(0)
						if i < 32 {
							want = float32(ends[0] + float64(ends[1]*rt.UniformAt(seed, first+uint64(i))))
						}
						if x != want {
							t.Fatalf("%v: number %d after %d of seed %d in %v is %v, want %v", l, i, first, seed, ends, x, want)
						}
					}
				}
			}
		}
		restore()
	}
}

func BenchmarkRandomUniform(b *testing.B) {
	defer rt.Threads(rt.Threads(1))
	dst := make([]float32, 1<<16)
	for _, l := range Levels() {
		b.Run(l.String(), func(b *testing.B) {
			defer SetLevel(l)()
			b.SetBytes(int64(4 * len(dst)))
			for b.Loop() {
				RandomUniform(dst, 0, 1, 1, nil)
			}
		})
	}
}

func TestMultinomialHasTheProbabilities(t *testing.T) {
	const samples = 50000
	x := []float32{
		0, float32(math.Log(2)), float32(math.Log(5)), -100,
		1000, float32(math.Inf(-1)), 1000, float32(math.Inf(-1)),
	}
	p := []float64{1. / 8, 2. / 8, 5. / 8, 0, 0.5, 0, 0.5, 0}
	for seed := range int64(5) {
		y := make([]int32, 2*samples)
		if err := Multinomial(y, x, 2, 4, samples, seed); err != nil {
			t.Fatal(err)
		}
		var count [8]float64
		for i, c := range y {
			count[i/samples*4+int(c)]++
		}
		for row := range 2 {
			chi := 0.0
			for c := row * 4; c < row*4+4; c++ {
				if p[c] == 0 {
					if count[c] > 0 {
						t.Errorf("seed %d: column %d is drawn %v times", seed, c, count[c])
					}
					continue
				}
				d := count[c] - p[c]*samples
				chi += d * d / (p[c] * samples)
			}
			// 18.4 is exceeded once in ten thousand times with two degrees of freedom.
			if chi > 18.4 {
				t.Errorf("seed %d: χ² of row %d is %v", seed, row, chi)
			}
		}
	}
}

func TestMultinomialOfOddRows(t *testing.T) {
	nan := float32(math.NaN())
	y := make([]int64, 3)
	if err := Multinomial(y, []float32{nan, 1, 2, 5, nan, 0, nan, nan, nan}, 3, 3, 1, 1); err != nil {
		t.Fatal(err)
	}
	for i, c := range y {
		if c != 2 {
			t.Errorf("row %d without probabilities gives column %d, want the last", i, c)
		}
	}
	if err := Multinomial(make([]int64, 0), []float32{}, 0, 0, 4, 1); err != nil {
		t.Error(err)
	}
	if err := Multinomial(y, []float32{}, 3, 0, 1, 1); err == nil {
		t.Error("no error without columns")
	}
}
