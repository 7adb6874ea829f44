package exec_test

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// loweredTrials are of what passes lower other operators to.
var loweredTrials = map[string]func(*draw) trial{
	"block":                tryBlock,
	"conv_blocked":         tryConvBlocked,
	"conv_data_blocked":    tryConvDataBlocked,
	"conv_pixels":          tryConvPixels,
	"depthwise_blocked":    tryDepthwiseBlocked,
	"depthwise_planar":     tryDepthwisePlanar,
	"gather_channels":      tryGatherChannels,
	"gru_steps":            tryGRUSteps,
	"lstm_steps":           tryLSTMSteps,
	"mat_mul_panels":       tryMatMulPanels,
	"pack_columns":         tryPackColumns,
	"pack_conv":            tryPackConv,
	"pack_conv_data":       tryPackConvData,
	"pack_panels":          tryPackPanels,
	"pack_rows":            tryPackRows,
	"pad_blocked":          tryPadBlocked,
	"patches":              tryPatches,
	"product_columns":      tryProductColumns,
	"product_integer":      tryProductInteger,
	"rnn_steps":            tryRNNSteps,
	"pack_winograd":        tryPackWinograd,
	"unblock":              tryUnblock,
	"winograd_blocked":     tryWinogradBlocked,
	"conv_weights_blocked": tryConvWeightsBlocked,
}

// lanes is the number of channels of a block and of columns of a panel.
const lanes = 16

func blocks(n int) int { return (n + lanes - 1) / lanes }

// planes draws the shape of images of one or two spatial axes.
func (d *draw) planes(c int) []int { return d.image(c, 2) }

// blocked draws channel-blocked images, zero beyond the channels.
func (d *draw) blocked(shape []int) *ir.Tensor {
	x, err := op.Block{}.Eval([]*ir.Tensor{d.tensor(ir.F32, shape...)})
	if err != nil {
		d.Fatal(err)
	}
	return x[0]
}

func tryBlock(d *draw) trial {
	x := d.planes(d.channels())
	return trial{op: op.Block{}, args: []*ir.Tensor{d.any(ir.F32, x...)}, exact: true}
}

func tryUnblock(d *draw) trial {
	x := d.planes(d.channels())
	return trial{op: op.Unblock{C: x[1]}, args: []*ir.Tensor{d.blocked(x)}, exact: true}
}

func tryGatherChannels(d *draw) trial {
	shape := d.planes(d.channels())
	o := op.GatherChannels{}
	var args []*ir.Tensor
	total := 0
	blocked := pick(d, d.blocked, func(shape []int) *ir.Tensor { return d.byteBlocks(shape, lanes) })
	for range d.int(1, 3, "tensors") {
		shape[1] = d.channels()
		o.Channels, args = append(o.Channels, shape[1]), append(args, blocked(shape))
		total += shape[1]
	}
	numbers := ir.NewTensor(ir.I32, d.channels())
	for i := range numbers.Len() {
		numbers.SetInt(i, int64(d.int(0, total-1, "channel")))
	}
	return trial{op: o, args: append(args, numbers), exact: true}
}

func tryPadBlocked(d *draw) trial {
	shape := d.planes(d.channels())
	o := op.PadBlocked{Pads: d.dims(d.ints(2*len(shape[2:]), 0, 2, "pads")...), Fill: 2}
	return trial{op: o, args: []*ir.Tensor{d.blocked(shape)}, exact: true}
}

