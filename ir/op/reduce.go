package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Reduction is what a [Reduce] computes of the elements that it reduces.
type Reduction string

// The reductions, named for ONNX's. The logarithms are natural.
const (
	ReduceSum       Reduction = "sum"         // Σx
	ReduceMean      Reduction = "mean"        // Σx / n; of integers truncated toward zero
	ReduceMax       Reduction = "max"         // the greatest; NaN where there is one
	ReduceMin       Reduction = "min"         // the least; NaN where there is one
	ReduceProd      Reduction = "prod"        // Πx
	ReduceSumSquare Reduction = "sum_square"  // Σx²
	ReduceL1        Reduction = "l1"          // Σ|x|
	ReduceL2        Reduction = "l2"          // √Σx²
	ReduceLogSum    Reduction = "log_sum"     // log Σx
	ReduceLogSumExp Reduction = "log_sum_exp" // log Σe^x
)

// Reduce reduces the elements along Axes, which are counted from the front and
// ascend, to one (ONNX ReduceSum and its like). Their extents become 1, or go
// unless KeepDims. It takes numbers; the maximum and minimum take booleans too.
// Integers wrap; the results of square roots and logarithms of integers are
// truncated. Of no elements a sum is 0, a product 1, a maximum −∞ or the least
// integer, a minimum +∞ or the greatest, a mean NaN or 0.
type Reduce struct {
	Kind     Reduction
	Axes     []int
	KeepDims bool
}

// reductions tells for each kind how it is computed and called.
var reductions = map[Reduction]struct {
	kernel string
	float  func([]float64) float64
	// Integers are reduced by these, or as floats where there are none.
	signed   func([]int64) int64
	unsigned func([]uint64) uint64
	logical  func([]bool) bool // nil where booleans are not reduced
	// A reduction of floats along several runs of axes begins with first,
	// goes on with next, and ends with last.
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

// most returns the function that picks the most extreme of values, or none.
func most[T real](pick func(a, b T) T, none T) func([]T) T {
	return func(v []T) T {
		m := none
		for _, x := range v {
			m = pick(m, x)
		}
		return m
	}
}

// Infer drops or shrinks the axes.
func (op Reduce) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
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

// checkAxes checks that axes ascend and are within a rank.
func checkAxes(axes []int, rank int) error {
	for i, a := range axes {
		if a < 0 || a >= rank || i > 0 && a <= axes[i-1] {
			return fmt.Errorf("axes %v do not ascend within rank %d", axes, rank)
		}
	}
	return nil
}

// reducedShape returns shape with the extents of axes set to 1, or without them.
func reducedShape(shape []ir.Dim, axes []int, keep bool) []ir.Dim {
	out := make([]ir.Dim, 0, len(shape))
	for i, d := range shape {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case keep:
			out = append(out, ir.Const(1))
		}
	}
	return out
}

// Eval reduces.
func (op Reduce) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, kind := in[0], reductions[op.Kind]
	keep, _ := ir.Ints(reducedShape(ir.Dims(x.Shape...), op.Axes, true))
	shape, _ := ir.Ints(reducedShape(ir.Dims(x.Shape...), op.Axes, op.KeepDims))
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

// groupsOf returns, for each of the n elements of shape keep, the numbers of the
// elements of shape that are reduced to it.
func groupsOf(shape, keep []int, n int) [][]int {
	groups := make([][]int, n)
	walk := newIndex(shape, keep)
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

// pick returns the elements with these numbers.
func pick[T any](numbers []int, at func(int) T) []T {
	out := make([]T, len(numbers))
	for i, n := range numbers {
		out[i] = at(n)
	}
	return out
}

// foldElems are the reductions of expressions.
var foldElems = map[Reduction]func(a, b ir.Ratio) (ir.Ratio, bool){
	ReduceProd: timesRatio,
	ReduceSum:  overCommon(ir.Dim.Add),
	ReduceMax:  overCommon(ir.Dim.Max),
	ReduceMin:  overCommon(ir.Dim.Min),
}

func overCommon(f func(a, b ir.Dim) ir.Dim) func(a, b ir.Ratio) (ir.Ratio, bool) {
	return func(a, b ir.Ratio) (ir.Ratio, bool) {
		x, y, den := common(a, b)
		return fraction(f(x, y), den)
	}
}

// InferElems reduces expressions by sum, product, maximum or minimum.
func (op Reduce) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	shape, ok := in[0].Type.Static()
	f := foldElems[op.Kind]
	if !ok || f == nil {
		return nil
	}
	keep, _ := ir.Ints(reducedShape(in[0].Type.Shape, op.Axes, true))
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
func (Reduce) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems() }

// Grad repeats the result's along the axes, g, times what follows from the kind: 1 for a
// sum, 1/n for a mean, 2x for a sum of squares, sign x for one of magnitudes, x/y for
// its root, 0 where that is, e^(−y) for the logarithm of a sum and e^(x − y) of one of
// exponentials; a maximum's or minimum's is shared by the elements that are equal to
// it; a product's is times the product of the others.
func (op Reduce) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	c, x := calculus{b}, n.Arg(0)
	kept := reducedShape(x.Type.Shape, op.Axes, true)
	y, g := reshape(b, n.Results[0], kept...), reshape(b, of[0], kept...)
	switch op.Kind {
	case ReduceMean:
		count := ir.Const(1)
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
		equal := convert(b, c.Node(Equal{}, x, y), x.Type.DType)
		g = c.mul(equal, c.div(g, c.sum(equal, true, op.Axes...)))
	case ReduceProd:
		g = c.mul(g, op.others(b, x))
	}
	return []*ir.Value{expand(b, g, x.Type.Shape...)}
}

