package images

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"testing"
)

// transformFunc makes a function a transform.
type transformFunc func(s *Sample) error

func (f transformFunc) Apply(s *Sample, _ *rand.Rand) error { return f(s) }

// begun makes a transform of a function of the package that takes a sample with memory.
func begun(f func(s *Sample) error) Transform {
	return transformFunc(func(s *Sample) error {
		if err := s.begin("test", generator(0)); err != nil {
			return err
		}
		return f(s)
	})
}

// halved maps values as testdata/make.py does before autocontrast.
func halved(_ *histogram, _ int) (t table) {
	for i := range t {
		t[i] = uint8(30 + i/2)
	}
	return t
}

// TestAgreesWithPillow compares transforms of pictures of 8 bits with Pillow's.
func TestAgreesWithPillow(t *testing.T) {
	type test struct {
		transform Transform
		most      int // the largest difference of a channel
	}
	tests := map[string]test{
		"autocontrast": {Sequence{begun(func(s *Sample) error { return tabulate(s, halved, 0) }), AutoContrast{}}, 0},
		"equalize":     {Sequence{Resize{Width: 68, Height: 44, Filter: Nearest}, Equalize{}}, 0},
		"grey":         {Grey{}, 0},
	}
	for name, filter := range map[string]Filter{"bilinear": Bilinear, "bicubic": Bicubic, "nearest": Nearest} {
		for _, size := range [][2]int{{17, 11}, {8, 5}, {5, 8}, {40, 23}, {3, 30}, {1, 1}, {16, 11}} {
			tests[fmt.Sprintf("resize %s %d %d", name, size[0], size[1])] = test{Resize{Width: size[0], Height: size[1], Filter: filter}, 0}
		}
		tests["resized crop "+name] = test{begun(func(s *Sample) error {
			return reshape(s, "crop", scale{6, 9, image.Rect(3, 2, 14, 9), filter})
		}), 0}
	}
	for i := 1; i <= 8; i++ {
		tests[fmt.Sprintf("orientation %d", i)] = test{transformFunc(func(s *Sample) error {
			s.Image = upright(s.Image, i)
			return nil
		}), 0}
	}
	for name, filter := range map[string]Filter{"bilinear": Bilinear, "nearest": Nearest} {
		most := 1 // Pillow truncates
		if filter == Nearest {
			most = 0
		}
		for _, degrees := range []float64{0, 30, 90, 180, -17, 200} {
			tests[fmt.Sprintf("rotate %s %g", name, degrees)] = test{Rotate{Degrees: [2]float64{degrees, degrees}, Filter: filter}, most}
		}
		tests["warp "+name] = test{begun(func(s *Sample) error {
			return reshape(s, "warp", warp{width: 17, height: 11, m: affine{0.75, 0.25, 1.375, -0.125, 1.25, -0.625}, filter: filter})
		}), most}
	}
	for _, factor := range []float32{0, 0.4, 1, 1.7} {
		name := fmt.Sprintf(" %g", factor)
		tests["brightness"+name] = test{begun(func(s *Sample) error { return paint(s, brightness{factor}) }), 1}
		tests["contrast"+name] = test{begun(func(s *Sample) error { return s.applyContrast(factor) }), 1}
		tests["saturation"+name] = test{begun(func(s *Sample) error { return paint(s, saturation{factor}) }), 2}
		tests["sharpness"+name] = test{Sharpen{Factor: float64(factor)}, 1}
	}
	for _, bits := range []int{1, 3, 8} {
		tests[fmt.Sprint("posterize ", bits)] = test{Posterize{bits}, 0}
	}
	for _, from := range []int{0, 100, 256} {
		tests[fmt.Sprint("solarize ", from)] = test{Solarize{from}, 0}
	}
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var references []struct {
		Name          string
		Width, Height int
		Pixels        string
	}
	if err := json.Unmarshal(text, &references); err != nil {
		t.Fatal(err)
	}
	for _, r := range references {
		tt, ok := tests[r.Name]
		if !ok {
			t.Errorf("no test compares %s", r.Name)
			continue
		}
		delete(tests, r.Name)
		pixels, err := base64.StdEncoding.DecodeString(r.Pixels)
		if err != nil {
			t.Fatal(err)
		}
		want := image.NewRGBA(image.Rect(0, 0, r.Width, r.Height))
		got := apply(t, tt.transform, picture(17, 11))
		for i := range r.Width * r.Height {
			copy(want.Pix[4*i:], pixels[3*i:3*i+3])
			want.Pix[4*i+3] = 255
			if got.Rect == want.Rect {
				got.Pix[4*i+3] = 255 // Pillow's result does not have alpha
			}
		}
		wantPicture(t, r.Name, got, want, tt.most)
	}
	for name := range tests {
		t.Errorf("testdata/reference.json has no %s", name)
	}
}
