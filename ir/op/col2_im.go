package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Col2Im adds windows of numbers into images (ONNX Col2Im, from opset 18). It is the reverse of extracting windows.
// x is [N,C·cells,windows], where cells is the product of Block, and the result is [N,C,Image…]. Each column of x
// is one window: element c·cells+k is cell k of the window in channel c. A window has the extents Block. The
// windows are placed on the padded image as in a convolution, in row-major order. x must have one column for each
// window, and its number of rows must be a multiple of cells. Symbolic extents are checked at run time.
type Col2Im struct {
	Image, Block []dim.Dim
	// Strides and Dilations default to ones, and Pads to zeros, if nil.
	Strides, Dilations, Pads []int
}

// Infer returns [N,rows/cells,Image…]. rows is the number of rows of x, and cells is the number of cells of a
// window. Infer returns an error if constant extents do not fit together.
func (op Col2Im) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, numbers{}); err != nil {
		return nil, err
	}
	x := in[0]
	if x.Rank() != 3 || len(op.Image) < 1 || len(op.Block) != len(op.Image) {
		return nil, fmt.Errorf("blocks %s of images %s in %s", ShapeText(op.Block), ShapeText(op.Image), x)
	}
	w := op.window()
	if err := w.Check(len(op.Image)); err != nil {
		return nil, err
	}
	places, known := dim.Const(1), true
	for i, d := range op.Image {
		if k, ok := op.Block[i].Int(); ok && (k < 1 || k > math.MaxInt32) {
			return nil, fmt.Errorf("block %s is out of range", ShapeText(op.Block))
		}
		if known = known && op.Block[i].IsConst(); known {
			w.Kernel[i], _ = op.Block[i].Int()
			places = places.Mul(w.extent(i, d))
		}
	}
	if n, ok := places.Sub(x.Shape[2]).Int(); known && ok && n != 0 {
		return nil, fmt.Errorf("%s columns for %s places", x.Shape[2], places)
	}
	cells := dim.Product(op.Block...)
	if n, ok := x.Shape[1].Int(); ok && cells.IsConst() {
		if k, _ := cells.Int(); k == 0 || n%k != 0 {
			return nil, fmt.Errorf("%d rows for blocks of %d cells", n, k)
		}
	}
	shape := append([]dim.Dim{x.Shape[0], x.Shape[1].FloorDiv(cells)}, op.Image...)
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// window returns the attributes of the windows over the images. All elements of its Kernel are 1: the caller
// replaces them by the extents in Block.
func (op Col2Im) window() Window {
	return Window{Kernel: orOnes(nil, len(op.Image)), Strides: op.Strides, Dilations: op.Dilations, Pads: op.Pads}
}

// Eval returns the images. Floats are summed in float64; integers wrap.
func (op Col2Im) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	image, okImage := dim.Ints(op.Image)
	block, okBlock := dim.Ints(op.Block)
	if !okImage || !okBlock {
		return nil, fmt.Errorf("blocks %s of images %s have no value", ShapeText(op.Block), ShapeText(op.Image))
	}
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	x, w := in[0], op.window()
	w.Kernel = block
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	plane, taps, places := LenOf(image), LenOf(block), x.Shape[2]
	sums := make([]float64, y.Len())
	err = w.Visit(image, func(place int, c Cells) {
		for i := range shape[0] * shape[1] {
			for k, at := range c.At {
				from, to := (i*taps+c.Tap[k])*places+place, i*plane+at
				if x.DType.IsFloat() {
					sums[to] += x.Float(from)
				} else {
					y.SetInt(to, y.Int(to)+x.Int(from))
				}
			}
		}
	})
	if x.DType.IsFloat() {
		for i, v := range sums {
			y.SetFloat(i, v)
		}
	}
	return []*ir.Tensor{y}, err
}

// Grad returns the windows of dy, as columns. It panics, as [ir.Fail] does, if Block is not constant.
func (op Col2Im) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	block, ok := dim.Ints(op.Block)
	if !ok {
		ir.Fail("%s: its block is known only when the model runs", n)
	}
	w, x, image := op.window(), n.Arg(0).Type, dy[0].Type.Shape
	w.Kernel = block
	count, err := w.Places(image[2:])
	if err != nil {
		ir.FailWith(err)
	}
	g := w.around(b, dy[0], calculus{b}.num(dy[0], 0), count, w.Padding(image[2:]))
	cells := w.cells(b, g, count)
	for i, cell := range cells {
		cells[i] = ReshapeTo(b, cell, image[0], image[1], dim.Const(1), x.Shape[2])
	}
	return []*ir.Value{ReshapeTo(b, b.Node(Concat{Axis: 2}, cells...), x.Shape...)}
}

// Lower computes operands of narrow types, such as f16 and i4, in a wider type and converts the
// result back. It returns nil for other types.
func (op Col2Im) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

func importCol2Im(c ir.Importer) ([]*ir.Value, error) {
	image, err := boundDims(c, 1, "image_shape")
	if err != nil {
		return nil, err
	}
	block, err := boundDims(c, 2, "block_shape")
	if err != nil {
		return nil, err
	}
	op := Col2Im{
		Image: image, Block: block,
		Strides:   unlessAll(c.Ints("strides", nil), 1),
		Dilations: unlessAll(c.Ints("dilations", nil), 1),
		Pads:      unlessAll(c.Ints("pads", nil), 0),
	}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
