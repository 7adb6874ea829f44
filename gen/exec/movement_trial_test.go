package exec_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var movementTrials = map[string]func(*draw) trial{
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
	"non_zero": func(d *draw) trial {
		return trial{op: op.NonZero{Count: "count"}, args: []*ir.Tensor{d.sparse(d.dtype(anyTypes), d.shape(0, 3)...)}}
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
	"resize_outside":   func(d *draw) trial { t, args := d.table(); return trial{op: op.ResizeOutside{Table: t}, args: args} },
	"resize_table":     tryResizeTable,
	"resize_taps":      tryResizeTaps,
	"reverse_sequence": tryReverseSequence,
	"scatter_elements": tryScatterElements,
	"scatter_nd":       tryScatterND,
	"select_boxes":     trySelectBoxes,
	"slice":            trySlice,
	"sort_rows":        func(d *draw) trial { return trial{op: op.SortRows{}, args: []*ir.Tensor{d.rows()}} },
	"strided_copy":     tryStridedCopy,
	"sum_to":           trySumTo,
	"tile":             tryTile,
	"top_k":            tryTopK,
	"transpose":        tryTranspose,
	"trilu":            tryTrilu,
	"unique":           tryUnique,
}

// sparse draws a tensor of which many elements are zero.
func (d *draw) sparse(t ir.DType, shape ...int) *ir.Tensor {
	x, zero := d.any(t, shape...), ir.NewTensor(t)
	for i := range x.Len() {
		if i%3 == 0 {
			x.Copy(i, zero, 0)
		}
	}
	return x
}

// binding tries a node that binds symbols: what is compared are their values, as
// the extents of tensors.
func binding(args []*ir.Tensor, symbols []string, node func(symbols []string) ir.Op) trial {
	o := node(symbols)
	return trial{op: o, args: args, build: func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value {
		b.Nodes(o, args...)
		results := make([]*ir.Value, len(symbols))
		for i, s := range symbols {
			results[i] = b.Node(op.Fill{Value: ir.NewTensor(ir.Bool), Shape: []ir.Dim{ir.Sym(s)}})
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

// axes draws axes of a rank that do not repeat, some counted from the end, seldom
// one that is not there.
func (d *draw) axes(rank int) []int64 {
	var all []int64
	for i := range rank {
		if d.flag("named") {
			all = append(all, int64(i-rank*d.int(0, 1, "from the end")))
		}
	}
	if len(all) > 0 && d.int(0, 15, "outside") == 0 {
		all[0] = int64(pick(d, rank, -rank-1))
	}
	return rapid.Permutation(all).Draw(d.T, "order")
}

func ints(v ...int64) *ir.Tensor { return ir.IntTensor(ir.I64, v...) }

func tryBindAxes(d *draw) trial {
	shape := d.shape(1, 3)
	return binding([]*ir.Tensor{ints(d.axes(len(shape))...)}, symbols(2*len(shape)), func(s []string) ir.Op {
		return op.BindAxes{Bound: op.Bound{Symbols: s}, Shape: d.dims(shape...), All: d.flag("all")}
	})
}

func tryBindDims(d *draw) trial {
	x := d.lengths(d.dtype(intTypes), d.int(1, 4, "elements"), 0, 3)
	if x.DType.Class() == ir.Signed && d.int(0, 9, "negative") == 0 {
		x.SetInt(0, -1)
	}
	places := d.ints(d.int(1, 3, "places"), 0, x.Len()-1, "place")
	slices.Sort(places)
	places = slices.Compact(places)
	return binding([]*ir.Tensor{x}, symbols(len(places)), func(s []string) ir.Op {
		return op.BindDims{Bound: op.Bound{Symbols: s}, Places: places}
	})
}

func tryBindPad(d *draw) trial {
	shape := d.shape(1, 3)
	args := []*ir.Tensor{nil}
	n := len(shape)
	if d.flag("axes") {
		axes := ints(d.axes(n)...)
		n = axes.Len()
		args = append(args, axes)
	}
	args[0] = d.lengths(ir.I64, 2*n, -2, 3)
	return binding(args, symbols(4*len(shape)), func(s []string) ir.Op {
		return op.BindPad{Bound: op.Bound{Symbols: s}, Shape: d.dims(shape...)}
	})
}

func tryBindRange(d *draw) trial {
	t := d.dtype(typesWhere(func(t ir.DType) bool { return t == ir.F32 || t == ir.F64 || t.IsInt() && t.Bits() >= 8 }))
	args := []*ir.Tensor{d.any(t), d.any(t), d.any(t)}
	const most = 4096 // results of many elements take their time
	if n, err := (op.BindRange{}).BindValues(args, nil); err == nil && n[0] > most {
		args[1] = args[0]
	}
	return binding(args, symbols(1), func(s []string) ir.Op { return op.BindRange{Bound: op.Bound{Symbols: s}} })
}

func tryBindReshape(d *draw) trial {
	shape := d.shape(1, 4)
	want := make([]int64, d.int(1, 4, "extents"))
	left := product(shape...)
	for i := range want {
		want[i] = int64(pick(d, 1, 2, 3, 5))
		if left%int(want[i]) != 0 {
			want[i] = 1
		}
		left /= int(want[i])
		if i < len(shape) && d.int(0, 4, "keep") == 0 {
			want[i] = 0
		}
	}
	want[d.int(0, len(want)-1, "open")] = pick(d, -1, int64(left), int64(left))
	return binding([]*ir.Tensor{ints(want...)}, symbols(len(want)), func(s []string) ir.Op {
		return op.BindReshape{Bound: op.Bound{Symbols: s}, From: d.dims(shape...), AllowZero: d.flag("zero")}
	})
}

func tryBindScaled(d *draw) trial {
	shape := d.shape(1, 3)
	scales := ir.NewTensor(ir.F64, len(shape))
	for i := range shape {
		scales.SetFloat(i, pick(d, 1, 2, 0.5, 0.3, 1.7, 0))
	}
	return binding([]*ir.Tensor{scales}, symbols(len(shape)), func(s []string) ir.Op {
		return op.BindScaled{Bound: op.Bound{Symbols: s}, From: d.dims(shape...), Near: d.flag("near")}
	})
}

func tryBindSlice(d *draw) trial {
	shape := d.shape(1, 3)
	o := op.BindSlice{Shape: d.dims(shape...), Steps: d.flag("steps")}
	args := make([]*ir.Tensor, 4)
	n := len(shape)
	for i := range shape {
		o.Axes = append(o.Axes, i)
	}
	if d.flag("axes") {
		args[2] = ints(d.axes(n)...)
		n = args[2].Len()
	}
	args[0], args[1] = d.lengths(ir.I64, n, -9, 9), d.lengths(ir.I64, n, -9, 9)
	width := 2
	if o.Steps {
		width = 4
		args[3] = d.lengths(ir.I64, n, -3, 3)
	}
	return binding(trimmed(args...), symbols(width*len(shape)), func(s []string) ir.Op { o.Symbols = s; return o })
}

func tryBindSqueeze(d *draw) trial {
	shape := d.shape(1, 4)
	axes := d.axes(len(shape))
	for _, a := range axes {
		if a >= int64(-len(shape)) && a < int64(len(shape)) && d.int(0, 9, "not one") > 0 {
			shape[(int(a)+len(shape))%len(shape)] = 1
		}
	}
	return binding([]*ir.Tensor{ints(axes...)}, symbols(max(len(shape)-len(axes), 1)), func(s []string) ir.Op {
		return op.BindSqueeze{Bound: op.Bound{Symbols: s}, Shape: d.dims(shape...)}
	})
}

func tryBindUnsqueeze(d *draw) trial {
	shape := d.shape(0, 3)
	rank := len(shape) + d.int(0, 2, "new")
	var axes []int64
	for _, a := range rapid.Permutation(upTo(rank)).Draw(d.T, "axes")[:rank-len(shape)] {
		axes = append(axes, int64(a-rank*d.int(0, 1, "from the end")))
	}
	return binding([]*ir.Tensor{ints(axes...)}, symbols(rank), func(s []string) ir.Op {
		return op.BindUnsqueeze{Bound: op.Bound{Symbols: s}, Shape: d.dims(shape...)}
	})
}

// upTo returns the integers from 0 to n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func tryConcat(d *draw) trial {
	t, shape := d.dtype(anyTypes), d.shape(1, 4)
	axis := d.int(0, len(shape)-1, "axis")
	c := trial{op: op.Concat{Axis: axis}, exact: true}
	for range d.int(1, 5, "operands") {
		shape = slices.Clone(shape)
		shape[axis] = d.extent()
		c.args = append(c.args, d.any(t, shape...))
	}
	return c
}

func tryCosineWindow(d *draw) trial {
	return trial{op: op.CosineWindow{DType: d.dtype(usualFloats), Size: d.dim(d.extent()), Periodic: d.flag("periodic"), A: 0.42, B: 0.5, C: pick(d, 0, 0.08)}}
}

func tryExpand(d *draw) trial {
	shape := d.shape(0, 4)
	return trial{op: op.Expand{Shape: d.dims(shape...)}, args: []*ir.Tensor{d.any(d.dtype(anyTypes), d.part(shape)...)}, exact: true}
}

func trySumTo(d *draw) trial {
	shape := d.shape(0, 4)
	return trial{op: op.SumTo{Shape: d.dims(d.part(shape)...)}, args: []*ir.Tensor{d.tensor(d.dtype(floatTypes), shape...)}, sums: true}
}

func tryEye(d *draw) trial {
	t := d.dtype(typesWhere(func(t ir.DType) bool { return t != ir.String }))
	return trial{op: op.Eye{DType: t, Rows: d.dim(d.extent()), Cols: d.dim(d.extent()), K: d.int(-6, 6, "k")}, exact: true}
}

func tryFill(d *draw) trial {
	return trial{op: op.Fill{Value: d.any(d.dtype(anyTypes)), Shape: d.dims(d.shape(0, 3)...)}, exact: true}
}

func tryCheckIndex(d *draw) trial {
	count := d.int(1, 5, "count")
	o := op.CheckIndex{Count: ir.Const(count), FromEnd: d.flag("from the end"), What: "token", Things: "rows"}
	return trial{op: o, args: []*ir.Tensor{d.indicesOf(count, d.shape(0, 2))}, exact: true}
}

func tryGather(d *draw) trial {
	shape := d.shape(1, 4)
	axis := d.int(0, len(shape)-1, "axis")
	return trial{op: op.Gather{Axis: axis}, args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...), d.indicesOf(shape[axis], d.shape(0, 2))}, exact: true}
}

// indicesOf is index of a shape that is empty where there is nothing to name.
func (d *draw) indicesOf(extent int, shape []int) *ir.Tensor {
	if extent == 0 {
		shape = append(shape, 0)
	}
	return d.index(extent, shape...)
}

// within draws a shape whose extents are at most those of another, but along an
// axis any; where the axis is empty it is empty there too.
func (d *draw) within(shape []int, axis int) []int {
	inner := slices.Clone(shape)
	for i, n := range shape {
		switch {
		case i != axis:
			inner[i] = d.int(0, n, "extent")
		case n > 0:
			inner[i] = d.extent()
		}
	}
	return inner
}

func tryGatherElements(d *draw) trial {
	shape := d.shape(1, 4)
	axis := d.int(0, len(shape)-1, "axis")
	return trial{op: op.GatherElements{Axis: axis}, args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...), d.index(shape[axis], d.within(shape, axis)...)}, exact: true}
}

