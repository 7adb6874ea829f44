package images

import (
	"image/color"
	"testing"
)

func TestAutoContrast(t *testing.T) {
	m := flat(2, 2, color.RGBA{50, 90, 7, 255})
	m.SetRGBA(1, 0, color.RGBA{150, 90, 7, 255})
	m.SetRGBA(0, 1, color.RGBA{100, 90, 8, 255})
	got := apply(t, AutoContrast{}, m)
	for i, want := range []color.RGBA{{0, 90, 0, 255}, {255, 90, 0, 255}, {127, 90, 255, 255}, {0, 90, 0, 255}} {
		if p := got.RGBAAt(i%2, i/2); p != want {
			t.Errorf("pixel %d is %v, want %v", i, p, want)
		}
	}
}

// TestEqualize asserts that frequent values become evenly spaced ones.
func TestEqualize(t *testing.T) {
	p := CHW{make([]float32, 1024), 1, 32, 32}
	for i := range p.Data {
		p.Data[i] = unit[100+i%4]
	}
	got := applyCHW(t, Equalize{}, p)
	// Sums of counts before each value, in steps of (1024-256)/255 = 3: (1 + 256·k)/3.
	for i, want := range []int{0, 85, 171, 255} {
		if got.Data[i] != unit[want] {
			t.Errorf("value %d becomes %v, want %v", 100+i, got.Data[i]*255, want)
		}
	}
	few := apply(t, Equalize{}, picture(4, 4))
	wantPicture(t, "too few pixels", few, picture(4, 4), 0)
}

// TestAlphaStays asserts that a fourth plane does not change.
func TestAlphaStays(t *testing.T) {
	p := CHW{[]float32{0.2, 0.4, 0.6, 0.37}, 4, 1, 1}
	for _, transform := range []Transform{Posterize{1}, Solarize{0}, Grey{}, ColorJitter{Brightness: 1}} {
		if got := applyCHW(t, transform, p); got.Data[3] != 0.37 {
			t.Errorf("%T: alpha becomes %v", transform, got.Data[3])
		}
	}
}
