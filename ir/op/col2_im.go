package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// Col2Im adds up the columns of x, [N,C·cells,places], of numbers, to images,
// [N,C,Image…] (ONNX Col2Im): row c·cells+k of a column is the cell k of a window
// of the extents Block over channel c. The windows lie on the padded image as those of a
// convolution do, in row-major order: x has to have as many columns, and rows for
// whole channels, which shows at run time where an extent is not constant.
type Col2Im struct {
	Image, Block []ir.Dim
	// Strides and Dilations are nil for ones, Pads nil for none.
	Strides, Dilations, Pads []int
}

// Infer divides the rows by the cells of a block.
func (op Col2Im) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, numbers{}); err != nil {
		return nil, err
	}
	x := in[0]
	if x.Rank() != 3 || len(op.Image) < 1 || len(op.Block) != len(op.Image) {
		return nil, fmt.Errorf("blocks %s of images %s in %s", shapeText(op.Block), shapeText(op.Image), x)
	}
	w := op.window()
	if err := w.check(len(op.Image)); err != nil {
		return nil, err
	}
	places, known := ir.Const(1), true
	for i, d := range op.Image {
		if k, ok := op.Block[i].Int(); ok && (k < 1 || k > math.MaxInt32) {
			return nil, fmt.Errorf("block %s is out of range", shapeText(op.Block))
		}
		if known = known && op.Block[i].IsConst(); known {
			w.Kernel[i], _ = op.Block[i].Int()
			places = places.Mul(w.extent(i, d))
		}
	}
	if n, ok := places.Sub(x.Shape[2]).Int(); known && ok && n != 0 {
		return nil, fmt.Errorf("%s columns for %s places", x.Shape[2], places)
	}
	cells := ir.Product(op.Block...)
	if n, ok := x.Shape[1].Int(); ok && cells.IsConst() {
		if k, _ := cells.Int(); k == 0 || n%k != 0 {
			return nil, fmt.Errorf("%d rows for blocks of %d cells", n, k)
		}
	}
	shape := append([]ir.Dim{x.Shape[0], x.Shape[1].FloorDiv(cells)}, op.Image...)
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// window returns the window, with a kernel of ones.
func (op Col2Im) window() Window {
	return Window{Kernel: orOnes(nil, len(op.Image)), Strides: op.Strides, Dilations: op.Dilations, Pads: op.Pads}
}

// Eval sums floats in float64; integers wrap.
func (op Col2Im) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	image, okImage := ir.Ints(op.Image)
	block, okBlock := ir.Ints(op.Block)
	if !okImage || !okBlock {
		return nil, fmt.Errorf("blocks %s of images %s have no value", shapeText(op.Block), shapeText(op.Image))
	}
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	x, w := in[0], op.window()
	w.Kernel = block
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	plane, taps, places := lenOf(image), lenOf(block), x.Shape[2]
	sums := make([]float64, y.Len())
	err = w.visit(image, func(place int, c cells) {
		for i := range shape[0] * shape[1] {
			for k, at := range c.at {
				from, to := (i*taps+c.tap[k])*places+place, i*plane+at
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

// Grad unfolds the windows of a block that is known.
func (op Col2Im) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	block, ok := ir.Ints(op.Block)
	if !ok {
		ir.Fail("%s: its block is known only when the model runs", n)
	}
	w, x, image := op.window(), n.Arg(0).Type, of[0].Type.Shape
	w.Kernel = block
	count, err := w.shape(image[2:])
	if err != nil {
		ir.FailWith(err)
	}
	g := w.around(b, of[0], calculus{b}.num(of[0], 0), count, w.pads(image[2:]))
	cells := w.cells(b, g, count)
	for i, cell := range cells {
		cells[i] = reshape(b, cell, image[0], image[1], ir.Const(1), x.Shape[2])
	}
	return []*ir.Value{reshape(b, b.Node(Concat{Axis: 2}, cells...), x.Shape...)}
}

// Lower computes narrow numbers in wider ones.
func (op Col2Im) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Call is cpu.Col2Im.
func (op Col2Im) Call(n *ir.Node) (ir.Call, error) {
	x, axes := n.Arg(0).Type.Shape, len(op.Image)
	w := op.window()
	pads := op.Pads
	if pads == nil {
		pads = make([]int, 2*axes)
	}
	return ir.Call{Kernel: "Col2Im", Args: []any{
		ir.Out(0), ir.In(0), x[0], x[1], x[2], op.Image, op.Block, w.strides(axes), w.dilations(axes), pads,
	}}, nil
}

// importCol2Im reads Col2Im.
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
