package cpu_test

import (
	"math"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// storageTrials are of operators on operands in layouts of their own, which passes lower others to.
var storageTrials = targettest.Trials{
	"block":                tryBlock,
	"conv_blocked":         tryConvBlocked,
	"conv_data_blocked":    tryConvDataBlocked,
	"conv_pixels":          tryConvPixels,
	"depthwise_blocked":    tryDepthwiseBlocked,
	"depthwise_planar":     tryDepthwisePlanar,
	"gather_channels":      tryGatherChannels,
	"gru_steps":            tryGRUSteps,
	"gru_trace":            tryGRUTrace,
	"lstm_steps":           tryLSTMSteps,
	"lstm_trace":           tryLSTMTrace,
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
func planes(d *targettest.Draw, c int) []int { return d.Image(c, 2) }

func tryBlock(d *targettest.Draw) targettest.Trial {
	x := planes(d, d.Channels())
	return targettest.Trial{Op: storage.Block{}, Args: []*ir.Tensor{d.Any(ir.F32, x...)}, Exact: true}
}

func tryUnblock(d *targettest.Draw) targettest.Trial {
	x := planes(d, d.Channels())
	return targettest.Trial{Op: storage.Unblock{C: x[1]}, Args: []*ir.Tensor{d.Blocked(x)}, Exact: true}
}

func tryGatherChannels(d *targettest.Draw) targettest.Trial {
	shape := planes(d, d.Channels())
	o := storage.GatherChannels{}
	var args []*ir.Tensor
	total := 0
	blocked := targettest.Pick(d, d.Blocked, func(shape []int) *ir.Tensor { return byteBlocks(d, shape, lanes) })
	for range d.Int(1, 3, "tensors") {
		shape[1] = d.Channels()
		o.Channels, args = append(o.Channels, shape[1]), append(args, blocked(shape))
		total += shape[1]
	}
	numbers := ir.NewTensor(ir.I32, d.Channels())
	for i := range numbers.Len() {
		numbers.SetInt(i, int64(d.Int(0, total-1, "channel")))
	}
	return targettest.Trial{Op: o, Args: append(args, numbers), Exact: true}
}

func tryPadBlocked(d *targettest.Draw) targettest.Trial {
	shape := planes(d, d.Channels())
	o := storage.PadBlocked{Pads: d.Dims(d.Ints(2*len(shape[2:]), 0, 2, "pads")...), Fill: 2}
	return targettest.Trial{Op: o, Args: []*ir.Tensor{d.Blocked(shape)}, Exact: true}
}

// epilogue draws the epilogue of a product with the given number of channels and a result of shape
// y, its operands after the first two, and its region.
func epilogue(d *targettest.Draw, channels int, y []int) (e op.Epilogue, more []*ir.Tensor, region func(*ir.Builder) []*ir.Block) {
	region = func(*ir.Builder) []*ir.Block { return nil }
	more = []*ir.Tensor{nil, nil}
	if d.Flag("bias") {
		more[0] = d.Tensor(ir.F32, blocks(channels)*lanes)
		for i := channels; i < more[0].Len(); i++ {
			more[0].SetFloat(i, 0)
		}
	}
	if d.Flag("residual") {
		more[1] = d.Tensor(ir.F32, y...)
	}
	switch d.Int(0, 2, "bounds") {
	case 1:
		e = op.Epilogue{Clamp: true, Hi: float32(math.Inf(1))}
	case 2:
		e = op.Epilogue{Clamp: true, Lo: 1, Hi: 2}
	}
	if d.Flag("chain") {
		more = append(more, d.Tensor(ir.F32, y...))
		region = func(b *ir.Builder) []*ir.Block {
			return []*ir.Block{b.Block(func(b *ir.Builder) {
				b.Return(b.Node(op.Mul{}, b.Param("t", ir.StaticTensor(ir.F32)), b.Param("u", ir.StaticTensor(ir.F32))))
			})}
		}
	}
	return e, more, region
}

// multiplied returns the trial of an operator with an epilogue. region builds the epilogue's
// region.
func multiplied(d *targettest.Draw, o ir.Op, region func(*ir.Builder) []*ir.Block, args ...*ir.Tensor) targettest.Trial {
	return targettest.Trial{Op: o, Args: targettest.Trimmed(args...), Sums: true, Loose: 10, Build: func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value {
		return b.NodeBlocks(o, region(b), args...)
	}}
}

// convolved draws a window, the shape of images that it fits, and the shape of the result. in and
// out are numbers of channels.
func convolved(d *targettest.Draw, in, out int) (w op.Window, x, y []int) {
	n := d.Int(1, 2, "axes")
	x = append([]int{d.Int(1, 2, "n"), in}, d.Ints(n, 1, 9, "extents")...)
	w = d.Window(x[2:])
	result, err := op.Conv{Window: w, Group: 1}.Infer([]ir.Type{
		ir.StaticTensor(ir.F32, x...), ir.StaticTensor(ir.F32, append([]int{out, in}, w.Kernel...)...),
	})
	if err != nil {
		d.Fatal(err)
	}
	shape, _ := result[0].Static()
	return w, x, append(append([]int{x[0], blocks(out)}, shape[2:]...), lanes)
}

func tryPackConvData(d *targettest.Draw) targettest.Trial {
	w := d.Tensor(ir.F32, append([]int{d.Int(1, 40, "out"), d.Int(1, 40, "in")}, d.Ints(d.Int(1, 2, "axes"), 1, 3, "kernel")...)...)
	return targettest.Trial{Op: storage.PackConvData{}, Args: []*ir.Tensor{w}, Exact: true}
}

func tryConvBlocked(d *targettest.Draw) targettest.Trial {
	group := d.Int(1, 3, "group")
	o := storage.ConvBlocked{InC: group * d.Int(1, 20, "in"), OutC: group * d.Int(1, 20, "out"), Group: group}
	window, shape, y := convolved(d, o.InC, o.OutC)
	o.Window = window
	x, pack := d.Tensor(ir.F32, shape...), storage.PackConv{Group: group, InBlock: 1}
	if d.Flag("blocked") {
		x, pack.InBlock = d.Blocked(shape), lanes
	}
	w, err := pack.Eval([]*ir.Tensor{d.Tensor(ir.F32, append([]int{o.OutC, o.InC / group}, window.Kernel...)...)})
	if err != nil {
		d.Fatal(err)
	}
	e, more, region := epilogue(d, o.OutC, y)
	o.Epilogue, o.Parts = e, parts(d)
	return multiplied(d, o, region, append([]*ir.Tensor{x, w[0]}, more...)...)
}

// parts draws how sums are added up.
func parts(d *targettest.Draw) op.Parts { return op.Parts{Terms: targettest.Pick(d, 0, 1, 20, 48)} }

func tryConvDataBlocked(d *targettest.Draw) targettest.Trial {
	o := storage.ConvDataBlocked{InC: d.Int(1, 40, "in"), OutC: d.Int(1, 40, "out"), Parts: parts(d)}
	window, x, _ := convolved(d, o.InC, o.OutC)
	for i := range window.Strides {
		if window.Dilations != nil && window.Strides[i] > 1 {
			window.Dilations[i] = 1
			window.Strides[i] = 1
		}
	}
	o.Window, o.Spatial = window, dim.Consts(x[2:]...)
	result, err := op.Conv{Window: window, Group: 1}.Infer([]ir.Type{
		ir.StaticTensor(ir.F32, x...), ir.StaticTensor(ir.F32, append([]int{o.OutC, o.InC}, window.Kernel...)...),
	})
	if err != nil {
		d.Fatal(err)
	}
	y, _ := result[0].Static()
	w := packed(d, storage.PackConvData{}, d.Tensor(ir.F32, append([]int{o.OutC, o.InC}, window.Kernel...)...))
	return targettest.Trial{Op: o, Args: []*ir.Tensor{d.Blocked(y), w}, Sums: true}
}

func tryConvWeightsBlocked(d *targettest.Draw) targettest.Trial {
	o := storage.ConvWeightsBlocked{InC: d.Int(1, 40, "in"), OutC: d.Int(1, 40, "out")}
	window, x, _ := convolved(d, o.InC, o.OutC)
	o.Window = window
	result, err := op.Conv{Window: window, Group: 1}.Infer([]ir.Type{
		ir.StaticTensor(ir.F32, x...), ir.StaticTensor(ir.F32, append([]int{o.OutC, o.InC}, window.Kernel...)...),
	})
	if err != nil {
		d.Fatal(err)
	}
	y, _ := result[0].Static()
	return targettest.Trial{Op: o, Args: []*ir.Tensor{d.Blocked(x), d.Blocked(y)}, Sums: true}
}

// filtered draws the weights of a 3×3 convolution for the Winograd algorithm. They are small,
// because the error of a sum is relative to the largest sum of its tile, which the epilogue may
// clamp.
func filtered(d *targettest.Draw) (pack storage.PackWinograd, w *ir.Tensor) {
	pack = storage.PackWinograd{Tile: targettest.Pick(d, 2, 4), Group: 1}
	in, out := d.Int(1, 20, "in"), d.Int(1, 20, "out")
	if d.Flag("groups") {
		pack.Group, in, out = 2, lanes, 2*lanes
	}
	w = d.Tensor(ir.F32, out*pack.Group, in, 3, 3)
	for i := range w.Len() {
		w.SetFloat(i, w.Float(i)/1024)
	}
	return pack, w
}

func tryPackWinograd(d *targettest.Draw) targettest.Trial {
	pack, w := filtered(d)
	return targettest.Trial{Op: pack, Args: []*ir.Tensor{w}, Exact: true}
}

func tryWinogradBlocked(d *targettest.Draw) targettest.Trial {
	pack, w := filtered(d)
	o := storage.WinogradBlocked{Tile: pack.Tile, Group: pack.Group, InC: pack.Group * w.Shape[1], OutC: w.Shape[0]}
	pads, size := d.Ints(4, 0, 2, "pads"), d.Ints(2, 1, 9, "out")
	o.Pads = d.Dims(pads...)
	x, y := []int{targettest.Pick(d, 1, 2, 17), o.InC}, []int{0, blocks(o.OutC)}
	for i, n := range size {
		n = max(n, pads[i]+pads[2+i]-2)
		x, y = append(x, n+2-pads[i]-pads[2+i]), append(y, n)
	}
	y[0] = x[0]
	e, more, region := epilogue(d, o.OutC, append(y, lanes))
	o.Epilogue = e
	return multiplied(d, o, region, append([]*ir.Tensor{d.Blocked(x), packed(d, pack, w)}, more...)...)
}

func tryDepthwiseBlocked(d *targettest.Draw) targettest.Trial {
	o := storage.DepthwiseBlocked{C: d.Channels()}
	window, shape, y := convolved(d, o.C, o.C)
	o.Window = window
	h, width := 1, window.Kernel[len(window.Kernel)-1]
	if len(window.Kernel) > 1 {
		h = window.Kernel[0]
	}
	w := d.Blocked([]int{1, o.C, h, width})
	e, more, region := epilogue(d, o.C, y)
	o.Epilogue = e
	return multiplied(d, o, region, append([]*ir.Tensor{d.Blocked(shape), w.Reshape(w.Shape[1:]...)}, more...)...)
}

func tryConvPixels(d *targettest.Draw) targettest.Trial {
	o := storage.ConvPixels{InC: d.Int(1, 40, "in"), OutC: d.Int(1, 40, "out")}
	size := targettest.Pick(d, []int{16}, []int{4, 12}, []int{8, 8}, []int{32, 3, 2})
	x, y := append([]int{d.Int(1, 3, "n"), o.InC}, size...), append([]int{0, o.OutC}, size...)
	y[0] = x[0]
	e, more, region := epilogue(d, o.OutC, y)
	o.Epilogue = e
	return multiplied(d, o, region, append([]*ir.Tensor{d.Tensor(ir.F32, x...), d.Tensor(ir.F32, o.OutC, o.InC)}, more...)...)
}

func tryDepthwisePlanar(d *targettest.Draw) targettest.Trial {
	o := storage.DepthwisePlanar{C: d.Channels()}
	window, shape, y := convolved(d, o.C, o.C)
	o.Window = window
	h, width := 1, window.Kernel[len(window.Kernel)-1]
	if len(window.Kernel) > 1 {
		h = window.Kernel[0]
	}
	e, more, region := epilogue(d, o.C, append([]int{shape[0], o.C}, y[2:len(y)-1]...))
	o.Epilogue = e
	return multiplied(d, o, region, append([]*ir.Tensor{d.Tensor(ir.F32, shape...), d.Tensor(ir.F32, o.C, h, width)}, more...)...)
}

func tryPackConv(d *targettest.Draw) targettest.Trial {
	group := d.Int(1, 3, "group")
	w := d.Tensor(ir.F32, append([]int{group * d.Int(1, 20, "out"), d.Int(1, 20, "in")}, d.Ints(d.Int(1, 2, "axes"), 1, 3, "kernel")...)...)
	return targettest.Trial{Op: storage.PackConv{Group: group, InBlock: targettest.Pick(d, 1, lanes)}, Args: []*ir.Tensor{w}, Exact: true}
}

func tryPackPanels(d *targettest.Draw) targettest.Trial {
	return targettest.Trial{Op: storage.PackPanels{Trans: d.Flag("transposed")}, Args: []*ir.Tensor{d.Any(ir.F32, d.Shape(2, 4)...)}, Exact: true}
}

// panels draws matrices [batch…,k,n] in panels.
func panels(d *targettest.Draw, batch []int, k, n int) *ir.Tensor {
	return packed(d, storage.PackPanels{}, d.Tensor(ir.F32, append(batch[:len(batch):len(batch)], k, n)...))
}

// packed returns the first result of an operator.
func packed(d *targettest.Draw, o ir.Op, x *ir.Tensor) *ir.Tensor {
	y, err := o.Eval([]*ir.Tensor{x})
	if err != nil {
		d.Fatal(err)
	}
	return y[0]
}

func tryMatMulPanels(d *targettest.Draw) targettest.Trial {
	m, k, n := d.Extent(), d.Extent(), targettest.Pick(d, 1, 5, 16, 17, 40, 0)
	batch := d.Full(0, 2)
	rows, columns := batch, batch
	switch d.Int(0, 2, "one matrix") {
	case 1:
		rows = nil
	case 2:
		columns = nil
	}
	e, more, region := epilogue(d, n, append(batch[:len(batch):len(batch)], m, n))
	o := storage.MatMulPanels{N: dim.Const(n), Epilogue: e, Parts: parts(d)}
	a := d.Tensor(ir.F32, append(rows[:len(rows):len(rows)], m, k)...)
	panels := packed(d, op.Cast{To: targettest.Pick(d, ir.F32, ir.F16, ir.BF16)}, panels(d, columns, k, n))
	return multiplied(d, o, region, append([]*ir.Tensor{a, panels}, more...)...)
}

func tryPackRows(d *targettest.Draw) targettest.Trial {
	return targettest.Trial{Op: storage.PackRows{Sums: d.Flag("sums")}, Args: []*ir.Tensor{d.Tensor(d.DType(targettest.ByteTypes), d.Shape(3, 3)...)}}
}

func tryPackColumns(d *targettest.Draw) targettest.Trial {
	return targettest.Trial{Op: storage.PackColumns{Sums: d.Flag("sums")}, Args: []*ir.Tensor{d.Tensor(d.DType(targettest.ByteTypes), d.Shape(3, 3)...)}}
}

func tryPatches(d *targettest.Draw) targettest.Trial {
	o := storage.Patches{Group: d.Int(1, 3, "group"), Sums: d.Flag("sums")}
	x := d.Image(o.Group*d.Int(1, 5, "c"), 3)
	o.Window = d.Window(x[2:])
	var zero *ir.Tensor
	if d.Flag("zero") {
		zero = ir.NewTensor(ir.I32, 1)
		zero.SetInt(0, int64(d.Int(0, 255, "zero point")))
	}
	return targettest.Trial{Op: o, Args: targettest.Trimmed(d.Tensor(d.DType(targettest.ByteTypes), x...), zero)}
}

func tryProductColumns(d *targettest.Draw) targettest.Trial {
	batch, m, k, n := d.Int(1, 3, "batch"), d.Extent(), d.Extent(), d.Extent()
	weights := targettest.Pick(d, 1, batch)
	a := packed(d, storage.PackRows{}, d.Tensor(ir.U8, batch, m, k))
	args := []*ir.Tensor{a, d.Tensor(d.DType(targettest.ByteTypes), weights, k, n), d.Maybe(d.Tensor(ir.I32, 1)), nil, nil}
	if d.Flag("zero") {
		sums := ir.NewTensor(ir.I32, m*batch)
		if k > 0 {
			sums = d.Tensor(ir.I32, m*batch)
		}
		args[3], args[4] = d.Tensor(ir.I32, targettest.Pick(d, 1, n*weights)), sums
	}
	return targettest.Trial{Op: storage.ProductColumns{}, Args: targettest.Trimmed(args...)}
}

func tryProductInteger(d *targettest.Draw) targettest.Trial {
	batch, m, k, n := d.Int(1, 2, "batch"), d.Extent(), d.Extent(), d.Extent()
	o := storage.ProductInteger{N: dim.Const(n)}
	weights := targettest.Pick(d, 1, batch)
	a := packed(d, storage.PackRows{}, d.Tensor(ir.U8, batch, m, k))
	panels := packed(d, storage.PackColumns{}, d.Tensor(ir.I8, weights, k, n))
	channels, others := n*weights, m*batch
	vector := func(t ir.DType, n int) *ir.Tensor { return d.Tensor(t, targettest.Pick(d, 1, n)) }
	args := []*ir.Tensor{a, panels, d.Maybe(vector(ir.I32, channels)), nil, nil, nil, nil}
	if d.Flag("zero") {
		args[3], args[5] = vector(ir.I32, channels), d.Tensor(ir.I32, others)
	}
	if d.Flag("floats") {
		o.To, args[4], args[6] = ir.F32, d.Scales(ir.F32, []int{targettest.Pick(d, 1, channels)}), d.Maybe(vector(ir.F32, channels))
	} else if d.Flag("requantise") {
		o.To, args[4], args[6] = d.DType(targettest.ByteTypes), d.Scales(ir.F64, []int{targettest.Pick(d, 1, channels)}), d.Maybe(d.Small(ir.I32, 1))
	}
	return targettest.Trial{Op: o, Args: targettest.Trimmed(args...)}
}

// recurrentSteps draws the attributes of one direction of a recurrent layer with the given number
// of activation functions, and its operands: weights of these gates, states, and vectors.
func recurrentSteps(d *targettest.Draw, functions int, gates []int, states int, vectors ...int) (op.Steps, []*ir.Tensor) {
	o := op.Steps{Reverse: d.Flag("reverse"), Clip: targettest.Pick(d, 0, 0, 0.75)}
	o.Activations, o.Alphas, o.Betas = d.Functions(functions)
	t, s, n, h := targettest.Pick(d, ir.F32, ir.F64), d.Int(0, 4, "steps"), d.Int(0, 3, "sequences"), targettest.Pick(d, 1, 2, 5, 17)
	small := func(shape ...int) *ir.Tensor { return d.Scaled(1.0/16, t, shape...) }
	args, all := []*ir.Tensor{nil}, 0
	for _, g := range gates {
		all += g
		w := small(h, g*h)
		if t == ir.F32 {
			w = packed(d, storage.PackPanels{}, w)
		}
		args = append(args, w)
	}
	args[0] = small(s, n, all*h)
	args = append(args, d.Maybe(d.Lengths(ir.I32, n, 0, s)))
	for range states {
		args = append(args, d.Maybe(small(n, h)))
	}
	for _, v := range vectors {
		args = append(args, d.Maybe(small(v*h)))
	}
	return o, targettest.Trimmed(args...)
}

func tryGRUSteps(d *targettest.Draw) targettest.Trial {
	linear := d.Flag("linear")
	o, args := recurrentSteps(d, 2, []int{2, 1}, 1, 1)
	if !linear && len(args) > 5 {
		args = targettest.Trimmed(args[:5]...)
	}
	return targettest.Trial{Op: op.GRUSteps{Steps: o, LinearBeforeReset: linear}, Args: args, Sums: true, Loose: 10}
}

func tryLSTMSteps(d *targettest.Draw) targettest.Trial {
	o, args := recurrentSteps(d, 3, []int{4}, 2, 3)
	return targettest.Trial{Op: op.LSTMSteps{Steps: o, InputForget: d.Flag("forget")}, Args: args, Sums: true, Loose: 10}
}

// tryGRUTrace and tryLSTMTrace compare all results. The trials of all targets leave out the
// ones that have no gradients.
func tryGRUTrace(d *targettest.Draw) targettest.Trial {
	linear := d.Flag("linear")
	o, args := recurrentSteps(d, 2, []int{2, 1}, 1, 1)
	if !linear && len(args) > 5 {
		args = targettest.Trimmed(args[:5]...)
	}
	return targettest.Trial{Op: op.GRUTrace{Reverse: o.Reverse, LinearBeforeReset: linear}, Args: args, Sums: true, Loose: 10}
}

func tryLSTMTrace(d *targettest.Draw) targettest.Trial {
	o, args := recurrentSteps(d, 3, []int{4}, 2)
	return targettest.Trial{Op: op.LSTMTrace{Reverse: o.Reverse}, Args: args, Sums: true, Loose: 10}
}

func tryRNNSteps(d *targettest.Draw) targettest.Trial {
	o, args := recurrentSteps(d, 1, []int{1}, 1)
	return targettest.Trial{Op: op.RNNSteps{Steps: o}, Args: args, Sums: true, Loose: 10}
}
