package targettest

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var neuralTrials = Trials{
	"attend":              tryAttend,
	"attend_gradient":     tryAttendGradient,
	"attend_training":     tryAttendTraining,
	"attention":           tryAttention,
	"attention_gradient":  tryAttentionGradient,
	"attention_training":  tryAttentionTraining,
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
	"gru_grad":            tryGRUGrad,
	"gru_trace":           tryGRUTrace,
	"group_normalization": tryGroupNormalization,
	"layer_normalization": tryLayerNormalization,
	"linear_attention":    tryLinearAttention,
	"lrn":                 tryLRN,
	"lstm":                tryLSTM,
	"lstm_grad":           tryLSTMGrad,
	"lstm_trace":          tryLSTMTrace,
	"mat_mul":             tryMatMul,
	"max_pool":            tryMaxPool,
	"max_pool_grad":       tryMaxPoolGrad,
	"max_roi_pool":        tryMaxRoiPool,
	"rms_normalization":   tryRMSNormalization,
	"rnn":                 tryRNN,
	"roi_align":           tryRoiAlign,
}

// Window draws a window that fits spatial axes of these extents.
func (d *Draw) Window(extents []int) op.Window {
	n := len(extents)
	w := op.Window{Kernel: d.Ints(n, 1, 3, "kernel")}
	most := 3
	if d.symbolic { // the extents of more are not proven to be the same in other layouts
		most = 1
	}
	if d.Flag("strides") {
		w.Strides = d.Ints(n, 1, most, "strides")
	}
	reach := slices.Repeat([]int{1}, n)
	if d.Flag("dilations") {
		w.Dilations = d.Ints(n, 1, 2, "dilations")
		reach = w.Dilations
	}
	for i, e := range extents {
		w.Kernel[i] = min(w.Kernel[i], (max(e, 1)-1)/reach[i]+1)
	}
	switch d.Int(0, 3, "padding") {
	case 1:
		w.Same = "upper"
	case 2:
		w.Same = "lower"
	case 3:
		w.Pads = d.Ints(2*n, 0, 2, "pads")
	}
	return w
}

// Channels draws a number of channels, often one near the block sizes 4 and 16.
func (d *Draw) Channels() int { return Pick(d, 1, 2, 3, 4, 15, 16, 17, 33) }

// Image draws the shape of images with c channels and at most the given number of spatial axes.
func (d *Draw) Image(c, axes int) []int {
	return append([]int{d.Int(0, 2, "n"), c}, d.Ints(d.Int(1, axes, "axes"), 1, 6, "extents")...)
}

func tryConv(d *Draw) Trial {
	o := op.Conv{Group: d.Int(1, 3, "group")}
	c, m, axes := o.Group*d.Int(1, 3, "c"), o.Group*d.Int(1, 3, "m"), 3
	switch d.Int(0, 2, "kind") {
	case 0:
		o.Group, c, m = 1, d.Channels(), d.Channels()
	case 1:
		o.Group = d.Channels()
		c = o.Group
		m = c * d.Int(1, 2, "factor")
	}
	x := d.Image(c, axes)
	o.Window = d.Window(x[2:])
	t := d.DType(usualFloats)
	w := d.Tensor(t, append([]int{m, c / o.Group}, o.Kernel...)...)
	return Trial{Op: o, Args: Trimmed(d.Tensor(t, x...), w, d.Maybe(d.Tensor(t, m))), Sums: true}
}

// Blocked draws f32 images of a shape [n, c, …] in blocks of 16 channels, [n, ⌈c/16⌉, …, 16], zero
// beyond the channels.
func (d *Draw) Blocked(shape []int) *ir.Tensor {
	const lanes = 16
	planar := d.Tensor(ir.F32, shape...)
	n, c, pixels := shape[0], shape[1], Product(shape[2:]...)
	blocks := (c + lanes - 1) / lanes
	x := ir.NewTensor(ir.F32, slices.Concat([]int{n, blocks}, shape[2:], []int{lanes})...)
	for i := range planar.Len() {
		pixel, channel, image := i%pixels, i/pixels%c, i/pixels/c
		x.SetFloat(((image*blocks+channel/lanes)*pixels+pixel)*lanes+channel%lanes, planar.Float(i))
	}
	return x
}

