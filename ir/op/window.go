package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// MaxSpatial is the maximum number of spatial axes of a convolution or pool with a kernel. A convolution or pool
// over more axes is lowered to ones over fewer axes.
const MaxSpatial = 2

// Window describes the windows of a convolution or a pool over the spatial axes of its operand. These axes follow
// the batch and the channels. Pads has two elements for each spatial axis, and each other list has one.
type Window struct {
	Kernel    []int // cells of the window
	Strides   []int // distance between windows in cells; nil means ones
	Dilations []int // distance between the cells of a window; nil means ones
	Pads      []int // cells of padding at the start of each axis, then at the end of each axis; nil means no padding
	// Same is "upper" or "lower" for a padding with ⌈extent/stride⌉ windows. If the padding is odd,
	// "upper" puts the additional cell after the last cell, and "lower" puts it before the first.
	// Pads is nil then.
	Same string
	// Ceil allows the last window to extend beyond the padding after the last cell, if the window
	// starts before that padding.
	Ceil bool
}

// Check returns an error unless the window is valid for `spatial` spatial axes.
func (w Window) Check(spatial int) error {
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

// Stride returns the distance between adjacent windows along spatial axis i, in elements of the
// operand.
func (w Window) Stride(i int) int {
	if w.Strides == nil {
		return 1
	}
	return w.Strides[i]
}

// Dilation returns the distance between adjacent cells of a window along spatial axis i, in
// elements of the operand.
func (w Window) Dilation(i int) int {
	if w.Dilations == nil {
		return 1
	}
	return w.Dilations[i]
}

// EachStride returns Strides. If Strides is nil, it returns a list of `spatial` ones.
func (w Window) EachStride(spatial int) []int { return orOnes(w.Strides, spatial) }

// EachDilation returns Dilations. If Dilations is nil, it returns a list of `spatial` ones.
func (w Window) EachDilation(spatial int) []int { return orOnes(w.Dilations, spatial) }

func orOnes(list []int, n int) []int {
	if list == nil {
		return slices.Repeat([]int{1}, n)
	}
	return list
}

// span returns the extent of a window along spatial axis i, in elements of the operand: the
// distance from the first cell to the last, plus 1.
func (w Window) span(i int) dim.Dim {
	return dim.Const(w.Kernel[i] - 1).Mul(dim.Const(w.Dilation(i))).Add(dim.Const(1))
}

func (w Window) pad(i int, d dim.Dim) (before, after dim.Dim) {
	if w.Same == "" {
		if w.Pads == nil {
			return before, after
		}
		return dim.Const(w.Pads[i]), dim.Const(w.Pads[len(w.Pads)/2+i])
	}
	one, two := dim.Const(1), dim.Const(2)
	windows := w.extent(i, d)
	total := windows.Sub(one).Mul(dim.Const(w.Stride(i))).Add(w.span(i)).Sub(d).Max(dim.Const(0))
	before = total.FloorDiv(two)
	if w.Same == "lower" {
		before = total.CeilDiv(two)
	}
	return before, total.Sub(before)
}

func (w Window) extent(i int, d dim.Dim) dim.Dim {
	stride, one := dim.Const(w.Stride(i)), dim.Const(1)
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

// Places returns the spatial extents of the result, given the spatial extents `in` of the operand. The window must
// be valid, see [Window.Check]. Places returns an error if the window is larger than the padded operand.
func (w Window) Places(in []dim.Dim) ([]dim.Dim, error) {
	out := make([]dim.Dim, len(in))
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

// Padding returns the padding of all spatial axes: the number of cells before each axis, and then the number after
// each axis. `in` holds the spatial extents of the operand.
func (w Window) Padding(in []dim.Dim) []dim.Dim {
	pads := make([]dim.Dim, 2*len(in))
	for i, d := range in {
		pads[i], pads[len(in)+i] = w.pad(i, d)
	}
	return pads
}

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

// flat returns a window with one more spatial axis, at the end. The window has one cell along this axis.
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

// lowerPool replaces an f32 pool over more than two spatial axes by two: a pool over the last two axes, and a pool
// over the other axes. It returns nil for other pools. op returns the pool with the given window.
func (w Window) lowerPool(b *ir.Builder, n *ir.Node, op func(Window) ir.Op) []*ir.Value {
	x, spatial := n.Arg(0), len(w.Kernel)
	if spatial <= MaxSpatial || x.Type.DType != ir.F32 {
		return nil
	}
	last := spatial - MaxSpatial
	shape := x.Type.Shape
	y := ReshapeTo(b, x, shape[0], dim.Product(shape[1:2+last]...), shape[2+last], shape[3+last])
	y = b.Node(op(w.axes(last, spatial)), y)
	shape = append(shape[:2+last:2+last], y.Type.Shape[2].Mul(y.Type.Shape[3]))
	y = b.Node(op(w.axes(0, last).flat()), ReshapeTo(b, y, shape...))
	return []*ir.Value{ReshapeTo(b, y, n.Results[0].Type.Shape...)}
}

// Cells describes one window over an operand. At lists the cells of the operand that are inside the window. Tap[i]
// is the cell of the window that is at At[i]. Both are row-major indices over the spatial axes.
type Cells struct {
	At, Tap []int
	// counted is the number of the window's cells inside the operand or its padding.
	counted int
}

// Visit calls f for every window over an operand with the spatial extents `in`. o is the row-major index of the
// window, and c its cells, which are valid only during the call.
func (w Window) Visit(in []int, f func(o int, c Cells)) error {
	dims := dim.Consts(in...)
	shape, err := w.Places(dims)
	if err != nil {
		return err
	}
	out, ok := dim.Ints(shape)
	if !ok {
		return fmt.Errorf("extents %v", shape)
	}
	pads, _ := dim.Ints(w.Padding(dims))
	places, err := ir.CheckedLen(out)
	if err != nil {
		return err
	}
	walk := newIndex(out, out)
	var c Cells
	for o := range places {
		c = Cells{append(c.At[:0], 0), append(c.Tap[:0], 0), 1}
		for i, d := range in {
			origin, n := walk.at[i]*w.Stride(i)-pads[i], len(c.At)
			first, last := w.inside(i, origin, 0, d)
			for k := first; k < last; k++ {
				for j := range n {
					c.At = append(c.At, c.At[j]*d+origin+k*w.Dilation(i))
					c.Tap = append(c.Tap, c.Tap[j]*w.Kernel[i]+k)
				}
			}
			from, to := w.inside(i, origin, -pads[i], d+pads[len(in)+i])
			c.At, c.Tap, c.counted = c.At[n:], c.Tap[n:], c.counted*(to-from)
		}
		f(o, c)
		walk.Next()
	}
	return nil
}

// inside returns a range [first, last) of the cells of a window along axis i. It holds the cells at the positions
// from low to high − 1. The first cell of the window is at position origin.
func (w Window) inside(i, origin, low, high int) (first, last int) {
	d := w.Dilation(i)
	if origin < low {
		first = (low - origin + d - 1) / d
	}
	last = (high - origin + d - 1) / d
	return first, max(first, min(last, w.Kernel[i]))
}

// importWindow reads the attributes of a window over the spatial axes of x. kernel holds the spatial extents of a
// convolution's weights. It is nil for a pool, which must have the attribute kernel_shape. dilations says whether
// the operator has the attribute dilations. Padding, strides and dilations that have no effect become nil.
func importWindow(c ir.Importer, x ir.Type, kernel []dim.Dim, dilations bool) (w Window, err error) {
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
		if w.Kernel, ok = dim.Ints(kernel); !ok {
			return w, fmt.Errorf("the weights' spatial extents %s are not known before the model runs", ShapeText(kernel))
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
	return w, w.Check(spatial)
}

// Over returns the spatial extents of the result of a convolution of x, [N,C,spatial…], over one or two axes. It
// returns the errors of [Window.Check] and [Window.Places]. It also returns an error if the kernel does not have one
// or two axes, or if x has fewer spatial axes than the kernel.
func (w Window) Over(x ir.Type) ([]dim.Dim, error) {
	n := len(w.Kernel)
	if n < 1 || n > MaxSpatial || x.Rank() < 2+n {
		return nil, fmt.Errorf("kernel %v over %s", w.Kernel, x)
	}
	if err := w.Check(n); err != nil {
		return nil, err
	}
	return w.Places(x.Shape[2 : 2+n])
}

// Plane returns the height and the width of the kernel. The height is 1 for a window over one axis.
func (w Window) Plane() (kh, kw int) {
	if len(w.Kernel) == 1 {
		return 1, w.Kernel[0]
	}
	return w.Kernel[0], w.Kernel[1]
}

func unlessAll(list []int, v int) []int {
	for _, x := range list {
		if x != v {
			return list
		}
	}
	return nil
}

// NumbersOf returns the elements of a tensor of numbers as float64. It returns nil if t is nil.
func NumbersOf(t *ir.Tensor) []float64 {
	if t == nil {
		return nil
	}
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.Number(i)
	}
	return out
}
