package targettest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var movementTrials = Trials{
	"bind_axes":         tryBindAxes,
	"bind_dims":         tryBindDims,
	"bind_pad":          tryBindPad,
	"bind_range":        tryBindRange,
	"bind_reshape":      tryBindReshape,
	"bind_scaled":       tryBindScaled,
	"bind_slice":        tryBindSlice,
	"bind_squeeze":      tryBindSqueeze,
	"bind_unsqueeze":    tryBindUnsqueeze,
	"concat":            tryConcat,
	"cosine_window":     tryCosineWindow,
	"expand":            tryExpand,
	"check_index":       tryCheckIndex,
	"eye":               tryEye,
	"fill":              tryFill,
	"gather":            tryGather,
	"gather_elements":   tryGatherElements,
	"gather_nd":         tryGatherND,
	"mel_weight_matrix": tryMelWeightMatrix,
	"multinomial":       tryMultinomial,
	"non_zero": func(d *Draw) Trial {
		return Trial{Op: op.NonZero{Count: "count"}, Args: []*ir.Tensor{d.sparse(d.DType(anyTypes), d.Shape(0, 3)...)}}
	},
	"one_hot":          tryOneHot,
	"pad":              tryPad,
	"pad_index":        tryPadIndex,
	"range":            tryRange,
	"reshape":          tryReshape,
	"resize":           tryResize,
	"resize_axis":      tryResizeAxis,
	"resize_linear":    tryResizeLinear,
	"resize_nearest":   tryResizeNearest,
	"resize_outside":   func(d *Draw) Trial { t, args := d.table(); return Trial{Op: op.ResizeOutside{Table: t}, Args: args} },
	"resize_table":     tryResizeTable,
	"resize_taps":      tryResizeTaps,
	"reverse_sequence": tryReverseSequence,
	"scatter_elements": tryScatterElements,
	"scatter_nd":       tryScatterND,
	"select_boxes":     trySelectBoxes,
	"slice":            trySlice,
	"sort_rows":        func(d *Draw) Trial { return Trial{Op: op.SortRows{}, Args: []*ir.Tensor{d.rows()}} },
	"strided_copy":     tryStridedCopy,
	"sum_to":           trySumTo,
	"tile":             tryTile,
	"top_k":            tryTopK,
	"transpose":        tryTranspose,
	"trilu":            tryTrilu,
	"unique":           tryUnique,
}

func (d *Draw) sparse(t ir.DType, shape ...int) *ir.Tensor {
	x, zero := d.Any(t, shape...), ir.NewTensor(t)
	for i := range x.Len() {
		if i%3 == 0 {
			x.Copy(i, zero, 0)
		}
	}
	return x
}

// binding returns a trial of a node that binds symbols. The function `node` returns the operator of this node for the
// names of the symbols. The trial compares the values of the symbols: it makes them extents of tensors, which it can
// compare.
func binding(args []*ir.Tensor, symbols []string, node func(symbols []string) ir.Op) Trial {
	o := node(symbols)
	return Trial{Op: o, Args: args, Build: func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value {
		b.Nodes(o, args...)
		results := make([]*ir.Value, len(symbols))
		for i, s := range symbols {
			results[i] = b.Node(op.Fill{Value: ir.NewTensor(ir.Bool), Shape: []dim.Dim{dim.Sym(s)}})
		}
		return results
	}}
}

func symbols(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "b" + string(rune('a'+i))
	}
	return names
}

// axes draws some axes of a tensor of the given rank, each at most once. Some count from the end,
// and a few are out of range.
func (d *Draw) axes(rank int) []int64 {
	var all []int64
	for i := range rank {
		if d.Flag("named") {
			all = append(all, int64(i-rank*d.Int(0, 1, "from the end")))
		}
	}
	if len(all) > 0 && d.Int(0, 15, "outside") == 0 {
		all[0] = int64(Pick(d, rank, -rank-1))
	}
	return rapid.Permutation(all).Draw(d.T, "order")
}

func ints(v ...int64) *ir.Tensor { return ir.IntTensor(ir.I64, v...) }