// channeled draws an element type and the shape of images. The function `draw` draws images of this type and shape.
// blocked is the number of channels if the images are channel-blocked, else 0.
func (d *Draw) channeled() (t ir.DType, shape []int, blocked int, draw func() *ir.Tensor) {
	shape = d.Image(d.Channels(), 2)
	shape[0]++
	if d.Flag("blocked") {
		return ir.F32, shape, shape[1], func() *ir.Tensor { return d.Blocked(shape) }
	}
	t = d.DType(usualFloats)
	return t, shape, 0, func() *ir.Tensor { return d.Tensor(t, shape...) }
}

func tryChannelMoments(d *Draw) Trial {
	_, _, blocked, draw := d.channeled()
	var o op.ChannelMoments
	o.C = blocked
	return Trial{Op: o, Args: []*ir.Tensor{draw()}, Sums: true}
}

func tryChannelSums(d *Draw) Trial {
	t, shape, blocked, draw := d.channeled()
	var o op.ChannelSums
	o.C = blocked
	return Trial{Op: o, Args: []*ir.Tensor{draw(), draw(), d.Tensor(t, shape[1])}, Sums: true}
}

func tryChannelMix(d *Draw) Trial {
	t, shape, blocked, draw := d.channeled()
	var o op.ChannelMix
	o.C = blocked
	return Trial{Op: o, Args: []*ir.Tensor{draw(), draw(), d.Tensor(t, 3, shape[1])}, Sums: true}
}

func tryBatchNormTraining(d *Draw) Trial {
	t, c := d.DType(usualFloats), d.Channels()
	x := d.Image(c, 2)
	x[0] += 2
	return Trial{Op: op.BatchNormTraining{Epsilon: 0.1}, Args: []*ir.Tensor{d.Tensor(t, x...), d.Tensor(t, c), d.Tensor(t, c)}, Sums: true, Moments: true}
}

func tryConvData(d *Draw) Trial {
	c, m := d.Channels(), d.Channels()
	x := d.Image(c, 3)
	o := op.ConvData{Window: d.Window(x[2:]), Spatial: dim.Consts(x[2:]...)}
	t := d.DType(usualFloats)
	w := d.Tensor(t, append([]int{m, c}, o.Kernel...)...)
	conv, err := op.Conv{Window: o.Window, Group: 1}.Infer([]ir.Type{ir.StaticTensor(t, x...), w.Type()})
	if err != nil {
		d.Fatal(err)
	}
	y, _ := conv[0].Static()
	return Trial{Op: o, Args: []*ir.Tensor{d.Tensor(t, y...), w}, Sums: true}
}

func tryConvWeights(d *Draw) Trial {
	o := op.ConvWeights{Group: d.Int(1, 3, "group")}
	c, m := o.Group*d.Int(1, 5, "c"), o.Group*d.Int(1, 3, "m")
	if d.Flag("many") {
		o.Group, c, m = 1, d.Channels(), d.Channels()
	}
	x := d.Image(c, 3)
	o.Window = d.Window(x[2:])
	t := d.DType(usualFloats)
	conv, err := op.Conv{Window: o.Window, Group: o.Group}.Infer([]ir.Type{
		ir.StaticTensor(t, x...), ir.StaticTensor(t, append([]int{m, c / o.Group}, o.Kernel...)...),
	})
	if err != nil {
		d.Fatal(err)
	}
	y, _ := conv[0].Static()
	if o.First = d.Flag("first"); o.First {
		y[0], y[1] = y[1], y[0]
	}
	return Trial{Op: o, Args: []*ir.Tensor{d.Tensor(t, x...), d.Tensor(t, y...)}, Sums: true}
}

func tryConvTranspose(d *Draw) Trial {
	o := op.ConvTranspose{Group: d.Int(1, 3, "group")}
	x := d.Image(o.Group*d.Int(1, 5, "c"), 3)
	w := d.Window(x[2:])
	o.Kernel, o.Strides, o.Dilations = w.Kernel, w.Strides, w.Dilations
	n := len(o.Kernel)
	if d.Flag("crop") {
		o.Crop = append(d.Ints(n, 0, 1, "before"), d.Ints(n, -1, 1, "after")...)
		for i, e := range x[2:] {
			if e < 3 {
				o.Crop[i], o.Crop[n+i] = 0, min(o.Crop[n+i], 0)
			}
		}
	}
	t, m := d.DType(usualFloats), d.Int(1, 5, "m")
	weights := d.Tensor(t, append([]int{x[1], m}, o.Kernel...)...)
	return Trial{Op: o, Args: Trimmed(d.Tensor(t, x...), weights, d.Maybe(d.Tensor(t, m*o.Group))), Sums: true}
}

