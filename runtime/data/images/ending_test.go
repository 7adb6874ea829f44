package images

import (
	"slices"
	"testing"
)

// TestEnding asserts that pipelines that end in Floats and Normalize store the same bits as, and return the errors of, the
// two transforms.
func TestEnding(t *testing.T) {
	four := Normalize{Mean: []float32{0.1, 0.2, 0.3, 0.4}, Std: []float32{1, 0.5, 0.25, 2}}
	grey := Normalize{Mean: []float32{0.5}, Std: []float32{0.2}}
	for _, tt := range []struct {
		floats    Floats
		normalize Normalize
		channels  int // of dst
		stored    bool
	}{
		{Floats{}, ImageNet(), 3, true},
		{Floats{Channels: 3}, ImageNet(), 3, true},
		{Floats{Channels: 4}, four, 4, true},
		{Floats{Channels: 1}, grey, 1, false},
		{Floats{}, ImageNet(), 4, false},
		{Floats{}, four, 3, false},
		{Floats{Channels: 2}, ImageNet(), 3, false},
		{Floats{}, Normalize{Mean: []float32{0, 0, 0}, Std: []float32{1, 0, 1}}, 3, false},
	} {
		in := Sample{Image: picture(9, 7)}
		s, want := in, make([]float32, tt.channels*9*7)
		r := generator(1)
		wantErr := Sequence{tt.floats, tt.normalize}.Apply(&s, r)
		if wantErr == nil {
			wantErr = s.store(want)
		}
		e := endingOf(Sequence{Flip{}, tt.floats, tt.normalize})
		if e == nil || e.store(slices.Clone(want), &in) != tt.stored {
			t.Errorf("%+v: stored by tables: %v", tt, !tt.stored)
		}
		got := make([]float32, len(want))
		err := NewPipeline(Flip{}, tt.floats, tt.normalize).Put(got, in, r)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() || !slices.Equal(got, want) {
			t.Errorf("%+v: error %v, want %v; %v", tt, err, wantErr, slices.Equal(got, want))
		}
	}
	if endingOf(Sequence{nil, Floats{}, ImageNet()}) != nil || endingOf(Sequence{ImageNet(), Floats{}}) != nil || endingOf(Sequence{Floats{}}) != nil {
		t.Error("endings of other pipelines")
	}
}
