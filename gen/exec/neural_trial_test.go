package exec_test

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var neuralTrials = map[string]func(*draw) trial{
	"attend":              tryAttend,
	"attention":           tryAttention,
	"average_pool":        tryAveragePool,
	"batch_normalization": tryBatchNormalization,
	"col2_im":             tryCol2Im,
	"conv":                tryConv,
	"conv_transpose":      tryConvTranspose,
	"batch_norm_training": tryBatchNormTraining,
	"channel_mix":         tryChannelMix,
	"channel_moments":     tryChannelMoments,
	"channel_sums":        tryChannelSums,
	"conv_data":           tryConvData,
	"conv_weights":        tryConvWeights,
	"deform_columns":      tryDeformColumns,
	"deform_conv":         tryDeformConv,
	"gemm":                tryGemm,
	"global_average_pool": tryGlobalAveragePool,
	"grid_sample":         tryGridSample,
	"gru":                 tryGRU,
	"group_normalization": tryGroupNormalization,
	"layer_normalization": tryLayerNormalization,
	"linear_attention":    tryLinearAttention,
	"lrn":                 tryLRN,
	"lstm":                tryLSTM,
	"mat_mul":             tryMatMul,
	"max_pool":            tryMaxPool,
	"max_pool_grad":       tryMaxPoolGrad,
	"max_roi_pool":        tryMaxRoiPool,
	"rms_normalization":   tryRMSNormalization,
	"rnn":                 tryRNN,
	"roi_align":           tryRoiAlign,
}

// window draws a window that fits these extents.
func (d *draw) window(extents []int) op.Window {
	n := len(extents)
	w := op.Window{Kernel: d.ints(n, 1, 3, "kernel")}
	most := 3
	if d.symbolic { // the extents of more are not proven to be the same in other layouts
		most = 1
	}
	if d.flag("strides") {
		w.Strides = d.ints(n, 1, most, "strides")
	}
	reach := slices.Repeat([]int{1}, n)
	if d.flag("dilations") {
		w.Dilations = d.ints(n, 1, 2, "dilations")
		reach = w.Dilations
	}
	for i, e := range extents {
		w.Kernel[i] = min(w.Kernel[i], (max(e, 1)-1)/reach[i]+1)
	}
	switch d.int(0, 3, "padding") {
	case 1:
		w.Same = "upper"
	case 2:
		w.Same = "lower"
	case 3:
		w.Pads = d.ints(2*n, 0, 2, "pads")
	}
	return w
}

// channels draws a number of channels, among them those next to blocks.
func (d *draw) channels() int { return pick(d, 1, 2, 3, 4, 15, 16, 17, 33) }

// image draws the shape of images, of so many spatial axes at most.
func (d *draw) image(c, axes int) []int {
	return append([]int{d.int(0, 2, "n"), c}, d.ints(d.int(1, axes, "axes"), 1, 6, "extents")...)
}

func tryConv(d *draw) trial {
	o := op.Conv{Group: d.int(1, 3, "group")}
	c, m, axes := o.Group*d.int(1, 3, "c"), o.Group*d.int(1, 3, "m"), 3
	switch d.int(0, 2, "kind") {
	case 0:
		o.Group, c, m = 1, d.channels(), d.channels()
	case 1:
		o.Group = d.channels()
		c = o.Group
		m = c * d.int(1, 2, "factor")
	}
	x := d.image(c, axes)
	o.Window = d.window(x[2:])
	t := d.dtype(usualFloats)
	w := d.tensor(t, append([]int{m, c / o.Group}, o.Kernel...)...)
	return trial{op: o, args: trimmed(d.tensor(t, x...), w, d.maybe(d.tensor(t, m))), sums: true}
}

// channeled draws a type, the shape of images, and a function that draws such tensors, of
// channel-blocked ones with the number of channels.
func (d *draw) channeled() (t ir.DType, shape []int, blocked int, draw func() *ir.Tensor) {
	shape = d.image(d.channels(), 2)
	shape[0]++
	if d.flag("blocked") {
		return ir.F32, shape, shape[1], func() *ir.Tensor { return d.blocked(shape) }
	}
	t = d.dtype(usualFloats)
	return t, shape, 0, func() *ir.Tensor { return d.tensor(t, shape...) }
}

