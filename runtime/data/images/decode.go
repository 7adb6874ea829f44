package images

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"sync"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/burngen/burngen/runtime/rt"
)

// Decode decodes a picture. The first bytes of data tell the format: BMP, GIF, JPEG, PNG, TIFF or
// WebP. The picture is turned as its EXIF orientation says, so that its top is the top of the
// scene. Its bounds begin at (0, 0). Only the upper 8 bits of 16-bit samples are used. The first
// frame of an animated GIF is decoded. Animated WebP is not supported. Colour profiles are ignored.
//
// Transparent pixels are premultiplied, as [image.RGBA] defines. R, G and B are therefore the
// picture on a black background. A picture without transparency has an alpha of 255.
//
// The decoders are from the standard library and from golang.org/x/image. For JPEG and lossy WebP,
// pixels differ a little from the results of libjpeg and libwebp, which interpolate chroma.
//
// Decode returns an error for other formats, for damaged or truncated data, and for more pixels
// than [PixelLimit] and [rt.ArenaLimit] allow. It checks the size in the header before it allocates
// pixels.
func Decode(data []byte) (*image.RGBA, error) {
	f, m, err := decode(data)
	if err != nil {
		return nil, err
	}
	return upright(rgba(m), f.orientation(data)), nil
}

// Read is [Decode] of a file. Errors name the file.
func Read(path string) (*image.RGBA, error) { return read(path, Decode) }

// DecodeMask decodes a mask, whose pixels are classes. In a picture with a palette, the classes are
// the indices. In a grey picture of 8 bits, they are the values. PNG scales grey of fewer bits to
// the range from 0 to 255. The mask is turned as [Decode] turns pictures. DecodeMask returns the
// errors of Decode. It also returns an error for other pictures, and for JPEG, which changes
// values.
func DecodeMask(data []byte) (*image.Gray, error) {
	f, m, err := decode(data)
	if err != nil {
		return nil, err
	}
	if f.lossy {
		return nil, fmt.Errorf("%s: masks of this format have inexact values", f.name)
	}
	size := m.Bounds().Size()
	out := image.NewGray(image.Rectangle{Max: size})
	var pix []uint8
	var stride int
	switch m := m.(type) {
	case *image.Paletted:
		pix, stride = m.Pix, m.Stride
	case *image.Gray:
		pix, stride = m.Pix, m.Stride
	default:
		return nil, fmt.Errorf("%s: a mask of %T: a palette or grey of 8 bits expected", f.name, m)
	}
	for y := range size.Y {
		copy(out.Pix[y*out.Stride:][:size.X], pix[y*stride:])
	}
	o := f.orientation(data)
	if o == 1 {
		return out, nil
	}
	turned := turn(o, size.X, size.Y)
	dst := image.NewGray(image.Rect(0, 0, turned.width, turned.height))
	moved(grayRaster(dst), grayRaster(out), turned, [4]uint8{})
	return dst, nil
}

// ReadMask is [DecodeMask] of a file. Errors name the file.
func ReadMask(path string) (*image.Gray, error) { return read(path, DecodeMask) }

// read reads a file and calls decode with its contents. decode must not keep data, because the
// memory is used again.
func read[T any](path string, decode func(data []byte) (T, error)) (x T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return x, err
	}
	defer f.Close()
	b := contents.Get().(*bytes.Buffer)
	defer contents.Put(b)
	b.Reset()
	if _, err := b.ReadFrom(&bounded{f, rt.ArenaLimit(0)}); err != nil {
		return x, fmt.Errorf("%s: %w", path, err)
	}
	if x, err = decode(b.Bytes()); err != nil {
		return x, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// contents is a pool of *bytes.Buffer for the contents of files.
var contents = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// bounded is a reader that reads at most `left` bytes of r. It returns an error if r has more.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errors.New("the file exceeds rt.ArenaLimit")
	}
	return n, err
}

type format struct {
	name  string
	magic []string // a question mark is any byte
	// decoders differ in the values of pixels
	lossy  bool
	frames bool // a frame may cover a part of the screen
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// returns the EXIF block, or nil
	exif func(data []byte) []byte
}

var formats = []format{
	{name: "bmp", magic: []string{"BM"}, config: bmp.DecodeConfig, decode: bmp.Decode, exif: without},
	{name: "gif", magic: []string{"GIF8?a"}, frames: true, config: gif.DecodeConfig, decode: gif.Decode, exif: without},
	{name: "jpeg", magic: []string{"\xff\xd8\xff"}, lossy: true, config: jpeg.DecodeConfig, decode: jpeg.Decode, exif: exifOfJPEG},
	{name: "png", magic: []string{"\x89PNG\r\n\x1a\n"}, config: png.DecodeConfig, decode: png.Decode, exif: exifOfPNG},
	{name: "tiff", magic: []string{"II*\x00", "MM\x00*"}, config: tiff.DecodeConfig, decode: tiff.Decode, exif: func(data []byte) []byte { return data }},
	{name: "webp", magic: []string{"RIFF????WEBP"}, config: webp.DecodeConfig, decode: webp.Decode, exif: exifOfWebP},
}

// without is the exif function of formats without EXIF data.
func without([]byte) []byte { return nil }

func (f *format) orientation(data []byte) int { return orientationOf(f.exif(data)) }

func formatOf(data []byte) *format {
	for i := range formats {
		for _, magic := range formats[i].magic {
			if begins(data, magic) {
				return &formats[i]
			}
		}
	}
	return nil
}

func begins(data []byte, magic string) bool {
	if len(data) < len(magic) {
		return false
	}
	for i := range len(magic) {
		if magic[i] != '?' && data[i] != magic[i] {
			return false
		}
	}
	return true
}

// decode returns the format of a picture, and the pixels as they are stored. The EXIF orientation
// is not applied to them.
func decode(data []byte) (*format, image.Image, error) {
	f := formatOf(data)
	if f == nil {
		return nil, nil, errors.New("not a picture: BMP, GIF, JPEG, PNG, TIFF or WebP expected")
	}
	m, err := f.pixels(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return f, m, nil
}

// pixels decodes a picture. It returns an error if the size is not the size in the header, or if
// the decoder panics.
func (f *format) pixels(data []byte) (m image.Image, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the decoder panics: %v", r)
		}
	}()
	c, err := f.config(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if err := checkSize(c.Width, c.Height); err != nil {
		return nil, err
	}
	if m, err = f.decode(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	screen := image.Rect(0, 0, c.Width, c.Height)
	if p, ok := m.(*image.Paletted); ok && f.frames && p.Rect != screen {
		whole := image.NewRGBA(screen)
		draw.Draw(whole, p.Rect, p, p.Rect.Min, draw.Src)
		m = whole
	}
	if size := m.Bounds().Size(); size != screen.Max {
		return nil, fmt.Errorf("%d × %d pixels where the header has %d × %d", size.X, size.Y, c.Width, c.Height)
	}
	return m, nil
}

// rgba converts m to an RGBA picture whose bounds begin at (0, 0). If m already has this form, it
// returns m.
func rgba(m image.Image) *image.RGBA {
	if m, ok := m.(*image.RGBA); ok && m.Rect.Min == (image.Point{}) {
		return m
	}
	out := image.NewRGBA(image.Rectangle{Max: m.Bounds().Size()})
	if m, ok := m.(*image.YCbCr); ok && m.Rect.Min == (image.Point{}) {
		ycbcrPixels(rgbaRaster(out), m)
		return out
	}
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	return out
}
