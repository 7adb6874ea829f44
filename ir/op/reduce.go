package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Reduction is the function that a [Reduce] computes.
type Reduction string

// The reductions, with ONNX's names. Logarithms are natural.
const (
	ReduceSum       Reduction = "sum"         // Σx
	ReduceMean      Reduction = "mean"        // Σx / n; integers truncate toward zero
	ReduceMax       Reduction = "max"         // maximum; NaN if an element is NaN
	ReduceMin       Reduction = "min"         // minimum; NaN if an element is NaN
	ReduceProd      Reduction = "prod"        // Πx
	ReduceSumSquare Reduction = "sum_square"  // Σx²
	ReduceL1        Reduction = "l1"          // Σ|x|
	ReduceL2        Reduction = "l2"          // √Σx²
	ReduceLogSum    Reduction = "log_sum"     // log Σx
	ReduceLogSumExp Reduction = "log_sum_exp" // log Σe^x
)

// Reduce is the reduction Kind along Axes (ONNX ReduceSum and the like). Axes count from the start and are in
// ascending order. With KeepDims their extents become 1; otherwise they are removed. Elements are numbers; maximum
// and minimum also accept bools. Integers wrap. Square roots and logarithms of integers truncate. Without elements,
// a sum is 0, a product 1, a maximum −∞ or the smallest integer, and a minimum +∞ or the largest integer. The mean
// without elements is NaN, or 0 for integers.
type Reduce struct {
	Kind     Reduction
	Axes     []int
	KeepDims bool
}

var reductions = map[Reduction]struct {
	kernel string
	float  func([]float64) float64
	// Integers use these functions, or are reduced as floats if they are nil.
	signed   func([]int64) int64
	unsigned func([]uint64) uint64
	logical  func([]bool) bool // nil if bools are not supported
	// A reduction of floats along several runs of axes starts with first, continues with next, and ends
	// with last.
	first, next, last Reduction
}{
	ReduceSum: {
		"ReduceSum", sum[float64], sum[int64], sum[uint64], nil,
		ReduceSum, ReduceSum, ReduceSum,
	},
	ReduceMean: {
		"ReduceMean", func(v []float64) float64 { return sum(v) / float64(len(v)) }, meanOf[int64], meanOf[uint64], nil,
		ReduceMean, ReduceMean, ReduceMean,
	},
	ReduceMax: {
		"ReduceMax", most(greater[float64], math.Inf(-1)), most(greater[int64], math.MinInt64), most(greater[uint64], 0),
		func(v []bool) bool { return slices.Contains(v, true) },
		ReduceMax, ReduceMax, ReduceMax,
	},
	ReduceMin: {
		"ReduceMin", most(lesser[float64], math.Inf(1)), most(lesser[int64], math.MaxInt64), most(lesser[uint64], math.MaxUint64),
		func(v []bool) bool { return !slices.Contains(v, false) },
		ReduceMin, ReduceMin, ReduceMin,
	},
	ReduceProd: {
		"ReduceProd", product[float64], product[int64], product[uint64], nil,
		ReduceProd, ReduceProd, ReduceProd,
	},
	ReduceSumSquare: {
		"ReduceSumSquare", squares[float64], squares[int64], squares[uint64], nil,
		ReduceSumSquare, ReduceSum, ReduceSum,
	},
	ReduceL1: {
		"ReduceL1", magnitudes[float64], magnitudes[int64], sum[uint64], nil,
		ReduceL1, ReduceSum, ReduceSum,
	},
	ReduceL2: {
		"ReduceL2", norm, nil, nil, nil,
		ReduceL2, ReduceL2, ReduceL2,
	},
	ReduceLogSum: {
		"ReduceLogSum", logSum, nil, nil, nil,
		ReduceSum, ReduceSum, ReduceLogSum,
	},
	ReduceLogSumExp: {
		"ReduceLogSumExp", logSumExp, nil, nil, nil,
		ReduceLogSumExp, ReduceLogSumExp, ReduceLogSumExp,
	},
}

func sum[T real](v []T) (s T) {
	for _, x := range v {
		s += x
	}
	return s
}

func product[T real](v []T) T {
	p := T(1)
	for _, x := range v {
		p *= x
	}
	return p
}

func squares[T real](v []T) (s T) {
	for _, x := range v {
		s += T(x * x)
	}
	return s
}

func magnitudes[T real](v []T) (s T) {
	for _, x := range v {
		if x < 0 {
			x = -x
		}
		s += x
	}
	return s
}

func meanOf[T int64 | uint64](v []T) T {
	if len(v) == 0 {
		return 0
	}
	return sum(v) / T(len(v))
}