func tryChannelMoments(d *draw) trial {
	_, _, blocked, draw := d.channeled()
	var o op.ChannelMoments
	o.C = blocked
	return trial{op: o, args: []*ir.Tensor{draw()}, sums: true}
}

func tryChannelSums(d *draw) trial {
	t, shape, blocked, draw := d.channeled()
	var o op.ChannelSums
	o.C = blocked
	return trial{op: o, args: []*ir.Tensor{draw(), draw(), d.tensor(t, shape[1])}, sums: true}
}

func tryChannelMix(d *draw) trial {
	t, shape, blocked, draw := d.channeled()
	var o op.ChannelMix
	o.C = blocked
	return trial{op: o, args: []*ir.Tensor{draw(), draw(), d.tensor(t, 3, shape[1])}, sums: true}
}

func tryBatchNormTraining(d *draw) trial {
	t, c := d.dtype(usualFloats), d.channels()
	x := d.image(c, 2)
	x[0] += 2
	return trial{op: op.BatchNormTraining{Epsilon: 0.1}, args: []*ir.Tensor{d.tensor(t, x...), d.tensor(t, c), d.tensor(t, c)}, sums: true}
}

func tryConvData(d *draw) trial {
	c, m := d.channels(), d.channels()
	x := d.image(c, 3)
	o := op.ConvData{Window: d.window(x[2:]), Spatial: ir.Dims(x[2:]...)}
	t := d.dtype(usualFloats)
	w := d.tensor(t, append([]int{m, c}, o.Kernel...)...)
	conv, err := op.Conv{Window: o.Window, Group: 1}.Infer([]ir.Type{ir.StaticTensor(t, x...), w.Type()})
	if err != nil {
		d.Fatal(err)
	}
	y, _ := conv[0].Static()
	return trial{op: o, args: []*ir.Tensor{d.tensor(t, y...), w}, sums: true}
}

func tryConvWeights(d *draw) trial {
	o := op.ConvWeights{Group: d.int(1, 3, "group")}
	c, m := o.Group*d.int(1, 5, "c"), o.Group*d.int(1, 3, "m")
	if d.flag("many") {
		o.Group, c, m = 1, d.channels(), d.channels()
	}
	x := d.image(c, 3)
	o.Window = d.window(x[2:])
	t := d.dtype(usualFloats)
	conv, err := op.Conv{Window: o.Window, Group: o.Group}.Infer([]ir.Type{
		ir.StaticTensor(t, x...), ir.StaticTensor(t, append([]int{m, c / o.Group}, o.Kernel...)...),
	})
	if err != nil {
		d.Fatal(err)
	}
	y, _ := conv[0].Static()
	if o.First = d.flag("first"); o.First {
		y[0], y[1] = y[1], y[0]
	}
	return trial{op: o, args: []*ir.Tensor{d.tensor(t, x...), d.tensor(t, y...)}, sums: true}
}

func tryConvTranspose(d *draw) trial {
	o := op.ConvTranspose{Group: d.int(1, 3, "group")}
	x := d.image(o.Group*d.int(1, 5, "c"), 3)
	w := d.window(x[2:])
	o.Kernel, o.Strides, o.Dilations = w.Kernel, w.Strides, w.Dilations
	n := len(o.Kernel)
	if d.flag("crop") {
		o.Crop = append(d.ints(n, 0, 1, "before"), d.ints(n, -1, 1, "after")...)
		for i, e := range x[2:] {
			if e < 3 {
				o.Crop[i], o.Crop[n+i] = 0, min(o.Crop[n+i], 0)
			}
		}
	}
	t, m := d.dtype(usualFloats), d.int(1, 5, "m")
	weights := d.tensor(t, append([]int{x[1], m}, o.Kernel...)...)
	return trial{op: o, args: trimmed(d.tensor(t, x...), weights, d.maybe(d.tensor(t, m*o.Group))), sums: true}
}

// pool draws a window of a pool and the shape that it moves over.
func (d *draw) pool() (op.Window, []int) {
	x := d.image(d.channels(), 3)
	w := d.window(x[2:])
	w.Ceil = w.Same == "" && d.flag("ceil")
	return w, x
}

func tryAveragePool(d *draw) trial {
	w, x := d.pool()
	return trial{op: op.AveragePool{Window: w, CountPad: d.flag("count")}, args: []*ir.Tensor{d.tensor(d.dtype(usualFloats), x...)}, sums: true}
}

