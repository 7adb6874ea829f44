package audio_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/runtime/data/audio"
)

func TestMixing(t *testing.T) {
	a, b, c := []float32{1, -1, 0.5}, []float32{0, -1, 0.25}, []float32{0.5, 0.5, 0}
	mono := func(channels ...[]float32) audio.Sound { return audio.Sound{Rate: 8, Samples: channels} }
	for _, tt := range []struct{ of, mono audio.Sound }{
		{mono(a), mono(a)}, {mono(a, b), mono([]float32{0.5, -1, 0.375})}, {mono(a, b, c), mono([]float32{0.5, -0.5, 0.25})},
	} {
		got, err := tt.of.Mono()
		if d := cmp.Diff(tt.mono, got); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	}
	for _, tt := range []struct{ of, stereo audio.Sound }{{mono(a), mono(a, a)}, {mono(a, b), mono(a, b)}} {
		got, err := tt.of.Stereo()
		if d := cmp.Diff(tt.stereo, got); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	}
	wantError(t, failed(mono(a, b, c).Stereo()), "3 channels: 1 or 2 expected")
	for want, s := range map[string]audio.Sound{
		"no channels": {Rate: 1}, "rate 0: at least 1 expected": {Samples: [][]float32{a}},
		"channel 1 has 0 samples, and channel 0 has 3": mono(a, nil),
	} {
		wantError(t, failed(s.Mono()), want)
		wantError(t, failed(s.Stereo()), want)
		wantError(t, failed(s.Resample(3)), want)
		wantError(t, s.Check(), want)
	}
	if n := (audio.Sound{}).Len(); n != 0 {
		t.Errorf("%d samples", n)
	}
}
