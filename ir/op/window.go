package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Window is how a convolution or a pool moves over the spatial axes of its
// operand, which are those after the batch and the channels. Each list has one
// element for each spatial axis.
type Window struct {
	Kernel    []int // cells of the window
	Strides   []int // cells from a window to the next; nil for ones
	Dilations []int // cells from a cell of the window to the next; nil for ones
	Pads      []int // cells of padding before the first of each axis, then after the last; nil for none
	// Same is "upper" or "lower" where the padding is what ⌈extent/stride⌉ windows
	// need, an odd cell of it after the last or before the first; Pads is nil then.
	Same string
	// Ceil lets the last window reach beyond the padding, as long as it starts
	// before it.
	Ceil bool
}

// check reports what is wrong with a window over so many spatial axes.
func (w Window) check(spatial int) error {
	if spatial < 1 {
		return fmt.Errorf("no spatial axes")
	}
	for _, list := range []struct {
		name     string
		values   []int
		n, least int
	}{
		{"kernel", w.Kernel, spatial, 1},
		{"strides", w.Strides, spatial, 1},
		{"dilations", w.Dilations, spatial, 1},
		{"pads", w.Pads, 2 * spatial, 0},
	} {
		if list.values == nil && list.name != "kernel" {
			continue
		}
		if len(list.values) != list.n {
			return fmt.Errorf("%s %v for %d spatial axes", list.name, list.values, spatial)
		}
		for _, v := range list.values {
			if v < list.least || v > math.MaxInt32 {
				return fmt.Errorf("%s %v: %d is out of range", list.name, list.values, v)
			}
		}
	}
	if w.Same != "" && w.Same != "upper" && w.Same != "lower" {
		return fmt.Errorf("unknown padding %q", w.Same)
	}
	if w.Same != "" && w.Pads != nil {
		return fmt.Errorf("pads %v beside padding %q", w.Pads, w.Same)
	}
	return nil
}

func (w Window) stride(i int) int {
	if w.Strides == nil {
		return 1
	}
	return w.Strides[i]
}

func (w Window) dilation(i int) int {
	if w.Dilations == nil {
		return 1
	}
	return w.Dilations[i]
}

// strides returns the strides of so many axes, ones where there are none.
func (w Window) strides(spatial int) []int { return orOnes(w.Strides, spatial) }

// dilations returns the dilations of so many axes, ones where there are none.
func (w Window) dilations(spatial int) []int { return orOnes(w.Dilations, spatial) }

func orOnes(list []int, n int) []int {
	if list == nil {
		return slices.Repeat([]int{1}, n)
	}
	return list
}

// span is the number of cells from the first to the last of a window.
func (w Window) span(i int) ir.Dim {
	return ir.Const(w.Kernel[i] - 1).Mul(ir.Const(w.dilation(i))).Add(ir.Const(1))
}

// pad returns the padding of axis i of extent d.
func (w Window) pad(i int, d ir.Dim) (before, after ir.Dim) {
	if w.Same == "" {
		if w.Pads == nil {
			return before, after
		}
		return ir.Const(w.Pads[i]), ir.Const(w.Pads[len(w.Pads)/2+i])
	}
	one, two := ir.Const(1), ir.Const(2)
	windows := w.extent(i, d)
	total := windows.Sub(one).Mul(ir.Const(w.stride(i))).Add(w.span(i)).Sub(d).Max(ir.Const(0))
	before = total.FloorDiv(two)
	if w.Same == "lower" {
		before = total.CeilDiv(two)
	}
	return before, total.Sub(before)
}

// extent returns the number of windows along axis i of extent d.
func (w Window) extent(i int, d ir.Dim) ir.Dim {
	stride, one := ir.Const(w.stride(i)), ir.Const(1)
	if w.Same != "" {
		return d.CeilDiv(stride)
	}
	before, after := w.pad(i, d)
	rest := d.Add(before).Add(after).Sub(w.span(i))
	if !w.Ceil {
		return rest.FloorDiv(stride).Add(one)
	}
	return rest.CeilDiv(stride).Add(one).Min(d.Add(before).CeilDiv(stride))
}

// shape returns the extents of the result over these spatial extents. The
// window has been checked.
func (w Window) shape(in []ir.Dim) ([]ir.Dim, error) {
	out := make([]ir.Dim, len(in))
	for i, d := range in {
		before, after := w.pad(i, d)
		padded := d.Add(before).Add(after)
		if n, ok := padded.Sub(w.span(i)).Int(); ok && n < 0 && w.Same == "" {
			return nil, fmt.Errorf("spatial axis %d: a window of %s cells over %s", i, w.span(i), padded)
		}
		out[i] = w.extent(i, d)
	}
	return out, nil
}

