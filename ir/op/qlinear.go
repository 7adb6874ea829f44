package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// inFloats returns the import function of a com.microsoft operator on quantised values. read is the import function
// of the operator on floats. `operands` are the indices of the quantised operands. After each of them come its
// scale and its zero point. Operand `result` is the scale of the result, and the next operand its zero point. Zero
// points are optional.
func inFloats(read func(ir.Importer) ([]*ir.Value, error), result int, operands ...int) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		b := c.Builder()
		args := make([]*ir.Value, len(operands))
		for i, at := range operands {
			var err error
			if args[i], err = dequantized(c, at); err != nil {
				return nil, err
			}
		}
		out, err := read(withArgs(c, args...))
		if err != nil {
			return nil, err
		}
		y, err := quantized(b, out[0], c.Arg(result), c.Arg(result+1), c.Arg(operands[0]).Type.DType)
		return []*ir.Value{y}, err
	}
}

// dequantized appends operand i, converted to f32. Operand i + 1 is its scale, and operand i + 2 its zero point.
// dequantized returns an error if the scale is absent.
func dequantized(c ir.Importer, i int) (*ir.Value, error) {
	x, scale, zero := c.Arg(i), c.Arg(i+1), c.Arg(i+2)
	if x == nil || scale == nil {
		return nil, fmt.Errorf("operand %d or its scale is absent", i)
	}
	return dequantizedBy(c.Builder(), x, scale, zero), nil
}

// dequantizedBy appends (x − zero)·scale as f32. scale and zero have one element, or one for each index of the last
// axis of x. A nil zero is 0.
func dequantizedBy(b *ir.Builder, x, scale, zero *ir.Value) *ir.Value {
	op := DequantizeLinear{To: ir.F32}
	many := scale.Type.Elems()
	if zero != nil && HasOneElement(scale.Type) {
		many = zero.Type.Elems()
	}
	if many.Equal(dim.Const(1)) {
		scale = ReshapeTo(b, scale)
		if zero != nil {
			zero = ReshapeTo(b, zero)
		}
		return b.Node(op, x, scale, zero)
	}
	op.Axis = x.Type.Rank() - 1
	row := func(v *ir.Value) *ir.Value {
		if HasOneElement(v.Type) {
			return ExpandTo(b, ReshapeTo(b, v), many)
		}
		return ReshapeTo(b, v, many)
	}
	scale = row(scale)
	if zero != nil {
		zero = row(zero)
	}
	return b.Node(op, x, scale, zero)
}

// quantized appends y, quantised to the type of the zero point, or to d if zero is nil. It returns
// an error if scale is nil.
func quantized(b *ir.Builder, y, scale, zero *ir.Value, d ir.DType) (*ir.Value, error) {
	if scale == nil {
		return nil, fmt.Errorf("the result has no scale")
	}
	if zero != nil {
		d = zero.Type.DType
	}
	return b.Node(QuantizeLinear{To: d, Precision: ir.F32}, y, scale, zero), nil
}

func maybeChannelsLast(read func(ir.Importer) ([]*ir.Value, error)) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		if c.Int("channels_last", 0) != 0 {
			return channelsLast(read, 0)(c)
		}
		return read(c)
	}
}

func importQLinearSoftmax(c ir.Importer) ([]*ir.Value, error) {
	softmax := importSoftmax(func(axis int) ir.Op { return Softmax{Axis: axis} })
	return inFloats(asOpset(c.Int("opset", 13), softmax), 3, 0)(c)
}

func importQLinearConcat(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	var parts []*ir.Value
	for i := 2; i+2 < c.NumArgs() || i+1 < c.NumArgs(); i += 3 {
		part, err := dequantized(c, i)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("no operands")
	}
	axis, err := fromFront(c.Int("axis", 0), parts[0].Type.Rank())
	if err != nil {
		return nil, err
	}
	y, err := quantized(b, b.Node(Concat{Axis: axis}, parts...), c.Arg(0), c.Arg(1), c.Arg(2).Type.DType)
	return []*ir.Value{y}, err
}

func importQLinearWhere(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x, err := dequantized(c, 1)
	if err != nil {
		return nil, err
	}
	z, err := dequantized(c, 4)
	if err != nil {
		return nil, err
	}
	y, err := quantized(b, b.Node(Where{}, c.Arg(0), x, z), c.Arg(7), c.Arg(8), c.Arg(1).Type.DType)
	return []*ir.Value{y}, err
}