func (d *Draw) pool() (op.Window, []int) {
	x := d.Image(d.Channels(), 3)
	w := d.Window(x[2:])
	w.Ceil = w.Same == "" && d.Flag("ceil")
	return w, x
}

func tryAveragePool(d *Draw) Trial {
	w, x := d.pool()
	return Trial{Op: op.AveragePool{Window: w, CountPad: d.Flag("count")}, Args: []*ir.Tensor{d.Tensor(d.DType(usualFloats), x...)}, Sums: true}
}

func tryMaxPool(d *Draw) Trial {
	w, shape := d.pool()
	x := d.Any(d.DType(typesWhere(isPooled)), shape...)
	for i := range x.Len() {
		if v := x.Number(i); v != v { // which kernels treat specially
			x.SetFloat(i, 0)
		}
	}
	return Trial{Op: op.MaxPool{Window: w}, Args: []*ir.Tensor{x}}
}

func tryMaxPoolGrad(d *Draw) Trial {
	w, shape := d.pool()
	t := d.DType(usualFloats)
	x := d.Tensor(t, shape...)
	y, err := (op.MaxPool{Window: w}).Infer([]ir.Type{x.Type()})
	if err != nil {
		d.Fatal(err)
	}
	g, _ := y[0].Static()
	return Trial{Op: op.MaxPoolGrad{Window: w}, Args: []*ir.Tensor{x, d.Tensor(t, g...)}, Sums: true}
}

func tryGlobalAveragePool(d *Draw) Trial {
	return Trial{Op: op.GlobalAveragePool{}, Args: []*ir.Tensor{d.Tensor(d.DType(usualFloats), d.Image(d.Channels(), 3)...)}, Sums: true}
}

func tryLRN(d *Draw) Trial {
	o := op.LRN{Size: d.Int(1, 6, "size"), Alpha: 0.5, Beta: Pick(d, 0.75, 0.5, 1), Bias: 2}
	return Trial{Op: o, Args: []*ir.Tensor{d.Tensor(d.DType(usualFloats), d.Image(d.Channels(), 3)...)}}
}

func tryBatchNormalization(d *Draw) Trial {
	shape, t := d.Shape(1, 4), d.DType(usualFloats)
	of := []int{1}
	if len(shape) > 1 {
		of = shape[1:2]
		if d.Flag("places") {
			of = shape[1:]
		}
	}
	args := []*ir.Tensor{d.Tensor(t, shape...)}
	for range 4 {
		args = append(args, d.Tensor(t, of...))
	}
	for i := range args[4].Len() {
		args[4].SetFloat(i, 0.5+args[4].Float(i)*args[4].Float(i))
	}
	return Trial{Op: op.BatchNormalization{Epsilon: 1.0 / 1024}, Args: args, Sums: true}
}

// normalised draws the operands of a normalisation along the axis `axis` and all axes after it.
func (d *Draw) normalised() (axis int, args []*ir.Tensor) {
	shape, t := d.Full(1, 4), d.DType(usualFloats)
	axis = d.Int(0, len(shape)-1, "axis")
	return axis, []*ir.Tensor{d.Tensor(t, shape...), d.Maybe(d.Tensor(t, shape[axis:]...)), d.Maybe(d.Tensor(t, shape[axis:]...))}
}

func tryLayerNormalization(d *Draw) Trial {
	axis, args := d.normalised()
	return Trial{Op: op.LayerNormalization{Axis: axis, Epsilon: 0.5}, Args: Trimmed(args...), Sums: true}
}

func tryGroupNormalization(d *Draw) Trial {
	groups, t := d.Int(1, 3, "groups"), d.DType(usualFloats)
	shape := append([]int{d.Extent(), groups * d.Int(1, 20, "channels")}, d.Full(0, 2)...)
	scale, bias := d.Tensor(t, shape[1]), d.Maybe(d.Tensor(t, shape[1]))
	return Trial{Op: op.GroupNormalization{Groups: groups, Epsilon: 0.5}, Args: Trimmed(d.Tensor(t, shape...), scale, bias), Sums: true}
}