func norm(v []float64) float64 { return math.Sqrt(squares(v)) }

func logSum(v []float64) float64 { return portable.Log(sum(v)) }

func logSumExp(v []float64) float64 {
	top := most(greater[float64], math.Inf(-1))(v)
	if math.IsInf(top, 0) {
		return top
	}
	var s float64
	for _, x := range v {
		s += portable.Exp(x - top)
	}
	return top + portable.Log(s)
}

// most returns a function that reduces a list with pick, beginning with start. pick returns one of its arguments.
// The result for an empty list is start.
func most[T real](pick func(a, b T) T, start T) func([]T) T {
	return func(v []T) T {
		m := start
		for _, x := range v {
			m = pick(m, x)
		}
		return m
	}
}

// Infer returns the operand's type, but Axes are removed or, with KeepDims, get extent 1.
func (op Reduce) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	kind, ok := reductions[op.Kind]
	if !ok {
		return nil, fmt.Errorf("unknown reduction %q", op.Kind)
	}
	x := in[0]
	if !(x.DType == ir.Bool && kind.logical != nil) {
		if err := checkDomain(in, numbers{}); err != nil {
			return nil, err
		}
	}
	if err := checkAxes(op.Axes, x.Rank()); err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(x.DType, reducedShape(x.Shape, op.Axes, op.KeepDims)...)}, nil
}

func checkAxes(axes []int, rank int) error {
	for i, a := range axes {
		if a < 0 || a >= rank || i > 0 && a <= axes[i-1] {
			return fmt.Errorf("axes %v do not ascend within rank %d", axes, rank)
		}
	}
	return nil
}

func reducedShape(shape []dim.Dim, axes []int, keep bool) []dim.Dim {
	out := make([]dim.Dim, 0, len(shape))
	for i, d := range shape {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case keep:
			out = append(out, dim.Const(1))
		}
	}
	return out
}

// Eval returns the reduction of the elements along Axes. It computes floats in float64.
func (op Reduce) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, kind := in[0], reductions[op.Kind]
	keep, _ := dim.Ints(reducedShape(dim.Consts(x.Shape...), op.Axes, true))
	shape, _ := dim.Ints(reducedShape(dim.Consts(x.Shape...), op.Axes, op.KeepDims))
	y := ir.NewTensor(x.DType, keep...)
	groups := groupsOf(x.Shape, keep, y.Len())
	for i, group := range groups {
		switch class := x.DType.Class(); {
		case class == ir.Float:
			y.SetFloat(i, kind.float(pick(group, x.Float)))
		case class == ir.Logical:
			y.SetBool(i, kind.logical(pick(group, x.Bool)))
		case kind.signed == nil:
			y.SetInt(i, truncate(x.DType, kind.float(pick(group, x.Number))))
		case class == ir.Signed:
			y.SetInt(i, kind.signed(pick(group, x.Int)))
		default:
			y.SetInt(i, int64(kind.unsigned(pick(group, func(j int) uint64 { return uint64(x.Int(j)) }))))
		}
		if len(group) == 0 && x.DType.IsInt() && (op.Kind == ReduceMax || op.Kind == ReduceMin) {
			lo, hi := intRange(x.DType)
			y.SetInt(i, map[Reduction]int64{ReduceMax: lo, ReduceMin: int64(hi)}[op.Kind])
		}
	}
	return []*ir.Tensor{y.Reshape(shape...)}, nil
}

// groupsOf describes a reduction of a tensor of shape `shape` to shape `reduced`, which has n elements. For each
// element of the result, it returns the row-major indices of the elements that are combined.
func groupsOf(shape, reduced []int, n int) [][]int {
	groups := make([][]int, n)
	walk := newIndex(shape, reduced)
	total := 1
	for _, d := range shape {
		total *= d
	}
	for i := range total {
		groups[walk.Offset] = append(groups[walk.Offset], i)
		walk.Next()
	}
	return groups
}

func pick[T any](numbers []int, at func(int) T) []T {
	out := make([]T, len(numbers))
	for i, n := range numbers {
		out[i] = at(n)
	}
	return out
}

// foldElems maps each reduction that can be applied to expressions to the function that combines two elements.
var foldElems = map[Reduction]func(a, b ir.Ratio) (ir.Ratio, bool){
	ReduceProd: timesRatio,
	ReduceSum:  overCommon(dim.Dim.Add),
	ReduceMax:  overCommon(dim.Dim.Max),
	ReduceMin:  overCommon(dim.Dim.Min),
}

func overCommon(f func(a, b dim.Dim) dim.Dim) func(a, b ir.Ratio) (ir.Ratio, bool) {
	return func(a, b ir.Ratio) (ir.Ratio, bool) {
		x, y, den := common(a, b)
		return fraction(f(x, y), den)
	}
}

