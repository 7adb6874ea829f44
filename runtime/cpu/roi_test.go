package cpu_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestRegionsOfOtherImagesAreErrors(t *testing.T) {
	src, rois := make([]float32, 4), make([]float32, 5)
	err := cpu.RoiAlign(make([]float32, 1), src, rois[:4], []int32{1}, 1, 1, 2, 2, 1, 1, 0, 1, true, false)
	if e := new(cpu.IndexError); !errors.As(err, &e) {
		t.Errorf("image 1 of 1: %v", err)
	}
	for _, image := range []float32{1, -1, float32(math.NaN())} {
		rois[0] = image
		if err := cpu.MaxRoiPool(make([]float32, 1), src, rois, 1, 1, 2, 2, 1, 1, 1); err == nil {
			t.Errorf("image %v of 1 is not an error", image)
		}
	}
}

// TestRoiAlign pools a plane whose elements are their own column numbers. The mean of a bin is then
// the column of the bin's centre. It also tests the largest product of an element and its weight.
func TestRoiAlign(t *testing.T) {
	const h, w = 6, 8
	src := make([]float32, h*w)
	for i := range src {
		src[i] = float32(i % w)
	}
	rois := []float32{1, 1, 5, 5, 2, 0, 4, 2} // two regions: columns 1 to 5 and 2 to 4
	mean, most := make([]float32, 2*2*2), make([]float32, 2*2*2)
	for _, c := range []struct {
		dst  []float32
		most bool
	}{{mean, false}, {most, true}} {
		if err := cpu.RoiAlign(c.dst, src, rois, []int32{0, 0}, 1, 1, h, w, 2, 2, 2, 1, false, c.most); err != nil {
			t.Fatal(err)
		}
	}
	// The samples of the first region are halfway between elements, those of the second a quarter away.
	for name, c := range map[string]struct{ got, want []float32 }{
		"mean":            {mean, []float32{2, 4, 2, 4, 2.5, 3.5, 2.5, 3.5}},
		"largest product": {most, []float32{3. / 4, 5. / 4, 3. / 4, 5. / 4, 27. / 16, 36. / 16, 27. / 16, 36. / 16}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	outside := make([]float32, 1)
	if err := cpu.RoiAlign(outside, src, []float32{20, 20, 30, 30}, []int32{0}, 1, 1, h, w, 1, 1, 1, 1, false, false); err != nil || outside[0] != 0 {
		t.Errorf("a region outside is %v, %v", outside, err)
	}
}