func tryMaxPool(d *draw) trial {
	w, shape := d.pool()
	x := d.any(d.dtype(typesWhere(isPooled)), shape...)
	for i := range x.Len() {
		if v := x.Number(i); v != v { // of which kernels take little notice
			x.SetFloat(i, 0)
		}
	}
	return trial{op: op.MaxPool{Window: w}, args: []*ir.Tensor{x}}
}

func tryMaxPoolGrad(d *draw) trial {
	w, shape := d.pool()
	t := d.dtype(usualFloats)
	x := d.tensor(t, shape...)
	y, err := (op.MaxPool{Window: w}).Infer([]ir.Type{x.Type()})
	if err != nil {
		d.Fatal(err)
	}
	g, _ := y[0].Static()
	return trial{op: op.MaxPoolGrad{Window: w}, args: []*ir.Tensor{x, d.tensor(t, g...)}, sums: true}
}

func tryGlobalAveragePool(d *draw) trial {
	return trial{op: op.GlobalAveragePool{}, args: []*ir.Tensor{d.tensor(d.dtype(usualFloats), d.image(d.channels(), 3)...)}, sums: true}
}

func tryLRN(d *draw) trial {
	o := op.LRN{Size: d.int(1, 6, "size"), Alpha: 0.5, Beta: pick(d, 0.75, 0.5, 1), Bias: 2}
	return trial{op: o, args: []*ir.Tensor{d.tensor(d.dtype(usualFloats), d.image(d.channels(), 3)...)}}
}

func tryBatchNormalization(d *draw) trial {
	shape, t := d.shape(1, 4), d.dtype(usualFloats)
	of := []int{1}
	if len(shape) > 1 {
		of = shape[1:2]
		if d.flag("places") {
			of = shape[1:]
		}
	}
	args := []*ir.Tensor{d.tensor(t, shape...)}
	for range 4 {
		args = append(args, d.tensor(t, of...))
	}
	for i := range args[4].Len() {
		args[4].SetFloat(i, 0.5+args[4].Float(i)*args[4].Float(i))
	}
	return trial{op: op.BatchNormalization{Epsilon: 1.0 / 1024}, args: args, sums: true}
}

// normalised draws the operands of a normalisation along the axes from one on.
func (d *draw) normalised() (axis int, args []*ir.Tensor) {
	shape, t := d.full(1, 4), d.dtype(usualFloats)
	axis = d.int(0, len(shape)-1, "axis")
	return axis, []*ir.Tensor{d.tensor(t, shape...), d.maybe(d.tensor(t, shape[axis:]...)), d.maybe(d.tensor(t, shape[axis:]...))}
}

func tryLayerNormalization(d *draw) trial {
	axis, args := d.normalised()
	return trial{op: op.LayerNormalization{Axis: axis, Epsilon: 0.5}, args: trimmed(args...), sums: true}
}

func tryGroupNormalization(d *draw) trial {
	groups, t := d.int(1, 3, "groups"), d.dtype(usualFloats)
	shape := append([]int{d.extent(), groups * d.int(1, 20, "channels")}, d.full(0, 2)...)
	scale, bias := d.tensor(t, shape[1]), d.maybe(d.tensor(t, shape[1]))
	return trial{op: op.GroupNormalization{Groups: groups, Epsilon: 0.5}, args: trimmed(d.tensor(t, shape...), scale, bias), sums: true}
}

func tryRMSNormalization(d *draw) trial {
	axis, args := d.normalised()
	return trial{op: op.RMSNormalization{Axis: axis, Epsilon: 0.5}, args: trimmed(args[:2]...), sums: true}
}

func tryMatMul(d *draw) trial {
	a, b := d.factors()
	t := d.dtype(usualNumbers)
	return trial{op: op.MatMul{}, args: []*ir.Tensor{d.tensor(t, a...), d.tensor(t, b...)}, sums: true}
}

// factors draws the shapes of a product of matrices, their batches broadcast.
func (d *draw) factors() (a, b []int) {
	m, k, n := d.extent(), d.extent(), d.extent()
	batch := d.shape(0, 2)
	a, b = append(d.part(batch), m, k), append(d.part(batch), k, n)
	switch d.int(0, 5, "vector") {
	case 0:
		a = []int{k}
	case 1:
		b = []int{k}
	}
	return a, b
}