func tryBindAxes(d *Draw) Trial {
	shape := d.Shape(1, 3)
	return binding([]*ir.Tensor{ints(d.axes(len(shape))...)}, symbols(2*len(shape)), func(s []string) ir.Op {
		return op.BindAxes{Bound: op.Bound{Symbols: s}, Shape: d.Dims(shape...), All: d.Flag("all")}
	})
}

func tryBindDims(d *Draw) Trial {
	x := d.Lengths(d.DType(intTypes), d.Int(1, 4, "elements"), 0, 3)
	if x.DType.Class() == ir.Signed && d.Int(0, 9, "negative") == 0 {
		x.SetInt(0, -1)
	}
	places := d.Ints(d.Int(1, 3, "places"), 0, x.Len()-1, "place")
	slices.Sort(places)
	places = slices.Compact(places)
	return binding([]*ir.Tensor{x}, symbols(len(places)), func(s []string) ir.Op {
		return op.BindDims{Bound: op.Bound{Symbols: s}, Places: places}
	})
}

func tryBindPad(d *Draw) Trial {
	shape := d.Shape(1, 3)
	args := []*ir.Tensor{nil}
	n := len(shape)
	if d.Flag("axes") {
		axes := ints(d.axes(n)...)
		n = axes.Len()
		args = append(args, axes)
	}
	args[0] = d.Lengths(ir.I64, 2*n, -2, 3)
	return binding(args, symbols(4*len(shape)), func(s []string) ir.Op {
		return op.BindPad{Bound: op.Bound{Symbols: s}, Shape: d.Dims(shape...)}
	})
}

func tryBindRange(d *Draw) Trial {
	t := d.DType(typesWhere(func(t ir.DType) bool { return t == ir.F32 || t == ir.F64 || t.IsInt() && t.Bits() >= 8 }))
	args := []*ir.Tensor{d.Any(t), d.Any(t), d.Any(t)}
	const most = 4096 // results of many elements take their time
	if n, err := (op.BindRange{}).BindValues(args, nil); err == nil && n[0] > most {
		args[1] = args[0]
	}
	return binding(args, symbols(1), func(s []string) ir.Op { return op.BindRange{Bound: op.Bound{Symbols: s}} })
}

func tryBindReshape(d *Draw) Trial {
	shape := d.Shape(1, 4)
	want := make([]int64, d.Int(1, 4, "extents"))
	left := Product(shape...)
	for i := range want {
		want[i] = int64(Pick(d, 1, 2, 3, 5))
		if left%int(want[i]) != 0 {
			want[i] = 1
		}
		left /= int(want[i])
		if i < len(shape) && d.Int(0, 4, "keep") == 0 {
			want[i] = 0
		}
	}
	want[d.Int(0, len(want)-1, "open")] = Pick(d, -1, int64(left), int64(left))
	return binding([]*ir.Tensor{ints(want...)}, symbols(len(want)), func(s []string) ir.Op {
		return op.BindReshape{Bound: op.Bound{Symbols: s}, From: d.Dims(shape...), AllowZero: d.Flag("zero")}
	})
}

func tryBindScaled(d *Draw) Trial {
	shape := d.Shape(1, 3)
	scales := ir.NewTensor(ir.F64, len(shape))
	for i := range shape {
		scales.SetFloat(i, Pick(d, 1, 2, 0.5, 0.3, 1.7, 0))
	}
	return binding([]*ir.Tensor{scales}, symbols(len(shape)), func(s []string) ir.Op {
		return op.BindScaled{Bound: op.Bound{Symbols: s}, From: d.Dims(shape...), Near: d.Flag("near")}
	})
}

func tryBindSlice(d *Draw) Trial {
	shape := d.Shape(1, 3)
	o := op.BindSlice{Shape: d.Dims(shape...), Steps: d.Flag("steps")}
	args := make([]*ir.Tensor, 4)
	n := len(shape)
	for i := range shape {
		o.Axes = append(o.Axes, i)
	}
	if d.Flag("axes") {
		args[2] = ints(d.axes(n)...)
		n = args[2].Len()
	}
	args[0], args[1] = d.Lengths(ir.I64, n, -9, 9), d.Lengths(ir.I64, n, -9, 9)
	width := 2
	if o.Steps {
		width = 4
		args[3] = d.Lengths(ir.I64, n, -3, 3)
	}
	return binding(Trimmed(args...), symbols(width*len(shape)), func(s []string) ir.Op { o.Symbols = s; return o })
}

