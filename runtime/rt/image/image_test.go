package image_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	stdimage "image"
	"image/color"
	"image/color/palette"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/burngen/burngen/runtime/rt/image"
)

// picture returns an image of the hues of a colour wheel.
func picture(width, height int) *stdimage.NRGBA {
	m := stdimage.NewNRGBA(stdimage.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x * 255 / width), uint8(y * 255 / height), uint8((x + 2*y) * 5), 255})
		}
	}
	return m
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decoded decodes data, of a known size.
func decoded(t testing.TB, data []byte, format string) []byte {
	t.Helper()
	height, err := image.Height(data)
	if err != nil {
		t.Fatal(err)
	}
	width, err := image.Width(data)
	if err != nil {
		t.Fatal(err)
	}
	channels := 3
	if format == "Grayscale" {
		channels = 1
	}
	pixels := make([]byte, height*width*channels)
	if err := image.Decode(pixels, data, format); err != nil {
		t.Fatal(err)
	}
	return pixels
}

func TestDecodeKeepsPixels(t *testing.T) {
	const width, height = 13, 7
	rgb := picture(width, height)
	faint := picture(width, height)
	for i := 3; i < len(faint.Pix); i += 4 {
		faint.Pix[i] = uint8(i)
	}
	grey := stdimage.NewGray(rgb.Rect)
	deep := stdimage.NewNRGBA64(rgb.Rect)
	indexed := stdimage.NewPaletted(rgb.Rect, palette.WebSafe)
	for y := range height {
		for x := range width {
			grey.Set(x, y, rgb.At(x, y))
			indexed.Set(x, y, rgb.At(x, y))
			p := rgb.NRGBAAt(x, y)
			deep.SetNRGBA64(x, y, color.NRGBA64{uint16(p.R)<<8 | 7, uint16(p.G) << 8, uint16(p.B)<<8 | 255, 0xffff})
		}
	}
	for _, m := range []struct {
		name string
		m    stdimage.Image
	}{{"colours", rgb}, {"transparent colours", faint}, {"grey", grey}, {"16 bits", deep}, {"palette", indexed}} {
		for _, f := range []struct {
			name   string
			encode func(*bytes.Buffer) error
		}{
			{"png", func(b *bytes.Buffer) error { return png.Encode(b, m.m) }},
			{"bmp", func(b *bytes.Buffer) error { return bmp.Encode(b, m.m) }},
			{"tiff", func(b *bytes.Buffer) error { return tiff.Encode(b, m.m, nil) }},
			{"deflated tiff", func(b *bytes.Buffer) error {
				return tiff.Encode(b, m.m, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
			}},
		} {
			t.Run(m.name+" as "+f.name, func(t *testing.T) {
				if f.name == "bmp" && m.name == "16 bits" {
					t.Skip("a BMP image has 8 bits")
				}
				data := encoded(t, f.encode)
				var want, turned, luma []byte
				for y := range height {
					for x := range width {
						p := color.NRGBAModel.Convert(m.m.At(x, y)).(color.NRGBA)
						if m.name == "transparent colours" {
							p = faint.NRGBAAt(x, y)
						}
						want, turned = append(want, p.R, p.G, p.B), append(turned, p.B, p.G, p.R)
						luma = append(luma, uint8((19595*int(p.R)+38470*int(p.G)+7471*int(p.B)+1<<15)>>16))
					}
				}
				for format, want := range map[string][]byte{"RGB": want, "BGR": turned, "Grayscale": luma} {
					if got := decoded(t, data, format); !bytes.Equal(got, want) {
						t.Errorf("%s:\n%v\nwant\n%v", format, got, want)
					}
				}
			})
		}
	}
}

// The expected pixels are those of libjpeg-turbo and libwebp, to the bit.
func TestDecodeAgreesWithTheReferenceDecoders(t *testing.T) {
	files, err := filepath.Glob("testdata/*.rgb")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, want := range files {
		name := strings.TrimSuffix(want, ".rgb")
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name + ".jpg")
			if err != nil {
				data, err = os.ReadFile(name + ".webp")
			}
			if err != nil {
				t.Fatal(err)
			}
			pixels, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if got := decoded(t, data, "RGB"); !bytes.Equal(got, pixels) {
				t.Errorf("\n%v\nwant\n%v", got, pixels)
			}
			for n := range data {
				if err := image.Decode(make([]byte, len(pixels)), data[:n], "RGB"); err == nil && n < len(data)-2 {
					t.Errorf("%d of %d bytes give no error", n, len(data))
				}
			}
		})
	}
}

