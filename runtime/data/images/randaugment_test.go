package images

import (
	"fmt"
	"image/color"
	"math/rand/v2"
	"testing"
)

// drawn returns a source for which IntN(14) is kind and IntN(2) is sign.
func drawn(t *testing.T, kind, sign int) *rand.Rand {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, seed))
		if r.IntN(14) == kind && r.IntN(2) == sign {
			return rand.New(rand.NewPCG(seed, seed))
		}
	}
	t.Fatal("no such draw")
	return nil
}

// TestRandAugmentTable compares each of the 14 transforms at some magnitudes with what the table of the
// definition says.
func TestRandAugmentTable(t *testing.T) {
	m := picture(33, 20)
	moved := func(x, y int) Transform {
		return begun(func(s *Sample) error {
			return reshape(s, "move", move{width: 33, height: 20, x0: x, xx: 1, y0: y, yy: 1})
		})
	}
	for magnitude, factor := range map[int]float64{15: 0.45, 30: 0.9, 10: 0.3} {
		for sign, s := range []float64{1, -1} {
			by := float32(1 + s*factor)
			shear := 0.3 * float64(magnitude) / 30 * s
			angle := float64(magnitude) * s
			width, height := int(150./331*33*float64(magnitude)/30), int(150./331*20*float64(magnitude)/30)
			want := []Transform{
				Sequence{},
				begun(func(x *Sample) error {
					return reshape(x, "", warp{33, 20, affine{1, shear, 0, 0, 1, 0}, Bilinear, color.RGBA{}, 0})
				}),
				begun(func(x *Sample) error {
					return reshape(x, "", warp{33, 20, affine{1, 0, 0, shear, 1, 0}, Bilinear, color.RGBA{}, 0})
				}),
				moved(int(s)*width, 0),
				moved(0, int(s)*height),
				Rotate{Degrees: [2]float64{angle, angle}},
				begun(func(x *Sample) error { return paint(x, brightness{by}) }),
				begun(func(x *Sample) error { return paint(x, saturation{by}) }),
				begun(func(x *Sample) error { return x.applyContrast(by) }),
				Sharpen{1 + s*factor},
				Posterize{map[int]int{10: 7, 15: 6, 30: 4}[magnitude]},
				Solarize{map[int]int{10: 170, 15: 128, 30: 0}[magnitude]},
				AutoContrast{},
				Equalize{},
			}
			for kind, transform := range want {
				got := Sample{Image: m}
				if err := (RandAugment{Operations: 1, Magnitude: magnitude}).Apply(&got, drawn(t, kind, sign)); err != nil {
					t.Fatal(err)
				}
				wantPicture(t, fmt.Sprintf("transform %d of magnitude %d, sign %v", kind, magnitude, s), got.Image, apply(t, transform, m), 1)
			}
		}
	}
}

// TestWeakRandAugment asserts that the strength 0 leaves pictures alone, apart from contrasts that do not
// have one.
func TestWeakRandAugment(t *testing.T) {
	m := picture(33, 20)
	for kind := range 12 {
		s := Sample{Image: m}
		if err := (RandAugment{Operations: 1, Magnitude: -1}).Apply(&s, drawn(t, kind, 1)); err != nil {
			t.Fatal(err)
		}
		wantPicture(t, fmt.Sprint("transform ", kind), s.Image, m, 0)
	}
}
