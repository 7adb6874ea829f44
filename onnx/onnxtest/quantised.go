package onnxtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Quantised returns a random convolutional network in the form that quantisation tools write.
// Activations are u8 or i8. Operators compute on floats, between a DequantizeLinear and a
// QuantizeLinear. Some operators that only move elements read the integers directly. Some numbers
// of channels are multiples of 16. pick returns a random number in [0, n).
//
// The input is "x" f32[N,C,H,W], with elements from −1 to 1. The outputs are the values that
// nothing else reads.
func Quantised(pick func(n int) int) *Model {
	g := &quantisedNet{Model: New(17), pick: pick, read: map[string]bool{}}
	x := activation{name: "x", shape: [3]int{g.channels(), 4 + pick(5), 4 + pick(5)}}
	g.Input(x.name, ir.F32, x.dims()...)
	g.quantise(x.name, x.shape, 1.0/128)
	for range 3 + pick(8) {
		g.node()
	}
	unread := slices.DeleteFunc(slices.Clone(g.list), func(a activation) bool { return g.read[a.name] })
	for i, a := range unread {
		name, d := fmt.Sprintf("out%d", i), a.dtype
		if pick(2) == 0 {
			g.op("Identity", []string{a.name}, []string{name})
		} else {
			g.op("DequantizeLinear", a.quantum(g), []string{name})
			d = ir.F32
		}
		g.Output(name, d, a.dims()...)
	}
	return g.Model
}

type quantisedNet struct {
	*Model
	pick  func(n int) int
	names int
	read  map[string]bool // values that some node reads
	list  []activation
}

// activation is a quantised value: an integer x of it stands for the float (x − zero)·scale. The
// value has shape [N, channels, height, width], and the field shape holds the last three extents.
type activation struct {
	name  string
	shape [3]int
	dtype ir.DType
	scale float64
	zero  int
}

func (a activation) dims() []any { return []any{"N", a.shape[0], a.shape[1], a.shape[2]} }

func (a activation) quantum(g *quantisedNet) []string {
	return []string{a.name, g.constant(ir.Scalar(ir.F32, a.scale)), g.constant(ir.Scalar(a.dtype, float64(a.zero)))}
}

func (g *quantisedNet) name(what string) string {
	g.names++
	return fmt.Sprintf("%s_%d", what, g.names)
}

func (g *quantisedNet) op(op string, in, out []string, attrs ...Attr) {
	for _, name := range in {
		g.read[name] = true
	}
	g.Node(g.name("/"+op), op, in, out, attrs...)
}

func (g *quantisedNet) apply(op string, in []string, attrs ...Attr) string {
	out := g.name("h")
	g.op(op, in, []string{out}, attrs...)
	return out
}

func (g *quantisedNet) constant(t *ir.Tensor) string {
	name := g.name("c")
	g.Initializer(name, t)
	return name
}

func (g *quantisedNet) ints(v ...int) string {
	t := ir.NewTensor(ir.I64, len(v))
	for i, n := range v {
		t.SetInt(i, int64(n))
	}
	return g.constant(t)
}

// channels returns a random number of channels, a multiple of 16 with probability 1/3.
func (g *quantisedNet) channels() int {
	return []int{3, 16, 8, 20, 32, 10, 24, 33, 16, 1, 6, 32}[g.pick(12)]
}

// any returns a random value; newer values are more likely.
func (g *quantisedNet) any() activation {
	return g.list[len(g.list)-1-g.pick(min(3, len(g.list)))]
}

func (g *quantisedNet) like(a activation, sameChannels bool) activation {
	var list []activation
	for _, b := range g.list {
		if slices.Equal(a.shape[1:], b.shape[1:]) && (!sameChannels || a.shape == b.shape) {
			list = append(list, b)
		}
	}
	return list[g.pick(len(list))]
}

// quantise adds a node that quantises x, a float value with the given shape. The scale of the
// result is close to `scale`. It is often a power of two, so that more floats lie exactly between
// two integers.
func (g *quantisedNet) quantise(x string, shape [3]int, scale float64) activation {
	a := activation{shape: shape, scale: scale * []float64{1, 1.3, 0.9, 1}[g.pick(4)]}
	if g.pick(2) == 0 {
		a.scale = math.Exp2(math.Round(math.Log2(a.scale)))
	}
	a.scale = ir.RoundFloat(ir.F32, a.scale)
	if a.dtype = ir.U8; g.pick(3) == 0 {
		a.dtype = ir.I8
	}
	if a.zero = []int{128, 0, 117, 128}[g.pick(4)]; a.dtype == ir.I8 {
		a.zero -= 128
	}
	return g.quantiseAs(x, a)
}

