package images

import "testing"

func TestSharpen(t *testing.T) {
	point := CHW{make([]float32, 25), 1, 5, 5}
	point.Data[12] = 0.52
	got := applyCHW(t, Sharpen{0}, point)
	for i, x := range got.Data {
		want := float32(0)
		switch dx, dy := i%5-2, i/5-2; {
		case dx == 0 && dy == 0:
			want = 0.2 // 5/13
		case max(dx, -dx) < 2 && max(dy, -dy) < 2:
			want = 0.04 // 1/13
		}
		if d := x - want; d > 1e-6 || d < -1e-6 {
			t.Errorf("element %d is %v, want %v", i, x, want)
		}
	}
	if got := applyCHW(t, Sharpen{2}, point).Data; got[12] < 0.83 || got[12] > 0.85 || got[11] != 0 {
		t.Errorf("sharpened: %v", got) // 2·0.52 - 0.2, and -0.04 limited
	}
	wantPicture(t, "factor 1", apply(t, Sharpen{1}, picture(9, 7)), picture(9, 7), 0)
	wantPicture(t, "a row", apply(t, Sharpen{0}, picture(9, 1)), picture(9, 1), 0)
	wantPicture(t, "a pixel", apply(t, Sharpen{0}, picture(1, 1)), picture(1, 1), 0)
}
