package images

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// picture returns the picture of testdata/make.py in any size.
func picture(width, height int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := func(c int) uint8 { return uint8((x*x*(3+c) + 11*y*(c+1) + x*y*5 + 40*c) % 251) }
			m.SetRGBA(x, y, color.RGBA{c(0), c(1), c(2), 255})
		}
	}
	return m
}

// numberedPixels returns a picture whose pixels have different colours, and a mask of different classes.
func numberedPixels(width, height int) (*image.RGBA, *image.Gray) {
	m, mask := image.NewRGBA(image.Rect(0, 0, width, height)), image.NewGray(image.Rect(0, 0, width, height))
	for i := range width * height {
		m.SetRGBA(i%width, i/width, color.RGBA{uint8(i), uint8(i >> 8), 7, 255})
		mask.Pix[i] = uint8(i)
	}
	return m, mask
}

// planes returns a picture as floats.
func planes(t testing.TB, m *image.RGBA, channels int) CHW {
	t.Helper()
	s := Sample{Image: m}
	if err := (Floats{channels}).Apply(&s, generator(0)); err != nil {
		t.Fatal(err)
	}
	return s.CHW
}

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// apply applies a transform to a picture of 8 bits.
func apply(t testing.TB, transform Transform, m *image.RGBA) *image.RGBA {
	t.Helper()
	s := Sample{Image: m}
	if err := transform.Apply(&s, generator(1)); err != nil {
		t.Fatal(err)
	}
	return s.Image
}

// applyCHW applies a transform to a picture of floats.
func applyCHW(t testing.TB, transform Transform, p CHW) CHW {
	t.Helper()
	s := Sample{CHW: p}
	if err := transform.Apply(&s, generator(1)); err != nil {
		t.Fatal(err)
	}
	return s.CHW
}

// wantPicture compares the pixels of pictures. most is the largest difference of a channel.
func wantPicture(t *testing.T, name string, got, want *image.RGBA, most int) {
	t.Helper()
	if got.Rect.Size() != want.Rect.Size() {
		t.Errorf("%s: %v pixels, want %v", name, got.Rect.Size(), want.Rect.Size())
		return
	}
	n := 0
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			a, b := got.RGBAAt(got.Rect.Min.X+x, got.Rect.Min.Y+y), want.RGBAAt(want.Rect.Min.X+x, want.Rect.Min.Y+y)
			for c, v := range fillBytes(a) {
				if d := int(v) - int(fillBytes(b)[c]); max(d, -d) > most {
					if n++; n <= 3 {
						t.Errorf("%s: pixel (%d, %d) is %v, want %v", name, x, y, a, b)
					}
					break
				}
			}
		}
	}
	if n > 3 {
		t.Errorf("%s: %d pixels differ", name, n)
	}
}

// encoded returns a picture as PNG.
func encoded(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tree writes files below a folder that the test has for itself, and returns the folder.
func tree(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func failed[T any](_ T, err error) error { return err }

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if fmt.Sprint(err) != want {
		t.Errorf("error %q, want %q", fmt.Sprint(err), want)
	}
}

// bytesOf returns the bits of floats.
func bytesOf(x []float32) []byte {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// jpegOf returns a picture as JPEG.
func jpegOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// quiet logs nothing.
var quiet = slog.New(slog.DiscardHandler)