func tryGemm(d *draw) trial {
	o := op.Gemm{Alpha: pick[float64](d, 1, 2, -3), Beta: pick[float64](d, 1, 0, 2), TransA: d.flag("a"), TransB: d.flag("b")}
	t, m, k, n := d.dtype(usualNumbers), d.extent(), d.extent(), d.extent()
	a, b := []int{m, k}, []int{k, n}
	if o.TransA {
		slices.Reverse(a)
	}
	if o.TransB {
		slices.Reverse(b)
	}
	return trial{op: o, args: trimmed(d.tensor(t, a...), d.tensor(t, b...), d.maybe(d.tensor(t, d.part([]int{m, n})...))), sums: true}
}

func tryAttention(d *draw) trial {
	o := op.Attention{Scale: pick(d, 0.25, 0.5), Softcap: pick[float64](d, 0, 0, 2), Before: d.int(-1, 3, "before"), After: d.int(-1, 3, "after")}
	if d.flag("causal") {
		o.After = 0
	}
	b, g, s, k, e := d.int(1, 2, "batch"), d.int(1, 2, "shared"), max(d.extent(), 1), max(d.extent(), 1), max(d.extent(), 1)
	h, past := g*d.int(1, 2, "heads"), d.int(0, 2, "past")
	t, width := past+s+d.int(0, 2, "more"), d.dtype(usualFloats)
	o.Past = d.dim(past)
	var mask, lengths, starts *ir.Tensor
	if d.flag("mask") {
		shape := d.part([]int{b, h, s, t})
		if len(shape) == 0 {
			shape = []int{1}
		}
		mask = d.tensor(pick(d, ir.Bool, width), shape...)
	}
	if d.flag("lengths") {
		lengths = d.lengths(ir.I64, b, 0, t)
	}
	if d.flag("starts") {
		starts = d.lengths(ir.I64, b, 0, 2)
	}
	o.Precision = pick(d, ir.Invalid, ir.Invalid, ir.F32)
	return trial{op: o, sums: true, single: o.Precision == ir.F32, loose: 10, args: trimmed(
		d.tensor(width, b, h, s, k), d.tensor(width, b, g, t, k), d.tensor(width, b, g, t, e), mask, lengths, starts, d.maybe(d.tensor(width, h)),
	)}
}

// tryAttend draws queries, keys and values with their heads before or between their
// rows, and something before and after each row.
func tryAttend(d *draw) trial {
	b, g, s, t, k, e := d.int(1, 2, "batch"), d.int(1, 2, "shared"), max(d.extent(), 1), max(d.extent(), 1), max(d.extent(), 1), max(d.extent(), 1)
	h := g * d.int(1, 3, "heads")
	o := op.Attend{
		Batch: d.dim(b), Heads: ir.Const(h), Shared: ir.Const(g), Queries: d.dim(s), Keys: d.dim(t), Depth: ir.Const(k), Width: ir.Const(e),
		Scale: pick(d, 0.25, 0.5), Softcap: pick[float64](d, 0, 0, 2), Past: d.dim(d.int(0, 2, "past")), Before: -1, After: d.int(-1, 3, "after"),
	}
	operand := func(heads, rows, n int) (*ir.Tensor, []ir.Dim) {
		first, row := d.int(0, 2, "first"), n+d.int(0, 2, "gap")
		at := ir.Dims(first, heads*rows*row, rows*row, row)
		if d.flag("between") {
			at[2], at[3] = at[3], ir.Const(heads*row)
		}
		return d.tensor(ir.F32, first+b*heads*rows*row), at
	}
	var args [3]*ir.Tensor
	args[0], o.Q = operand(h, s, k)
	args[1], o.K = operand(g, t, k)
	args[2], o.V = operand(g, t, e)
	var mask, lengths *ir.Tensor
	if d.flag("mask") {
		mask = d.tensor(pick(d, ir.Bool, ir.F32), pick(d, []int{b, h, s, t}, []int{b, 1, 1, t}, []int{s, 1}, []int{1})...)
	}
	if d.flag("lengths") {
		lengths = d.lengths(ir.I64, b, 0, t)
	}
	return trial{op: o, sums: true, loose: 10, args: trimmed(args[0], args[1], args[2], mask, lengths, nil, d.maybe(d.tensor(ir.F32, h)))}
}