func tryRMSNormalization(d *Draw) Trial {
	axis, args := d.normalised()
	return Trial{Op: op.RMSNormalization{Axis: axis, Epsilon: 0.5}, Args: Trimmed(args[:2]...), Sums: true}
}

func tryMatMul(d *Draw) Trial {
	a, b := d.factors()
	t := d.DType(usualNumbers)
	return Trial{Op: op.MatMul{}, Args: []*ir.Tensor{d.Tensor(t, a...), d.Tensor(t, b...)}, Sums: true}
}

// factors draws the shapes of two matrices, or batches of matrices, that can be multiplied. Their
// batches broadcast.
func (d *Draw) factors() (a, b []int) {
	m, k, n := d.Extent(), d.Extent(), d.Extent()
	batch := d.Shape(0, 2)
	a, b = append(d.part(batch), m, k), append(d.part(batch), k, n)
	switch d.Int(0, 5, "vector") {
	case 0:
		a = []int{k}
	case 1:
		b = []int{k}
	}
	return a, b
}

func tryGemm(d *Draw) Trial {
	o := op.Gemm{Alpha: Pick[float64](d, 1, 2, -3), Beta: Pick[float64](d, 1, 0, 2), TransA: d.Flag("a"), TransB: d.Flag("b")}
	t, m, k, n := d.DType(usualNumbers), d.Extent(), d.Extent(), d.Extent()
	if d.Int(0, 7, "tiles") == 0 { // several tiles of kernels, the last ones not full
		m, k, n = 70, 41, 101
	}
	a, b := []int{m, k}, []int{k, n}
	if o.TransA {
		slices.Reverse(a)
	}
	if o.TransB {
		slices.Reverse(b)
	}
	return Trial{Op: o, Args: Trimmed(d.Tensor(t, a...), d.Tensor(t, b...), d.Maybe(d.Tensor(t, d.part([]int{m, n})...))), Sums: true}
}

func tryAttention(d *Draw) Trial {
	o := op.Attention{Scale: Pick(d, 0.25, 0.5), Softcap: Pick[float64](d, 0, 0, 2), Before: d.Int(-1, 3, "before"), After: d.Int(-1, 3, "after")}
	if d.Flag("causal") {
		o.After = 0
	}
	b, g, s, k, e := d.Int(1, 2, "batch"), d.Int(1, 2, "shared"), max(d.Extent(), 1), max(d.Extent(), 1), max(d.Extent(), 1)
	h, past := g*d.Int(1, 2, "heads"), d.Int(0, 2, "past")
	t, width := past+s+d.Int(0, 2, "more"), d.DType(usualFloats)
	o.Past = d.Dim(past)
	var mask, lengths, starts *ir.Tensor
	if d.Flag("mask") {
		shape := d.part([]int{b, h, s, t})
		if len(shape) == 0 {
			shape = []int{1}
		}
		mask = d.Tensor(Pick(d, ir.Bool, width), shape...)
	}
	if d.Flag("lengths") {
		lengths = d.Lengths(ir.I64, b, 0, t)
	}
	if d.Flag("starts") {
		starts = d.Lengths(ir.I64, b, 0, 2)
	}
	o.Precision = Pick(d, ir.Invalid, ir.Invalid, ir.F32)
	queries := d.Scaled(1/float64(k), width, b, h, s, k) // so that scores do not grow with k
	return Trial{Op: o, Sums: true, Single: o.Precision == ir.F32, Loose: 10, Rounded: Greatest, Args: Trimmed(
		queries, d.Tensor(width, b, g, t, k), d.Tensor(width, b, g, t, e), mask, lengths, starts, d.Maybe(d.Tensor(width, h)),
	)}
}

