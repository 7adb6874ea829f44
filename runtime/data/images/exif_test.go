package images

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// stored returns a picture as a camera stores it with an orientation: what is at the top and at the
// left of the scene is elsewhere in the file (Exif 3.0, table 6).
func stored(scene *image.RGBA, orientation int) *image.RGBA {
	w, h := scene.Rect.Dx(), scene.Rect.Dy()
	at := func(x, y int) (row, column int) {
		switch orientation {
		case 1: // row 0 is the top, column 0 the left side
			return y, x
		case 2: // top, right
			return y, w - 1 - x
		case 3: // bottom, right
			return h - 1 - y, w - 1 - x
		case 4: // bottom, left
			return h - 1 - y, x
		case 5: // left, top
			return x, y
		case 6: // right, top
			return w - 1 - x, y
		case 7: // right, bottom
			return w - 1 - x, h - 1 - y
		}
		return x, h - 1 - y // left, bottom
	}
	m := image.NewRGBA(scene.Rect)
	if orientation > 4 {
		m = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			row, column := at(x, y)
			m.SetRGBA(column, row, scene.RGBAAt(x, y))
		}
	}
	return m
}

// exifBlock returns a block with an orientation, between two other tags.
func exifBlock(order binary.AppendByteOrder, kind uint16, orientation uint32) []byte {
	return tiffFile(order, nil, tiffEntry{0x010f, 3, 7}, tiffEntry{0x0112, kind, orientation}, tiffEntry{0x0213, 3, 1})
}

// app returns a segment of a JPEG file.
func app(marker byte, content []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(content)+2)), content...)
}

// after puts segments behind the start of a JPEG file.
func after(file []byte, segments ...[]byte) []byte {
	return append(append([]byte("\xff\xd8"), bytes.Join(segments, nil)...), file[2:]...)
}

func TestOrientation(t *testing.T) {
	scene := picture(11, 5)
	for o := 1; o <= 8; o++ {
		file := stored(scene, o)
		block := exifBlock(binary.LittleEndian, 3, uint32(o))
		head := encoded(t, file)
		const ihdr = 8 + 25 // the signature and the first chunk
		got, err := Decode(append(append(head[:ihdr:ihdr], pngChunk("eXIf", block)...), head[ihdr:]...))
		if err != nil {
			t.Fatal(err)
		}
		wantPicture(t, fmt.Sprintf("orientation %d", o), got, scene, 0)
		mask, want := image.NewGray(file.Rect), image.NewGray(scene.Rect)
		for i := range mask.Pix {
			mask.Pix[i] = file.Pix[4*i]
			want.Pix[i] = scene.Pix[4*i]
		}
		if got, err := DecodeMask(greyTIFF(mask, uint32(o))); err != nil || !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("mask of orientation %d: %v, %v", o, got, err)
		}
	}
}

func TestOrientationOfFormats(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture(16, 8), nil); err != nil {
		t.Fatal(err)
	}
	block := exifBlock(binary.BigEndian, 3, 6)
	marked := append([]byte(exifMark), block...)
	xmp := app(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00<x/>"))
	for name, tt := range map[string]struct {
		file []byte
		want int
	}{
		"jpeg":                          {after(b.Bytes(), app(0xe1, marked)), 6},
		"jpeg after others":             {after(b.Bytes(), app(0xe0, []byte("JFIF\x00")), xmp, []byte{0xff}, app(0xe1, marked), app(0xe1, append([]byte(exifMark), exifBlock(binary.LittleEndian, 3, 3)...))), 6},
		"jpeg, a long":                  {after(b.Bytes(), app(0xe1, append([]byte(exifMark), exifBlock(binary.LittleEndian, 4, 8)...))), 8},
		"jpeg without":                  {b.Bytes(), 1},
		"jpeg with XMP only":            {after(b.Bytes(), xmp), 1},
		"jpeg, after the first scan":    {append(b.Bytes()[:b.Len():b.Len()], app(0xe1, marked)...), 1},
		"jpeg, orientation 0":           {after(b.Bytes(), app(0xe1, append([]byte(exifMark), exifBlock(binary.BigEndian, 3, 0)...))), 1},
		"jpeg, orientation 9":           {after(b.Bytes(), app(0xe1, append([]byte(exifMark), exifBlock(binary.BigEndian, 3, 9)...))), 1},
		"jpeg, a text":                  {after(b.Bytes(), app(0xe1, append([]byte(exifMark), exifBlock(binary.BigEndian, 2, 6)...))), 1},
		"webp":                          {riff(vp8x(16, 8, true), vp8l(16, 8, color.NRGBA{A: 255}), chunk("EXIF", block)), 6},
		"webp with a mark":              {riff(vp8x(16, 8, true), vp8l(16, 8, color.NRGBA{A: 255}), chunk("EXIF", marked)), 6},
		"png, a chunk beyond the file":  {pngFile([]byte("\xff\xff\xff\xffeXIf"), block), 1},
		"webp, a chunk beyond the file": {riff([]byte("EXIF\xff\xff\xff\xff"), block), 1},
	} {
		f := formatOf(tt.file)
		if got := f.orientation(tt.file); got != tt.want {
			t.Errorf("%s: orientation %d, want %d", name, got, tt.want)
		}
	}
	for name, file := range map[string][]byte{
		"jpeg": after(b.Bytes(), app(0xe1, marked)),
		"webp": riff(vp8x(16, 8, true), vp8l(16, 8, color.NRGBA{A: 255}), chunk("EXIF", block)),
	} {
		if m, err := Decode(file); err != nil || m.Rect != image.Rect(0, 0, 8, 16) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

// TestHostileEXIF reads directories that lead nowhere, or to themselves.
func TestHostileEXIF(t *testing.T) {
	block := exifBlock(binary.LittleEndian, 3, 6)
	for n := range len(block) {
		if o := orientationOf(block[:n]); o != 1 && n < 8+2+2*12 {
			t.Errorf("orientation %d in %d bytes of %d", o, n, len(block))
		}
	}
	own := bytes.Clone(block)
	own[4] = 4 // the directory begins in the pointer to it
	next := bytes.Clone(block)
	binary.LittleEndian.PutUint32(next[len(next)-4:], 8) // the next directory is the same one
	next[8+2+12] = 0                                     // another tag
	many := bytes.Clone(block)
	many[8], many[9] = 0xff, 0xff // 65535 entries
	many[8+2+12] = 0
	far := bytes.Clone(block)
	copy(far[4:], "\xff\xff\xff\xff")
	for name, b := range map[string][]byte{"own": own, "next": next, "many": many, "far": far, "other": []byte("XX*\x00abcdefgh")} {
		if o := orientationOf(b); o != 1 {
			t.Errorf("%s: orientation %d", name, o)
		}
	}
}