func (g *quantisedNet) quantiseAs(x string, a activation) activation {
	args := a.quantum(g)
	args[0] = x
	a.name = g.apply("QuantizeLinear", args)
	return g.add(a)
}

func (g *quantisedNet) add(a activation) activation {
	g.list = append(g.list, a)
	return a
}

func (g *quantisedNet) floats(a activation) string { return g.apply("DequantizeLinear", a.quantum(g)) }

// moved adds an operator that only moves elements of a, such as a transposition. move(x) adds the
// operator with the value x as its operand, and returns the name of the result. `shape` is the
// shape of the result. The operator moves either the integers of a, or the dequantised floats.
// Floats are quantised again, with the scale of a or with another scale.
func (g *quantisedNet) moved(a activation, shape [3]int, move func(x string) string) activation {
	b := a
	b.shape = shape
	switch g.pick(4) {
	case 0:
		b.name = move(a.name)
		return g.add(b)
	case 1:
		return g.quantise(move(g.floats(a)), shape, a.scale)
	}
	return g.quantiseAs(move(g.floats(a)), b)
}

func (g *quantisedNet) node() {
	a := g.any()
	switch g.pick(23) {
	case 0, 1, 2, 3:
		g.conv(a)
	case 4:
		g.pool(a)
	case 5:
		g.average(a)
	case 6, 7:
		g.concat(a)
	case 8, 9:
		g.slice(a)
	case 10:
		g.split(a)
	case 11, 12:
		g.shuffle(a)
	case 13:
		g.pad(a)
	case 14, 15:
		g.arithmetic(a)
	case 16:
		g.function(a)
	case 17:
		g.resize(a)
	case 18:
		g.gather(a)
	case 19:
		g.space(a)
	case 20:
		g.head(a)
	case 21:
		g.choose(a)
	case 22:
		g.repeat(a)
	}
}

// weights adds i8 or u8 weights. They have one scale, or one scale for each index of an axis.
// weights returns the name of the dequantised weights, and the scales.
func (g *quantisedNet) weights(axis int, shape ...int) (floats string, scale []float64) {
	d, zero := ir.I8, 0
	if g.pick(4) == 0 {
		d, zero = ir.U8, 128-g.pick(3)
	}
	w := ir.NewTensor(d, shape...)
	state := uint32(g.pick(1 << 16))
	for i := range w.Len() {
		state = state*1664525 + 1013904223
		w.SetInt(i, int64(state>>24)-int64(128-zero))
	}
	each := 1
	if g.pick(2) == 0 {
		each = shape[axis]
	}
	scales, zeros := ir.NewTensor(ir.F32, each), ir.NewTensor(d, each)
	for i := range each {
		scale = append(scale, ir.RoundFloat(ir.F32, []float64{1.0 / 128, 0.01, 0.0071}[(i+g.pick(3))%3]))
		scales.SetFloat(i, scale[i])
		zeros.SetInt(i, int64(zero))
	}
	if each == 1 {
		scales, zeros = scales.Reshape(), zeros.Reshape()
	}
	return g.apply("DequantizeLinear", []string{g.constant(w), g.constant(scales), g.constant(zeros)}, Attr{"axis", axis}), scale
}

// bias adds an i32 bias of n elements, and returns the name of the dequantised bias. Element i has
// the scale x·w[i], where x is the scale of the activations and w[i] a scale of the weights.
func (g *quantisedNet) bias(n int, x float64, w []float64) string {
	t, scales := ir.NewTensor(ir.I32, n), ir.NewTensor(ir.F32, len(w))
	for i := range n {
		t.SetInt(i, int64(g.pick(4000)-2000))
	}
	for i, s := range w {
		scales.SetFloat(i, ir.RoundFloat(ir.F32, x*s))
	}
	if len(w) == 1 {
		scales = scales.Reshape()
	}
	return g.apply("DequantizeLinear", []string{g.constant(t), g.constant(scales)}, Attr{"axis", 0})
}

// sumScale returns a scale with which most sums of n products fit a byte. x and w are the scales of
// the factors.
func sumScale(n int, x float64, w []float64) float64 { return 100 * math.Sqrt(float64(n)) * x * w[0] }