// epilogue draws what a product of so many channels does with its sums, whose
// shape is y, the operands after the first two, and the region.
func (d *draw) epilogue(channels int, y []int) (e op.Epilogue, more []*ir.Tensor, region func(*ir.Builder) []*ir.Block) {
	region = func(*ir.Builder) []*ir.Block { return nil }
	more = []*ir.Tensor{nil, nil}
	if d.flag("bias") {
		more[0] = d.tensor(ir.F32, blocks(channels)*lanes)
		for i := channels; i < more[0].Len(); i++ {
			more[0].SetFloat(i, 0)
		}
	}
	if d.flag("residual") {
		more[1] = d.tensor(ir.F32, y...)
	}
	switch d.int(0, 2, "bounds") {
	case 1:
		e = op.Epilogue{Clamp: true, Hi: float32(math.Inf(1))}
	case 2:
		e = op.Epilogue{Clamp: true, Lo: 1, Hi: 2}
	}
	if d.flag("chain") {
		more = append(more, d.tensor(ir.F32, y...))
		region = func(b *ir.Builder) []*ir.Block {
			return []*ir.Block{b.Block(func(b *ir.Builder) {
				b.Return(b.Node(op.Mul{}, b.Param("t", ir.StaticTensor(ir.F32)), b.Param("u", ir.StaticTensor(ir.F32))))
			})}
		}
	}
	return e, more, region
}

// product tries an operator with an epilogue. Its first operand and its region do
// not change with others.
func (d *draw) product(o ir.Op, region func(*ir.Builder) []*ir.Block, args ...*ir.Tensor) trial {
	return trial{op: o, args: trimmed(args...), sums: true, loose: 10, build: func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value {
		return b.NodeBlocks(o, region(b), args...)
	}}
}

// convolved draws a window, the shape of images of so many channels that it fits, and
// that of the result.
func (d *draw) convolved(in, out int) (w op.Window, x, y []int) {
	n := d.int(1, 2, "axes")
	x = append([]int{d.int(1, 2, "n"), in}, d.ints(n, 1, 9, "extents")...)
	w = d.window(x[2:])
	result, err := op.Conv{Window: w, Group: 1}.Infer([]ir.Type{
		ir.StaticTensor(ir.F32, x...), ir.StaticTensor(ir.F32, append([]int{out, in}, w.Kernel...)...),
	})
	if err != nil {
		d.Fatal(err)
	}
	shape, _ := result[0].Static()
	return w, x, append(append([]int{x[0], blocks(out)}, shape[2:]...), lanes)
}

func tryPackConvData(d *draw) trial {
	w := d.tensor(ir.F32, append([]int{d.int(1, 40, "out"), d.int(1, 40, "in")}, d.ints(d.int(1, 2, "axes"), 1, 3, "kernel")...)...)
	return trial{op: op.PackConvData{}, args: []*ir.Tensor{w}, exact: true}
}

func tryConvBlocked(d *draw) trial {
	group := d.int(1, 3, "group")
	o := op.ConvBlocked{InC: group * d.int(1, 20, "in"), OutC: group * d.int(1, 20, "out"), Group: group}
	window, shape, y := d.convolved(o.InC, o.OutC)
	o.Window = window
	x, pack := d.tensor(ir.F32, shape...), op.PackConv{Group: group, InBlock: 1}
	if d.flag("blocked") {
		x, pack.InBlock = d.blocked(shape), lanes
	}
	w, err := pack.Eval([]*ir.Tensor{d.tensor(ir.F32, append([]int{o.OutC, o.InC / group}, window.Kernel...)...)})
	if err != nil {
		d.Fatal(err)
	}
	e, more, region := d.epilogue(o.OutC, y)
	o.Epilogue, o.Parts = e, d.parts()
	return d.product(o, region, append([]*ir.Tensor{x, w[0]}, more...)...)
}

// parts draws how sums are added up.
func (d *draw) parts() op.Parts { return op.Parts{Terms: pick(d, 0, 1, 20, 48)} }

func tryConvDataBlocked(d *draw) trial {
	o := op.ConvDataBlocked{InC: d.int(1, 40, "in"), OutC: d.int(1, 40, "out"), Parts: d.parts()}
	window, x, _ := d.convolved(o.InC, o.OutC)
	for i := range window.Strides {
		if window.Dilations != nil && window.Strides[i] > 1 {
			window.Dilations[i] = 1
			window.Strides[i] = 1
		}
	}
	o.Window, o.Spatial = window, ir.Dims(x[2:]...)
	result, err := op.Conv{Window: window, Group: 1}.Infer([]ir.Type{
		ir.StaticTensor(ir.F32, x...), ir.StaticTensor(ir.F32, append([]int{o.OutC, o.InC}, window.Kernel...)...),
	})
	if err != nil {
		d.Fatal(err)
	}
	y, _ := result[0].Static()
	w := d.packed(op.PackConvData{}, d.tensor(ir.F32, append([]int{o.OutC, o.InC}, window.Kernel...)...))
	return trial{op: o, args: []*ir.Tensor{d.blocked(y), w}, sums: true}
}

