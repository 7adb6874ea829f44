package exec_test

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var quantisedTrials = map[string]func(*draw) trial{
	"byte_table":        tryByteTable,
	"conv_integer":      tryConvInteger,
	"dequantize":        tryDequantize,
	"dequantize_linear": tryDequantizeLinear,
	"mat_mul_integer":   tryMatMulInteger,
	"quantize":          tryQuantize,
	"quantize_linear":   tryQuantizeLinear,
}

var (
	byteTypes      = []ir.DType{ir.U8, ir.I8}
	quantisedInts  = typesWhere(func(t ir.DType) bool { return t.IsInt() && t.Bits() <= 32 && t != ir.U32 })
	quantisedTypes = slices.Concat(quantisedInts, []ir.DType{ir.F8E4M3FN, ir.F8E4M3FNUZ, ir.F8E5M2, ir.F8E5M2FNUZ, ir.F4E2M1})
)

func tryByteTable(d *draw) trial {
	return trial{op: op.ByteTable{}, args: []*ir.Tensor{d.tensor(d.dtype(byteTypes), d.shape(0, 3)...), d.any(d.dtype(anyTypes), 256)}, exact: true}
}

// scale draws a scale that divides without error.
func (d *draw) scale() float64 { return pick(d, 1, 0.5, 0.125, 4) }

// small returns integers that any type has.
func (d *draw) small(t ir.DType, shape ...int) *ir.Tensor {
	x := ir.NewTensor(t, shape...)
	for i := range x.Len() {
		x.SetNumber(i, float64(d.int(0, 1, "zero")))
	}
	return x
}

func tryQuantize(d *draw) trial {
	o := op.Quantize{Scale: d.scale(), Zero: d.int(0, 1, "zero"), To: d.dtype(quantisedInts)}
	return trial{op: o, args: []*ir.Tensor{d.any(ir.F32, d.shape(0, 3)...)}}
}

func tryDequantize(d *draw) trial {
	return trial{op: op.Dequantize{Scale: d.scale(), Zero: d.int(0, 1, "zero")}, args: []*ir.Tensor{d.tensor(d.dtype(quantisedInts), d.shape(0, 3)...)}}
}

// granularity draws how scales belong to a tensor, and their shape.
func (d *draw) granularity(shape []int) (g op.Granularity, scale []int) {
	if len(shape) == 0 || d.flag("one scale") {
		return g, pick(d, []int{}, []int{1})
	}
	g.Axis = d.int(0, len(shape)-1, "axis")
	if d.flag("axis") {
		return g, shape[g.Axis : g.Axis+1]
	}
	g.Block = d.int(1, 4, "block")
	scale = slices.Clone(shape)
	scale[g.Axis] = (scale[g.Axis] + g.Block - 1) / g.Block
	return g, scale
}

// scales draws scales that divide without error.
func (d *draw) scales(t ir.DType, shape []int) *ir.Tensor {
	x := ir.NewTensor(t, shape...)
	for i := range x.Len() {
		x.SetFloat(i, d.scale())
	}
	return x
}

func tryQuantizeLinear(d *draw) trial {
	shape := d.shape(0, 3)
	o := op.QuantizeLinear{To: d.dtype(quantisedTypes), Precision: d.dtype(usualFloats), Unsaturated: d.flag("unsaturated")}
	var of []int
	o.Granularity, of = d.granularity(shape)
	x := d.any(d.dtype([]ir.DType{ir.F32, ir.F16, ir.BF16, ir.I32}), shape...)
	return trial{op: o, args: trimmed(x, d.scales(d.dtype([]ir.DType{ir.F32, ir.F16, ir.BF16}), of), d.maybe(d.small(o.To, of...)))}
}

func tryDequantizeLinear(d *draw) trial {
	shape := d.shape(0, 3)
	o := op.DequantizeLinear{To: d.dtype([]ir.DType{ir.F32, ir.F16, ir.BF16})}
	var of []int
	o.Granularity, of = d.granularity(shape)
	t := d.dtype(quantisedTypes)
	return trial{op: o, args: trimmed(d.tensor(t, shape...), d.scales(d.dtype([]ir.DType{ir.F32, ir.F16, ir.BF16}), of), d.maybe(d.small(t, of...)))}
}

// requantize draws what becomes of sums of so many channels, and its operands: a
// bias, scales and a zero point.
func (d *draw) requantize(channels int) (op.Requantize, []*ir.Tensor) {
	var r op.Requantize
	bias := d.maybe(d.tensor(ir.I32, channels))
	if d.flag("sums") {
		return r, []*ir.Tensor{bias, nil, nil}
	}
	r.To = d.dtype(byteTypes)
	if d.flag("clamp") {
		r.Clamp, r.Lo, r.Hi = true, d.int(0, 20, "lo"), d.int(20, 100, "hi")
	}
	return r, []*ir.Tensor{bias, d.scales(ir.F32, pick(d, []int{1}, []int{channels})), d.maybe(d.small(r.To, 1))}
}

func tryMatMulInteger(d *draw) trial {
	a, b := d.factors()
	n := 1
	if len(b) > 1 {
		n = b[len(b)-1]
	}
	r, more := d.requantize(n)
	if d.flag("floats") {
		r = op.Requantize{To: ir.F32}
		vector := func() *ir.Tensor { return d.scales(ir.F32, pick(d, []int{}, []int{1}, []int{n})) }
		more[1], more[2] = vector(), d.maybe(vector())
	}
	t, u := d.dtype(byteTypes), d.dtype(byteTypes)
	zero := d.maybe(d.tensor(u, pick(d, []int{}, []int{1}, []int{n})...))
	if len(b) == 1 && zero != nil {
		zero = zero.Reshape(1)
	}
	return trial{op: op.MatMulInteger{Requantize: r}, args: trimmed(append([]*ir.Tensor{d.tensor(t, a...), d.tensor(u, b...), d.maybe(d.tensor(t)), zero}, more...)...)}
}

func tryConvInteger(d *draw) trial {
	o := op.ConvInteger{Group: d.int(1, 3, "group")}
	c, m := o.Group*d.int(1, 5, "c"), o.Group*d.int(1, 5, "m")
	if d.flag("depthwise") {
		o.Group = d.channels()
		c, m = o.Group, o.Group
	} else if d.flag("wide") {
		o.Group = 1
		c, m = d.channels(), d.channels()
	}
	x := d.image(c, 3)
	o.Window = d.window(x[2:])
	t, u := d.dtype(byteTypes), d.dtype(byteTypes)
	w := d.tensor(u, append([]int{m, c / o.Group}, o.Kernel...)...)
	r, more := d.requantize(m)
	o.Requantize = r
	return trial{op: o, args: trimmed(append([]*ir.Tensor{d.tensor(t, x...), w, d.maybe(d.tensor(t)), d.maybe(d.tensor(u, pick(d, []int{}, []int{m})...))}, more...)...)}
}
