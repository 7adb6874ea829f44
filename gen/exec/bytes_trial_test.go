package exec_test

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// bytesTrials are of operators on bytes in channel blocks.
var bytesTrials = map[string]func(*draw) trial{
	"block_bytes":          tryBlockBytes,
	"conv_bytes":           tryConvBytes,
	"depthwise_bytes":      tryDepthwiseBytes,
	"max_pool_bytes":       tryMaxPoolBytes,
	"pack_conv_bytes":      tryPackConvBytes,
	"pack_depthwise_bytes": tryPackDepthwiseBytes,
	"pad_bytes":            tryPadBytes,
	"unblock_bytes":        tryUnblockBytes,
}

// byteBlocks draws images with channels in blocks.
func (d *draw) byteBlocks(shape []int, in int) *ir.Tensor {
	return d.packed(op.BlockBytes{Lanes: in}, d.tensor(d.dtype(byteTypes), shape...))
}

// fill draws what padding holds.
func (d *draw) fill() *ir.Tensor { return d.maybe(d.small(ir.I32, 1)) }

func tryBlockBytes(d *draw) trial {
	x := d.planes(d.channels())
	o := op.BlockBytes{Lanes: pick(d, 4, lanes)}
	if d.flag("pads") {
		o.Pads = d.dims(d.ints(2*len(x[2:]), 0, 2, "pads")...)
	}
	return trial{op: o, args: trimmed(d.tensor(d.dtype(byteTypes), x...), d.fill())}
}

func tryPadBytes(d *draw) trial {
	x := d.planes(d.channels())
	o := op.PadBytes{Pads: d.dims(d.ints(2*len(x[2:]), 0, 2, "pads")...)}
	return trial{op: o, args: trimmed(d.byteBlocks(x, lanes), d.fill())}
}

func tryUnblockBytes(d *draw) trial {
	x := d.planes(d.channels())
	return trial{op: op.UnblockBytes{C: x[1], To: d.dtype(byteTypes)}, args: []*ir.Tensor{d.byteBlocks(x, lanes)}}
}

func tryMaxPoolBytes(d *draw) trial {
	strides, dilations, kernel, x := d.unpadded(d.channels())
	return trial{op: op.MaxPoolBytes{Kernel: kernel, Strides: strides, Dilations: dilations}, args: []*ir.Tensor{d.byteBlocks(x, lanes)}}
}

func tryPackConvBytes(d *draw) trial {
	group := d.int(1, 3, "group")
	w := d.tensor(d.dtype(byteTypes), append([]int{group * d.int(1, 20, "out"), d.int(1, 20, "in")}, d.ints(d.int(1, 2, "axes"), 1, 3, "kernel")...)...)
	return trial{op: op.PackConvBytes{Group: group, InBlock: pick(d, 4, lanes)}, args: []*ir.Tensor{w}}
}

func tryPackDepthwiseBytes(d *draw) trial {
	w := d.tensor(d.dtype(byteTypes), append([]int{d.channels(), 1}, d.ints(d.int(1, 2, "axes"), 1, 6, "kernel")...)...)
	return trial{op: op.PackDepthwiseBytes{}, args: []*ir.Tensor{w}}
}

// blockedSums draws what becomes of sums of so many channels in blocks, and its
// operands: a bias, scales and a zero point.
func (d *draw) blockedSums(channels int) (op.Requantize, []*ir.Tensor) {
	r := op.Requantize{To: ir.U8}
	if d.flag("clamp") {
		r.Clamp, r.Lo, r.Hi = true, d.int(0, 20, "lo"), d.int(20, 100, "hi")
	}
	return r, []*ir.Tensor{d.maybe(d.tensor(ir.I32, channels)), d.scales(ir.F64, pick(d, []int{1}, []int{channels})), d.fill()}
}

// unpadded draws strides, dilations, weights' extents and the shape of images without
// padding that these fit, of so many channels.
func (d *draw) unpadded(in int) (strides, dilations, kernel, x []int) {
	n := d.int(1, 2, "axes")
	strides, dilations, kernel = d.ints(n, 1, 2, "strides"), d.ints(n, 1, 2, "dilations"), d.ints(n, 1, 3, "kernel")
	x = []int{d.int(1, 2, "n"), in}
	for i, k := range d.ints(n, 1, 5, "out") {
		x = append(x, (k-1)*strides[i]+(kernel[i]-1)*dilations[i]+1)
	}
	return strides, dilations, kernel, x
}

func tryConvBytes(d *draw) trial {
	group := d.int(1, 3, "group")
	o := op.ConvBytes{InC: group * d.int(1, 20, "in"), OutC: group * d.int(1, 20, "out"), Group: group}
	strides, dilations, kernel, x := d.unpadded(o.InC)
	o.Strides, o.Dilations = strides, dilations
	in := pick(d, 4, lanes)
	w := d.packed(op.PackConvBytes{Group: group, InBlock: in}, d.tensor(d.dtype(byteTypes), append([]int{o.OutC, o.InC / group}, kernel...)...))
	if dilations[len(dilations)-1] == 1 && d.flag("two weights") {
		both, err := op.Concat{Axis: 1}.Eval([]*ir.Tensor{w, w})
		if err != nil {
			d.Fatal(err)
		}
		w = both[0]
	}
	r, more := d.blockedSums(o.OutC)
	o.Requantize = r
	return trial{op: o, args: trimmed(append([]*ir.Tensor{d.byteBlocks(x, in), w}, more...)...)}
}

func tryDepthwiseBytes(d *draw) trial {
	o := op.DepthwiseBytes{C: d.channels()}
	strides, dilations, kernel, x := d.unpadded(o.C)
	o.Strides, o.Dilations, o.KW = strides, dilations, kernel[len(kernel)-1]
	w := d.packed(op.PackDepthwiseBytes{}, d.tensor(d.dtype(byteTypes), append([]int{o.C, 1}, kernel...)...))
	r, more := d.blockedSums(o.C)
	o.Requantize = r
	return trial{op: o, args: trimmed(append([]*ir.Tensor{d.byteBlocks(x, lanes), w}, more...)...)}
}
