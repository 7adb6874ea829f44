package images

import (
	"bytes"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// all are transforms that change a picture of 20 × 14 pixels, with any generator.
func all() map[string]Transform {
	return map[string]Transform{
		"resize":              Resize{Width: 9, Height: 11},
		"resize nearest":      Resize{Width: 9, Height: 11, Filter: Nearest},
		"center crop":         CenterCrop{Width: 8, Height: 30},
		"random crop":         RandomCrop{Width: 10, Height: 7},
		"random resized crop": RandomResizedCrop{Width: 12, Height: 12},
		"flip":                Flip{Horizontal: 1, Vertical: 1},
		"pad":                 Pad{Left: 1, Top: 2, Right: 3, Bottom: 4, Mode: PadReflect},
		"rotate":              Rotate{Degrees: [2]float64{10, 80}},
		"affine":              Affine{Degrees: [2]float64{10, 80}, Translate: [2]float64{0.1, 0.1}, Scale: [2]float64{0.5, 2}, ShearX: [2]float64{1, 9}, ShearY: [2]float64{1, 9}},
		"color jitter":        ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.4},
		"grey":                Grey{},
		"posterize":           Posterize{2},
		"solarize":            Solarize{100},
		"autocontrast":        AutoContrast{},
		"equalize":            Equalize{},
		"sharpen":             Sharpen{2},
		"blur":                Blur{},
		"erase":               Erase{},
		"erase with noise":    Erase{Noise: true},
		"randaugment":         RandAugment{Operations: 4},
	}
}

// input returns a sample for transforms: dark colours, so that autocontrast has something to do.
func input(t testing.TB, asFloats bool) Sample {
	m := picture(20, 14)
	for i := range m.Pix {
		if i%4 < 3 {
			m.Pix[i] = m.Pix[i]/2 + 20
		}
	}
	mask := image.NewGray(m.Rect)
	for i := range mask.Pix {
		mask.Pix[i] = uint8(i % 5)
	}
	s := Sample{Image: m, Mask: mask, Boxes: []Box{{2, 3, 12, 9, 1, false}, {0, 0, 20, 14, 2, true}}}
	if asFloats {
		s.CHW, s.Image = planes(t, m, 3), nil
	}
	return s
}

// pixels returns a copy of the values of a sample's picture.
func pixels(s *Sample) any {
	if s.Image != nil {
		return [2]any{s.Image.Rect, string(s.Image.Pix)}
	}
	return [2]any{[3]int{s.CHW.Channels, s.CHW.Height, s.CHW.Width}, string(bytesOf(s.CHW.Data))}
}

// TestTransformsKeepWhatTheyAreGiven asserts that transforms do not write into the memory of the picture
// that a sample is given, however often the sample is used, and that equal generators give equal results.
func TestTransformsKeepWhatTheyAreGiven(t *testing.T) {
	for name, transform := range all() {
		for _, asFloats := range []bool{false, true} {
			given := input(t, asFloats)
			before, mask, boxes := pixels(&given), bytes.Clone(given.Mask.Pix), slices.Clone(given.Boxes)
			var used Sample
			for seed := range uint64(5) {
				fresh := given
				fresh.spare = nil
				used.Image, used.CHW, used.Mask, used.Boxes = given.Image, given.CHW, given.Mask, given.Boxes
				for _, s := range []*Sample{&fresh, &used} {
					if err := (Sequence{transform, transform}).Apply(s, generator(seed)); err != nil && name != "random crop" {
						t.Fatalf("%s: %v", name, err)
					}
				}
				if pixels(&fresh) != pixels(&used) || !slices.Equal(fresh.Boxes, used.Boxes) || !bytes.Equal(fresh.Mask.Pix, used.Mask.Pix) {
					t.Errorf("%s, floats %v, seed %d: memory that was used gives another result", name, asFloats, seed)
				}
				if name != "erase" && name != "erase with noise" && name != "randaugment" && pixels(&fresh) == before && !slices.Equal(fresh.Boxes, boxes) {
					t.Errorf("%s, floats %v, seed %d: nothing changes", name, asFloats, seed)
				}
				if pixels(&given) != before || !bytes.Equal(given.Mask.Pix, mask) || !slices.Equal(given.Boxes, boxes) {
					t.Fatalf("%s, floats %v: the picture that the sample was given changes", name, asFloats)
				}
			}
		}
	}
}