func tryLinearAttention(d *draw) trial {
	b, s, g, k, e := d.int(0, 2, "batch"), d.extent(), d.int(1, 2, "shared"), d.int(1, 5, "key"), d.int(1, 5, "value")
	h, t := g*d.int(1, 2, "heads"), d.dtype(usualFloats)
	small := func(shape ...int) *ir.Tensor { return d.scaled(0.125, t, shape...) }
	return trial{op: op.LinearAttention{}, sums: true, loose: 100, args: trimmed(
		small(b, s, h, k), small(b, s, g, k), small(b, s, g, e), small(b, g, k, e), d.maybe(small(b, s, g, k)), d.maybe(small(b, s, g)),
	)}
}

var activations = []string{"affine", "elu", "hardsigmoid", "leakyrelu", "relu", "scaledtanh", "sigmoid", "softplus", "softsign", "tanh", "thresholdedrelu"}

// functions draws n functions of a recurrent layer.
func (d *draw) functions(n int) (names []string, alphas, betas []float64) {
	for range n {
		names = append(names, pick(d, activations...))
		alphas, betas = append(alphas, pick(d, 0.5, 0.25)), append(betas, pick(d, 0.5, 0.25))
	}
	return names, alphas, betas
}

// recurrent draws the attributes of a recurrent layer of so many gates, functions,
// states and vectors of H elements, and its operands.
func (d *draw) recurrent(gates, functions, states int, vectors ...int) (op.Recurrent, []*ir.Tensor) {
	o := op.Recurrent{Direction: pick(d, "forward", "reverse", "bidirectional"), Clip: pick(d, 0, 0, 0.75)}
	directions := 1
	if o.Direction == "bidirectional" {
		directions = 2
	}
	o.Activations, o.Alphas, o.Betas = d.functions(directions * functions)
	s, n, i, h, t := d.int(0, 4, "steps"), d.int(0, 3, "sequences"), d.int(1, 5, "inputs"), pick(d, 1, 2, 5, 17), d.dtype(usualFloats)
	small := func(shape ...int) *ir.Tensor { return d.scaled(1.0/16, t, shape...) }
	args := []*ir.Tensor{
		small(s, n, i), small(directions, gates*h, i), small(directions, gates*h, h), d.maybe(small(directions, 2*gates*h)),
		d.maybe(d.lengths(ir.I32, n, 0, s)),
	}
	for range states {
		args = append(args, d.maybe(small(directions, n, h)))
	}
	for _, v := range vectors {
		args = append(args, d.maybe(small(directions, v*h)))
	}
	return o, trimmed(args...)
}

func tryGRU(d *draw) trial {
	o, args := d.recurrent(3, 2, 1)
	return trial{op: op.GRU{Recurrent: o, LinearBeforeReset: d.flag("linear")}, args: args, sums: true, loose: 10}
}

func tryLSTM(d *draw) trial {
	o, args := d.recurrent(4, 3, 2, 3)
	return trial{op: op.LSTM{Recurrent: o, InputForget: d.flag("forget")}, args: args, sums: true, loose: 10}
}

func tryRNN(d *draw) trial {
	o, args := d.recurrent(1, 1, 1)
	return trial{op: op.RNN{Recurrent: o}, args: args, sums: true, loose: 10}
}

func tryCol2Im(d *draw) trial {
	image := d.ints(d.int(1, 3, "axes"), 1, 5, "image")
	w := d.window(image)
	w.Same = ""
	places := 1
	for i, n := range image {
		stride, dilation, pad := 1, 1, 0
		if w.Strides != nil {
			stride = w.Strides[i]
		}
		if w.Dilations != nil {
			dilation = w.Dilations[i]
		}
		if w.Pads != nil {
			pad = w.Pads[i] + w.Pads[len(image)+i]
		}
		places *= (n+pad-(w.Kernel[i]-1)*dilation-1)/stride + 1
	}
	o := op.Col2Im{Image: d.dims(image...), Block: d.dims(w.Kernel...), Strides: w.Strides, Dilations: w.Dilations, Pads: w.Pads}
	x := d.tensor(d.dtype(usualNumbers), d.int(0, 2, "n"), d.int(0, 2, "c")*product(w.Kernel...), places)
	return trial{op: o, args: []*ir.Tensor{x}, sums: true}
}

