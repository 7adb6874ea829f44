package images

import (
	"bytes"
	"fmt"
	"image/color"
	"slices"
	"testing"
)

// rowOf returns the red channel of a row, and the mask's.
func rowOf(s *Sample, y int) (red, classes []uint8) {
	for x := range s.Image.Rect.Dx() {
		red = append(red, s.Image.RGBAAt(x, y).R)
		classes = append(classes, s.Mask.GrayAt(x, y).Y)
	}
	return red, classes
}

func TestPad(t *testing.T) {
	for name, tt := range map[string]struct {
		pad    Pad
		row    int
		want   []uint8
		class  []uint8
		height int
	}{
		"constant": {Pad{Left: 1, Top: 1, Right: 2, Fill: color.RGBA{9, 9, 9, 255}, FillClass: 255}, 1, []uint8{9, 0, 1, 2, 9, 9}, []uint8{255, 0, 1, 2, 255, 255}, 3},
		"above":    {Pad{Top: 1, Bottom: 1, Fill: color.RGBA{9, 9, 9, 255}, FillClass: 255}, 0, []uint8{9, 9, 9}, []uint8{255, 255, 255}, 4},
		"edge":     {Pad{Left: 2, Right: 1, Mode: PadEdge}, 0, []uint8{0, 0, 0, 1, 2, 2}, []uint8{0, 0, 0, 1, 2, 2}, 2},
		"reflect":  {Pad{Left: 3, Right: 5, Mode: PadReflect}, 0, []uint8{1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}, []uint8{1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}, 2},
		"below":    {Pad{Bottom: 2, Mode: PadReflect}, 2, []uint8{0, 1, 2}, []uint8{0, 1, 2}, 4},
		"nothing":  {Pad{}, 1, []uint8{3, 4, 5}, []uint8{3, 4, 5}, 2},
	} {
		m, mask := numberedPixels(3, 2)
		s := Sample{Image: m, Mask: mask}
		if err := tt.pad.Apply(&s, generator(1)); err != nil {
			t.Fatal(err)
		}
		red, classes := rowOf(&s, tt.row)
		if !slices.Equal(red, tt.want) || !slices.Equal(classes, tt.class) || s.Image.Rect.Dy() != tt.height {
			t.Errorf("%s: %v, classes %v, %d rows; want %v, %v, %d", name, red, classes, s.Image.Rect.Dy(), tt.want, tt.class, tt.height)
		}
	}
	one, mask := numberedPixels(1, 1)
	s := Sample{Image: one, Mask: mask}
	if err := (Pad{Left: 2, Top: 2, Mode: PadReflect}).Apply(&s, generator(1)); err != nil || !bytes.Equal(s.Mask.Pix, make([]byte, 9)) {
		t.Errorf("a pixel reflected: %v, %v", s.Mask.Pix, err)
	}
}

// TestPadAndCropAreInverse crops what was padded.
func TestPadAndCropAreInverse(t *testing.T) {
	m := picture(13, 9)
	for _, n := range []int{1, 2, 5} {
		for mode := PadConstant; mode <= PadReflect; mode++ {
			padded := apply(t, Pad{Left: n, Top: n, Right: n, Bottom: n, Mode: mode}, m)
			wantPicture(t, fmt.Sprint(mode, n), apply(t, CenterCrop{Width: 13, Height: 9}, padded), m, 0)
		}
	}
}