// coordinates draws coordinates in some axes of a shape, from one on, and how many
// there are.
func (d *draw) coordinates(shape []int, from int) (axes int, indices *ir.Tensor) {
	axes = d.int(1, len(shape)-from, "coordinates")
	lead := append(slices.Clone(shape[:from]), d.shape(0, 2)...)
	if slices.Contains(shape[from:from+axes], 0) {
		lead = append(lead, 0)
	}
	indices = d.index(1, append(lead, axes)...)
	for i := range indices.Len() {
		if v := indices.Int(i); v >= -1 && v < 1 {
			n := shape[from+i%axes]
			indices.SetInt(i, int64(d.int(-n, n-1, "coordinate")))
		}
	}
	return axes, indices
}

func tryGatherND(d *draw) trial {
	shape := d.shape(1, 4)
	batch := d.int(0, len(shape)-1, "batch")
	_, indices := d.coordinates(shape, batch)
	return trial{op: op.GatherND{BatchDims: batch}, args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...), indices}, exact: true}
}

func tryMelWeightMatrix(d *draw) trial {
	number := func(v float64) *ir.Tensor { return ir.Scalar(ir.F64, v) }
	return trial{
		op:   op.MelWeightMatrix{DType: d.dtype(usualFloats), Bins: d.dim(d.int(0, 5, "bins")), Length: d.dim(d.int(0, 20, "length"))},
		args: []*ir.Tensor{number(pick[float64](d, 8000, 100)), number(pick[float64](d, 0, 30)), number(pick[float64](d, 50, 4000))},
	}
}