// pads returns the padding of all axes over these spatial extents: before the
// first cell of each, then after the last.
func (w Window) pads(in []ir.Dim) []ir.Dim {
	pads := make([]ir.Dim, 2*len(in))
	for i, d := range in {
		pads[i], pads[len(in)+i] = w.pad(i, d)
	}
	return pads
}

// axes returns the window along the spatial axes from one to another.
func (w Window) axes(from, to int) Window {
	part := Window{Kernel: w.Kernel[from:to:to], Same: w.Same, Ceil: w.Ceil}
	if w.Strides != nil {
		part.Strides = w.Strides[from:to:to]
	}
	if w.Dilations != nil {
		part.Dilations = w.Dilations[from:to:to]
	}
	if n := len(w.Kernel); w.Pads != nil {
		part.Pads = slices.Concat(w.Pads[from:to], w.Pads[n+from:n+to])
	}
	return part
}

// flat returns the window with one more spatial axis, along which it is one
// cell at a time.
func (w Window) flat() Window {
	n := len(w.Kernel)
	f := w
	f.Kernel = append(f.Kernel[:n:n], 1)
	if w.Strides != nil {
		f.Strides = append(w.Strides[:n:n], 1)
	}
	if w.Dilations != nil {
		f.Dilations = append(w.Dilations[:n:n], 1)
	}
	if w.Pads != nil {
		f.Pads = slices.Concat(w.Pads[:n], []int{0}, w.Pads[n:], []int{0})
	}
	return f
}

// lowerPool computes a pool of f32 over more than two spatial axes by pools over the
// last two and over the others; op gives the operator for a part of the window.
func (w Window) lowerPool(b *ir.Builder, n *ir.Node, op func(Window) ir.Op) []*ir.Value {
	x, spatial := n.Arg(0), len(w.Kernel)
	if spatial <= maxSpatial || x.Type.DType != ir.F32 {
		return nil
	}
	last := spatial - maxSpatial
	shape := x.Type.Shape
	y := reshape(b, x, shape[0], ir.Product(shape[1:2+last]...), shape[2+last], shape[3+last])
	y = b.Node(op(w.axes(last, spatial)), y)
	shape = append(shape[:2+last:2+last], y.Type.Shape[2].Mul(y.Type.Shape[3]))
	y = b.Node(op(w.axes(0, last).flat()), reshape(b, y, shape...))
	return []*ir.Value{reshape(b, y, n.Results[0].Type.Shape...)}
}

// poolShape returns the kernels' cpu.PoolShape of a node of f32.
func (w Window) poolShape(n *ir.Node, blocked bool) (s ir.Struct, err error) {
	return w.poolShapeOf(n.Arg(0).Type, n.Results[0].Type, blocked)
}

// poolShapeOf returns the cpu.PoolShape of a pool of x to y, of f32.
func (w Window) poolShapeOf(x, y ir.Type, blocked bool) (s ir.Struct, err error) {
	end, err := spatialEnd(x, blocked)
	if err != nil {
		return s, err
	}
	if x.DType != ir.F32 || end > 2+maxSpatial {
		return s, fmt.Errorf("no kernel pools %s", x)
	}
	lanes := 1
	if blocked {
		lanes = block
	}
	in, out := x.Shape[2:end], y.Shape[2:end]
	pads := planePads(w.pads(in))
	inH, inW := plane(in)
	outH, outW := plane(out)
	kH, kW := plane(ir.Dims(w.Kernel...))
	strideH, strideW := plane(ir.Dims(w.strides(len(in))...))
	dilH, dilW := plane(ir.Dims(w.dilations(len(in))...))
	return ir.Struct{Type: "PoolShape", Fields: []ir.Field{
		{Name: "N", Value: x.Shape[0]},
		{Name: "C", Value: x.Shape[1]},
		{Name: "InH", Value: inH},
		{Name: "InW", Value: inW},
		{Name: "OutH", Value: outH},
		{Name: "OutW", Value: outW},
		{Name: "KH", Value: kH},
		{Name: "KW", Value: kW},
		{Name: "StrideH", Value: strideH},
		{Name: "StrideW", Value: strideW},
		{Name: "DilH", Value: dilH},
		{Name: "DilW", Value: dilW},
		{Name: "PadH", Value: pads[0]},
		{Name: "PadW", Value: pads[1]},
		{Name: "EndH", Value: pads[2]},
		{Name: "EndW", Value: pads[3]},
		{Name: "Block", Value: lanes},
	}}, nil
}

