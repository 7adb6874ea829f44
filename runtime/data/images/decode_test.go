package images

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/burngen/burngen/runtime/rt"
)

// few is a picture of eight colours, which GIF can store.
func few(width, height int) *image.Paletted {
	m := image.NewPaletted(image.Rect(0, 0, width, height), nil)
	for i := range 8 {
		m.Palette = append(m.Palette, color.RGBA{uint8(i * 36), uint8(255 - i*30), uint8(i * 5), 255})
	}
	for i := range m.Pix {
		m.Pix[i] = uint8(i * 3 % 8)
	}
	return m
}

// vp8l returns a chunk of lossless WebP: a picture of one colour. Each of the five prefix codes has one
// symbol, so that pixels take no bits (RFC 9649, section 3.7).
func vp8l(width, height int, c color.NRGBA) []byte {
	var bits []byte
	n := 0
	put := func(value uint32, count int) {
		for i := range count {
			if n%8 == 0 {
				bits = append(bits, 0)
			}
			bits[n/8] |= byte(value>>i&1) << (n % 8)
			n++
		}
	}
	put(0x2f, 8)
	put(uint32(width-1), 14)
	put(uint32(height-1), 14)
	put(1, 1) // alpha is used
	put(0, 3) // version
	put(0, 3) // no transform, no colour cache, one group of codes
	for _, symbol := range []uint8{c.G, c.R, c.B, c.A} {
		put(0b101, 3) // a simple code of one symbol, which has 8 bits
		put(uint32(symbol), 8)
	}
	put(0b0001, 4) // distances: a symbol of one bit, 0
	return chunk("VP8L", bits)
}

// chunk returns a chunk of a RIFF file.
func chunk(name string, content []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(content)))
	b = append(b, content...)
	if len(content)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// vp8x returns the chunk that announces a picture's size and whether there is EXIF.
func vp8x(width, height int, exif bool) []byte {
	b := make([]byte, 10)
	if b[0] = 0x10; exif { // alpha
		b[0] |= 0x08
	}
	for i, n := range []int{width - 1, height - 1} {
		b[4+3*i], b[5+3*i], b[6+3*i] = byte(n), byte(n>>8), byte(n>>16)
	}
	return chunk("VP8X", b)
}

// riff returns a WebP file.
func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return chunk("RIFF", body)
}

// pngFile returns a PNG file of chunks.
func pngFile(chunks ...[]byte) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n"), bytes.Join(chunks, nil)...)
}

// pngChunk returns a chunk of a PNG file.
func pngChunk(name string, content []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	b = append(append(b, name...), content...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// tiffEntry is an entry of a TIFF directory, of one SHORT or LONG.
type tiffEntry struct {
	tag, kind uint16
	value     uint32
}

// tiffFile returns a TIFF file: a directory, then pixels. The entry of StripOffsets, 273, gets the place
// of the pixels.
func tiffFile(order binary.AppendByteOrder, pixels []byte, entries ...tiffEntry) []byte {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, uint16(len(entries)))
	end := uint32(8 + 2 + 12*len(entries) + 4)
	for _, e := range entries {
		if e.tag == 273 {
			e.value = end
		}
		b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, e.tag), e.kind), 1)
		if e.kind == 3 {
			b = order.AppendUint16(order.AppendUint16(b, uint16(e.value)), 0)
		} else {
			b = order.AppendUint32(b, e.value)
		}
	}
	return append(order.AppendUint32(b, 0), pixels...)
}

// greyTIFF returns a TIFF file of a mask.
func greyTIFF(m *image.Gray, orientation uint32) []byte {
	return tiffFile(binary.BigEndian, m.Pix,
		tiffEntry{256, 4, uint32(m.Rect.Dx())}, tiffEntry{257, 4, uint32(m.Rect.Dy())}, tiffEntry{258, 3, 8}, tiffEntry{259, 3, 1},
		tiffEntry{262, 3, 1}, tiffEntry{273, 4, 0}, tiffEntry{274, 3, orientation}, tiffEntry{277, 3, 1}, tiffEntry{278, 4, uint32(m.Rect.Dy())}, tiffEntry{279, 4, uint32(len(m.Pix))})
}