func tryConvWeightsBlocked(d *draw) trial {
	o := op.ConvWeightsBlocked{InC: d.int(1, 40, "in"), OutC: d.int(1, 40, "out")}
	window, x, _ := d.convolved(o.InC, o.OutC)
	o.Window = window
	result, err := op.Conv{Window: window, Group: 1}.Infer([]ir.Type{
		ir.StaticTensor(ir.F32, x...), ir.StaticTensor(ir.F32, append([]int{o.OutC, o.InC}, window.Kernel...)...),
	})
	if err != nil {
		d.Fatal(err)
	}
	y, _ := result[0].Static()
	return trial{op: o, args: []*ir.Tensor{d.blocked(x), d.blocked(y)}, sums: true}
}

// filtered draws weights of a convolution of kernel 3×3 for minimal filtering. They are
// small: the error of a sum is relative to what is largest in its tile, which the
// epilogue may cut off.
func (d *draw) filtered() (pack op.PackWinograd, w *ir.Tensor) {
	pack = op.PackWinograd{Tile: pick(d, 2, 4), Group: 1}
	in, out := d.int(1, 20, "in"), d.int(1, 20, "out")
	if d.flag("groups") {
		pack.Group, in, out = 2, lanes, 2*lanes
	}
	w = d.tensor(ir.F32, out*pack.Group, in, 3, 3)
	for i := range w.Len() {
		w.SetFloat(i, w.Float(i)/1024)
	}
	return pack, w
}

func tryPackWinograd(d *draw) trial {
	pack, w := d.filtered()
	return trial{op: pack, args: []*ir.Tensor{w}, exact: true}
}

func tryWinogradBlocked(d *draw) trial {
	pack, w := d.filtered()
	o := op.WinogradBlocked{Tile: pack.Tile, Group: pack.Group, InC: pack.Group * w.Shape[1], OutC: w.Shape[0]}
	pads, size := d.ints(4, 0, 2, "pads"), d.ints(2, 1, 9, "out")
	o.Pads = d.dims(pads...)
	x, y := []int{pick(d, 1, 2, 17), o.InC}, []int{0, blocks(o.OutC)}
	for i, n := range size {
		n = max(n, pads[i]+pads[2+i]-2)
		x, y = append(x, n+2-pads[i]-pads[2+i]), append(y, n)
	}
	y[0] = x[0]
	e, more, region := d.epilogue(o.OutC, append(y, lanes))
	o.Epilogue = e
	return d.product(o, region, append([]*ir.Tensor{d.blocked(x), d.packed(pack, w)}, more...)...)
}

func tryDepthwiseBlocked(d *draw) trial {
	o := op.DepthwiseBlocked{C: d.channels()}
	window, shape, y := d.convolved(o.C, o.C)
	o.Window = window
	h, width := 1, window.Kernel[len(window.Kernel)-1]
	if len(window.Kernel) > 1 {
		h = window.Kernel[0]
	}
	w := d.blocked([]int{1, o.C, h, width})
	e, more, region := d.epilogue(o.C, y)
	o.Epilogue = e
	return d.product(o, region, append([]*ir.Tensor{d.blocked(shape), w.Reshape(w.Shape[1:]...)}, more...)...)
}

func tryConvPixels(d *draw) trial {
	o := op.ConvPixels{InC: d.int(1, 40, "in"), OutC: d.int(1, 40, "out")}
	size := pick(d, []int{16}, []int{4, 12}, []int{8, 8}, []int{32, 3, 2})
	x, y := append([]int{d.int(1, 3, "n"), o.InC}, size...), append([]int{0, o.OutC}, size...)
	y[0] = x[0]
	e, more, region := d.epilogue(o.OutC, y)
	o.Epilogue = e
	return d.product(o, region, append([]*ir.Tensor{d.tensor(ir.F32, x...), d.tensor(ir.F32, o.OutC, o.InC)}, more...)...)
}