func (g *quantisedNet) conv(a activation) {
	c := a.shape[0]
	out, group := g.channels(), 1
	switch g.pick(4) {
	case 0:
		out, group = c, c
	case 1:
		if group = 2; c%2 > 0 || out%2 > 0 {
			group = 1
		}
	}
	k, stride := 1+2*g.pick(2), 1+g.pick(2)
	pad := g.pick(k/2 + 1)
	if a.shape[1]+2*pad < k || a.shape[2]+2*pad < k {
		k, pad = 1, 0
	}
	w, scale := g.weights(0, out, c/group, k, k)
	args := []string{g.floats(a), w}
	if g.pick(3) > 0 {
		args = append(args, g.bias(out, a.scale, scale))
	}
	y := g.apply("Conv", args, Attr{"kernel_shape", []int{k, k}}, Attr{"strides", []int{stride, stride}}, Attr{"pads", []int{pad, pad, pad, pad}}, Attr{"group", group})
	switch g.pick(4) {
	case 0:
		y = g.apply("Relu", []string{y})
	case 1:
		y = g.apply("Clip", []string{y, g.constant(ir.Scalar(ir.F32, 0)), g.constant(ir.Scalar(ir.F32, 6))})
	}
	g.quantise(y, [3]int{out, (a.shape[1]+2*pad-k)/stride + 1, (a.shape[2]+2*pad-k)/stride + 1}, sumScale(c/group*k*k, a.scale, scale))
}

func (g *quantisedNet) window(a activation) ([]Attr, [3]int) {
	k := min(2+g.pick(2), a.shape[1], a.shape[2])
	stride, pad, ceil := 1+g.pick(2), g.pick(k), g.pick(4)/3
	pad = min(pad, 1)
	extent := func(n int) int { return (n+2*pad-k)/stride + 1 }
	if ceil == 1 {
		extent = func(n int) int {
			o := (n+2*pad-k+stride-1)/stride + 1
			if (o-1)*stride >= n+pad { // the window would begin in the padding
				o--
			}
			return o
		}
	}
	attrs := []Attr{{"kernel_shape", []int{k, k}}, {"strides", []int{stride, stride}}, {"pads", []int{pad, pad, pad, pad}}, {"ceil_mode", ceil}}
	return attrs, [3]int{a.shape[0], extent(a.shape[1]), extent(a.shape[2])}
}

func (g *quantisedNet) pool(a activation) {
	attrs, shape := g.window(a)
	if g.pick(6) == 0 && min(a.shape[1], a.shape[2]) > 2 {
		attrs = []Attr{{"kernel_shape", []int{2, 2}}, {"dilations", []int{2, 2}}}
		shape = [3]int{a.shape[0], a.shape[1] - 2, a.shape[2] - 2}
	}
	g.moved(a, shape, func(x string) string { return g.apply("MaxPool", []string{x}, attrs...) })
}

func (g *quantisedNet) average(a activation) {
	if g.pick(3) == 0 {
		y := g.apply("GlobalAveragePool", []string{g.floats(a)})
		g.quantise(y, [3]int{a.shape[0], 1, 1}, a.scale/2)
		return
	}
	attrs, shape := g.window(a)
	attrs = append(attrs, Attr{"count_include_pad", g.pick(2)})
	y := g.apply("AveragePool", []string{g.floats(a)}, attrs...)
	a.shape = shape
	if g.pick(2) == 0 {
		g.quantiseAs(y, a)
	} else {
		g.quantise(y, shape, a.scale)
	}
}

// concat concatenates a and one or two similar values. It concatenates floats, or the integers if
// the values have the same scale and zero point. It does nothing if the result would be large.
func (g *quantisedNet) concat(a activation) {
	axis := 1
	if g.pick(4) == 0 {
		axis = 2
	}
	parts := []activation{a}
	for range 1 + g.pick(2) {
		parts = append(parts, g.like(a, axis == 2))
	}
	shape, raw := a.shape, true
	var floats, integers []string
	for i, p := range parts {
		if i > 0 {
			shape[axis-1] += p.shape[axis-1]
		}
		raw = raw && p.dtype == a.dtype && p.scale == a.scale && p.zero == a.zero
		integers = append(integers, p.name)
	}
	if shape[0] > 70 || shape[1] > 16 {
		return
	}
	joined := Attr{"axis", axis}
	if raw && g.pick(2) == 0 {
		a.name, a.shape = g.apply("Concat", integers, joined), shape
		g.add(a)
		return
	}
	for _, p := range parts {
		floats = append(floats, g.floats(p))
	}
	y := g.apply("Concat", floats, joined)
	if a.shape = shape; g.pick(2) == 0 {
		g.quantiseAs(y, a)
	} else {
		g.quantise(y, shape, a.scale)
	}
}

