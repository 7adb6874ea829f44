package images

import "testing"

func TestFlip(t *testing.T) {
	m := picture(7, 4)
	for name, tt := range map[string]struct {
		flip        Flip
		orientation int // the EXIF orientation of the result
	}{
		"horizontal": {Flip{Horizontal: 1}, 2},
		"vertical":   {Flip{Vertical: 1}, 4},
		"both":       {Flip{1, 1}, 3},
		"none":       {Flip{}, 1},
	} {
		got := apply(t, tt.flip, m)
		wantPicture(t, name, got, stored(m, tt.orientation), 0)
		wantPicture(t, name+" twice", apply(t, tt.flip, got), m, 0)
	}
	r, n := generator(4), 0
	for range 10000 {
		s := Sample{Image: m}
		if err := (Flip{Horizontal: 0.5}).Apply(&s, r); err != nil {
			t.Fatal(err)
		}
		if s.Image != m {
			n++
		}
	}
	if n < 4850 || n > 5150 {
		t.Errorf("%d of 10000 pictures are flipped with probability ½", n)
	}
}