// InferElems returns the elements of the result as expressions, for a sum, product, maximum or minimum. It returns
// nil for other reductions.
func (op Reduce) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	shape, ok := in[0].Type.Static()
	f := foldElems[op.Kind]
	if !ok || f == nil {
		return nil
	}
	keep, _ := dim.Ints(reducedShape(in[0].Type.Shape, op.Axes, true))
	n, _ := out.Elems().Int()
	elems := make([]ir.Ratio, n)
	for i, group := range groupsOf(shape, keep, n) {
		if len(group) == 0 {
			return nil
		}
		elems[i] = in[0].Elems[group[0]]
		for _, j := range group[1:] {
			if elems[i], ok = f(elems[i], in[0].Elems[j]); !ok {
				return nil
			}
		}
		if !holds(out.DType, elems[i]) {
			return nil
		}
	}
	return elems
}

// Flops counts one operation for each element of the operand.
func (Reduce) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems() }

// Grad returns dy, repeated along the axes, times a factor:
//   - 1 for a sum, and 1/n for a mean
//   - 2x for a sum of squares, and sign x for a sum of magnitudes
//   - x/y for an L2 norm, and 0 where y is 0
//   - e^(−y) for the logarithm of a sum, and e^(x − y) for the logarithm of a sum of exponentials
//   - the product of the other elements for a product
//
// A maximum or minimum divides dy equally among the elements that equal it.
func (op Reduce) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, x := calculus{b}, n.Arg(0)
	kept := reducedShape(x.Type.Shape, op.Axes, true)
	y, g := ReshapeTo(b, n.Results[0], kept...), ReshapeTo(b, dy[0], kept...)
	switch op.Kind {
	case ReduceMean:
		count := dim.Const(1)
		for _, a := range op.Axes {
			count = count.Mul(x.Type.Shape[a])
		}
		g = c.div(g, c.extent(x, count))
	case ReduceSumSquare:
		g = c.mul(g, c.times(x, 2))
	case ReduceL1:
		g = c.mul(g, c.Node(Sign{}, x))
	case ReduceL2:
		zero := c.Node(Equal{}, y, c.num(y, 0))
		g = c.Node(Where{}, zero, c.num(x, 0), c.mul(g, c.div(x, y)))
	case ReduceLogSum:
		g = c.mul(g, c.Node(Exp{}, c.neg(y)))
	case ReduceLogSumExp:
		g = c.mul(g, c.Node(Exp{}, c.sub(x, y)))
	case ReduceMax, ReduceMin:
		equal := ConvertTo(b, c.Node(Equal{}, x, y), x.Type.DType)
		g = c.mul(equal, c.div(g, c.sum(equal, true, op.Axes...)))
	case ReduceProd:
		g = c.mul(g, op.others(b, x))
	}
	return []*ir.Value{ExpandTo(b, g, x.Type.Shape...)}
}

// others appends, for each element, the product of all other elements that are reduced together with it.
func (op Reduce) others(b *ir.Builder, x *ir.Value) *ir.Value {
	kept := otherAxes(x.Type.Rank(), op.Axes...)
	perm := slices.Concat(kept, op.Axes)
	moved := TransposeBy(b, x, perm...)
	flat := make([]dim.Dim, 0, len(kept)+1)
	for _, a := range kept {
		flat = append(flat, x.Type.Shape[a])
	}
	flat = append(flat, dim.Product(moved.Type.Shape[len(kept):]...))
	line := ReshapeTo(b, moved, flat...)
	before := b.Node(CumProd{Axis: len(kept), Exclusive: true}, line)
	after := b.Node(CumProd{Axis: len(kept), Exclusive: true, Reverse: true}, line)
	return TransposeBy(b, ReshapeTo(b, b.Node(Mul{}, before, after), moved.Type.Shape...), inversePerm(perm)...)
}