func tryBindSqueeze(d *Draw) Trial {
	shape := d.Shape(1, 4)
	axes := d.axes(len(shape))
	for _, a := range axes {
		if a >= int64(-len(shape)) && a < int64(len(shape)) && d.Int(0, 9, "not one") > 0 {
			shape[(int(a)+len(shape))%len(shape)] = 1
		}
	}
	return binding([]*ir.Tensor{ints(axes...)}, symbols(max(len(shape)-len(axes), 1)), func(s []string) ir.Op {
		return op.BindSqueeze{Bound: op.Bound{Symbols: s}, Shape: d.Dims(shape...)}
	})
}

func tryBindUnsqueeze(d *Draw) Trial {
	shape := d.Shape(0, 3)
	rank := len(shape) + d.Int(0, 2, "new")
	var axes []int64
	for _, a := range rapid.Permutation(upTo(rank)).Draw(d.T, "axes")[:rank-len(shape)] {
		axes = append(axes, int64(a-rank*d.Int(0, 1, "from the end")))
	}
	return binding([]*ir.Tensor{ints(axes...)}, symbols(rank), func(s []string) ir.Op {
		return op.BindUnsqueeze{Bound: op.Bound{Symbols: s}, Shape: d.Dims(shape...)}
	})
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func tryConcat(d *Draw) Trial {
	t, shape := d.DType(anyTypes), d.Shape(1, 4)
	axis := d.Int(0, len(shape)-1, "axis")
	c := Trial{Op: op.Concat{Axis: axis}, Exact: true}
	for range d.Int(1, 5, "operands") {
		shape = slices.Clone(shape)
		shape[axis] = d.Extent()
		c.Args = append(c.Args, d.Any(t, shape...))
	}
	return c
}

func tryCosineWindow(d *Draw) Trial {
	return Trial{Op: op.CosineWindow{DType: d.DType(usualFloats), Size: d.Dim(d.Extent()), Periodic: d.Flag("periodic"), A: 0.42, B: 0.5, C: Pick(d, 0, 0.08)}}
}

func tryExpand(d *Draw) Trial {
	shape := d.Shape(0, 4)
	return Trial{Op: op.Expand{Shape: d.Dims(shape...)}, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), d.part(shape)...)}, Exact: true}
}

func trySumTo(d *Draw) Trial {
	shape := d.Shape(0, 4)
	return Trial{Op: op.SumTo{Shape: d.Dims(d.part(shape)...)}, Args: []*ir.Tensor{d.Tensor(d.DType(floatTypes), shape...)}, Sums: true}
}

func tryEye(d *Draw) Trial {
	t := d.DType(typesWhere(func(t ir.DType) bool { return t != ir.String }))
	return Trial{Op: op.Eye{DType: t, Rows: d.Dim(d.Extent()), Cols: d.Dim(d.Extent()), K: d.Int(-6, 6, "k")}, Exact: true}
}

func tryFill(d *Draw) Trial {
	return Trial{Op: op.Fill{Value: d.Any(d.DType(anyTypes)), Shape: d.Dims(d.Shape(0, 3)...)}, Exact: true}
}

func tryCheckIndex(d *Draw) Trial {
	count := d.Int(1, 5, "count")
	o := op.CheckIndex{Count: dim.Const(count), FromEnd: d.Flag("from the end"), What: "token", Things: "rows"}
	return Trial{Op: o, Args: []*ir.Tensor{d.indicesOf(count, d.Shape(0, 2))}, Exact: true}
}

func tryGather(d *Draw) Trial {
	shape := d.Shape(1, 4)
	axis := d.Int(0, len(shape)-1, "axis")
	return Trial{Op: op.Gather{Axis: axis}, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...), d.indicesOf(shape[axis], d.Shape(0, 2))}, Exact: true}
}

// indicesOf draws indices as [Draw.index] does. If the axis is empty, the result has no elements.
func (d *Draw) indicesOf(extent int, shape []int) *ir.Tensor {
	if extent == 0 {
		shape = append(shape, 0)
	}
	return d.index(extent, shape...)
}