// encodings are a picture in each format.
func encodings(t testing.TB, width, height int) map[string][]byte {
	m := few(width, height)
	files := map[string][]byte{"png": encoded(t, m), "webp": riff(vp8l(width, height, color.NRGBA{1, 2, 3, 255}))}
	for name, encode := range map[string]func(b *bytes.Buffer) error{
		"bmp":  func(b *bytes.Buffer) error { return bmp.Encode(b, m) },
		"gif":  func(b *bytes.Buffer) error { return gif.Encode(b, m, nil) },
		"jpeg": func(b *bytes.Buffer) error { return jpeg.Encode(b, m, nil) },
		"tiff": func(b *bytes.Buffer) error { return tiff.Encode(b, m, &tiff.Options{Compression: tiff.Deflate}) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	return files
}

func TestDecode(t *testing.T) {
	want := rgba(few(19, 7))
	for name, file := range encodings(t, 19, 7) {
		m, err := Decode(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		switch name {
		case "jpeg": // chroma is coarse
			if m.Rect != want.Rect {
				t.Errorf("%s: %v", name, m.Rect)
			}
		case "webp":
			if m.Rect != want.Rect || m.RGBAAt(18, 6) != (color.RGBA{1, 2, 3, 255}) {
				t.Errorf("%s: %v, %v", name, m.Rect, m.RGBAAt(18, 6))
			}
		default:
			wantPicture(t, name, m, want, 0)
		}
	}
	flat := image.NewRGBA(image.Rect(0, 0, 20, 10))
	for i := range flat.Pix {
		flat.Pix[i] = []uint8{200, 100, 50, 255}[i%4]
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	m, err := Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	wantPicture(t, "flat jpeg", m, flat, 2)
}

func TestDecodeTransparency(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	m.SetNRGBA(0, 0, color.NRGBA{200, 100, 0, 128})
	m.SetNRGBA(1, 0, color.NRGBA{200, 100, 0, 0})
	deep := image.NewNRGBA64(image.Rect(0, 0, 1, 1))
	deep.SetNRGBA64(0, 0, color.NRGBA64{0x12ff, 0x3401, 0xffff, 0xffff})
	for name, tt := range map[string]struct {
		file []byte
		want []uint8
	}{
		"png":     {encoded(t, m), []uint8{100, 50, 0, 128, 0, 0, 0, 0}},
		"16 bits": {encoded(t, deep), []uint8{0x12, 0x34, 0xff, 0xff}},
		"webp":    {riff(vp8l(1, 1, color.NRGBA{200, 100, 0, 128})), []uint8{100, 50, 0, 128}},
	} {
		got, err := Decode(tt.file)
		if err != nil || !bytes.Equal(got.Pix, tt.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tt.want)
		}
	}
}

// TestDecodeFrame decodes a GIF whose first frame covers a part of the screen.
func TestDecodeFrame(t *testing.T) {
	frame := few(3, 2)
	frame.Rect = frame.Rect.Add(image.Pt(4, 1))
	other := few(8, 5)
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame, other}, Delay: []int{0, 0}, Config: image.Config{Width: 8, Height: 5}}); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := image.NewRGBA(image.Rect(0, 0, 8, 5))
	for y := range 2 {
		for x := range 3 {
			want.Set(4+x, 1+y, frame.At(4+x, 1+y))
		}
	}
	wantPicture(t, "frame", got, want, 0)
}

func TestDecodeMask(t *testing.T) {
	indices := few(5, 4)
	grey := image.NewGray(image.Rect(0, 0, 5, 4))
	for i := range grey.Pix {
		grey.Pix[i] = uint8(i * 13)
	}
	files := encodings(t, 5, 4)
	for name, tt := range map[string]struct {
		file []byte
		want []uint8
	}{
		"png":      {files["png"], indices.Pix},
		"gif":      {files["gif"], indices.Pix},
		"bmp":      {files["bmp"], indices.Pix},
		"tiff":     {files["tiff"], indices.Pix},
		"grey png": {encoded(t, grey), grey.Pix},
		"part":     {encoded(t, grey.SubImage(image.Rect(1, 1, 3, 3))), []uint8{6 * 13, 7 * 13, 11 * 13, 12 * 13}},
	} {
		m, err := DecodeMask(tt.file)
		if err != nil || !bytes.Equal(m.Pix, tt.want) {
			t.Errorf("%s: %v, %v; want %v", name, m, err, tt.want)
		}
	}
	turned, err := DecodeMask(greyTIFF(grey, 6))
	if err != nil || turned.Rect != image.Rect(0, 0, 4, 5) || turned.GrayAt(3, 0) != grey.GrayAt(0, 0) || turned.GrayAt(0, 4) != grey.GrayAt(4, 3) {
		t.Errorf("turned: %v, %v", turned, err)
	}
	wantError(t, failed(DecodeMask(files["jpeg"])), "jpeg: masks of this format have inexact values")
	wantError(t, failed(DecodeMask(files["webp"])), "webp: a mask of *image.NRGBA: a palette or grey of 8 bits expected")
	wantError(t, failed(DecodeMask(encoded(t, image.NewGray16(grey.Rect)))), "png: a mask of *image.Gray16: a palette or grey of 8 bits expected")
	wantError(t, failed(DecodeMask(nil)), "not a picture: BMP, GIF, JPEG, PNG, TIFF or WebP expected")
}

