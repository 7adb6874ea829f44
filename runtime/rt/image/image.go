// Package image decodes image files to pixels: BMP, JPEG, PNG, TIFF, WebP and the portable formats
// PBM, PGM and PPM. JPEG 2000 is not supported. Only the first picture of an animation is decoded.
// Colour profiles, transparency and the orientation recorded by a camera are ignored: pixels are
// returned as they are stored.
//
// Only programs that decode images import this package, because the decoders register themselves
// and are always linked.
package image

import (
	"errors"
	"fmt"
	"image"
	"image/png"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// MaxPixels is the maximum number of pixels of an image.
const MaxPixels = 1 << 27

// format is a file format, recognised by the first bytes of a file.
type format struct {
	name   string
	magic  []string // a question mark is any byte
	config func(data []byte) (image.Config, error)
	decode func(data []byte, to *canvas) error
}

var formats = []format{
	{"bmp", []string{"BM"}, streamed(bmp.DecodeConfig), drawn(bmp.Decode)},
	{"jpeg", []string{"\xff\xd8\xff"}, configJPEG, decodeJPEG},
	{"jpeg 2000", []string{"\x00\x00\x00\x0cjP  ", "\xff\x4f\xff\x51"}, nil, nil},
	{"png", []string{"\x89PNG\r\n\x1a\n"}, streamed(png.DecodeConfig), drawn(png.Decode)},
	{"pnm", []string{"P1", "P2", "P3", "P4", "P5", "P6"}, configPNM, decodePNM},
	{"tiff", []string{"II*\x00", "MM\x00*"}, streamed(tiff.DecodeConfig), drawn(tiff.Decode)},
	{"webp", []string{"RIFF????WEBP"}, configWebP, decodeWebP},
}

// Height returns the height of an encoded image in pixels. It returns an error if the format is
// unknown or not supported, if the header is damaged, or if the image is empty or has more than
// [MaxPixels] pixels.
func Height(data []uint8) (int, error) {
	_, c, err := measure(data)
	return c.Height, err
}

// Width returns the width of an encoded image in pixels. It returns the errors of [Height].
func Width(data []uint8) (int, error) {
	_, c, err := measure(data)
	return c.Width, err
}

// Decode stores the pixels of an encoded image in dst, row by row from the top (ONNX ImageDecoder).
// The pixel format decides the shape and the channels of dst:
//
//   - "RGB": [height, width, 3], red, green, blue.
//   - "BGR": [height, width, 3], blue, green, red.
//   - "Grayscale": [height, width, 1], the luma (299·R + 587·G + 114·B)/1000.
//
// Samples of 16 bits are cut to their upper 8 bits. Samples of the portable formats are scaled and
// rounded. Decode returns the errors of [Height]. It also returns an error for another pixel format,
// for a dst of another length, and for a truncated or damaged image; dst may then be partly written.
func Decode(dst, data []uint8, pixelFormat string) (err error) {
	f, c, err := measure(data)
	if err != nil {
		return err
	}
	to := &canvas{pix: dst, width: c.Width, height: c.Height, channels: 3, bgr: pixelFormat == "BGR"}
	switch pixelFormat {
	case "RGB", "BGR":
	case "Grayscale":
		to.channels = 1
	default:
		return fmt.Errorf("pixel format %q", pixelFormat)
	}
	if int64(len(dst)) != int64(c.Height)*int64(c.Width)*int64(to.channels) {
		return fmt.Errorf("%d bytes for %d × %d pixels", len(dst), c.Width, c.Height)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", f.name, r)
		}
	}()
	if err := f.decode(data, to); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// measure returns the format and the size of an image. It returns an error if the format is unknown
// or not supported, or if the header is damaged. It also returns an error if the image has no pixels
// or more than [MaxPixels].
func measure(data []byte) (f format, c image.Config, err error) {
	f, ok := formatOf(data)
	if !ok {
		return f, c, errors.New("image: unknown format")
	}
	if f.config == nil {
		return f, c, fmt.Errorf("image: %s: %w", f.name, errors.ErrUnsupported)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", f.name, r)
		}
	}()
	if c, err = f.config(data); err != nil {
		return f, c, fmt.Errorf("%s: %w", f.name, err)
	}
	if c.Width < 1 || c.Height < 1 || int64(c.Width) > MaxPixels/int64(c.Height) {
		return f, c, fmt.Errorf("%s: %d × %d pixels", f.name, c.Width, c.Height)
	}
	return f, c, nil
}

func formatOf(data []byte) (format, bool) {
	for _, f := range formats {
		for _, magic := range f.magic {
			if begins(data, magic) {
				return f, true
			}
		}
	}
	return format{}, false
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