// slice takes a slice of the channels or of the rows, forward or backward.
func (g *quantisedNet) slice(a activation) {
	axis := []int{1, 1, 1, 2}[g.pick(4)]
	n := a.shape[axis-1]
	from := g.pick(n)
	to := from + 1 + g.pick(n-from)
	step := 1 + g.pick(8)/7
	shape := a.shape
	shape[axis-1] = (to - from + step - 1) / step
	args := []string{g.ints(from), g.ints(to), g.ints(axis), g.ints(step)}
	if g.pick(6) == 0 {
		args = []string{g.ints(to - 1), g.ints(from - 1 - n), g.ints(axis), g.ints(-step)}
	}
	g.moved(a, shape, func(x string) string { return g.apply("Slice", append([]string{x}, args...)) })
}

func (g *quantisedNet) split(a activation) {
	c := a.shape[0]
	if c < 2 {
		return
	}
	x, raw := a.name, g.pick(3) == 0
	if !raw {
		x = g.floats(a)
	}
	first := c / 2
	if g.pick(2) == 0 {
		first = 1 + g.pick(c-1)
	}
	out := []string{g.name("part"), g.name("part")}
	g.op("Split", []string{x, g.ints(first, c-first)}, out, Attr{"axis", 1})
	for i, n := range []int{first, c - first} {
		if a.shape[0] = n; raw {
			a.name = out[i]
			g.add(a)
		} else {
			g.quantiseAs(out[i], a)
		}
	}
}

// shuffle splits the channels into groups, and swaps the axis of the groups with the axis of the
// channels in a group.
func (g *quantisedNet) shuffle(a activation) {
	c := a.shape[0]
	groups := 2 + g.pick(3)
	if c%groups > 0 {
		groups = 1
	}
	g.moved(a, a.shape, func(x string) string {
		x = g.apply("Reshape", []string{x, g.ints(0, groups, c/groups, a.shape[1], a.shape[2])})
		x = g.apply("Transpose", []string{x}, Attr{"perm", []int{0, 2, 1, 3, 4}})
		return g.apply("Reshape", []string{x, g.ints(0, c, a.shape[1], a.shape[2])})
	})
}

// pad adds cells at the starts of rows and columns, and sometimes channels before the first
// channel. The new elements are 0 or copies of the nearest cells. pad does nothing if the result
// would be large.
func (g *quantisedNet) pad(a activation) {
	by := [3]int{g.pick(8) / 7 * 5, g.pick(2), g.pick(2)}
	shape := [3]int{a.shape[0] + by[0], a.shape[1] + by[1], a.shape[2] + by[2]}
	if shape[0] > 70 || shape[1] > 16 || shape[2] > 16 {
		return
	}
	fill := func(x string) string {
		if x == a.name {
			return g.constant(ir.Scalar(a.dtype, float64(a.zero)))
		}
		return g.constant(ir.Scalar(ir.F32, 0))
	}
	mode := Attr{"mode", []string{"constant", "constant", "edge"}[g.pick(3)]}
	g.moved(a, shape, func(x string) string {
		return g.apply("Pad", []string{x, g.ints(0, by[0], by[1], by[2], 0, 0, 0, 0), fill(x)}, mode)
	})
}

func (g *quantisedNet) arithmetic(a activation) {
	op := []string{"Add", "Add", "Mul", "Sub"}[g.pick(4)]
	args := []string{g.floats(a), ""}
	scale := 2 * a.scale
	if g.pick(3) == 0 {
		c := ir.NewTensor(ir.F32, a.shape[0], 1, 1)
		for i := range c.Len() {
			c.SetFloat(i, float64(g.pick(17)-8)/8)
		}
		args[1] = g.constant(c)
	} else {
		b := g.like(a, true)
		if args[1] = g.floats(b); op == "Mul" {
			scale = 100 * b.scale * a.scale
		} else {
			scale = a.scale + b.scale
		}
	}
	g.quantise(g.apply(op, args), a.shape, scale)
}

func (g *quantisedNet) function(a activation) {
	x := g.floats(a)
	scale := a.scale
	switch g.pick(5) {
	case 0:
		x = g.apply("Relu", []string{x})
	case 1:
		x, scale = g.apply("Sigmoid", []string{x}), 1.0/256
	case 2:
		x = g.apply("HardSwish", []string{x})
	case 3:
		x = g.apply("LeakyRelu", []string{x}, Attr{"alpha", 0.1})
	case 4:
		x = g.apply("Mul", []string{x, g.apply("Sigmoid", []string{x})})
	}
	g.quantise(x, a.shape, scale)
}