// tryAttend draws queries, keys and values. The axis of the heads is before the axis of the rows or after it. There
// may be a gap before the first row and after each row.
func tryAttend(d *Draw) Trial {
	b, g, s, t, k, e := d.Int(1, 2, "batch"), d.Int(1, 2, "shared"), max(d.Extent(), 1), max(d.Extent(), 1), max(d.Extent(), 1), max(d.Extent(), 1)
	h := g * d.Int(1, 3, "heads")
	o := op.Attend{
		Batch: d.Dim(b), Heads: dim.Const(h), Shared: dim.Const(g), Queries: d.Dim(s), Keys: d.Dim(t), Depth: dim.Const(k), Width: dim.Const(e),
		Scale: Pick(d, 0.25, 0.5), Softcap: Pick[float64](d, 0, 0, 2), Past: d.Dim(d.Int(0, 2, "past")), Before: -1, After: d.Int(-1, 3, "after"),
	}
	operand := func(heads, rows, n int) (*ir.Tensor, []dim.Dim) {
		first, row := d.Int(0, 2, "first"), n+d.Int(0, 2, "gap")
		at := dim.Consts(first, heads*rows*row, rows*row, row)
		if d.Flag("between") {
			at[2], at[3] = at[3], dim.Const(heads*row)
		}
		return d.Tensor(ir.F32, first+b*heads*rows*row), at
	}
	var args [3]*ir.Tensor
	args[0], o.Q = operand(h, s, k)
	args[1], o.K = operand(g, t, k)
	args[2], o.V = operand(g, t, e)
	var mask, lengths *ir.Tensor
	if d.Flag("mask") {
		mask = d.Tensor(Pick(d, ir.Bool, ir.F32), Pick(d, []int{b, h, s, t}, []int{b, 1, 1, t}, []int{s, 1}, []int{1})...)
	}
	if d.Flag("lengths") {
		lengths = d.Lengths(ir.I64, b, 0, t)
	}
	return Trial{Op: o, Sums: true, Loose: 10, Rounded: Greatest, Args: Trimmed(args[0], args[1], args[2], mask, lengths, nil, d.Maybe(d.Tensor(ir.F32, h)))}
}

// trained returns the operands of the training form of an attention, without sinks.
func trained(t Trial) []*ir.Tensor { return Trimmed(t.Args[:min(len(t.Args), 6)]...) }

func tryAttentionTraining(d *Draw) Trial {
	t := tryAttention(d)
	o := t.Op.(op.Attention)
	o.Softcap, o.Precision = 0, ir.Invalid
	t.Op, t.Args, t.Single = op.AttentionTraining(o), trained(t), false
	return t
}

func tryAttentionGradient(d *Draw) Trial {
	t := d.known(tryAttentionTraining)
	o := t.Op.(op.AttentionTraining)
	for i, x := range t.Args { // operators on all scores do not round the result before they use it
		if x != nil && (x.DType == ir.F16 || x.DType == ir.BF16) {
			wide, err := op.Cast{To: ir.F32}.Eval([]*ir.Tensor{x})
			if err != nil {
				d.Fatal(err)
			}
			t.Args[i] = wide[0]
		}
	}
	t.Op, t.Args = op.AttentionGradient(o), backward(d, o, t.Args)
	return t
}

// known returns what try draws, without symbols in attributes.
func (d *Draw) known(try func(d *Draw) Trial) Trial {
	symbolic := d.symbolic
	d.symbolic = false
	defer func() { d.symbolic = symbolic }()
	return try(d)
}

// backward returns the operands of the gradient of o, an attention in training with these operands.
func backward(d *Draw, o ir.Op, args []*ir.Tensor) []*ir.Tensor {
	out, err := o.Eval(args)
	if err != nil {
		d.Fatal(err)
	}
	dy := d.Tensor(out[0].DType, out[0].Shape...)
	list := append(append(args[:3:3], dy), out...)
	return Trimmed(append(list, args[3:]...)...)
}

func tryAttendTraining(d *Draw) Trial {
	t := tryAttend(d)
	o := t.Op.(op.Attend)
	o.Softcap = 0
	t.Op, t.Args = op.AttendTraining(o), trained(t)
	return t
}

func tryAttendGradient(d *Draw) Trial {
	t := d.known(tryAttendTraining)
	o := t.Op.(op.AttendTraining)
	rows := []dim.Dim{dim.Const(0), dim.Product(o.Queries, o.Heads, o.Width), o.Width, dim.Product(o.Heads, o.Width)}
	t.Args = backward(d, o, t.Args)
	t.Op = op.AttendGradient{
		Batch: o.Batch, Heads: o.Heads, Shared: o.Shared, Queries: o.Queries, Keys: o.Keys, Depth: o.Depth, Width: o.Width,
		Q: o.Q, K: o.K, V: o.V, DY: rows, Y: rows, Scale: o.Scale, Past: o.Past, Before: o.Before, After: o.After,
	}
	return t
}