func tryMultinomial(d *draw) trial {
	o := op.Multinomial{Samples: d.int(0, 5, "samples"), DType: d.dtype(indexTypes), Seed: 7}
	return trial{op: o, args: []*ir.Tensor{d.tensor(d.dtype(usualFloats), d.extent(), max(d.extent(), 1))}}
}

func tryOneHot(d *draw) trial {
	shape, depth := d.shape(0, 3), d.extent()
	o := op.OneHot{Axis: d.int(0, len(shape), "axis"), Depth: d.dim(depth)}
	return trial{op: o, args: []*ir.Tensor{d.index(depth+1, shape...), d.any(d.dtype(anyTypes), 2)}, exact: true}
}

func tryPad(d *draw) trial {
	shape := d.shape(0, 3)
	o := op.Pad{Mode: pick(d, "constant", "edge", "reflect", "wrap")}
	x := d.any(d.dtype(anyTypes), shape...)
	for _, n := range shape {
		most := 4
		if n == 0 && o.Mode != "constant" {
			most = 0
		}
		o.Before, o.After = append(o.Before, d.dim(d.int(0, most, "before"))), append(o.After, d.dim(d.int(0, most, "after")))
	}
	args := []*ir.Tensor{x}
	if o.Mode == "constant" && d.flag("value") {
		args = append(args, d.any(x.DType, pick(d, []int{}, []int{1})...))
	}
	return trial{op: o, args: args, exact: true}
}

