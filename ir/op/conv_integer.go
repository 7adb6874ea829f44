package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ConvInteger is a convolution of integers (ONNX ConvInteger, QLinearConv): with x,
// [N,C,spatial…], and weights w, [M,C/Group,kernel…], each i8 or u8, less their zero
// points, x's of one element and w's of one or M, its sums are i32, to which
// [Requantize] applies. Padding counts as x's zero point. The operands are x, w,
// their zero points, which may be absent, and those of [Requantize].
type ConvInteger struct {
	Window
	Group int // divides C and M
	Requantize
}

// Infer computes the spatial extents.
func (op ConvInteger) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, productOperands); err != nil {
		return nil, err
	}
	x, w, x0, w0 := in[0], in[1], operand(in, 2), operand(in, 3)
	if err := checkFactor(x, x0); err != nil {
		return nil, err
	}
	if err := checkFactor(w, w0); err != nil {
		return nil, err
	}
	if !x0.IsZero() && !isOne(x0) {
		return nil, fmt.Errorf("zero point %s, one element expected", x0)
	}
	if w.Rank() < 3 {
		return nil, fmt.Errorf("weights %s have no spatial axes", w)
	}
	shape, err := Conv{op.Window, op.Group}.inferShape(x, w)
	if err != nil {
		return nil, err
	}
	if !w0.IsZero() && !isOne(w0) {
		if w0.Rank() != 1 {
			return nil, fmt.Errorf("zero point %s of the weights", w0)
		}
		if err := same(w0.Shape[0], w.Shape[0], "zero point and channels"); err != nil {
			return nil, err
		}
	}
	if op.To == ir.F32 {
		return nil, fmt.Errorf("sums of a convolution scaled to %s", op.To)
	}
	d, err := op.Requantize.check(in, w.Shape[0])
	return []ir.Type{ir.TensorOf(d, shape...)}, err
}

// Eval sums products of integers.
func (op ConvInteger) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	x, w := in[0], in[1]
	x0 := zeroAt(operandOf(in, 2), 0)
	m, width := shape[1], w.Shape[1]
	plane, outPlane, kernel := lenOf(x.Shape[2:]), lenOf(shape[2:]), lenOf(op.Kernel)
	err = op.visit(x.Shape[2:], func(o int, c cells) {
		for i := range shape[0] * m {
			first := i/m*x.Shape[1] + i%m/(m/op.Group)*width
			w0 := zeroAt(operandOf(in, 3), i%m)
			sum := int64(0)
			for k := range width {
				for t, at := range c.at {
					sum += (x.Int((first+k)*plane+at) - x0) * (w.Int((i%m*width+k)*kernel+c.tap[t]) - w0)
				}
			}
			op.set(y, i*outPlane+o, sum, in, i%m)
		}
	})
	return []*ir.Tensor{y}, err
}

// Flops counts two operations for each product.
func (op ConvInteger) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Product(in[1].Shape[1:]...)).Mul(ir.Const(2))
}

// isDepthwise reports whether each channel of a result has one channel of the
// operand, and a kernel takes the window.
func (op ConvInteger) isDepthwise(w ir.Type) bool {
	return w.Shape[1].Equal(ir.Const(1)) && op.Group > 1 && len(op.Kernel) <= maxSpatial
}

// Lower multiplies the patches of x with the weights, unless it is depthwise.
func (op ConvInteger) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, w := n.Arg(0), n.Arg(1)
	if op.isDepthwise(w.Type) {
		if scale := n.Arg(scaleOperand); scale != nil && scale.Type.DType != ir.F64 {
			args := append([]*ir.Value{}, n.Args...)
			args[scaleOperand] = convert(b, scale, ir.F64)
			return b.Nodes(op, args...)
		}
		return nil
	}
	p := op.product(b, n, true)
	out := n.Results[0].Type
	x0 := normal(b, p.x0, x.Type.DType, ir.U8)
	rows := b.Nodes(Patches{Window: op.Window, Group: op.Group, Sums: p.zero != nil}, x, x0)
	y := p.build(op.Requantize, rows, p.weights.Type.Shape[2])
	return []*ir.Value{reshape(b, b.Node(Transpose{Perm: []int{0, 2, 1}}, y), out.Shape...)}
}