func tryLinearAttention(d *Draw) Trial {
	b, s, g, k, e := d.Int(0, 2, "batch"), d.Extent(), d.Int(1, 2, "shared"), d.Int(1, 5, "key"), d.Int(1, 5, "value")
	h, t := g*d.Int(1, 2, "heads"), d.DType(usualFloats)
	small := func(shape ...int) *ir.Tensor { return d.Scaled(0.125, t, shape...) }
	return Trial{Op: op.LinearAttention{}, Sums: true, Loose: 100, Args: Trimmed(
		small(b, s, h, k), small(b, s, g, k), small(b, s, g, e), small(b, g, k, e), d.Maybe(small(b, s, g, k)), d.Maybe(small(b, s, g)),
	)}
}

var activations = []string{"affine", "elu", "hardsigmoid", "leakyrelu", "relu", "scaledtanh", "sigmoid", "softplus", "softsign", "tanh", "thresholdedrelu"}

// Functions draws the names of n activation functions of a recurrent layer, with their alphas and
// betas.
func (d *Draw) Functions(n int) (names []string, alphas, betas []float64) {
	for range n {
		names = append(names, Pick(d, activations...))
		alphas, betas = append(alphas, Pick(d, 0.5, 0.25)), append(betas, Pick(d, 0.5, 0.25))
	}
	return names, alphas, betas
}

// recurrent draws the attributes of a recurrent layer and its operands. The layer has the given
// numbers of gates, activation functions and states. Its last operands are tensors [directions,
// v·hidden] for each v in vectors.
func (d *Draw) recurrent(gates, functions, states int, vectors ...int) (op.Recurrent, []*ir.Tensor) {
	o := op.Recurrent{Direction: Pick(d, "forward", "reverse", "bidirectional"), Clip: Pick(d, 0, 0, 0.75)}
	directions := 1
	if o.Direction == "bidirectional" {
		directions = 2
	}
	o.Activations, o.Alphas, o.Betas = d.Functions(directions * functions)
	s, n, i, h, t := d.Int(0, 4, "steps"), d.Int(0, 3, "sequences"), d.Int(1, 5, "inputs"), Pick(d, 1, 2, 5, 17), d.DType(usualFloats)
	small := func(shape ...int) *ir.Tensor { return d.Scaled(1.0/16, t, shape...) }
	args := []*ir.Tensor{
		small(s, n, i), small(directions, gates*h, i), small(directions, gates*h, h), d.Maybe(small(directions, 2*gates*h)),
		d.Maybe(d.Lengths(ir.I32, n, 0, s)),
	}
	for range states {
		args = append(args, d.Maybe(small(directions, n, h)))
	}
	for _, v := range vectors {
		args = append(args, d.Maybe(small(directions, v*h)))
	}
	return o, Trimmed(args...)
}

func tryGRU(d *Draw) Trial {
	o, args := d.recurrent(3, 2, 1)
	return Trial{Op: op.GRU{Recurrent: o, LinearBeforeReset: d.Flag("linear")}, Args: args, Sums: true, Loose: 10}
}

func tryLSTM(d *Draw) Trial {
	o, args := d.recurrent(4, 3, 2, 3)
	return Trial{Op: op.LSTM{Recurrent: o, InputForget: d.Flag("forget")}, Args: args, Sums: true, Loose: 10}
}

func tryGRUTrace(d *Draw) Trial {
	o := op.GRUTrace{Reverse: d.Flag("reverse"), LinearBeforeReset: d.Flag("linear")}
	s, n, h, t := d.Int(0, 4, "steps"), d.Int(0, 3, "sequences"), Pick(d, 1, 2, 5, 17), Pick(d, ir.F32, ir.F64)
	small := func(shape ...int) *ir.Tensor { return d.Scaled(1.0/16, t, shape...) }
	args := []*ir.Tensor{small(s, n, 3*h), small(h, 2*h), small(h, h), d.Maybe(d.Lengths(ir.I32, n, 0, s)), d.Maybe(small(n, h)), nil}
	if o.LinearBeforeReset {
		args[5] = d.Maybe(small(h))
	}
	if o.Reverse && args[4] != nil { // the gradient of the weights is not defined for lengths
		args[3] = nil
	}
	states := func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value { return b.Nodes(o, args...)[:2] }
	return Trial{Op: o, Args: Trimmed(args...), Build: states, Sums: true, Loose: 10}
}