func tryPadIndex(d *draw) trial {
	o := op.PadIndex{Mode: pick(d, "edge", "reflect", "wrap"), Extent: d.dim(d.extent()), Before: d.dim(d.int(0, 4, "before")), After: d.dim(d.int(0, 4, "after"))}
	return trial{op: o}
}

func tryRange(d *draw) trial {
	t := d.dtype(usualNumbers)
	return trial{op: op.Range{Count: d.dim(d.extent())}, args: []*ir.Tensor{d.tensor(t), d.tensor(t)}}
}

// reshaped draws another shape of as many elements.
func (d *draw) reshaped(n int) []int {
	var shape []int
	for _, p := range []int{2, 3, 5, 7, 17} {
		for n > 0 && n%p == 0 {
			n /= p
			if len(shape) > 0 && d.flag("join") {
				shape[len(shape)-1] *= p
			} else {
				shape = append(shape, p)
			}
		}
	}
	if n != 1 || d.flag("one") {
		shape = append(shape, n)
	}
	return rapid.Permutation(shape).Draw(d.T, "axes")
}

func tryReshape(d *draw) trial {
	shape := d.shape(0, 3)
	return trial{op: op.Reshape{Shape: d.dims(d.reshaped(product(shape...))...)}, args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...)}, exact: true}
}

var (
	resizeCoordinates = []string{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}
	resizeRoundings   = []string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"}
)

func tryResize(d *draw) trial {
	shape := d.full(1, 4)
	o := op.Resize{
		Mode: pick(d, "nearest", "linear", "cubic"), Coordinates: pick(d, resizeCoordinates...), Rounding: pick(d, resizeRoundings...),
		CubicA: pick(d, -0.75, -0.5), ExcludeOutside: d.flag("exclude"), AntiAlias: d.flag("anti-alias"), Extrapolation: pick[float64](d, 0, 3),
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
			o.ROI[i], o.ROI[len(shape)+i] = pick(d, 0, 0.25, -0.5), pick(d, 1, 0.75, 1.5)
		}
	}
	to := slices.Clone(shape)
	o.Scales = make([]float64, len(shape))
	for i := range to {
		if d.flag("resized") {
			to[i] = d.extent()
		}
		if d.flag("scaled") {
			o.Scales[i] = float64(to[i]) / float64(shape[i])
		}
	}
	o.Shape = d.dims(to...)
	x := d.tensor(d.dtype(types), shape...)
	if x.DType.IsInt() && o.Mode != "nearest" { // sums of others are not exact in f32
		x = d.lengths(x.DType, x.Len(), 0, 99).Reshape(shape...)
	}
	return trial{op: o, args: []*ir.Tensor{x}, sums: true, single: true, truncates: true, exact: o.Mode == "nearest"}
}

