package value

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"path/filepath"
	"strings"

	"github.com/burngen/burngen/internal/file"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx"
)

// Read reads an argument of type t from a file: a NumPy array (.npy), an ONNX TensorProto (.pb), little-endian
// elements (.bin, .raw), or an image (.png, .jpg, .jpeg, .gif). An image is scaled to t's height and width, and to
// the range 0 to 1, or 0 to 255 for u8. Symbols in t's extents get their values from the file if possible, and are 1
// otherwise.
func Read(path string, t ir.Type) (*ir.Tensor, error) {
	v, err := read(path, t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if !fits(v, t) {
		return nil, fmt.Errorf("%s: has %s, want %s", filepath.Base(path), v.Type(), t)
	}
	return v, nil
}

// fits reports whether v has the element type, the rank and the static extents of t.
func fits(v *ir.Tensor, t ir.Type) bool {
	if v.DType != t.DType || v.Rank() != t.Rank() {
		return false
	}
	for i, d := range t.Shape {
		if n, ok := d.Int(); ok && n != v.Shape[i] {
			return false
		}
	}
	return true
}

func read(path string, t ir.Type) (*ir.Tensor, error) {
	if !t.IsTensor() {
		return nil, fmt.Errorf("a value of type %s cannot be read from a file", t)
	}
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".pb" {
		v, _, err := onnx.ReadValue(path, t)
		if err != nil {
			return nil, unwrap(err)
		}
		return v.Tensor, nil
	}
	decode := decoders[ext]
	if decode == nil {
		return nil, errors.New("unknown kind of file: .npy, .pb, .bin, .png, .jpg and .gif can be read")
	}
	data, err := file.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	return decode(data, t)
}

// maxFile is the maximum size of an argument file, in bytes.
const maxFile = 64 << 30

var decoders = map[string]func(data []byte, t ir.Type) (*ir.Tensor, error){
	".npy": func(data []byte, _ ir.Type) (*ir.Tensor, error) { return DecodeNPY(data) },
	".bin": decodeRaw, ".raw": decodeRaw,
	".png": decodeImage, ".jpg": decodeImage, ".jpeg": decodeImage, ".gif": decodeImage,
}

// not returns an error that says which format data has instead of the expected one.
func not(expected string, data []byte) error {
	if f := file.Format(data); f != "" {
		return fmt.Errorf("not %s: %s", expected, f)
	}
	return fmt.Errorf("not %s", expected)
}

// unwrap removes the file name that package onnx puts before its errors.
func unwrap(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// decodeRaw decodes elements without a header. The first symbolic extent of t follows from the size of
// data. Other symbolic extents are 1.
func decodeRaw(data []byte, t ir.Type) (*ir.Tensor, error) {
	if t.DType.Size() == 0 {
		return nil, fmt.Errorf("%s cannot be read from raw bytes", t)
	}
	n := len(data) / t.DType.Size()
	shape, known, open := make([]int, t.Rank()), 1, -1
	for i, d := range t.Shape {
		if c, ok := d.Int(); ok {
			shape[i] = c
		} else if shape[i] = 1; open < 0 {
			open = i
		}
		if shape[i] > 0 && known > n/shape[i]+1 {
			return nil, fmt.Errorf("%d bytes for %s", len(data), t)
		}
		known *= shape[i]
	}
	if open >= 0 && known > 0 {
		shape[open] = n / known
	}
	return ir.DecodeTensor(t.DType, shape, data)
}

// decodeImage decodes an image to a tensor of type t: floats from 0 to 1, or u8 from 0 to 255. The shape is
// [1,C,H,W], [1,H,W,C], [C,H,W] or [H,W,C], with C equal to 1 or 3. A symbolic height or width becomes the size of
// the image. A symbolic first extent becomes 1.
func decodeImage(data []byte, t ir.Type) (*ir.Tensor, error) {
	if !t.DType.IsFloat() && t.DType != ir.U8 {
		return nil, fmt.Errorf("an image is not an argument of type %s", t)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if errors.Is(err, image.ErrFormat) {
		return nil, not("a PNG, JPEG or GIF image", data)
	} else if err != nil {
		return nil, err
	}
	if int64(config.Width)*int64(config.Height) > maxPixels {
		return nil, fmt.Errorf("an image of %d×%d pixels", config.Width, config.Height)
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	shape, ok := imageShape(t, config.Width, config.Height)
	if !ok {
		return nil, fmt.Errorf("an image is not an argument of type %s: [N,C,H,W] or [N,H,W,C] with 1 or 3 channels expected", t)
	}
	v := ir.NewTensor(t.DType, shape.dims...)
	scale := 1.0
	if t.DType == ir.U8 {
		scale = 255
	}
	for y := range shape.height {
		for x := range shape.width {
			for c, s := range sample(picture, x, y, shape) {
				v.SetNumber(y*shape.stepY+x*shape.stepX+c*shape.stepC, s*scale)
			}
		}
	}
	return v, nil
}

const maxPixels = 1 << 26

// pixels describes the form of an image in a tensor.
type pixels struct {
	// dims is the shape of the tensor.
	dims                    []int
	height, width, channels int
	// stepY, stepX and stepC are the distances, in elements, of neighbours along height, width and
	// channels.
	stepY, stepX, stepC int
}

func imageShape(t ir.Type, width, height int) (p pixels, ok bool) {
	dims := t.Shape
	if len(dims) == 4 {
		p.dims = append(p.dims, 1)
		if n, ok := dims[0].Int(); ok && n != 1 {
			return p, false
		}
		dims = dims[1:]
	}
	if len(dims) != 3 {
		return p, false
	}
	extent := func(d dim.Dim, open int) int {
		if n, ok := d.Int(); ok {
			return n
		}
		return open
	}
	if c := extent(dims[0], 0); c == 1 || c == 3 {
		p.channels, p.height, p.width = c, extent(dims[1], height), extent(dims[2], width)
		p.dims = append(p.dims, c, p.height, p.width)
		p.stepC, p.stepY, p.stepX = p.height*p.width, p.width, 1
	} else if c := extent(dims[2], 0); c == 1 || c == 3 {
		p.channels, p.height, p.width = c, extent(dims[0], height), extent(dims[1], width)
		p.dims = append(p.dims, p.height, p.width, c)
		p.stepC, p.stepY, p.stepX = 1, p.width*c, c
	}
	return p, p.channels > 0 && int64(p.height)*int64(p.width) <= maxPixels
}

// sample returns one pixel of a scaled image: pixel (x, y) of m after scaling to p.width × p.height. The pixel is the
// mean of the pixels of m that it covers. The result has a number from 0 to 1 for each channel. A single channel is
// the grey of ITU-R BT.601.
func sample(m image.Image, x, y int, p pixels) []float64 {
	b := m.Bounds()
	span := func(i, n, size int) (low, high int) {
		low = i * size / n
		return low, max(low+1, (i+1)*size/n)
	}
	x0, x1 := span(x, p.width, b.Dx())
	y0, y1 := span(y, p.height, b.Dy())
	var sum [3]float64
	for j := y0; j < y1; j++ {
		for i := x0; i < x1; i++ {
			red, green, blue, _ := m.At(b.Min.X+i, b.Min.Y+j).RGBA()
			sum[0], sum[1], sum[2] = sum[0]+float64(red), sum[1]+float64(green), sum[2]+float64(blue)
		}
	}
	count := float64((x1 - x0) * (y1 - y0) * 0xffff)
	if p.channels == 1 {
		return []float64{(0.299*sum[0] + 0.587*sum[1] + 0.114*sum[2]) / count}
	}
	return []float64{sum[0] / count, sum[1] / count, sum[2] / count}
}