func importQGemm(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x, w := c.Arg(0), c.Arg(3)
	if x.Type.Rank() != 2 || w.Type.Rank() != 2 {
		return nil, fmt.Errorf("a product of %s and %s, matrices expected", x.Type, w.Type)
	}
	alpha := c.Float("alpha", 1)
	if c.Int("transA", 0) != 0 {
		x = TransposeBy(b, x, 1, 0)
	}
	if c.Int("transB", 0) != 0 {
		w = TransposeBy(b, w, 1, 0)
	}
	scale := b.Node(Mul{}, vectorOf(b, c.Arg(1)), vectorOf(b, c.Arg(4)))
	if alpha != 1 {
		scale = b.Node(Mul{}, scale, b.Scalar(ir.F32, alpha))
	}
	row := false
	if bias := c.Arg(6); bias != nil {
		row = IsRow(bias.Type, w.Type.Shape[1])
	}
	if to, zero := c.Arg(7), c.Arg(8); to != nil && (row || c.Arg(6) == nil) {
		r := Requantize{To: x.Type.DType}
		if zero != nil {
			r.To = zero.Type.DType
		}
		bias := c.Arg(6)
		if bias != nil {
			bias = ReshapeTo(b, bias, w.Type.Shape[1])
		}
		scale = b.Node(Div{}, scale, vectorOf(b, to))
		return []*ir.Value{b.Node(MatMulInteger{r}, x, w, c.Arg(2), c.Arg(5), bias, scale, zero)}, nil
	}
	sums := integerSums(b, x, w, c.Arg(2), c.Arg(5))
	if bias := c.Arg(6); bias != nil {
		sums = b.Node(Add{}, sums, bias)
	}
	y := b.Node(Mul{}, ConvertTo(b, sums, ir.F32), scale)
	if c.Arg(7) == nil {
		return []*ir.Value{y}, nil
	}
	y, err := quantized(b, y, c.Arg(7), c.Arg(8), x.Type.DType)
	return []*ir.Value{y}, err
}

func importMatMulIntegerToFloat(c ir.Importer) ([]*ir.Value, error) {
	y := scaledSums(c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2), c.Arg(3), c.Arg(4), c.Arg(5), c.Arg(6))
	return []*ir.Value{y}, nil
}

func importDynamicQuantizeMatMul(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x, scale, zero := quantizeByRange(b, c.Arg(0))
	return []*ir.Value{scaledSums(b, x, c.Arg(1), scale, c.Arg(2), zero, c.Arg(3), c.Arg(4))}, nil
}

// scaledSums appends (x − x0)·(w − w0)·xs·ws + bias, a product of integer matrices, in the type of
// the scales xs and ws. The zero points x0 and w0 and the bias may be nil.
func scaledSums(b *ir.Builder, x, w, xs, ws, x0, w0, bias *ir.Value) *ir.Value {
	y := ConvertTo(b, integerSums(b, x, w, x0, w0), ir.F32)
	y = b.Node(Mul{}, y, b.Node(Mul{}, ofRows(b, ConvertTo(b, xs, ir.F32), x.Type), ConvertTo(b, ws, ir.F32)))
	if bias != nil {
		y = b.Node(Add{}, y, ConvertTo(b, bias, ir.F32))
	}
	return ConvertTo(b, y, xs.Type.DType)
}

func importQAttention(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	for _, i := range []int{0, 1, 3, 4} {
		if c.Arg(i) == nil {
			return nil, fmt.Errorf("operand %d is absent", i)
		}
	}
	x := dequantizedBy(b, c.Arg(0), c.Arg(3), c.Arg(6))
	w := dequantizedBy(b, c.Arg(1), c.Arg(4), c.Arg(7))
	return importMicrosoftAttention(withArgs(c, x, w, c.Arg(2), c.Arg(5), c.Arg(8)))
}

func importQEmbedLayerNormalization(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	args := argsOf(c)
	for len(args) < 18 {
		args = append(args, nil)
	}
	const first, last, scales, zeros = 2, 6, 8, 13
	for i := first; i <= last; i++ {
		if args[i] == nil {
			continue
		}
		if args[scales+i-first] == nil {
			return nil, fmt.Errorf("operand %d has no scale", i)
		}
		args[i] = dequantizedBy(b, args[i], args[scales+i-first], args[zeros+i-first])
	}
	return importEmbedLayerNormalization(withArgs(c, args[:scales]...))
}