// choose adds one of three operators: a Max or Min of two values, a Max or Min of a value and a
// constant, or a ReduceMax over the pixels of each channel.
func (g *quantisedNet) choose(a activation) {
	if g.pick(2) == 0 {
		shape := [3]int{a.shape[0], 1, 1}
		g.moved(a, shape, func(x string) string {
			return g.apply("ReduceMax", []string{x}, Attr{"axes", []int{2, 3}})
		})
		return
	}
	op, b := []string{"Max", "Min"}[g.pick(2)], g.like(a, true)
	if b.dtype == a.dtype && b.scale == a.scale && b.zero == a.zero && g.pick(2) == 0 {
		a.name = g.apply(op, []string{a.name, b.name})
		g.add(a)
		return
	}
	if g.pick(2) == 0 {
		a.name = g.apply(op, []string{a.name, g.constant(ir.Scalar(a.dtype, float64(a.zero+g.pick(9))))})
		g.add(a)
		return
	}
	g.quantiseAs(g.apply(op, []string{g.floats(a), g.floats(b)}), a)
}

// repeat appends copies of the channels, the rows or the columns. It does nothing if the result would be
// large.
func (g *quantisedNet) repeat(a activation) {
	by := [3]int{1, 1, 1}
	by[g.pick(3)] = 2
	shape := [3]int{by[0] * a.shape[0], by[1] * a.shape[1], by[2] * a.shape[2]}
	if shape[0] > 70 || shape[1] > 16 || shape[2] > 16 {
		return
	}
	g.moved(a, shape, func(x string) string { return g.apply("Tile", []string{x, g.ints(1, by[0], by[1], by[2])}) })
}

func (g *quantisedNet) resize(a activation) {
	if a.shape[1] > 6 || a.shape[2] > 6 {
		return
	}
	shape := [3]int{a.shape[0], 2 * a.shape[1], 2 * a.shape[2]}
	scales := g.constant(ir.FloatTensor(ir.F32, 1, 1, 2, 2))
	if g.pick(3) == 0 {
		g.quantise(g.apply("Resize", []string{g.floats(a), "", scales}, Attr{"mode", "linear"}), shape, a.scale)
		return
	}
	attrs := []Attr{{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}
	g.moved(a, shape, func(x string) string { return g.apply("Resize", []string{x, "", scales}, attrs...) })
}

func (g *quantisedNet) gather(a activation) {
	at := make([]int, g.channels())
	for i := range at {
		at[i] = g.pick(a.shape[0])
	}
	g.moved(a, [3]int{len(at), a.shape[1], a.shape[2]}, func(x string) string {
		return g.apply("Gather", []string{x, g.ints(at...)}, Attr{"axis", 1})
	})
}

// space adds a DepthToSpace or a SpaceToDepth with blocks of 2×2 pixels. Alternatively it adds a
// transposition to [N, H, W, C], a reversal of the rows, and a transposition back.
func (g *quantisedNet) space(a activation) {
	c, h, w := a.shape[0], a.shape[1], a.shape[2]
	switch two := (Attr{"blocksize", 2}); {
	case c%4 == 0 && h <= 8 && w <= 8 && g.pick(2) == 0:
		g.moved(a, [3]int{c / 4, 2 * h, 2 * w}, func(x string) string { return g.apply("DepthToSpace", []string{x}, two) })
	case h%2 == 0 && w%2 == 0 && c <= 10:
		g.moved(a, [3]int{4 * c, h / 2, w / 2}, func(x string) string { return g.apply("SpaceToDepth", []string{x}, two) })
	default:
		g.moved(a, a.shape, func(x string) string {
			x = g.apply("Transpose", []string{x}, Attr{"perm", []int{0, 2, 3, 1}})
			x = g.apply("Slice", []string{x, g.ints(h - 1), g.ints(-h - 1), g.ints(1), g.ints(-1)})
			return g.apply("Transpose", []string{x}, Attr{"perm", []int{0, 3, 1, 2}})
		})
	}
}

// head multiplies the elements of an image by a matrix, and may add a bias. A large image gets a
// convolution instead.
func (g *quantisedNet) head(a activation) {
	n := a.shape[0] * a.shape[1] * a.shape[2]
	if n > 600 {
		g.conv(a)
		return
	}
	out := 1 + g.pick(20)
	x := g.apply("Flatten", []string{g.floats(a)}, Attr{"axis", 1})
	var y string
	var scale []float64
	if g.pick(2) == 0 {
		var w string
		w, scale = g.weights(0, out, n)
		y = g.apply("Gemm", []string{x, w, g.bias(out, a.scale, scale)}, Attr{"transB", 1})
	} else {
		var w string
		w, scale = g.weights(1, n, out)
		y = g.apply("MatMul", []string{x, w})
	}
	y = g.apply("Reshape", []string{y, g.ints(-1, out, 1, 1)})
	g.quantise(y, [3]int{out, 1, 1}, sumScale(n, a.scale, scale))
}
