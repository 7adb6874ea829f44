package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt/image"
)

// ImageDecoder decodes an image file, u8 [bytes], to pixels, u8 [Height,Width,C] (ONNX ImageDecoder, from opset
// 20). The channels are red, green, blue for Format "RGB", blue, green, red for "BGR", and luma for "Grayscale".
// ImageDecoder binds Height and Width. It is an error at run time if the image cannot be decoded. JPEG 2000 cannot
// be decoded.
type ImageDecoder struct{ Format, Height, Width string }

// Infer returns u8[Height,Width,C], where C is 1 for "Grayscale", else 3.
func (op ImageDecoder) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if in[0].DType != ir.U8 || in[0].Rank() != 1 {
		return nil, fmt.Errorf("%s, a list of bytes expected", in[0])
	}
	channels, ok := map[string]int{"RGB": 3, "BGR": 3, "Grayscale": 1}[op.Format]
	if !ok {
		return nil, fmt.Errorf("pixel format %q", op.Format)
	}
	return []ir.Type{ir.TensorOf(ir.U8, dim.Sym(op.Height), dim.Sym(op.Width), dim.Const(channels))}, nil
}

// Eval returns the pixels, u8[Height,Width,C]. It returns an error if the image cannot be decoded.
func (op ImageDecoder) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	data := in[0].Bytes()
	height, err := image.Height(data)
	if err != nil {
		return nil, err
	}
	width, err := image.Width(data)
	if err != nil {
		return nil, err
	}
	channels := 3
	if op.Format == "Grayscale" {
		channels = 1
	}
	pixels := make([]uint8, height*width*channels)
	if err := image.Decode(pixels, data, op.Format); err != nil {
		return nil, err
	}
	y, err := ir.DecodeTensor(ir.U8, []int{height, width, channels}, pixels)
	return []*ir.Tensor{y}, err
}

// Binds returns Height and Width.
func (op ImageDecoder) Binds() []string { return []string{op.Height, op.Width} }

// BindValues returns the height and the width of the image.
func (op ImageDecoder) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Shape[0]), int64(out[0].Shape[1])}, nil
}

func importImageDecoder(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	op := ImageDecoder{Format: c.Text("pixel_format", "RGB"), Height: b.Symbol("height"), Width: b.Symbol("width")}
	return []*ir.Value{b.Node(op, c.Arg(0))}, nil
}