func TestDecodePortableFormats(t *testing.T) {
	for _, test := range []struct {
		name, data string
		width      int
		want       []byte // the luma
	}{
		{"bits as digits", "P1\n# a comment\n3 2\n010\n1 1 1\n", 3, []byte{255, 0, 255, 0, 0, 0}},
		{"grey as digits", "P2 2 2 15 0 15\n7 3", 2, []byte{0, 255, 119, 51}},
		{"colours as digits", "P3 1 1 255 255 0 0", 1, []byte{76}},
		{"bits", "P4 10 2\n\xa0\x00\xff\x40", 10, []byte{0, 255, 0, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0}},
		{"grey", "P5 2 1 255\n\x10\xff", 2, []byte{16, 255}},
		{"grey of 16 bits", "P5 2 1 65535\n\x10\x00\xff\xff", 2, []byte{16, 255}},
		{"a space as the first sample", "P5 2 1 255\n  ", 2, []byte{32, 32}},
		{"colours", "P6\n1 1\n255\n\x00\x00\xff", 1, []byte{29}},
		{"more than white", "P5 1 1 100\n\xff", 1, []byte{255}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := decoded(t, []byte(test.data), "Grayscale"); !bytes.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
			if width, _ := image.Width([]byte(test.data)); width != test.width {
				t.Errorf("width %d, want %d", width, test.width)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	photo := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, picture(20, 20), nil) })
	drawing := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, picture(20, 20)) })
	huge := bytes.Clone(drawing)
	copy(huge[16:], "\x00\x00\x40\x00\x00\x00\x20\x08")
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	for _, test := range []struct{ name, data, want string }{
		{"nothing", "", "unknown format"},
		{"text", "hello", "unknown format"},
		{"a picture of another kind", "GIF89a", "unknown format"},
		{"jpeg 2000", "\x00\x00\x00\x0cjP  \r\n\x87\n", "jpeg 2000: unsupported operation"},
		{"half a photo", string(photo[:len(photo)/2]), "jpeg: "},
		{"half a drawing", string(drawing[:len(drawing)/2]), "png: "},
		{"a huge drawing", string(huge), "png: 16384 × 8200 pixels"},
		{"a huge photo of few bytes", strings.Replace(string(photo), "\x00\x14\x00\x14\x03", "\x20\x00\x20\x00\x03", 1), "jpeg: unexpected end"},
		{"an arithmetic photo", strings.Replace(string(photo), "\xff\xc0", "\xff\xc9", 1), "jpeg: coding process 9 is not supported"},
		{"a huge map", "P5 100000 100000 255\n", "pnm: 100000 × 100000 pixels"},
		{"a number that overflows", "P5 99999999999999999999 1 255\n", "pnm: a number is too large"},
		{"half a map", "P5 2 2 255\n123", "pnm: unexpected end"},
		{"half a map of digits", "P2 2 2 255\n1 2 3", "pnm: unexpected end"},
		{"a map without white", "P5 2 2 0\n1234", "pnm: greatest value 0"},
		{"no picture", "P5 0 2 255\n", "pnm: 0 × 2 pixels"},
		{"letters in a map", "P2 2 a", "pnm: byte 'a'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pixels := make([]byte, 3*20*20)
			err := image.Decode(pixels, []byte(test.data), "RGB")
			if strings.HasPrefix(test.name, "half a map") {
				err = image.Decode(pixels[:12], []byte(test.data), "RGB")
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	t.Run("other sizes", func(t *testing.T) {
		if err := image.Decode(make([]byte, 3), photo, "RGB"); err == nil {
			t.Error("3 bytes for a photo give no error")
		}
		if err := image.Decode(make([]byte, 3*20*20), photo, "CMYK"); err == nil {
			t.Error("an unknown pixel format is not an error")
		}
	})
}

// No input makes the decoders panic or store more than they are given.
func FuzzDecode(f *testing.F) {
	small := picture(9, 5)
	for _, name := range []string{"progressive_420.jpg", "inks.jpg", "lossy.webp"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(encoded(f, func(b *bytes.Buffer) error { return jpeg.Encode(b, small, nil) }))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return png.Encode(b, small) }))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return bmp.Encode(b, small) }))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return tiff.Encode(b, small, nil) }))
	f.Add([]byte("P3 1 1 255 255 0 0"))
	f.Add([]byte("P4 10 2\n\xa0\x00\xff\x40"))
	f.Fuzz(func(t *testing.T, data []byte) {
		height, err := image.Height(data)
		if err != nil {
			return
		}
		width, err := image.Width(data)
		if err != nil || height < 1 || width < 1 || height > image.MaxPixels/width {
			t.Fatalf("%d × %d pixels: %v", width, height, err)
		}
		if height*width > 1<<16 {
			return
		}
		pixels := slices.Repeat([]byte{0xa5}, 3*height*width+64)
		if err := image.Decode(pixels[:3*height*width:3*height*width], data, "RGB"); err != nil && err.Error() == "" {
			t.Fatal("an error that says nothing")
		}
		if rest := pixels[3*height*width:]; !bytes.Equal(rest, slices.Repeat([]byte{0xa5}, 64)) {
			t.Fatal(fmt.Sprint("stored beyond the pixels: ", rest))
		}
	})
}