// others appends, for each element, the product of the others that it is reduced
// with.
func (op Reduce) others(b *ir.Builder, x *ir.Value) *ir.Value {
	kept := otherAxes(x.Type.Rank(), op.Axes...)
	perm := slices.Concat(kept, op.Axes)
	moved := transpose(b, x, perm...)
	flat := make([]ir.Dim, 0, len(kept)+1)
	for _, a := range kept {
		flat = append(flat, x.Type.Shape[a])
	}
	flat = append(flat, ir.Product(moved.Type.Shape[len(kept):]...))
	line := reshape(b, moved, flat...)
	before := b.Node(CumProd{Axis: len(kept), Exclusive: true}, line)
	after := b.Node(CumProd{Axis: len(kept), Exclusive: true, Reverse: true}, line)
	return transpose(b, reshape(b, b.Node(Mul{}, before, after), moved.Type.Shape...), inversePerm(perm)...)
}

// Lower makes the axes neighbours, which the kernels need. Floats are reduced
// along one run of neighbouring axes after the other; integers whose result is
// truncated are transposed. Logarithms of integers are taken in f64.
func (op Reduce) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, typ := n.Arg(0), n.Results[0].Type
	if d := typ.DType; d.IsInt() && wide(d) != d {
		y := b.Node(op, convert(b, x, wide(d)))
		least, greatest := intRange(d) // which nothing has, not the wider type's
		switch op.Kind {
		case ReduceMax:
			y = b.Node(Max{}, y, b.Scalar(wide(d), float64(least)))
		case ReduceMin:
			y = b.Node(Min{}, y, b.Scalar(wide(d), float64(greatest)))
		}
		return []*ir.Value{convert(b, y, d)}
	}
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	logarithm := op.Kind == ReduceLogSum || op.Kind == ReduceLogSumExp
	if logarithm && !x.Type.DType.IsFloat() {
		return []*ir.Value{convert(b, b.Node(op, convert(b, x, ir.F64)), x.Type.DType)}
	}
	runs := axisRuns(x.Type.Shape, op.Axes)
	if len(runs) <= 1 {
		return nil
	}
	if truncates := op.Kind == ReduceMean || op.Kind == ReduceL2; truncates && !x.Type.DType.IsFloat() {
		perm := axesLast(x.Type.Rank(), op.Axes)
		axes := make([]int, len(op.Axes))
		for i := range axes {
			axes[i] = x.Type.Rank() - len(axes) + i
		}
		y := b.Node(Reduce{Kind: op.Kind, Axes: axes}, transpose(b, x, perm...))
		return []*ir.Value{reshape(b, y, typ.Shape...)}
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
	return []*ir.Value{reshape(b, x, typ.Shape...)}
}

// axisRuns returns axes in runs of neighbours: nothing but extents of 1 is
// between two of a run.
func axisRuns(shape []ir.Dim, axes []int) [][]int {
	var runs [][]int
	for i, a := range axes {
		if i > 0 && ir.Product(shape[axes[i-1]+1:a]...).Equal(ir.Const(1)) {
			runs[len(runs)-1] = append(runs[len(runs)-1], a)
			continue
		}
		runs = append(runs, []int{a})
	}
	return runs
}

// axesLast returns the permutation that moves axes behind the others.
func axesLast(rank int, axes []int) []int {
	perm := make([]int, 0, rank)
	for i := range rank {
		if !slices.Contains(axes, i) {
			perm = append(perm, i)
		}
	}
	return append(perm, axes...)
}

// Call is cpu.ReduceSum and its like on [outer, n, inner], or cpu.ReduceAny and
// cpu.ReduceAll for booleans.
func (op Reduce) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type
	if len(axisRuns(x.Shape, op.Axes)) > 1 {
		return ir.Call{}, fmt.Errorf("axes %v are not neighbours", op.Axes)
	}
	kernel := reductions[op.Kind].kernel
	if x.DType == ir.Bool {
		kernel = map[Reduction]string{ReduceMax: "ReduceAny", ReduceMin: "ReduceAll"}[op.Kind]
	}
	return callLines(kernel, x.Shape, op.Axes), nil
}

// callLines is the call of a kernel that sees its operand as [outer, n, inner],
// n being the product of neighbouring axes; further arguments follow.
func callLines(kernel string, shape []ir.Dim, axes []int, more ...any) ir.Call {
	first, last := 0, 0
	if len(axes) > 0 {
		first, last = axes[0], axes[len(axes)-1]+1
	}
	args := []any{
		ir.Out(0), ir.In(0),
		ir.Product(shape[:first]...), ir.Product(shape[first:last]...), ir.Product(shape[last:]...),
	}
	return ir.Call{Kernel: kernel, Args: append(args, more...)}
}

// importReduce returns the import of a reduction. The axes are an attribute
// before opset since, and an optional operand from there on, where an attribute
// says whether none of them stands for all, as before, or for none.
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
			axes = allAxes(x.Type.Rank())
		}
		slices.Sort(axes)
		return []*ir.Value{b.Node(Reduce{Kind: kind, Axes: axes, KeepDims: keep}, x)}, nil
	}
}

// reduceMarked reduces the axes that [BindAxes] marked: of the two that each axis is
// split into, the second.
func reduceMarked(b *ir.Builder, kind Reduction, x *ir.Value, split []ir.Dim) *ir.Value {
	second := make([]int, x.Type.Rank())
	for i := range second {
		second[i] = 2*i + 1
	}
	return b.Node(Reduce{Kind: kind, Axes: second}, b.Node(Reshape{Shape: split}, x))
}

func allAxes(rank int) []int {
	axes := make([]int, rank)
	for i := range axes {
		axes[i] = i
	}
	return axes
}
