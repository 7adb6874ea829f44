package targettest

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var quantisedTrials = Trials{
	"byte_table":        tryByteTable,
	"conv_integer":      tryConvInteger,
	"dequantize":        tryDequantize,
	"dequantize_linear": tryDequantizeLinear,
	"mat_mul_integer":   tryMatMulInteger,
	"quantize":          tryQuantize,
	"quantize_linear":   tryQuantizeLinear,
}

var (
	// ByteTypes are the element types of one byte that products are quantised to.
	ByteTypes      = []ir.DType{ir.U8, ir.I8}
	quantisedInts  = typesWhere(func(t ir.DType) bool { return t.IsInt() && t.Bits() <= 32 && t != ir.U32 })
	quantisedTypes = slices.Concat(quantisedInts, []ir.DType{ir.F8E4M3FN, ir.F8E4M3FNUZ, ir.F8E5M2, ir.F8E5M2FNUZ, ir.F4E2M1})
)

func tryByteTable(d *Draw) Trial {
	return Trial{Op: op.ByteTable{}, Args: []*ir.Tensor{d.Tensor(d.DType(ByteTypes), d.Shape(0, 3)...), d.Any(d.DType(anyTypes), 256)}, Exact: true}
}

// scale draws a scale that is a power of two, so that division by it is exact.
func (d *Draw) scale() float64 { return Pick(d, 1, 0.5, 0.125, 4) }

// Small draws integers 0 and 1, which every integer type can hold.
func (d *Draw) Small(t ir.DType, shape ...int) *ir.Tensor {
	x := ir.NewTensor(t, shape...)
	for i := range x.Len() {
		x.SetNumber(i, float64(d.Int(0, 1, "zero")))
	}
	return x
}

func tryQuantize(d *Draw) Trial {
	o := op.Quantize{Scale: d.scale(), Zero: d.Int(0, 1, "zero"), To: d.DType(quantisedInts)}
	return Trial{Op: o, Args: []*ir.Tensor{d.Any(ir.F32, d.Shape(0, 3)...)}}
}

func tryDequantize(d *Draw) Trial {
	return Trial{Op: op.Dequantize{Scale: d.scale(), Zero: d.Int(0, 1, "zero")}, Args: []*ir.Tensor{d.Tensor(d.DType(quantisedInts), d.Shape(0, 3)...)}}
}

// granularity draws g, which says whether an operand of this shape has one scale, a scale for each index of an axis,
// or a scale for each block. scale is the shape of the scales.
func (d *Draw) granularity(shape []int) (g op.Granularity, scale []int) {
	if len(shape) == 0 || d.Flag("one scale") {
		return g, Pick(d, []int{}, []int{1})
	}
	g.Axis = d.Int(0, len(shape)-1, "axis")
	if d.Flag("axis") {
		return g, shape[g.Axis : g.Axis+1]
	}
	g.Block = d.Int(1, 4, "block")
	scale = slices.Clone(shape)
	scale[g.Axis] = (scale[g.Axis] + g.Block - 1) / g.Block
	return g, scale
}

// Scales draws powers of two, so that divisions by them are exact.
func (d *Draw) Scales(t ir.DType, shape []int) *ir.Tensor {
	x := ir.NewTensor(t, shape...)
	for i := range x.Len() {
		x.SetFloat(i, d.scale())
	}
	return x
}

func tryQuantizeLinear(d *Draw) Trial {
	shape := d.Shape(0, 3)
	o := op.QuantizeLinear{To: d.DType(quantisedTypes), Precision: d.DType(usualFloats), Unsaturated: d.Flag("unsaturated")}
	var of []int
	o.Granularity, of = d.granularity(shape)
	x := d.Any(d.DType([]ir.DType{ir.F32, ir.F16, ir.BF16, ir.I32}), shape...)
	return Trial{Op: o, Args: Trimmed(x, d.Scales(d.DType([]ir.DType{ir.F32, ir.F16, ir.BF16}), of), d.Maybe(d.Small(o.To, of...)))}
}

func tryDequantizeLinear(d *Draw) Trial {
	shape := d.Shape(0, 3)
	o := op.DequantizeLinear{To: d.DType([]ir.DType{ir.F32, ir.F16, ir.BF16})}
	var of []int
	o.Granularity, of = d.granularity(shape)
	t := d.DType(quantisedTypes)
	return Trial{Op: o, Args: Trimmed(d.Tensor(t, shape...), d.Scales(d.DType([]ir.DType{ir.F32, ir.F16, ir.BF16}), of), d.Maybe(d.Small(t, of...)))}
}

// requantize draws a requantisation of sums with the given number of channels, and the operands of the
// requantisation: a bias, scales and a zero point. An absent operand is nil. The requantisation may be absent; then
// scales and zero point are nil.
func (d *Draw) requantize(channels int) (op.Requantize, []*ir.Tensor) {
	var r op.Requantize
	bias := d.Maybe(d.Tensor(ir.I32, channels))
	if d.Flag("sums") {
		return r, []*ir.Tensor{bias, nil, nil}
	}
	r.To = d.DType(ByteTypes)
	if d.Flag("clamp") {
		r.Clamp, r.Lo, r.Hi = true, d.Int(0, 20, "lo"), d.Int(20, 100, "hi")
	}
	return r, []*ir.Tensor{bias, d.Scales(ir.F32, Pick(d, []int{1}, []int{channels})), d.Maybe(d.Small(r.To, 1))}
}

func tryMatMulInteger(d *Draw) Trial {
	a, b := d.factors()
	n := 1
	if len(b) > 1 {
		n = b[len(b)-1]
	}
	r, more := d.requantize(n)
	if d.Flag("floats") {
		r = op.Requantize{To: ir.F32}
		vector := func() *ir.Tensor { return d.Scales(ir.F32, Pick(d, []int{}, []int{1}, []int{n})) }
		more[1], more[2] = vector(), d.Maybe(vector())
	}
	t, u := d.DType(ByteTypes), d.DType(ByteTypes)
	zero := d.Maybe(d.Tensor(u, Pick(d, []int{}, []int{1}, []int{n})...))
	if len(b) == 1 && zero != nil {
		zero = zero.Reshape(1)
	}
	return Trial{Op: op.MatMulInteger{Requantize: r}, Args: Trimmed(append([]*ir.Tensor{d.Tensor(t, a...), d.Tensor(u, b...), d.Maybe(d.Tensor(t)), zero}, more...)...)}
}

func tryConvInteger(d *Draw) Trial {
	o := op.ConvInteger{Group: d.Int(1, 3, "group")}
	c, m := o.Group*d.Int(1, 5, "c"), o.Group*d.Int(1, 5, "m")
	if d.Flag("depthwise") {
		o.Group = d.Channels()
		c, m = o.Group, o.Group
	} else if d.Flag("wide") {
		o.Group = 1
		c, m = d.Channels(), d.Channels()
	}
	x := d.Image(c, 3)
	o.Window = d.Window(x[2:])
	t, u := d.DType(ByteTypes), d.DType(ByteTypes)
	w := d.Tensor(u, append([]int{m, c / o.Group}, o.Kernel...)...)
	r, more := d.requantize(m)
	o.Requantize = r
	return Trial{Op: o, Args: Trimmed(append([]*ir.Tensor{d.Tensor(t, x...), w, d.Maybe(d.Tensor(t)), d.Maybe(d.Tensor(u, Pick(d, []int{}, []int{m})...))}, more...)...)}
}