func tryGRUGrad(d *Draw) Trial {
	s, n, h, t := d.Int(0, 4, "steps"), d.Int(0, 3, "sequences"), Pick(d, 1, 2, 5, 17), Pick(d, ir.F32, ir.F64)
	small := func(shape ...int) *ir.Tensor { return d.Scaled(1.0/16, t, shape...) }
	return Trial{Op: op.GRUGrad{Reverse: d.Flag("reverse"), LinearBeforeReset: d.Flag("linear")}, Sums: true, Loose: 10, Args: Trimmed(
		small(s, n, 3*h), small(s, n, h), small(s, n, h), small(2*h, h), small(h, h), d.Maybe(d.Lengths(ir.I32, n, 0, s)),
		d.Maybe(small(s, n, h)), d.Maybe(small(n, h)),
	)}
}

func tryLSTMTrace(d *Draw) Trial {
	o := op.LSTMTrace{Reverse: d.Flag("reverse")}
	s, n, h, t := d.Int(0, 4, "steps"), d.Int(0, 3, "sequences"), Pick(d, 1, 2, 5, 17), Pick(d, ir.F32, ir.F64)
	small := func(shape ...int) *ir.Tensor { return d.Scaled(1.0/16, t, shape...) }
	args := []*ir.Tensor{small(s, n, 4*h), small(h, 4*h), d.Maybe(d.Lengths(ir.I32, n, 0, s)), d.Maybe(small(n, h)), d.Maybe(small(n, h))}
	if o.Reverse && args[3] != nil { // the gradient of the weights is not defined for lengths
		args[2] = nil
	}
	states := func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value { return b.Nodes(o, args...)[:3] }
	return Trial{Op: o, Args: Trimmed(args...), Build: states, Sums: true, Loose: 10}
}

func tryLSTMGrad(d *Draw) Trial {
	s, n, h, t := d.Int(0, 4, "steps"), d.Int(0, 3, "sequences"), Pick(d, 1, 2, 5, 17), Pick(d, ir.F32, ir.F64)
	small := func(shape ...int) *ir.Tensor { return d.Scaled(1.0/16, t, shape...) }
	return Trial{Op: op.LSTMGrad{Reverse: d.Flag("reverse")}, Sums: true, Loose: 10, Args: Trimmed(
		small(s, n, 4*h), small(s, n, h), small(4*h, h), d.Maybe(d.Lengths(ir.I32, n, 0, s)), d.Maybe(small(n, h)),
		d.Maybe(small(s, n, h)), d.Maybe(small(n, h)), d.Maybe(small(n, h)),
	)}
}

func tryRNN(d *Draw) Trial {
	o, args := d.recurrent(1, 1, 1)
	return Trial{Op: op.RNN{Recurrent: o}, Args: args, Sums: true, Loose: 10}
}

func tryCol2Im(d *Draw) Trial {
	image := d.Ints(d.Int(1, 3, "axes"), 1, 5, "image")
	w := d.Window(image)
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
	o := op.Col2Im{Image: d.Dims(image...), Block: d.Dims(w.Kernel...), Strides: w.Strides, Dilations: w.Dilations, Pads: w.Pads}
	x := d.Tensor(d.DType(usualNumbers), d.Int(0, 2, "n"), d.Int(0, 2, "c")*Product(w.Kernel...), places)
	return Trial{Op: o, Args: []*ir.Tensor{x}, Sums: true}
}

func (d *Draw) deform() (op.DeformConv, []*ir.Tensor) {
	o := op.DeformConv{Group: d.Int(1, 2, "group"), Offsets: d.Int(1, 2, "offsets")}
	x := d.Image(o.Group*o.Offsets*d.Int(1, 2, "c"), 3)
	o.Window = d.Window(x[2:])
	t, m, n := Pick(d, ir.F32, ir.F64, ir.F16, ir.BF16), o.Group*d.Int(1, 2, "m"), x[0]
	w := d.Tensor(t, append([]int{m, x[1] / o.Group}, o.Kernel...)...)
	out, err := op.Conv{Window: o.Window, Group: o.Group}.Infer([]ir.Type{ir.StaticTensor(t, x...), w.Type()})
	if err != nil {
		d.Fatal(err)
	}
	places, _ := dim.Ints(out[0].Shape[2:])
	cells := Product(o.Kernel...) * o.Offsets
	offsets := d.Scaled(0.25, t, append([]int{n, cells * len(places)}, places...)...)
	return o, []*ir.Tensor{d.Tensor(t, x...), w, d.odd(offsets), d.Maybe(d.Tensor(t, m)), d.Maybe(d.Tensor(t, append([]int{n, cells}, places...)...))}
}

