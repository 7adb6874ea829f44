package images

import (
	"bytes"
	"image"
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/runtime/data/datatest"
)

func TestMasks(t *testing.T) {
	m := few(5, 4)
	grey := image.NewGray(image.Rect(0, 0, 6, 3))
	for i := range grey.Pix {
		grey.Pix[i] = uint8(i)
	}
	pictures := tree(t, map[string][]byte{
		"a/1.jpg": jpegOf(t, picture(5, 4)), "b.png": encoded(t, picture(6, 3)), "c.jpg": nil, "notes.txt": nil,
	})
	masks := tree(t, map[string][]byte{"a/1.png": encoded(t, m), "b.tiff": encoded(t, grey)})
	d, err := Masks(pictures, masks)
	if err != nil {
		t.Fatal(err)
	}
	datatest.Run(t, d, datatest.Options[Masked]{})
	if d.Len() != 2 || d.Unpaired() != 1 {
		t.Errorf("%d pairs, %d pictures without a mask", d.Len(), d.Unpaired())
	}
	for i, want := range []Masked{
		{Path: "a/1.jpg", MaskPath: "a/1.png", Mask: &image.Gray{Pix: m.Pix}},
		{Path: "b.png", MaskPath: "b.tiff", Mask: grey},
	} {
		x, err := d.At(i)
		if err != nil || x.Path != want.Path || x.MaskPath != want.MaskPath || !bytes.Equal(x.Mask.Pix, want.Mask.Pix) || x.Image.Rect != x.Mask.Rect {
			t.Errorf("item %d is %v, %v", i, x, err)
		}
		if s := x.Sample(); s.Image != x.Image || s.Mask != x.Mask {
			t.Errorf("sample %v", s)
		}
	}
}

func TestMistakesInMasks(t *testing.T) {
	one := map[string][]byte{"a.png": encoded(t, few(5, 4))}
	pictures := tree(t, one)
	empty := t.TempDir()
	wantError(t, failed(Masks(pictures, empty)), "masks: "+pictures+": no picture has a mask in "+empty)
	two := tree(t, map[string][]byte{"a.png": nil, "a.gif": nil})
	wantError(t, failed(Masks(pictures, two)), "masks: "+two+": a.gif and a.png have the same name")
	more := tree(t, map[string][]byte{"a.png": nil, "b.png": nil})
	wantError(t, failed(Masks(pictures, more)), "masks: "+filepath.Join(more, "b.png")+": no picture in "+pictures+" has this name")
	file := filepath.Join(pictures, "a.png")
	wantError(t, failed(Masks(pictures, file)), "masks: "+file+" is not a folder")
	other := tree(t, map[string][]byte{"a.png": encoded(t, few(4, 5))})
	d, err := Masks(pictures, other)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, failed(d.At(0)), filepath.Join(other, "a.png")+": a mask of 4 × 5 pixels for a picture of 5 × 4")
	colours := tree(t, map[string][]byte{"a.png": encoded(t, picture(5, 4))})
	if d, err = Masks(pictures, colours); err != nil {
		t.Fatal(err)
	}
	wantError(t, failed(d.At(0)), filepath.Join(colours, "a.png")+": png: a mask of *image.RGBA: a palette or grey of 8 bits expected")
}