// TestFloatsAgreeWith8Bits compares transforms of floats with transforms of 8 bits, which round.
func TestFloatsAgreeWith8Bits(t *testing.T) {
	for name, transform := range all() {
		if name == "erase with noise" || name == "randaugment" { // other noise; steps that turn 1 into 128
			continue
		}
		for seed := range uint64(8) {
			a, b := input(t, false), input(t, true)
			for _, s := range []*Sample{&a, &b} {
				if err := transform.Apply(s, generator(seed)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			want := planes(t, a.Image, 3)
			most := float32(2.1) / 255 // bicubic and blurred rows round once more
			if name == "color jitter" {
				most = 8. / 255
			}
			for i, x := range b.CHW.Data {
				if d := x - want.Data[i]; d > most || d < -most {
					t.Errorf("%s, seed %d: element %d is %v, %v in 8 bits", name, seed, i, x, want.Data[i])
					break
				}
			}
			if !slices.Equal(a.Boxes, b.Boxes) || !bytes.Equal(a.Mask.Pix, b.Mask.Pix) {
				t.Errorf("%s, seed %d: boxes %v and %v, or masks differ", name, seed, a.Boxes, b.Boxes)
			}
		}
	}
}

// TestPartsOfPictures asserts that a picture and a mask may be parts of larger ones.
func TestPartsOfPictures(t *testing.T) {
	big, mask := picture(30, 20), image.NewGray(image.Rect(0, 0, 30, 20))
	for i := range mask.Pix {
		mask.Pix[i] = uint8(i)
	}
	part := image.Rect(5, 3, 25, 17)
	whole := image.NewRGBA(image.Rect(0, 0, 20, 14))
	wholeMask := image.NewGray(whole.Rect)
	for y := range 14 {
		for x := range 20 {
			whole.SetRGBA(x, y, big.RGBAAt(5+x, 3+y))
			wholeMask.SetGray(x, y, mask.GrayAt(5+x, 3+y))
		}
	}
	for name, transform := range all() {
		a := Sample{Image: big.SubImage(part).(*image.RGBA), Mask: mask.SubImage(part).(*image.Gray)}
		b := Sample{Image: whole, Mask: wholeMask}
		for _, s := range []*Sample{&a, &b} {
			if err := transform.Apply(s, generator(3)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		wantPicture(t, name, a.Image, b.Image, 0)
		for y := range b.Mask.Rect.Dy() {
			for x := range b.Mask.Rect.Dx() {
				if got, want := a.Mask.GrayAt(a.Mask.Rect.Min.X+x, a.Mask.Rect.Min.Y+y), b.Mask.GrayAt(x, y); got != want {
					t.Fatalf("%s: mask at (%d, %d) is %v, want %v", name, x, y, got, want)
				}
			}
		}
	}
}

func TestMistakesInSamples(t *testing.T) {
	good := picture(4, 3)
	torn := picture(4, 3)
	torn.Pix = torn.Pix[:40]
	for want, s := range map[string]*Sample{
		"no sample":                 nil,
		"the sample has no picture": {},
		"11 elements: a picture of 1 × 3 × 4 has 12":            {CHW: CHW{make([]float32, 11), 1, 3, 4}},
		"a picture of 0 channels":                               {CHW: CHW{make([]float32, 12), 0, 3, 4}},
		"-4 × -3 pixels":                                        {CHW: CHW{make([]float32, 12), 1, -3, -4}},
		"0 × 0 pixels":                                          {Image: new(image.RGBA)},
		"40 bytes with rows of 16 do not hold 4 × 3 pixels":     {Image: torn},
		"a mask of 3 × 4 pixels on a picture of 4 × 3":          {Image: good, Mask: image.NewGray(image.Rect(0, 0, 3, 4))},
		"mask: 0 bytes with rows of 0 do not hold 4 × 3 pixels": {Image: good, Mask: &image.Gray{Rect: good.Rect}},
	} {
		for name, transform := range all() {
			if name == "erase with noise" || name == "resize nearest" {
				continue
			}
			wantError(t, transform.Apply(s, generator(1)), name+": "+want)
		}
	}
	for name, transform := range all() {
		if name == "erase with noise" || name == "resize nearest" {
			continue
		}
		wantError(t, transform.Apply(&Sample{Image: good}, nil), name+": no generator of random numbers")
	}
}

// TestMistakesInTransforms asserts which settings are refused.
func TestMistakesInTransforms(t *testing.T) {
	for _, tt := range []struct {
		transform Transform
		want      string
	}{
		{Resize{}, "resize: 0 × 0 pixels, shorter side 0: a width, a height or both, or a shorter side expected"},
		{Resize{Width: -1, Height: 2}, "resize: -1 × 2 pixels, shorter side 0: a width, a height or both, or a shorter side expected"},
		{Resize{Width: 3, Shorter: 2}, "resize: 3 × 0 pixels, shorter side 2: a width, a height or both, or a shorter side expected"},
		{Resize{Width: 3, Filter: 3}, "resize: filter 3"},
		{Resize{Shorter: math.MaxInt32}, "resize: 2147483647 × 2147483647 pixels: limit is 67108864 pixels (images.PixelLimit)"},
		{CenterCrop{}, "center crop: 0 × 0 pixels"},
		{RandomCrop{Width: 21, Height: 1}, "random crop: 21 × 1 pixels of 20 × 14"},
		{RandomResizedCrop{}, "random resized crop: 0 × 0 pixels"},
		{RandomResizedCrop{Width: 1, Height: 1, Scale: [2]float64{0.5, 2}}, "random resized crop: scale from 0.5 to 2: from 0 to 1 expected"},
		{RandomResizedCrop{Width: 1, Height: 1, Ratio: [2]float64{2, 1}}, "random resized crop: ratio from 2 to 1: from 0.001 to 1000 expected"},
		{RandomResizedCrop{Width: 1, Height: 1, Filter: -1}, "random resized crop: filter -1"},
		{Flip{Horizontal: 2}, "flip: horizontal: probability 2: from 0 to 1 expected"},
		{Flip{Vertical: -1}, "flip: vertical: probability -1: from 0 to 1 expected"},
		{Pad{Left: -1}, "pad: -1, 0, 0 and 0 pixels on the left, top, right and bottom"},
		{Pad{Mode: 3}, "pad: mode 3"},
		{Rotate{Degrees: [2]float64{2, 1}}, "rotate: degrees from 2 to 1: from -3.4028234663852886e+38 to 3.4028234663852886e+38 expected"},
		{Rotate{Filter: Bicubic}, "rotate: filter 1: Bilinear or Nearest expected"},
		{Affine{Translate: [2]float64{0, -0.5}}, "affine: translation from 0 to -0.5: from 0 to 1 expected"},
		{Affine{Scale: [2]float64{-1, 1}}, "affine: scale from -1 to 1: from 0.001 to 1000 expected"},
		{Affine{ShearX: [2]float64{0, 90}}, "affine: shear from 0 to 90: from -89 to 89 expected"},
		{ColorJitter{Brightness: -1}, "color jitter: brightness -1: from 0 to 3.4028234663852886e+38 expected"},
		{ColorJitter{Hue: 0.6}, "color jitter: hue 0.6: from 0 to 0.5 expected"},
		{Posterize{}, "posterize: 0 bits: from 1 to 8 expected"},
		{Solarize{-1}, "solarize: from -1: from 0 to 256 expected"},
		{Sharpen{-1}, "sharpen: factor -1: at least 0 expected"},
		{Blur{Sigma: [2]float64{0, 1}}, "blur: sigma from 0 to 1: from 0.001 to 1000 expected"},
		{Erase{Scale: [2]float64{0, 1.5}}, "erase: scale from 0 to 1.5: from 0 to 1 expected"},
		{Erase{Ratio: [2]float64{0, 1}}, "erase: ratio from 0 to 1: from 0.001 to 1000 expected"},
		{RandAugment{Magnitude: 31}, "randaugment: 2 operations of magnitude 31: up to 30 expected"},
		{RandAugment{Operations: -1}, "randaugment: -1 operations of magnitude 9: up to 30 expected"},
		{Normalize{}, "normalize: a picture of 8 bits: Floats is missing before"},
		{Sequence{Floats{}, Normalize{Mean: []float32{1}, Std: []float32{1}}}, "normalize: 1 means and 1 standard deviations for 3 channels"},
		{Sequence{Floats{}, Normalize{Mean: make([]float32, 3), Std: make([]float32, 3)}}, "normalize: standard deviation 0"},
		{Floats{Channels: 2}, "floats: 2 channels: 1, 3 or 4 expected"},
		{Sequence{Grey{}, nil}, "transform 2 of 2 is nil"},
		{Maybe{P: 1}, "maybe: no transform"},
		{Maybe{P: 2, Of: Grey{}}, "maybe: probability 2: from 0 to 1 expected"},
	} {
		s := input(t, false)
		wantError(t, tt.transform.Apply(&s, generator(1)), tt.want)
	}
	for name, transform := range map[string]Transform{
		"color jitter": ColorJitter{Contrast: 1}, "grey": Grey{}, "posterize": Posterize{1},
	} {
		s := Sample{CHW: CHW{make([]float32, 2*6), 2, 2, 3}}
		wantError(t, transform.Apply(&s, generator(1)), name+": a picture of 2 channels does not have colours")
	}
}

// TestOneChannel asserts that grey pictures of floats can be transformed, and that colours do not appear.
func TestOneChannel(t *testing.T) {
	for name, transform := range all() {
		s := input(t, false)
		s.CHW, s.Image = planes(t, s.Image, 1), nil
		if err := transform.Apply(&s, generator(2)); err != nil || s.CHW.Channels != 1 {
			t.Errorf("%s: %v, %d channels", name, err, s.CHW.Channels)
		}
	}
}

// TestSequence asserts the order, and that Maybe happens as often as it should.
func TestSequence(t *testing.T) {
	m := picture(20, 14)
	got := apply(t, Sequence{CenterCrop{Width: 10, Height: 14}, Resize{Width: 20, Height: 7}}, m)
	want := apply(t, Resize{Width: 20, Height: 7}, apply(t, CenterCrop{Width: 10, Height: 14}, m))
	wantPicture(t, "sequence", got, want, 0)
	r, n := rand.New(rand.NewPCG(1, 2)), 0
	count := transformFunc(func(*Sample) error { n++; return nil })
	for range 10000 {
		if err := (Maybe{P: 0.3, Of: count}).Apply(&Sample{Image: m}, r); err != nil {
			t.Fatal(err)
		}
	}
	if n < 2860 || n > 3140 { // 3 standard deviations
		t.Errorf("it happens %d times of 10000 with probability 0.3", n)
	}
}