func tryDepthwisePlanar(d *draw) trial {
	o := op.DepthwisePlanar{C: d.channels()}
	window, shape, y := d.convolved(o.C, o.C)
	o.Window = window
	h, width := 1, window.Kernel[len(window.Kernel)-1]
	if len(window.Kernel) > 1 {
		h = window.Kernel[0]
	}
	e, more, region := d.epilogue(o.C, append([]int{shape[0], o.C}, y[2:len(y)-1]...))
	o.Epilogue = e
	return d.product(o, region, append([]*ir.Tensor{d.tensor(ir.F32, shape...), d.tensor(ir.F32, o.C, h, width)}, more...)...)
}

func tryPackConv(d *draw) trial {
	group := d.int(1, 3, "group")
	w := d.tensor(ir.F32, append([]int{group * d.int(1, 20, "out"), d.int(1, 20, "in")}, d.ints(d.int(1, 2, "axes"), 1, 3, "kernel")...)...)
	return trial{op: op.PackConv{Group: group, InBlock: pick(d, 1, lanes)}, args: []*ir.Tensor{w}, exact: true}
}

func tryPackPanels(d *draw) trial {
	return trial{op: op.PackPanels{Trans: d.flag("transposed")}, args: []*ir.Tensor{d.any(ir.F32, d.shape(2, 4)...)}, exact: true}
}

// panels draws matrices [batch…,k,n] in panels.
func (d *draw) panels(batch []int, k, n int) *ir.Tensor {
	return d.packed(op.PackPanels{}, d.tensor(ir.F32, append(batch[:len(batch):len(batch)], k, n)...))
}

// packed returns the first result of an operator.
func (d *draw) packed(o ir.Op, x *ir.Tensor) *ir.Tensor {
	y, err := o.Eval([]*ir.Tensor{x})
	if err != nil {
		d.Fatal(err)
	}
	return y[0]
}

func tryMatMulPanels(d *draw) trial {
	m, k, n := d.extent(), d.extent(), pick(d, 1, 5, 16, 17, 40, 0)
	batch := d.full(0, 2)
	rows, columns := batch, batch
	switch d.int(0, 2, "one matrix") {
	case 1:
		rows = nil
	case 2:
		columns = nil
	}
	e, more, region := d.epilogue(n, append(batch[:len(batch):len(batch)], m, n))
	o := op.MatMulPanels{N: ir.Const(n), Epilogue: e, Parts: d.parts()}
	a := d.tensor(ir.F32, append(rows[:len(rows):len(rows)], m, k)...)
	panels := d.packed(op.Cast{To: pick(d, ir.F32, ir.F16, ir.BF16)}, d.panels(columns, k, n))
	return d.product(o, region, append([]*ir.Tensor{a, panels}, more...)...)
}

func tryPackRows(d *draw) trial {
	return trial{op: op.PackRows{Sums: d.flag("sums")}, args: []*ir.Tensor{d.tensor(d.dtype(byteTypes), d.shape(3, 3)...)}}
}

func tryPackColumns(d *draw) trial {
	return trial{op: op.PackColumns{Sums: d.flag("sums")}, args: []*ir.Tensor{d.tensor(d.dtype(byteTypes), d.shape(3, 3)...)}}
}

func tryPatches(d *draw) trial {
	o := op.Patches{Group: d.int(1, 3, "group"), Sums: d.flag("sums")}
	x := d.image(o.Group*d.int(1, 5, "c"), 3)
	o.Window = d.window(x[2:])
	var zero *ir.Tensor
	if d.flag("zero") {
		zero = ir.NewTensor(ir.I32, 1)
		zero.SetInt(0, int64(d.int(0, 255, "zero point")))
	}
	return trial{op: o, args: trimmed(d.tensor(d.dtype(byteTypes), x...), zero)}
}

