package images

import (
	"image/color"
	"slices"
	"testing"
)

func TestFloats(t *testing.T) {
	m := flat(2, 1, color.RGBA{255, 0, 51, 255})
	m.SetRGBA(1, 0, color.RGBA{0, 102, 0, 153})
	for channels, want := range map[int][]float32{
		0: {1, 0, 0, 0.4, 0.2, 0},
		1: {luma(1, 0, 0.2), luma(0, 0.4, 0)},
		3: {1, 0, 0, 0.4, 0.2, 0},
		4: {1, 0, 0, 0.4, 0.2, 0, 1, 0.6},
	} {
		if got := planes(t, m, channels); !slices.Equal(got.Data, want) || got.Channels != len(want)/2 || got.Width != 2 || got.Height != 1 {
			t.Errorf("%d channels: %v, want %v", channels, got, want)
		}
	}
	if l := luma(1, 1, 1); l != 1 {
		t.Errorf("white has luma %v", l)
	}
	p := CHW{[]float32{7}, 1, 1, 1}
	if got := applyCHW(t, Floats{}, p); got.Data[0] != 7 {
		t.Errorf("floats become %v", got)
	}
}