// deform draws a deformable convolution and its operands.
func (d *draw) deform() (op.DeformConv, []*ir.Tensor) {
	o := op.DeformConv{Group: d.int(1, 2, "group"), Offsets: d.int(1, 2, "offsets")}
	x := d.image(o.Group*o.Offsets*d.int(1, 2, "c"), 3)
	o.Window = d.window(x[2:])
	t, m, n := pick(d, ir.F32, ir.F64, ir.F16, ir.BF16), o.Group*d.int(1, 2, "m"), x[0]
	w := d.tensor(t, append([]int{m, x[1] / o.Group}, o.Kernel...)...)
	out, err := op.Conv{Window: o.Window, Group: o.Group}.Infer([]ir.Type{ir.StaticTensor(t, x...), w.Type()})
	if err != nil {
		d.Fatal(err)
	}
	places, _ := ir.Ints(out[0].Shape[2:])
	cells := product(o.Kernel...) * o.Offsets
	offsets := d.scaled(0.25, t, append([]int{n, cells * len(places)}, places...)...)
	return o, []*ir.Tensor{d.tensor(t, x...), w, d.odd(offsets), d.maybe(d.tensor(t, m)), d.maybe(d.tensor(t, append([]int{n, cells}, places...)...))}
}

func tryDeformConv(d *draw) trial {
	o, args := d.deform()
	return trial{op: o, args: trimmed(args...), sums: true, loose: 10}
}

func tryDeformColumns(d *draw) trial {
	o, args := d.deform()
	for i, x := range args { // kernels have no narrow floats
		if x != nil && x.DType != ir.F64 {
			wide, _ := op.Cast{To: ir.F32}.Eval([]*ir.Tensor{x})
			args[i] = wide[0]
		}
	}
	return trial{op: op.DeformColumns{Window: o.Window, Offsets: o.Offsets}, args: trimmed(args[0], args[2], args[4]), sums: true, loose: 10}
}

func tryGridSample(d *draw) trial {
	o := op.GridSample{Mode: pick(d, "nearest", "linear", "cubic"), Padding: pick(d, "zeros", "border", "reflection"), AlignCorners: d.flag("align")}
	types := usualNumbers
	if o.Mode == "nearest" {
		types = anyTypes
	}
	spatial, n := d.int(1, 3, "axes"), d.int(0, 2, "n")
	x := append([]int{n, d.int(0, 3, "c")}, d.ints(spatial, 1, 4, "in")...)
	grid := d.odd(d.scaled(0.25, d.dtype(usualFloats), append(append([]int{n}, d.ints(spatial, 0, 3, "out")...), spatial)...))
	return trial{op: o, args: []*ir.Tensor{d.tensor(d.dtype(types), x...), grid}, sums: true, loose: 10}
}

// regions draws images and the corners of regions on them.
func (d *draw) regions(t ir.DType) (x, rois *ir.Tensor) {
	x = d.tensor(t, d.int(1, 2, "n"), d.int(0, 2, "c"), d.int(1, 5, "h"), d.int(1, 5, "w"))
	return x, d.odd(d.tensor(t, d.int(0, 3, "regions"), 4))
}

func tryRoiAlign(d *draw) trial {
	x, rois := d.regions(d.dtype(usualFloats))
	o := op.RoiAlign{
		Mode: pick(d, "avg", "max"), Height: d.int(1, 3, "height"), Width: d.int(1, 3, "width"),
		Sampling: d.int(0, 3, "sampling"), Scale: pick(d, 1, 0.5, 0.25), HalfPixel: d.flag("half"),
	}
	images := d.lengths(d.dtype(indexTypes), rois.Shape[0], 0, x.Shape[0]-1)
	return trial{op: o, args: []*ir.Tensor{x, rois, images}, sums: true, loose: 10}
}

func tryMaxRoiPool(d *draw) trial {
	x, corners := d.regions(d.dtype(usualFloats))
	rois := ir.NewTensor(x.DType, corners.Shape[0], 5)
	for i := range rois.Len() {
		if i%5 == 0 {
			rois.SetFloat(i, float64(d.int(0, x.Shape[0]-1, "image")))
		} else {
			rois.SetFloat(i, corners.Float(i/5*4+i%5-1))
		}
	}
	return trial{op: op.MaxRoiPool{Height: d.int(1, 3, "height"), Width: d.int(1, 3, "width"), Scale: pick(d, 1, 0.5)}, args: []*ir.Tensor{x, rois}}
}

func isPooled(t ir.DType) bool { return t.IsFloat() || t.IsInt() && t.Bits() <= 32 }