func tryProductColumns(d *draw) trial {
	batch, m, k, n := d.int(1, 3, "batch"), d.extent(), d.extent(), d.extent()
	weights := pick(d, 1, batch)
	a := d.packed(op.PackRows{}, d.tensor(ir.U8, batch, m, k))
	args := []*ir.Tensor{a, d.tensor(d.dtype(byteTypes), weights, k, n), d.maybe(d.tensor(ir.I32, 1)), nil, nil}
	if d.flag("zero") {
		sums := ir.NewTensor(ir.I32, m*batch)
		if k > 0 {
			sums = d.tensor(ir.I32, m*batch)
		}
		args[3], args[4] = d.tensor(ir.I32, pick(d, 1, n*weights)), sums
	}
	return trial{op: op.ProductColumns{}, args: trimmed(args...)}
}

func tryProductInteger(d *draw) trial {
	batch, m, k, n := d.int(1, 2, "batch"), d.extent(), d.extent(), d.extent()
	o := op.ProductInteger{N: ir.Const(n)}
	weights := pick(d, 1, batch)
	a := d.packed(op.PackRows{}, d.tensor(ir.U8, batch, m, k))
	panels := d.packed(op.PackColumns{}, d.tensor(ir.I8, weights, k, n))
	channels, others := n*weights, m*batch
	vector := func(t ir.DType, n int) *ir.Tensor { return d.tensor(t, pick(d, 1, n)) }
	args := []*ir.Tensor{a, panels, d.maybe(vector(ir.I32, channels)), nil, nil, nil, nil}
	if d.flag("zero") {
		args[3], args[5] = vector(ir.I32, channels), d.tensor(ir.I32, others)
	}
	if d.flag("floats") {
		o.To, args[4], args[6] = ir.F32, d.scales(ir.F32, []int{pick(d, 1, channels)}), d.maybe(vector(ir.F32, channels))
	} else if d.flag("requantise") {
		o.To, args[4], args[6] = d.dtype(byteTypes), d.scales(ir.F64, []int{pick(d, 1, channels)}), d.maybe(d.small(ir.I32, 1))
	}
	return trial{op: o, args: trimmed(args...)}
}

// steps draws the attributes of one direction of a recurrent layer of so many
// functions, and its operands: weights of these gates, states, and vectors.
func (d *draw) steps(functions int, gates []int, states int, vectors ...int) (op.Steps, []*ir.Tensor) {
	o := op.Steps{Reverse: d.flag("reverse"), Clip: pick(d, 0, 0, 0.75)}
	o.Activations, o.Alphas, o.Betas = d.functions(functions)
	t, s, n, h := pick(d, ir.F32, ir.F64), d.int(0, 4, "steps"), d.int(0, 3, "sequences"), pick(d, 1, 2, 5, 17)
	small := func(shape ...int) *ir.Tensor { return d.scaled(1.0/16, t, shape...) }
	args, all := []*ir.Tensor{nil}, 0
	for _, g := range gates {
		all += g
		w := small(h, g*h)
		if t == ir.F32 {
			w = d.packed(op.PackPanels{}, w)
		}
		args = append(args, w)
	}
	args[0] = small(s, n, all*h)
	args = append(args, d.maybe(d.lengths(ir.I32, n, 0, s)))
	for range states {
		args = append(args, d.maybe(small(n, h)))
	}
	for _, v := range vectors {
		args = append(args, d.maybe(small(v*h)))
	}
	return o, trimmed(args...)
}

func tryGRUSteps(d *draw) trial {
	linear := d.flag("linear")
	o, args := d.steps(2, []int{2, 1}, 1, 1)
	if !linear && len(args) > 5 {
		args = trimmed(args[:5]...)
	}
	return trial{op: op.GRUSteps{Steps: o, LinearBeforeReset: linear}, args: args, sums: true, loose: 10}
}

func tryLSTMSteps(d *draw) trial {
	o, args := d.steps(3, []int{4}, 2, 3)
	return trial{op: op.LSTMSteps{Steps: o, InputForget: d.flag("forget")}, args: args, sums: true, loose: 10}
}

func tryRNNSteps(d *draw) trial {
	o, args := d.steps(1, []int{1}, 1)
	return trial{op: op.RNNSteps{Steps: o}, args: args, sums: true, loose: 10}
}