// within draws a shape. Its extents are at most the extents of `shape`, except along `axis`. An empty axis stays
// empty.
func (d *Draw) within(shape []int, axis int) []int {
	inner := slices.Clone(shape)
	for i, n := range shape {
		switch {
		case i != axis:
			inner[i] = d.Int(0, n, "extent")
		case n > 0:
			inner[i] = d.Extent()
		}
	}
	return inner
}

func tryGatherElements(d *Draw) Trial {
	shape := d.Shape(1, 4)
	axis := d.Int(0, len(shape)-1, "axis")
	return Trial{Op: op.GatherElements{Axis: axis}, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...), d.index(shape[axis], d.within(shape, axis)...)}, Exact: true}
}

// coordinates draws indices into a tensor of this shape: tuples of coordinates on adjacent axes. The first of these
// axes is `first`. axes is the number of coordinates in a tuple.
func (d *Draw) coordinates(shape []int, first int) (axes int, indices *ir.Tensor) {
	axes = d.Int(1, len(shape)-first, "coordinates")
	lead := append(slices.Clone(shape[:first]), d.Shape(0, 2)...)
	if slices.Contains(shape[first:first+axes], 0) {
		lead = append(lead, 0)
	}
	indices = d.index(1, append(lead, axes)...)
	for i := range indices.Len() {
		if v := indices.Int(i); v >= -1 && v < 1 {
			n := shape[first+i%axes]
			indices.SetInt(i, int64(d.Int(-n, n-1, "coordinate")))
		}
	}
	return axes, indices
}

func tryGatherND(d *Draw) Trial {
	shape := d.Shape(1, 4)
	batch := d.Int(0, len(shape)-1, "batch")
	_, indices := d.coordinates(shape, batch)
	return Trial{Op: op.GatherND{BatchDims: batch}, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...), indices}, Exact: true}
}

func tryMelWeightMatrix(d *Draw) Trial {
	number := func(v float64) *ir.Tensor { return ir.Scalar(ir.F64, v) }
	return Trial{
		Op:   op.MelWeightMatrix{DType: d.DType(usualFloats), Bins: d.Dim(d.Int(0, 5, "bins")), Length: d.Dim(d.Int(0, 20, "length"))},
		Args: []*ir.Tensor{number(Pick[float64](d, 8000, 100)), number(Pick[float64](d, 0, 30)), number(Pick[float64](d, 50, 4000))},
	}
}

func tryMultinomial(d *Draw) Trial {
	o := op.Multinomial{Samples: d.Int(0, 5, "samples"), DType: d.DType(indexTypes), Seed: 7}
	return Trial{Op: o, Args: []*ir.Tensor{d.Tensor(d.DType(usualFloats), d.Extent(), max(d.Extent(), 1))}}
}

func tryOneHot(d *Draw) Trial {
	shape, depth := d.Shape(0, 3), d.Extent()
	o := op.OneHot{Axis: d.Int(0, len(shape), "axis"), Depth: d.Dim(depth)}
	return Trial{Op: o, Args: []*ir.Tensor{d.index(depth+1, shape...), d.Any(d.DType(anyTypes), 2)}, Exact: true}
}

func tryPad(d *Draw) Trial {
	shape := d.Shape(0, 3)
	o := op.Pad{Mode: Pick(d, "constant", "edge", "reflect", "wrap")}
	x := d.Any(d.DType(anyTypes), shape...)
	for _, n := range shape {
		most := 4
		if n == 0 && o.Mode != "constant" {
			most = 0
		}
		o.Before, o.After = append(o.Before, d.Dim(d.Int(0, most, "before"))), append(o.After, d.Dim(d.Int(0, most, "after")))
	}
	args := []*ir.Tensor{x}
	if o.Mode == "constant" && d.Flag("value") {
		args = append(args, d.Any(x.DType, Pick(d, []int{}, []int{1})...))
	}
	return Trial{Op: o, Args: args, Exact: true}
}

func tryPadIndex(d *Draw) Trial {
	o := op.PadIndex{Mode: Pick(d, "edge", "reflect", "wrap"), Extent: d.Dim(d.Extent()), Before: d.Dim(d.Int(0, 4, "before")), After: d.Dim(d.Int(0, 4, "after"))}
	return Trial{Op: o}
}