// table draws how an axis is resized.
func (d *draw) table() (op.ResizeTable, []*ir.Tensor) {
	t := op.ResizeTable{
		Mode: pick(d, "linear", "cubic"), Coordinates: pick(d, resizeCoordinates...), Taps: ir.Const(2), CubicA: -0.75,
		In: d.dim(max(d.extent(), 1)), Out: d.dim(d.extent()), Scale: pick(d, 0, 2, 0.5), Start: 0.25, End: 0.75, ExcludeOutside: d.flag("exclude"),
	}
	if t.Mode == "cubic" {
		t.Taps = ir.Const(4)
	}
	if d.flag("nearest") {
		t.Mode, t.Rounding, t.Taps, t.ExcludeOutside = "nearest", pick(d, resizeRoundings...), ir.Const(1), false
	}
	if d.flag("bound") {
		numbers := ir.FloatTensor(ir.F64, t.Scale, t.Start, t.End)
		t.Scale, t.Start, t.End = 0, 0, 0
		return t, []*ir.Tensor{numbers}
	}
	return t, nil
}

func tryResizeTable(d *draw) trial {
	t, args := d.table()
	return trial{op: t, args: args}
}

func tryResizeTaps(d *draw) trial {
	t, args := d.table()
	t.AntiAlias = t.Mode != "nearest"
	return binding(args, symbols(1), func(s []string) ir.Op { return op.ResizeTaps{Symbol: s[0], Table: t} })
}

// places draws n indices of an axis, from the front.
func (d *draw) places(extent, n int) *ir.Tensor { return d.lengths(ir.I32, n, 0, extent-1) }

func tryResizeAxis(d *draw) trial {
	shape, out, taps := d.full(3, 3), d.extent(), d.int(1, 4, "taps")
	return trial{
		op: op.ResizeAxis{Taps: d.dim(taps), Out: d.dim(out)}, sums: true,
		args: []*ir.Tensor{d.tensor(d.dtype([]ir.DType{ir.F32, ir.F64}), shape...), d.places(shape[1], out*taps), d.tensor(ir.F32, out*taps)},
	}
}

func tryResizeLinear(d *draw) trial {
	shape, h, w := d.full(4, 4), 2*d.extent(), 2*d.extent()
	return trial{
		op: op.ResizeLinear{}, sums: true,
		args: []*ir.Tensor{
			d.tensor(d.dtype([]ir.DType{ir.F32, ir.F64}), shape...),
			d.places(shape[1], h), d.tensor(ir.F32, h), d.places(shape[2], w), d.tensor(ir.F32, w),
		},
	}
}

func tryResizeNearest(d *draw) trial {
	shape := d.full(4, 4)
	return trial{
		op: op.ResizeNearest{}, exact: true,
		args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...), d.places(shape[1], d.extent()), d.places(shape[2], d.extent())},
	}
}

func tryReverseSequence(d *draw) trial {
	shape, o := d.shape(2, 4), op.ReverseSequence{BatchFirst: d.flag("batch first")}
	time, batch := shape[0], shape[1]
	if o.BatchFirst {
		time, batch = batch, time
	}
	lens := d.lengths(ir.I64, batch, 0, time)
	if batch > 0 && d.int(0, 15, "outside") == 0 {
		lens.SetInt(0, int64(pick(d, -1, time+1)))
	}
	return trial{op: o, args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...), lens}, exact: true}
}

// reduction draws a reduction of a scatter, and element types it is defined for.
func (d *draw) reduction() (string, []ir.DType) {
	switch r := pick(d, "", "add", "mul", "max", "min"); r {
	case "":
		return r, anyTypes
	case "mul": // rounded with each factor, which narrow floats are too coarse for
		return r, slices.Concat([]ir.DType{ir.F32, ir.F64}, intTypes)
	default:
		return r, usualNumbers
	}
}

func tryScatterElements(d *draw) trial {
	reduction, types := d.reduction()
	t, shape := d.dtype(types), d.shape(1, 4)
	axis := d.int(0, len(shape)-1, "axis")
	indices := d.index(shape[axis], d.within(shape, axis)...)
	return trial{
		op: op.ScatterElements{Axis: axis, Reduction: reduction}, sums: true, exact: reduction == "",
		args: []*ir.Tensor{d.any(t, shape...), indices, d.tensor(t, indices.Shape...)},
	}
}

func tryScatterND(d *draw) trial {
	reduction, types := d.reduction()
	t, shape := d.dtype(types), d.shape(1, 4)
	axes, indices := d.coordinates(shape, 0)
	updates := append(slices.Clone(indices.Shape[:indices.Rank()-1]), shape[axes:]...)
	return trial{op: op.ScatterND{Reduction: reduction}, args: []*ir.Tensor{d.any(t, shape...), indices, d.tensor(t, updates...)}, sums: true, exact: reduction == ""}
}

