package images

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzEXIF asserts that no block makes the reader panic, and that an orientation is one of the eight.
func FuzzEXIF(f *testing.F) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		f.Add(exifBlock(order, 3, 6))
		f.Add(after([]byte("\xff\xd8"), app(0xe1, append([]byte(exifMark), exifBlock(order, 4, 8)...))))
	}
	f.Add(pngFile(pngChunk("eXIf", exifBlock(binary.LittleEndian, 3, 2))))
	f.Add(riff(chunk("EXIF", exifBlock(binary.LittleEndian, 3, 2))))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, block := range [][]byte{file, exifOfJPEG(file), exifOfPNG(file), exifOfWebP(file)} {
			if o := orientationOf(block); o < 1 || o > 8 {
				t.Errorf("orientation %d", o)
			}
		}
	})
}

// FuzzDecode asserts that no file makes Decode panic, and that pictures have the size that the header
// says.
func FuzzDecode(f *testing.F) {
	for _, file := range encodings(f, 7, 5) {
		f.Add(file)
	}
	for _, file := range hugeHeaders() {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		defer PixelLimit(PixelLimit(1 << 16))
		m, err := Decode(file)
		if err == nil && (m.Rect.Min.X != 0 || m.Rect.Min.Y != 0 || len(m.Pix) < 4*m.Rect.Dx()*m.Rect.Dy() || m.Rect.Empty()) {
			t.Errorf("bounds %v, %d bytes", m.Rect, len(m.Pix))
		}
		if mask, err := DecodeMask(file); err == nil && m != nil && mask.Rect != m.Rect {
			t.Errorf("a mask of %v, a picture of %v", mask.Rect, m.Rect)
		}
	})
}

// FuzzCOCO asserts that no file makes the reader panic, and that what is read fits together.
func FuzzCOCO(f *testing.F) {
	f.Add([]byte(instances))
	f.Add([]byte(`{"images": [], "annotations": [], "categories": []}`))
	f.Add([]byte(`{"images": [{"id": 1, "file_name": "a"}], "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1e999, 1]}], "categories": [{"id": 1}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		d, err := readCOCO(bytes.NewReader(file))
		if err != nil {
			return
		}
		for i, s := range d.scenes {
			if i > 0 && s.ID <= d.scenes[i-1].ID {
				t.Errorf("numbers %d and %d", d.scenes[i-1].ID, s.ID)
			}
			for _, b := range s.Boxes {
				if !(b.X0 <= b.X1 && b.Y0 <= b.Y1 && b.Area() >= 0) || b.Class < 0 || b.Class >= len(d.Classes()) {
					t.Errorf("box %v", b)
				}
			}
		}
	})
}