func tryRange(d *Draw) Trial {
	t := d.DType(usualNumbers)
	return Trial{Op: op.Range{Count: d.Dim(d.Extent())}, Args: []*ir.Tensor{d.Tensor(t), d.Tensor(t)}}
}

// reshaped draws another shape with n elements.
func (d *Draw) reshaped(n int) []int {
	var shape []int
	for _, p := range []int{2, 3, 5, 7, 17} {
		for n > 0 && n%p == 0 {
			n /= p
			if len(shape) > 0 && d.Flag("join") {
				shape[len(shape)-1] *= p
			} else {
				shape = append(shape, p)
			}
		}
	}
	if n != 1 || d.Flag("one") {
		shape = append(shape, n)
	}
	return rapid.Permutation(shape).Draw(d.T, "axes")
}

func tryReshape(d *Draw) Trial {
	shape := d.Shape(0, 3)
	return Trial{Op: op.Reshape{Shape: d.Dims(d.reshaped(Product(shape...))...)}, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...)}, Exact: true}
}

var (
	resizeCoordinates = []string{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}
	resizeRoundings   = []string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"}
)

func tryResize(d *Draw) Trial {
	shape := d.Full(1, 4)
	o := op.Resize{
		Mode: Pick(d, "nearest", "linear", "cubic", "lanczos"), Coordinates: Pick(d, resizeCoordinates...), Rounding: Pick(d, resizeRoundings...),
		CubicA: Pick(d, -0.75, -0.5), ExcludeOutside: d.Flag("exclude"), AntiAlias: d.Flag("anti-alias"), Extrapolation: Pick[float64](d, 0, 3),
	}
	if o.Mode == "nearest" {
		o.ExcludeOutside, o.AntiAlias = false, false
	}
	types := usualNumbers
	if o.Mode == "nearest" {
		types = anyTypes
	}
	if o.Coordinates == "tf_crop_and_resize" {
		types = usualNumbers
		o.ROI = make([]float64, 2*len(shape))
		for i := range shape {
			o.ROI[i], o.ROI[len(shape)+i] = Pick(d, 0, 0.25, -0.5), Pick(d, 1, 0.75, 1.5)
		}
	}
	to := slices.Clone(shape)
	o.Scales = make([]float64, len(shape))
	for i := range to {
		if d.Flag("resized") {
			to[i] = d.Extent()
		}
		if d.Flag("scaled") {
			o.Scales[i] = float64(to[i]) / float64(shape[i])
		}
	}
	o.Shape = d.Dims(to...)
	x := d.Tensor(d.DType(types), shape...)
	if x.DType.IsInt() && o.Mode != "nearest" { // sums of others are not exact in f32
		x = d.Lengths(x.DType, x.Len(), 0, 99).Reshape(shape...)
	}
	return Trial{Op: o, Args: []*ir.Tensor{x}, Sums: true, Single: true, Truncates: true, Exact: o.Mode == "nearest"}
}

func (d *Draw) table() (op.ResizeTable, []*ir.Tensor) {
	t := op.ResizeTable{
		Mode: Pick(d, "linear", "cubic", "lanczos"), Coordinates: Pick(d, resizeCoordinates...), Taps: dim.Const(2), CubicA: -0.75,
		In: d.Dim(max(d.Extent(), 1)), Out: d.Dim(d.Extent()), Scale: Pick(d, 0, 2, 0.5), Start: 0.25, End: 0.75, ExcludeOutside: d.Flag("exclude"),
	}
	switch t.Mode {
	case "cubic":
		t.Taps = dim.Const(4)
	case "lanczos":
		t.Taps = dim.Const(6)
	}
	if d.Flag("nearest") {
		t.Mode, t.Rounding, t.Taps, t.ExcludeOutside = "nearest", Pick(d, resizeRoundings...), dim.Const(1), false
	}
	if d.Flag("bound") {
		numbers := ir.FloatTensor(ir.F64, t.Scale, t.Start, t.End)
		t.Scale, t.Start, t.End = 0, 0, 0
		return t, []*ir.Tensor{numbers}
	}
	return t, nil
}

func tryResizeTable(d *Draw) Trial {
	t, args := d.table()
	return Trial{Op: t, Args: args}
}