func trySelectBoxes(d *draw) trial {
	batches, classes, n := d.int(0, 2, "batches"), d.int(0, 3, "classes"), d.extent()
	args := []*ir.Tensor{
		d.tensor(ir.F32, batches, n, 4), d.any(ir.F32, batches, classes, n),
		ints(int64(d.int(0, 4, "most"))), ir.FloatTensor(ir.F32, pick(d, 0, 0.3, 0.5, 1)),
	}
	if d.flag("threshold") {
		args = append(args, ir.FloatTensor(ir.F32, pick[float64](d, 0, -2, 3)))
	}
	return trial{op: op.SelectBoxes{Center: d.flag("center")}, args: args}
}

func trySlice(d *draw) trial {
	shape := d.shape(0, 4)
	o := op.Slice{}
	for _, n := range shape {
		step, count, start := pick(d, 1, 1, 2, -1, -2, 3), 0, 0
		if n > 0 {
			start = d.int(0, n-1, "start")
			room := n - 1 - start
			if step < 0 {
				room = start
			}
			count = d.int(0, room/max(step, -step)+1, "count")
		}
		o.Starts, o.Shape, o.Steps = append(o.Starts, d.dim(start)), append(o.Shape, d.dim(count)), append(o.Steps, step)
	}
	return trial{op: o, args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...)}, exact: true}
}

// rows draws a matrix some of whose rows are equal.
func (d *draw) rows() *ir.Tensor {
	t := d.dtype(typesWhere(func(t ir.DType) bool {
		return t == ir.F32 || t == ir.F64 || t == ir.String || t.IsInt() && t.Bits() >= 8
	}))
	x := d.any(t, d.extent(), d.int(0, 3, "columns"))
	for i := range x.Len() {
		if d.int(0, 2, "equal") > 0 {
			x.Copy(i, x, i%x.Shape[1])
		}
	}
	return x
}

func tryStridedCopy(d *draw) trial {
	from, to := d.full(0, 3), d.shape(0, 4)
	o := op.StridedCopy{Shape: d.dims(to...), Strides: make([]ir.Dim, len(to))}
	lo, hi := 0, product(from...)-1 // where the next axis may begin
	at := d.int(lo, hi, "offset")
	for i, n := range to {
		stride := 0
		if n > 1 {
			stride = d.int(-(at-lo)/(n-1), (hi-at)/(n-1), "stride")
		}
		o.Strides[i] = ir.Const(stride)
		if stride < 0 {
			lo -= stride * (n - 1)
		} else {
			hi -= stride * (max(n, 1) - 1)
		}
	}
	o.Offset = ir.Const(at)
	return trial{op: o, args: []*ir.Tensor{d.any(d.dtype(anyTypes), from...)}, exact: true}
}

func tryTile(d *draw) trial {
	shape := d.shape(0, 3)
	return trial{op: op.Tile{Repeats: d.dims(d.ints(len(shape), 0, 3, "repeats")...)}, args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...)}, exact: true}
}

func tryTopK(d *draw) trial {
	shape := d.shape(1, 4)
	axis := d.int(0, len(shape)-1, "axis")
	o := op.TopK{Axis: axis, K: d.dim(d.int(0, shape[axis], "k")), Smallest: d.flag("smallest")}
	return trial{op: o, args: []*ir.Tensor{d.any(d.dtype(numberTypes), shape...)}, exact: true}
}

func tryTranspose(d *draw) trial {
	shape := d.shape(0, 5)
	o := op.Transpose{Perm: rapid.Permutation(upTo(len(shape))).Draw(d.T, "perm")}
	return trial{op: o, args: []*ir.Tensor{d.any(d.dtype(anyTypes), shape...)}, exact: true}
}

func tryTrilu(d *draw) trial {
	args := []*ir.Tensor{d.any(d.dtype(anyTypes), d.shape(2, 4)...)}
	if d.flag("k") {
		args = append(args, ir.Scalar(ir.I64, float64(d.int(-6, 6, "diagonal"))))
	}
	return trial{op: op.Trilu{Upper: d.flag("upper")}, args: args, exact: true}
}

func tryUnique(d *draw) trial {
	o := op.Unique{Sorted: d.flag("sorted"), Count: "count"}
	return trial{op: o, args: []*ir.Tensor{d.rows()}, build: func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value {
		return b.Nodes(o, args[0], b.Node(op.SortRows{}, args[0]))
	}}
}
