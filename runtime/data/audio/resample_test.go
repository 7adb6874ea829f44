package audio_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/data/audio"
)

// rates are rates from and to which sounds are resampled.
var rates = [][2]int{{48000, 16000}, {16000, 48000}, {44100, 48000}, {8000, 11025}, {22050, 8000}, {7, 5}, {10007, 10009}}

// TestPassBand asserts that sines keep their amplitude and phase up to 90 % of half the lower rate, to
// within 0.001 dB.
func TestPassBand(t *testing.T) {
	for _, r := range rates {
		from, to := r[0], r[1]
		lower := min(from, to)
		for _, part := range []float64{0, 0.01, 0.3, 0.7, 0.9} {
			frequency := part * float64(lower) / 2
			got, err := audio.Resample(sine(3000, frequency, 1, from), from, to)
			if err != nil {
				t.Fatal(err)
			}
			want := sine(len(got), frequency, 1, to)
			edge := 60*to/lower + 2 // where the filter reaches over the ends
			worst := 0.0
			for i := edge; i < len(got)-edge; i++ {
				worst = max(worst, math.Abs(float64(got[i])-float64(want[i])))
			}
			if worst > 1.15e-4 || len(got) < 2*edge+10 {
				t.Errorf("%d to %d Hz, %g of half the rate: off by %g in %d samples", from, to, part, worst, len(got))
			}
		}
	}
}

// TestStopBand asserts that frequencies from half the lower rate on are reduced by 85 dB.
func TestStopBand(t *testing.T) {
	for _, r := range rates {
		from, to := r[0], r[1]
		if from < to+to/20 {
			continue
		}
		for _, part := range []float64{1, 1.01, 1.3} {
			frequency := part * float64(to) / 2
			if frequency > float64(from)/2 {
				continue
			}
			got, err := audio.Resample(sine(4000, frequency, 1, from), from, to)
			if err != nil {
				t.Fatal(err)
			}
			for i := 62; i < len(got)-62; i++ {
				if math.Abs(float64(got[i])) > math.Pow(10, -85./20) {
					t.Errorf("%d to %d Hz, %g of half the rate: sample %d is %g", from, to, part, i, got[i])
					break
				}
			}
		}
	}
}

// TestThereAndBack asserts that a band-limited sound survives two changes of its rate.
func TestThereAndBack(t *testing.T) {
	for _, r := range rates {
		low, high := min(r[0], r[1]), max(r[0], r[1])
		sound := sine(2000, 0.4*float64(low)/2, 0, low)
		up, err := audio.Resample(sound, low, high)
		if err != nil {
			t.Fatal(err)
		}
		back, err := audio.Resample(up, high, low)
		if err != nil {
			t.Fatal(err)
		}
		for i := 150; i < 1850; i++ {
			if math.Abs(float64(back[i]-sound[i])) > 2.5e-4 {
				t.Errorf("%d to %d Hz and back: sample %d is %g, was %g", low, high, i, back[i], sound[i])
				break
			}
		}
	}
}

func TestResampleLengths(t *testing.T) {
	for _, tt := range []struct{ n, from, to, want int }{
		{0, 3, 2, 0}, {1, 3, 2, 1}, {2, 3, 2, 2}, {3, 3, 2, 2}, {4, 3, 2, 3}, {5, 1, 1000, 5000}, {5, 1000, 1, 1}, {1001, 1000, 1, 2}, {9, 5, 5, 9},
	} {
		got, err := audio.Resample(make([]float32, tt.n), tt.from, tt.to)
		if err != nil || len(got) != tt.want {
			t.Errorf("%d samples from %d to %d Hz: %d, want %d: %v", tt.n, tt.from, tt.to, len(got), tt.want, err)
		}
	}
	x := []float32{1, 2}
	same, err := audio.Resample(x, 5, 5)
	if err != nil {
		t.Fatal(err)
	}
	if same[0] = 9; x[0] != 1 {
		t.Error("the result shares memory")
	}
	for _, bad := range [][2]int{{0, 1}, {1, -1}} {
		wantError(t, failed(audio.Resample(nil, bad[0], bad[1])), fmt.Sprintf("resample: from %d Hz to %d Hz: at least 1 expected", bad[0], bad[1]))
	}
	for _, bad := range [][2]int{{1, math.MaxInt32}, {math.MaxInt32, 1}, {1001, 1}, {2, 2002}} {
		wantError(t, failed(audio.Resample(nil, bad[0], bad[1])), fmt.Sprintf("resample: from %d Hz to %d Hz: a factor of at most 1000 expected", bad[0], bad[1]))
	}
	s, err := audio.Sound{Rate: 4, Samples: [][]float32{{0, 0, 0, 0}, {0, 0, 0, 0}}}.Resample(2)
	if err != nil || s.Rate != 2 || len(s.Samples) != 2 || s.Len() != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

func BenchmarkResample(b *testing.B) {
	x := sine(44100, 440, 0, 44100)
	for b.Loop() {
		if _, err := audio.Resample(x, 44100, 16000); err != nil {
			b.Fatal(err)
		}
	}
}