func tryResizeTaps(d *Draw) Trial {
	t, args := d.table()
	t.AntiAlias = t.Mode != "nearest"
	return binding(args, symbols(1), func(s []string) ir.Op { return op.ResizeTaps{Symbol: s[0], Table: t} })
}

// places draws n indices of an axis that is not empty. All are in range and at least 0.
func (d *Draw) places(extent, n int) *ir.Tensor { return d.Lengths(ir.I32, n, 0, extent-1) }

func tryResizeAxis(d *Draw) Trial {
	shape, out, taps := d.Full(3, 3), d.Extent(), d.Int(1, 4, "taps")
	return Trial{
		Op: op.ResizeAxis{Taps: d.Dim(taps), Out: d.Dim(out)}, Sums: true,
		Args: []*ir.Tensor{d.Tensor(d.DType([]ir.DType{ir.F32, ir.F64}), shape...), d.places(shape[1], out*taps), d.Tensor(ir.F32, out*taps)},
	}
}

func tryResizeLinear(d *Draw) Trial {
	shape, h, w := d.Full(4, 4), 2*d.Extent(), 2*d.Extent()
	return Trial{
		Op: op.ResizeLinear{}, Sums: true,
		Args: []*ir.Tensor{
			d.Tensor(d.DType([]ir.DType{ir.F32, ir.F64}), shape...),
			d.places(shape[1], h), d.Tensor(ir.F32, h), d.places(shape[2], w), d.Tensor(ir.F32, w),
		},
	}
}

func tryResizeNearest(d *Draw) Trial {
	shape := d.Full(4, 4)
	return Trial{
		Op: op.ResizeNearest{}, Exact: true,
		Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...), d.places(shape[1], d.Extent()), d.places(shape[2], d.Extent())},
	}
}

func tryReverseSequence(d *Draw) Trial {
	shape, o := d.Shape(2, 4), op.ReverseSequence{BatchFirst: d.Flag("batch first")}
	time, batch := shape[0], shape[1]
	if o.BatchFirst {
		time, batch = batch, time
	}
	lens := d.Lengths(ir.I64, batch, 0, time)
	if batch > 0 && d.Int(0, 15, "outside") == 0 {
		lens.SetInt(0, int64(Pick(d, -1, time+1)))
	}
	return Trial{Op: o, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...), lens}, Exact: true}
}

// reduction draws the name of a reduction of a scatter operator, and returns the element types that
// support it.
func (d *Draw) reduction() (string, []ir.DType) {
	switch r := Pick(d, "", "add", "mul", "max", "min"); r {
	case "":
		return r, anyTypes
	case "mul": // rounded with each factor, which narrow floats are too coarse for
		return r, slices.Concat([]ir.DType{ir.F32, ir.F64}, intTypes)
	default:
		return r, usualNumbers
	}
}

func tryScatterElements(d *Draw) Trial {
	reduction, types := d.reduction()
	t, shape := d.DType(types), d.Shape(1, 4)
	axis := d.Int(0, len(shape)-1, "axis")
	indices := d.index(shape[axis], d.within(shape, axis)...)
	return Trial{
		Op: op.ScatterElements{Axis: axis, Reduction: reduction}, Sums: true, Exact: reduction == "",
		Args: []*ir.Tensor{d.Any(t, shape...), indices, d.Tensor(t, indices.Shape...)},
	}
}

func tryScatterND(d *Draw) Trial {
	reduction, types := d.reduction()
	t, shape := d.DType(types), d.Shape(1, 4)
	axes, indices := d.coordinates(shape, 0)
	updates := append(slices.Clone(indices.Shape[:indices.Rank()-1]), shape[axes:]...)
	return Trial{Op: op.ScatterND{Reduction: reduction}, Args: []*ir.Tensor{d.Any(t, shape...), indices, d.Tensor(t, updates...)}, Sums: true, Exact: reduction == ""}
}