func tryDeformConv(d *Draw) Trial {
	o, args := d.deform()
	terms := Product(args[1].Shape[1:]...) // each of a mixture of elements, weighed by a mask, and a weight
	return Trial{Op: o, Args: Trimmed(args...), Sums: true, Loose: 10, Rounded: float64(terms) * Greatest * Greatest * Greatest}
}

func tryDeformColumns(d *Draw) Trial {
	o, args := d.deform()
	for i, x := range args { // kernels have no narrow floats
		if x != nil && x.DType != ir.F64 {
			wide, _ := op.Cast{To: ir.F32}.Eval([]*ir.Tensor{x})
			args[i] = wide[0]
		}
	}
	return Trial{Op: op.DeformColumns{Window: o.Window, Offsets: o.Offsets}, Args: Trimmed(args[0], args[2], args[4]), Sums: true, Loose: 10}
}

func tryGridSample(d *Draw) Trial {
	o := op.GridSample{Mode: Pick(d, "nearest", "linear", "cubic"), Padding: Pick(d, "zeros", "border", "reflection"), AlignCorners: d.Flag("align")}
	types := usualNumbers
	if o.Mode == "nearest" {
		types = anyTypes
	}
	spatial, n := d.Int(1, 3, "axes"), d.Int(0, 2, "n")
	x := append([]int{n, d.Int(0, 3, "c")}, d.Ints(spatial, 1, 4, "in")...)
	grid := d.odd(d.Scaled(0.25, d.DType(usualFloats), append(append([]int{n}, d.Ints(spatial, 0, 3, "out")...), spatial)...))
	return Trial{Op: o, Args: []*ir.Tensor{d.Tensor(d.DType(types), x...), grid}, Sums: true, Loose: 10}
}

// regions draws images [n, c, h, w], and the corners of regions on them, [regions, 4].
func (d *Draw) regions(t ir.DType) (x, rois *ir.Tensor) {
	x = d.Tensor(t, d.Int(1, 2, "n"), d.Int(0, 2, "c"), d.Int(1, 5, "h"), d.Int(1, 5, "w"))
	return x, d.odd(d.Tensor(t, d.Int(0, 3, "regions"), 4))
}

func tryRoiAlign(d *Draw) Trial {
	x, rois := d.regions(d.DType(usualFloats))
	o := op.RoiAlign{
		Mode: Pick(d, "avg", "max"), Height: d.Int(1, 3, "height"), Width: d.Int(1, 3, "width"),
		Sampling: d.Int(0, 3, "sampling"), Scale: Pick(d, 1, 0.5, 0.25), HalfPixel: d.Flag("half"),
	}
	images := d.Lengths(d.DType(indexTypes), rois.Shape[0], 0, x.Shape[0]-1)
	return Trial{Op: o, Args: []*ir.Tensor{x, rois, images}, Sums: true, Loose: 10}
}

func tryMaxRoiPool(d *Draw) Trial {
	x, corners := d.regions(d.DType(usualFloats))
	rois := ir.NewTensor(x.DType, corners.Shape[0], 5)
	for i := range rois.Len() {
		if i%5 == 0 {
			rois.SetFloat(i, float64(d.Int(0, x.Shape[0]-1, "image")))
		} else {
			rois.SetFloat(i, corners.Float(i/5*4+i%5-1))
		}
	}
	if rois.Len() > 0 && d.Int(0, 15, "outside") == 0 {
		rois.SetFloat(0, Pick(d, -1, float64(x.Shape[0]), math.NaN()))
	}
	return Trial{Op: op.MaxRoiPool{Height: d.Int(1, 3, "height"), Width: d.Int(1, 3, "width"), Scale: Pick(d, 1, 0.5)}, Args: []*ir.Tensor{x, rois}}
}

func isPooled(t ir.DType) bool { return t.IsFloat() || t.IsInt() && t.Bits() <= 32 }
