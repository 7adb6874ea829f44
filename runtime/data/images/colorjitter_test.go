package images

import (
	"image/color"
	"testing"
)

func TestColorJitter(t *testing.T) {
	grey := flat(3, 2, color.RGBA{100, 100, 100, 255})
	wantPicture(t, "nothing", apply(t, ColorJitter{}, picture(9, 5)), picture(9, 5), 0)
	wantPicture(t, "a grey picture has no colours to change", apply(t, ColorJitter{Saturation: 1, Hue: 0.5, Contrast: 1}, grey), grey, 1)
	// Brightness is uniform from 0.5 to 1.5.
	r, low, high, sum := generator(1), 255, 0, 0
	const n = 4000
	for range n {
		s := Sample{Image: grey}
		if err := (ColorJitter{Brightness: 0.5}).Apply(&s, r); err != nil {
			t.Fatal(err)
		}
		v := int(s.Image.Pix[0])
		low, high, sum = min(low, v), max(high, v), sum+v
	}
	if low != 50 || high != 150 || sum < 98*n || sum > 102*n {
		t.Errorf("grey 100 becomes %d to %d, on average %v", low, high, float64(sum)/n)
	}
	// A change above 1 does not make factors negative.
	r, low, high = generator(2), 255, 0
	for range n {
		s := Sample{Image: grey}
		if err := (ColorJitter{Brightness: 2}).Apply(&s, r); err != nil {
			t.Fatal(err)
		}
		low, high = min(low, int(s.Image.Pix[0])), max(high, int(s.Image.Pix[0]))
	}
	if low > 1 || high != 255 {
		t.Errorf("grey 100 becomes %d to %d", low, high)
	}
}

// TestOrderOfColorJitter asserts that brightness and contrast are applied in both orders. With a factor
// of 0 to 2 the results differ: contrast about the mean leaves the mean of a flat picture alone, but a
// picture that is first too bright is flat.
func TestOrderOfColorJitter(t *testing.T) {
	m := flat(2, 1, color.RGBA{250, 250, 250, 255})
	m.SetRGBA(0, 0, color.RGBA{60, 60, 60, 255})
	seen := map[[2]uint8]bool{}
	for seed := range uint64(64) {
		s := Sample{Image: m}
		if err := (ColorJitter{Brightness: 1, Contrast: 1, Saturation: 1, Hue: 0.5}).Apply(&s, generator(seed)); err != nil {
			t.Fatal(err)
		}
		seen[[2]uint8{s.Image.Pix[0], s.Image.Pix[4]}] = true
	}
	if len(seen) < 50 {
		t.Errorf("%d results of 64 draws", len(seen))
	}
}

func TestGrey(t *testing.T) {
	got := apply(t, Grey{}, flat(2, 2, color.RGBA{255, 0, 0, 255}))
	wantPicture(t, "red", got, flat(2, 2, color.RGBA{76, 76, 76, 255}), 0) // 0.299 · 255
	p := applyCHW(t, Grey{}, CHW{[]float32{0, 1, 0}, 3, 1, 1})
	for _, x := range p.Data {
		if x != 0.587 {
			t.Errorf("green is %v", p.Data)
		}
	}
}