func trySelectBoxes(d *Draw) Trial {
	batches, classes, n := d.Int(0, 2, "batches"), d.Int(0, 3, "classes"), d.Extent()
	args := []*ir.Tensor{
		d.Tensor(ir.F32, batches, n, 4), d.Any(ir.F32, batches, classes, n),
		ints(int64(d.Int(0, 4, "most"))), ir.FloatTensor(ir.F32, Pick(d, 0, 0.3, 0.5, 1)),
	}
	if d.Flag("threshold") {
		args = append(args, ir.FloatTensor(ir.F32, Pick[float64](d, 0, -2, 3)))
	}
	return Trial{Op: op.SelectBoxes{Center: d.Flag("center")}, Args: args}
}

func trySlice(d *Draw) Trial {
	shape := d.Shape(0, 4)
	o := op.Slice{}
	for _, n := range shape {
		step, count, start := Pick(d, 1, 1, 2, -1, -2, 3), 0, 0
		if n > 0 {
			start = d.Int(0, n-1, "start")
			room := n - 1 - start
			if step < 0 {
				room = start
			}
			count = d.Int(0, room/max(step, -step)+1, "count")
		}
		o.Starts, o.Shape, o.Steps = append(o.Starts, d.Dim(start)), append(o.Shape, d.Dim(count)), append(o.Steps, step)
	}
	return Trial{Op: o, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...)}, Exact: true}
}

// rows draws a matrix in which some rows are equal.
func (d *Draw) rows() *ir.Tensor {
	t := d.DType(typesWhere(func(t ir.DType) bool {
		return t == ir.F32 || t == ir.F64 || t == ir.String || t.IsInt() && t.Bits() >= 8
	}))
	x := d.Any(t, d.Extent(), d.Int(0, 3, "columns"))
	for i := range x.Len() {
		if d.Int(0, 2, "equal") > 0 {
			x.Copy(i, x, i%x.Shape[1])
		}
	}
	return x
}

func tryStridedCopy(d *Draw) Trial {
	from, to := d.Full(0, 3), d.Shape(0, 4)
	o := op.StridedCopy{Shape: d.Dims(to...), Strides: make([]dim.Dim, len(to))}
	lo, hi := 0, Product(from...)-1 // where the next axis may begin
	at := d.Int(lo, hi, "offset")
	for i, n := range to {
		stride := 0
		if n > 1 {
			stride = d.Int(-(at-lo)/(n-1), (hi-at)/(n-1), "stride")
		}
		o.Strides[i] = dim.Const(stride)
		if stride < 0 {
			lo -= stride * (n - 1)
		} else {
			hi -= stride * (max(n, 1) - 1)
		}
	}
	o.Offset = dim.Const(at)
	return Trial{Op: o, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), from...)}, Exact: true}
}

func tryTile(d *Draw) Trial {
	shape := d.Shape(0, 3)
	return Trial{Op: op.Tile{Repeats: d.Dims(d.Ints(len(shape), 0, 3, "repeats")...)}, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...)}, Exact: true}
}

func tryTopK(d *Draw) Trial {
	shape := d.Shape(1, 4)
	axis := d.Int(0, len(shape)-1, "axis")
	o := op.TopK{Axis: axis, K: d.Dim(d.Int(0, shape[axis], "k")), Smallest: d.Flag("smallest")}
	return Trial{Op: o, Args: []*ir.Tensor{d.Any(d.DType(numberTypes), shape...)}, Exact: true}
}

func tryTranspose(d *Draw) Trial {
	shape := d.Shape(0, 5)
	o := op.Transpose{Perm: rapid.Permutation(upTo(len(shape))).Draw(d.T, "perm")}
	return Trial{Op: o, Args: []*ir.Tensor{d.Any(d.DType(anyTypes), shape...)}, Exact: true}
}

func tryTrilu(d *Draw) Trial {
	args := []*ir.Tensor{d.Any(d.DType(anyTypes), d.Shape(2, 4)...)}
	if d.Flag("k") {
		args = append(args, ir.Scalar(ir.I64, float64(d.Int(-6, 6, "diagonal"))))
	}
	return Trial{Op: op.Trilu{Upper: d.Flag("upper")}, Args: args, Exact: true}
}

func tryUnique(d *Draw) Trial {
	o := op.Unique{Sorted: d.Flag("sorted"), Count: "count"}
	return Trial{Op: o, Args: []*ir.Tensor{d.rows()}, Build: func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value {
		return b.Nodes(o, args[0], b.Node(op.SortRows{}, args[0]))
	}}
}