// direct returns the last arguments of cpu's direct kernels, for these spatial
// extents of the operand and the result.
func (w Window) direct(in, out []ir.Dim) []any {
	return []any{in, out, w.Kernel, w.strides(len(in)), w.dilations(len(in)), w.pads(in)}
}

// directPool is the call of one of cpu's direct pools.
func (w Window) directPool(kernel string, n *ir.Node, more ...any) ir.Call {
	x, y := n.Arg(0).Type.Shape, n.Results[0].Type.Shape
	args := append([]any{ir.Out(0), ir.In(0), x[0].Mul(x[1])}, w.direct(x[2:], y[2:])...)
	return ir.Call{Kernel: kernel, Args: append(args, more...)}
}

// cells is where a window lies on an operand: the cells inside it, and which of
// the window's cells they are, both counted row-major over the spatial axes.
type cells struct {
	at, tap []int
	// counted is the number of the window's cells inside the operand or its padding.
	counted int
}

// visit calls f for every window over these static extents, with its row-major
// number; the cells are valid during the call only.
func (w Window) visit(in []int, f func(o int, c cells)) error {
	dims := ir.Dims(in...)
	shape, err := w.shape(dims)
	if err != nil {
		return err
	}
	out, ok := ir.Ints(shape)
	if !ok {
		return fmt.Errorf("extents %v", shape)
	}
	pads, _ := ir.Ints(w.pads(dims))
	places, err := ir.CheckedLen(out)
	if err != nil {
		return err
	}
	walk := newIndex(out, out)
	var c cells
	for o := range places {
		c = cells{append(c.at[:0], 0), append(c.tap[:0], 0), 1}
		for i, d := range in {
			origin, n := walk.at[i]*w.stride(i)-pads[i], len(c.at)
			first, last := w.inside(i, origin, 0, d)
			for k := first; k < last; k++ {
				for j := range n {
					c.at = append(c.at, c.at[j]*d+origin+k*w.dilation(i))
					c.tap = append(c.tap, c.tap[j]*w.Kernel[i]+k)
				}
			}
			from, to := w.inside(i, origin, -pads[i], d+pads[len(in)+i])
			c.at, c.tap, c.counted = c.at[n:], c.tap[n:], c.counted*(to-from)
		}
		f(o, c)
		walk.Next()
	}
	return nil
}

// inside returns the range of the window's cells along axis i, the first of which
// lies at origin, that lie at low or after and before high.
func (w Window) inside(i, origin, low, high int) (first, last int) {
	d := w.dilation(i)
	if origin < low {
		first = (low - origin + d - 1) / d
	}
	last = (high - origin + d - 1) / d
	return first, max(first, min(last, w.Kernel[i]))
}

// importWindow reads the attributes of a window over the spatial axes of x.
// kernel holds the extents of a convolution's weights; it is nil for a pool,
// whose kernel_shape is required. An explicit padding, stride or dilation that
// changes nothing is left out.
func importWindow(c ir.Importer, x ir.Type, kernel []ir.Dim, dilations bool) (w Window, err error) {
	spatial := x.Rank() - 2
	if !x.IsTensor() || spatial < 1 {
		return w, fmt.Errorf("%s has no spatial axes", x)
	}
	w.Kernel = c.Ints("kernel_shape", nil)
	if w.Kernel == nil {
		if kernel == nil {
			return w, fmt.Errorf("no kernel_shape")
		}
		var ok bool
		if w.Kernel, ok = ir.Ints(kernel); !ok {
			return w, fmt.Errorf("the weights' spatial extents %s are not known before the model runs", shapeText(kernel))
		}
	}
	w.Strides = unlessAll(c.Ints("strides", nil), 1)
	if dilations {
		w.Dilations = unlessAll(c.Ints("dilations", nil), 1)
	}
	pads := unlessAll(c.Ints("pads", nil), 0)
	switch mode := c.Text("auto_pad", "NOTSET"); mode {
	case "NOTSET", "":
		w.Pads = pads
	case "VALID":
	case "SAME_UPPER":
		w.Same = "upper"
	case "SAME_LOWER":
		w.Same = "lower"
	default:
		return w, fmt.Errorf("unknown auto_pad %q", mode)
	}
	return w, w.check(spatial)
}

// unlessAll returns list, or nil when all its elements are v.
func unlessAll(list []int, v int) []int {
	for _, x := range list {
		if x != v {
			return list
		}
	}
	return nil
}

// numbersOf returns the elements of a tensor of numbers.
func numbersOf(t *ir.Tensor) []float64 {
	if t == nil {
		return nil
	}
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.Number(i)
	}
	return out
}