// product appends the operands of the product of patches of x and the weights, of
// which each group makes a matrix, and packs these if asked to.
func (op ConvInteger) product(b *ir.Builder, n *ir.Node, pack bool) integerProduct {
	x, w := n.Arg(0), n.Arg(1)
	group := ir.Const(op.Group)
	out := n.Results[0].Type
	width := ir.Product(w.Type.Shape[1:]...)
	per := ir.Product(out.Shape[1:2]...).FloorDiv(group)
	if m, ok := w.Type.Shape[0].Int(); ok {
		per = ir.Const(m / op.Group)
	}
	columns := b.Node(Transpose{Perm: []int{0, 2, 1}}, reshape(b, w, group, per, width))
	p := integerProduct{b: b, to: op.To, weights: columns, w0: n.Arg(3), x0: n.Arg(2), signed: x.Type.DType == ir.I8}
	p.vectors(n, pack)
	return p
}

// Call is cpu.DepthwiseInteger.
func (op ConvInteger) Call(n *ir.Node) (ir.Call, error) {
	x, w, y := n.Arg(0).Type, n.Arg(1).Type, n.Results[0].Type
	if scale := n.Arg(scaleOperand); !op.isDepthwise(w) || scale != nil && scale.Type.DType != ir.F64 {
		return ir.Call{}, fmt.Errorf("no kernel convolves %s with %s", x, w)
	}
	spatial := len(op.Kernel)
	pair := func(dims []ir.Dim) []ir.Dim {
		h, w := plane(dims)
		return []ir.Dim{h, w}
	}
	pads := op.pads(x.Shape[2:])[:spatial]
	if spatial == 1 {
		pads = []ir.Dim{ir.Const(0), pads[0]}
	}
	lo, hi := op.bounds()
	return ir.Call{Kernel: "DepthwiseInteger", Args: []any{
		ir.Out(0), ir.In(0), ir.In(1), ir.In(2), ir.In(3), ir.In(biasOperand), ir.In(scaleOperand), ir.In(zeroOperand),
		x.Shape[0], x.Shape[1], w.Shape[0], pair(x.Shape[2:]), pair(y.Shape[2:]), pair(ir.Dims(op.Kernel...)),
		pair(ir.Dims(op.strides(spatial)...)), pair(ir.Dims(op.dilations(spatial)...)), pads, lo, hi,
	}}, nil
}

// importConvInteger reads ConvInteger.
func importConvInteger(c ir.Importer) ([]*ir.Value, error) {
	x, w := c.Arg(0), c.Arg(1)
	op, err := importIntegerWindow(c, x.Type, w.Type)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(op, x, w, c.Arg(2), c.Arg(3))}, nil
}

// importIntegerWindow reads the attributes of a convolution of integers.
func importIntegerWindow(c ir.Importer, x, w ir.Type) (op ConvInteger, err error) {
	if w.Rank() < 3 {
		return op, fmt.Errorf("weights %s have no spatial axes", w)
	}
	op.Window, err = importWindow(c, x, w.Shape[2:], true)
	op.Group = c.Int("group", 1)
	return op, err
}

// importQLinearConv reads QLinearConv.
func importQLinearConv(c ir.Importer) ([]*ir.Value, error) {
	b, x, w := c.Builder(), c.Arg(0), c.Arg(3)
	op, err := importIntegerWindow(c, x.Type, w.Type)
	if err != nil {
		return nil, err
	}
	zero := c.Arg(7)
	if zero == nil {
		return nil, fmt.Errorf("no zero point of the result")
	}
	op.To = zero.Type.DType
	scale := rescale(b, c.Arg(1), c.Arg(4), c.Arg(6))
	return []*ir.Value{b.Node(op, x, w, c.Arg(2), c.Arg(5), c.Arg(8), scale, zero)}, nil
}

// rescale appends the factor from the sums of a product to its result: a·b/y.
func rescale(b *ir.Builder, x, w, y *ir.Value) *ir.Value {
	return b.Node(Div{}, b.Node(Mul{}, vectorOf(b, x), vectorOf(b, w)), vectorOf(b, y))
}

// vectorOf appends v as an f32 of rank 0 if it has one element, else of rank 1.
func vectorOf(b *ir.Builder, v *ir.Value) *ir.Value {
	v = convert(b, v, ir.F32)
	if isOne(v.Type) {
		return reshape(b, v)
	}
	return reshape(b, v, v.Type.Elems())
}