// hugeHeaders are files whose headers announce many pixels, which do not follow.
func hugeHeaders() map[string][]byte {
	u32 := binary.BigEndian.AppendUint32
	ihdr := append(u32(u32(nil, 10000), 10000), 8, 6, 0, 0, 0)
	b := append([]byte("BM"), make([]byte, 52)...)
	binary.LittleEndian.PutUint32(b[10:], 54)
	binary.LittleEndian.PutUint32(b[14:], 40)
	binary.LittleEndian.PutUint32(b[18:], 10000)
	binary.LittleEndian.PutUint32(b[22:], 10000)
	b[26], b[28] = 1, 24
	return map[string][]byte{
		"png":  pngFile(pngChunk("IHDR", ihdr), pngChunk("IDAT", nil)),
		"bmp":  b,
		"gif":  []byte("GIF89a\x10\x27\x10\x27\x00\x00\x00,\x00\x00\x00\x00\x10\x27\x10\x27\x80"),
		"jpeg": []byte("\xff\xd8\xff\xc0\x00\x0b\x08\x27\x10\x27\x10\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"),
		"webp": riff(vp8x(10000, 10000, false), chunk("VP8L", nil)),
		"tiff": tiffFile(binary.LittleEndian, nil, tiffEntry{256, 4, 10000}, tiffEntry{257, 4, 10000}, tiffEntry{258, 3, 8},
			tiffEntry{259, 3, 1}, tiffEntry{262, 3, 1}, tiffEntry{273, 4, 0}, tiffEntry{277, 3, 1}, tiffEntry{278, 4, 10000}, tiffEntry{279, 4, 9}),
	}
}

// TestHugeHeaders asserts that sizes are checked before pixels are allocated.
func TestHugeHeaders(t *testing.T) {
	for name, file := range hugeHeaders() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := failed(Decode(file))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "10000 × 10000 pixels: limit is 67108864 pixels (images.PixelLimit)") || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: error %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes are allocated", name, n)
		}
	}
}

// TestTruncated asserts that the first half of a file is not a picture, and that no part of it makes a
// decoder panic.
func TestTruncated(t *testing.T) {
	for name, file := range encodings(t, 19, 7) {
		for n := range len(file) {
			err := failed(Decode(file[:n]))
			if err == nil && n < len(file)/2 {
				t.Errorf("%s: %d bytes of %d are a picture", name, n, len(file))
			}
			if err != nil && strings.Contains(err.Error(), "panics") {
				t.Errorf("%s: %d bytes of %d: %v", name, n, len(file), err)
			}
		}
	}
}

// TestBadDecoders asserts what happens if a decoder panics, or returns other pixels than the header says.
func TestBadDecoders(t *testing.T) {
	config := func(io.Reader) (image.Config, error) { return image.Config{Width: 2, Height: 3}, nil }
	for want, decode := range map[string]func(io.Reader) (image.Image, error){
		"the decoder panics: boom":                func(io.Reader) (image.Image, error) { panic("boom") },
		"3 × 2 pixels where the header has 2 × 3": func(io.Reader) (image.Image, error) { return few(3, 2), nil },
	} {
		f := format{config: config, decode: decode}
		wantError(t, failed(f.pixels(nil)), want)
	}
}

func TestDecodeErrors(t *testing.T) {
	frames := encodings(t, 3, 3)["gif"]
	at := bytes.IndexByte(frames[13+24:], ',') + 13 + 24 // after the header and a palette of 8 colours
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":             {nil, "not a picture: BMP, GIF, JPEG, PNG, TIFF or WebP expected"},
		"text":                {[]byte("<svg>"), "not a picture: BMP, GIF, JPEG, PNG, TIFF or WebP expected"},
		"gif without frames":  {append(frames[:at:at], ';'), "gif: gif: missing image data"},
		"gif without a place": {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00;"), "gif: 0 × 0 pixels"},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, failed(Decode(tt.file)), tt.want) })
	}
}

func TestRead(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": encoded(t, few(4, 3)), "b.jpg": []byte("text")})
	for range 2 { // with memory that was used
		m, err := Read(filepath.Join(dir, "a.png"))
		if err != nil {
			t.Fatal(err)
		}
		wantPicture(t, "a", m, rgba(few(4, 3)), 0)
	}
	mask, err := ReadMask(filepath.Join(dir, "a.png"))
	if err != nil || !bytes.Equal(mask.Pix, few(4, 3).Pix) {
		t.Errorf("mask %v, %v", mask, err)
	}
	bad := filepath.Join(dir, "b.jpg")
	wantError(t, failed(Read(bad)), bad+": not a picture: BMP, GIF, JPEG, PNG, TIFF or WebP expected")
	if err := failed(Read(filepath.Join(dir, "c.jpg"))); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
	defer rt.ArenaLimit(rt.ArenaLimit(2))
	wantError(t, failed(Read(bad)), bad+": the file exceeds rt.ArenaLimit")
}