// Lower splits a reduction along several runs of adjacent axes, because a kernel reduces along one run only. The new
// nodes reduce along one run each. A mean or an L2 norm of integers would be truncated after each run, so their axes
// are transposed to the end instead, and form one run. Logarithms of integers are computed in f64.
func (op Reduce) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, typ := n.Arg(0), n.Results[0].Type
	if d := typ.DType; d.IsInt() && wide(d) != d {
		y := b.Node(op, ConvertTo(b, x, wide(d)))
		least, greatest := intRange(d) // for an empty group, not the extreme of the wider type
		switch op.Kind {
		case ReduceMax:
			y = b.Node(Max{}, y, b.Scalar(wide(d), float64(least)))
		case ReduceMin:
			y = b.Node(Min{}, y, b.Scalar(wide(d), float64(greatest)))
		}
		return []*ir.Value{ConvertTo(b, y, d)}
	}
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	logarithm := op.Kind == ReduceLogSum || op.Kind == ReduceLogSumExp
	if logarithm && !x.Type.DType.IsFloat() {
		return []*ir.Value{ConvertTo(b, b.Node(op, ConvertTo(b, x, ir.F64)), x.Type.DType)}
	}
	runs := AxisRuns(x.Type.Shape, op.Axes)
	if len(runs) <= 1 {
		return nil
	}
	if truncates := op.Kind == ReduceMean || op.Kind == ReduceL2; truncates && !x.Type.DType.IsFloat() {
		perm := axesLast(x.Type.Rank(), op.Axes)
		axes := make([]int, len(op.Axes))
		for i := range axes {
			axes[i] = x.Type.Rank() - len(axes) + i
		}
		y := b.Node(Reduce{Kind: op.Kind, Axes: axes}, TransposeBy(b, x, perm...))
		return []*ir.Value{ReshapeTo(b, y, typ.Shape...)}
	}
	kind := reductions[op.Kind]
	for i, axes := range slices.Backward(runs) {
		step := Reduce{Kind: kind.next, Axes: axes, KeepDims: true}
		switch i {
		case len(runs) - 1:
			step.Kind = kind.first
		case 0:
			step.Kind = kind.last
		}
		x = b.Node(step, x)
	}
	return []*ir.Value{ReshapeTo(b, x, typ.Shape...)}
}

// AxisRuns groups axes into runs of adjacent axes. Axes of extent 1 that are not in axes do not interrupt a run.
func AxisRuns(shape []dim.Dim, axes []int) [][]int {
	var runs [][]int
	for i, a := range axes {
		if i > 0 && dim.Product(shape[axes[i-1]+1:a]...).Equal(dim.Const(1)) {
			runs[len(runs)-1] = append(runs[len(runs)-1], a)
			continue
		}
		runs = append(runs, []int{a})
	}
	return runs
}

// axesLast returns the permutation that moves axes to the end.
func axesLast(rank int, axes []int) []int {
	perm := make([]int, 0, rank)
	for i := range rank {
		if !slices.Contains(axes, i) {
			perm = append(perm, i)
		}
	}
	return append(perm, axes...)
}

// importReduce returns the import function of a reduction. Before opset `since` the axes are an attribute, and from
// then on an optional operand. An empty list of axes means all axes, with one exception: from opset `since` on, it
// means no axes if the attribute noop_with_empty_axes is set.
func importReduce(kind Reduction, since int) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		b, x := c.Builder(), c.Arg(0)
		none := c.Opset() >= since && c.Int("noop_with_empty_axes", 0) != 0
		keep := c.Int("keepdims", 1) != 0
		if c.Opset() >= since && !isKnown(c.Arg(1)) {
			y := reduceMarked(b, kind, x, markedAxes(b, c.Arg(1), x.Type.Shape, !none))
			if keep {
				return []*ir.Value{y}, nil
			}
			left, err := rankLess(c, x.Type.Rank(), 1)
			if err != nil {
				return nil, err
			}
			return []*ir.Value{squeezeNamed(b, y, c.Arg(1), left)}, nil
		}
		axes, err := attrOrInts(c, since, "axes", 1)
		if err != nil {
			return nil, err
		}
		if axes, err = axesFromFront(axes, x.Type.Rank()); err != nil {
			return nil, err
		}
		if len(axes) == 0 && !none {
			axes = AllAxes(x.Type.Rank())
		}
		slices.Sort(axes)
		return []*ir.Value{b.Node(Reduce{Kind: kind, Axes: axes, KeepDims: keep}, x)}, nil
	}
}

// reduceMarked reduces x along axes that are known only at run time, as the operand of a [BindAxes]. split are the
// symbols that the BindAxes binds, two for each axis of x. reduceMarked reshapes each axis to two axes with these
// extents, and reduces along the second: an axis of extent d becomes [1,d] if it is to be reduced, and [d,1]
// otherwise.
func reduceMarked(b *ir.Builder, kind Reduction, x *ir.Value, split []dim.Dim) *ir.Value {
	second := make([]int, x.Type.Rank())
	for i := range second {
		second[i] = 2*i + 1
	}
	return b.Node(Reduce{Kind: kind, Axes: second}, b.Node(Reshape{Shape: split}, x))
}

// AllAxes returns the numbers from 0 to rank − 1.
func AllAxes(rank int) []int {
	axes := make([]int, rank)
	for i := range axes {
		axes[i] = i
	}
	return axes
}
