package shapes

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data/images"
)

// TestPaint asserts that the pictures are there, and that a shape covers a part of each.
func TestPaint(t *testing.T) {
	dir, names := t.TempDir(), slices.Concat(Other, Plain)
	if err := Paint(dir, 3, names); err != nil {
		t.Fatal(err)
	}
	f, err := images.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if f.Len() != 3*len(names) || !slices.Equal(f.Classes(), names) {
		t.Errorf("%d pictures of %v", f.Len(), f.Classes())
	}
	for i := range f.Len() {
		p, err := f.At(i)
		if err != nil {
			t.Fatal(err)
		}
		bright := 0
		for k := 0; k < len(p.Image.Pix); k += 4 {
			if p.Image.Pix[k] > 114 {
				bright++
			}
		}
		if n := len(p.Image.Pix) / 4; bright < n/50 || bright > n-n/50 {
			t.Errorf("%s: %d pixels of %d are bright", p.Path, bright, n)
		}
	}
	if err := Paint(dir, 1, []string{"hexagon"}); err == nil {
		t.Error("a shape without a name is painted")
	}
}
