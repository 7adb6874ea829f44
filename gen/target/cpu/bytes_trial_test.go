package cpu_test

import (
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// bytesTrials are of operators on bytes in channel blocks.
var bytesTrials = targettest.Trials{
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
func byteBlocks(d *targettest.Draw, shape []int, in int) *ir.Tensor {
	return packed(d, storage.BlockBytes{Lanes: in}, d.Tensor(d.DType(targettest.ByteTypes), shape...))
}

// fill draws the value of padding.
func fill(d *targettest.Draw) *ir.Tensor { return d.Maybe(d.Small(ir.I32, 1)) }

func tryBlockBytes(d *targettest.Draw) targettest.Trial {
	x := planes(d, d.Channels())
	o := storage.BlockBytes{Lanes: targettest.Pick(d, 4, lanes)}
	if d.Flag("pads") {
		o.Pads = d.Dims(d.Ints(2*len(x[2:]), 0, 2, "pads")...)
	}
	return targettest.Trial{Op: o, Args: targettest.Trimmed(d.Tensor(d.DType(targettest.ByteTypes), x...), fill(d))}
}

func tryPadBytes(d *targettest.Draw) targettest.Trial {
	x := planes(d, d.Channels())
	o := storage.PadBytes{Pads: d.Dims(d.Ints(2*len(x[2:]), 0, 2, "pads")...)}
	return targettest.Trial{Op: o, Args: targettest.Trimmed(byteBlocks(d, x, lanes), fill(d))}
}

func tryUnblockBytes(d *targettest.Draw) targettest.Trial {
	x := planes(d, d.Channels())
	return targettest.Trial{Op: storage.UnblockBytes{C: x[1], To: d.DType(targettest.ByteTypes)}, Args: []*ir.Tensor{byteBlocks(d, x, lanes)}}
}

func tryMaxPoolBytes(d *targettest.Draw) targettest.Trial {
	strides, dilations, kernel, x := unpadded(d, d.Channels())
	return targettest.Trial{Op: storage.MaxPoolBytes{Kernel: kernel, Strides: strides, Dilations: dilations}, Args: []*ir.Tensor{byteBlocks(d, x, lanes)}}
}

func tryPackConvBytes(d *targettest.Draw) targettest.Trial {
	group := d.Int(1, 3, "group")
	w := d.Tensor(d.DType(targettest.ByteTypes), append([]int{group * d.Int(1, 20, "out"), d.Int(1, 20, "in")}, d.Ints(d.Int(1, 2, "axes"), 1, 3, "kernel")...)...)
	return targettest.Trial{Op: storage.PackConvBytes{Group: group, InBlock: targettest.Pick(d, 4, lanes)}, Args: []*ir.Tensor{w}}
}

func tryPackDepthwiseBytes(d *targettest.Draw) targettest.Trial {
	w := d.Tensor(d.DType(targettest.ByteTypes), append([]int{d.Channels(), 1}, d.Ints(d.Int(1, 2, "axes"), 1, 6, "kernel")...)...)
	return targettest.Trial{Op: storage.PackDepthwiseBytes{}, Args: []*ir.Tensor{w}}
}

// blockedSums draws a requantisation of channel-blocked sums and its operands: a bias, scales and a
// zero point.
func blockedSums(d *targettest.Draw, channels int) (op.Requantize, []*ir.Tensor) {
	r := op.Requantize{To: ir.U8}
	if d.Flag("clamp") {
		r.Clamp, r.Lo, r.Hi = true, d.Int(0, 20, "lo"), d.Int(20, 100, "hi")
	}
	return r, []*ir.Tensor{d.Maybe(d.Tensor(ir.I32, channels)), d.Scales(ir.F64, targettest.Pick(d, []int{1}, []int{channels})), fill(d)}
}

// unpadded draws strides, dilations, the extents of weights, and the shape of images that fit them
// without padding.
func unpadded(d *targettest.Draw, in int) (strides, dilations, kernel, x []int) {
	n := d.Int(1, 2, "axes")
	strides, dilations, kernel = d.Ints(n, 1, 2, "strides"), d.Ints(n, 1, 2, "dilations"), d.Ints(n, 1, 3, "kernel")
	x = []int{d.Int(1, 2, "n"), in}
	for i, k := range d.Ints(n, 1, 5, "out") {
		x = append(x, (k-1)*strides[i]+(kernel[i]-1)*dilations[i]+1)
	}
	return strides, dilations, kernel, x
}

func tryConvBytes(d *targettest.Draw) targettest.Trial {
	group := d.Int(1, 3, "group")
	o := storage.ConvBytes{InC: group * d.Int(1, 20, "in"), OutC: group * d.Int(1, 20, "out"), Group: group}
	strides, dilations, kernel, x := unpadded(d, o.InC)
	o.Strides, o.Dilations = strides, dilations
	in := targettest.Pick(d, 4, lanes)
	w := packed(d, storage.PackConvBytes{Group: group, InBlock: in}, d.Tensor(d.DType(targettest.ByteTypes), append([]int{o.OutC, o.InC / group}, kernel...)...))
	if dilations[len(dilations)-1] == 1 && d.Flag("two weights") {
		both, err := op.Concat{Axis: 1}.Eval([]*ir.Tensor{w, w})
		if err != nil {
			d.Fatal(err)
		}
		w = both[0]
	}
	r, more := blockedSums(d, o.OutC)
	o.Requantize = r
	return targettest.Trial{Op: o, Args: targettest.Trimmed(append([]*ir.Tensor{byteBlocks(d, x, in), w}, more...)...)}
}

func tryDepthwiseBytes(d *targettest.Draw) targettest.Trial {
	o := storage.DepthwiseBytes{C: d.Channels()}
	strides, dilations, kernel, x := unpadded(d, o.C)
	o.Strides, o.Dilations, o.KW = strides, dilations, kernel[len(kernel)-1]
	w := packed(d, storage.PackDepthwiseBytes{}, d.Tensor(d.DType(targettest.ByteTypes), append([]int{o.C, 1}, kernel...)...))
	r, more := blockedSums(d, o.C)
	o.Requantize = r
	return targettest.Trial{Op: o, Args: targettest.Trimmed(append([]*ir.Tensor{byteBlocks(d, x, lanes), w}, more...)...)}
}
