package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TreeEnsemble evaluates decision trees for each row of x [N,F], of f32 or f64 (ONNX TreeEnsemble, opset 5 of
// ai.onnx.ml, and its predecessors). The result is [N,Targets]. Features is the number of features that the trees
// use, at most F.
//
// The operands after x are the trees. Floats have x's element type:
//
//	nodes i32[n,3]       for each node, the index of a feature and two children
//	thresholds [n]       for each node; the second child is taken if the row's feature is at most the threshold
//	roots i32[trees]     for each tree, a child
//	leaves i32[m+1]      leaf k has the entries leaves[k] to leaves[k+1] − 1 of targets and weights
//	targets i32[w]       the targets of the entries
//	weights [w]          the weights of the entries
//	base [Targets]       is added; optional
//
// If leaves and targets are absent, weights is [m,Targets]. A child c below 0 is leaf −1−c. Any other child is the
// index of a node, and larger than the index of its parent, so that every path ends.
//
// For each target, Aggregate combines the weights of all trees, in the order of the trees and in the element type.
// A target without weights is 0.
type TreeEnsemble struct {
	Targets, Features int
	Aggregate         Aggregate
}

// Aggregate names the function that combines the weights of all trees for a target.
type Aggregate string

// The kinds of [Aggregate].
const (
	AggregateSum     Aggregate = "sum"
	AggregateAverage Aggregate = "average" // the sum divided by the number of trees
	AggregateMin     Aggregate = "min"
	AggregateMax     Aggregate = "max"
)

// Indices of the operands of a [TreeEnsemble], and their number.
const (
	treeX = iota
	treeNodes
	treeThresholds
	treeRoots
	treeLeaves
	treeTargets
	treeWeights
	treeBase
	numTreeOperands
)

// Infer returns [N,Targets] with x's element type. It returns an error if the shapes or the types of the operands
// do not fit together.
func (op TreeEnsemble) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, treeLeaves, numTreeOperands); err != nil {
		return nil, err
	}
	operand := make([]ir.Type, numTreeOperands)
	copy(operand, in)
	x, weights := operand[treeX], operand[treeWeights]
	if x.Rank() != 2 || x.DType != ir.F32 && x.DType != ir.F64 {
		return nil, fmt.Errorf("rows are %s, a matrix of f32 or f64 expected", x)
	}
	switch op.Aggregate {
	case AggregateSum, AggregateAverage, AggregateMin, AggregateMax:
	default:
		return nil, fmt.Errorf("unknown aggregate %q", op.Aggregate)
	}
	if op.Targets < 1 || op.Features < 0 {
		return nil, fmt.Errorf("%d targets of %d features", op.Targets, op.Features)
	}
	if n, ok := x.Shape[1].Int(); ok && n < op.Features {
		return nil, fmt.Errorf("rows are %s, %d features expected", x, op.Features)
	}
	nodes, entries := extentOf(operand[treeThresholds]), extentOf(weights)
	shapes := [numTreeOperands]ir.Type{
		treeX:          x,
		treeNodes:      ir.TensorOf(ir.I32, nodes, dim.Const(3)),
		treeThresholds: ir.TensorOf(x.DType, nodes),
		treeRoots:      ir.TensorOf(ir.I32, extentOf(operand[treeRoots])),
		treeLeaves:     ir.TensorOf(ir.I32, extentOf(operand[treeLeaves])),
		treeTargets:    ir.TensorOf(ir.I32, entries),
		treeWeights:    ir.TensorOf(x.DType, entries),
		treeBase:       ir.TensorOf(x.DType, dim.Const(op.Targets)),
	}
	dense := operand[treeLeaves].IsZero()
	if dense {
		shapes[treeWeights] = ir.TensorOf(x.DType, entries, dim.Const(op.Targets))
	}
	for i, want := range shapes {
		absent := operand[i].IsZero()
		switch {
		case absent && (i == treeBase || dense && (i == treeLeaves || i == treeTargets)):
		case absent:
			return nil, fmt.Errorf("operand %d is absent", i)
		case !operand[i].Equal(want):
			return nil, fmt.Errorf("operand %d is %s, %s expected", i, operand[i], want)
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, x.Shape[0], dim.Const(op.Targets))}, nil
}

func extentOf(t ir.Type) dim.Dim {
	if t.Rank() == 0 {
		return dim.Const(0)
	}
	return t.Shape[0]
}

// IsPairing marks the operator as [Pairing]: its work depends on the values of its operands, because a row may visit
// all nodes of a tree.
func (TreeEnsemble) IsPairing() {}

// Eval returns the aggregate for each row and target, [N,Targets]. It returns an error if the trees refer to a
// node, a feature or a target that does not exist.
func (op TreeEnsemble) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := InferOf(op, in); err != nil {
		return nil, err
	}
	in = append(in[:len(in):len(in)], make([]*ir.Tensor, numTreeOperands-len(in))...)
	x, roots, base := in[treeX], in[treeRoots], in[treeBase]
	d := x.DType
	y := ir.NewTensor(d, x.Shape[0], op.Targets)
	for r := range x.Shape[0] {
		sums, given := make([]float64, op.Targets), make([]bool, op.Targets)
		for t := range roots.Len() {
			leaf, err := op.leaf(in, r, roots.Int(t))
			if err != nil {
				return nil, fmt.Errorf("tree %d: %w", t, err)
			}
			err = op.entries(in, leaf, func(target int, weight float64) {
				if !given[target] {
					sums[target], given[target] = weight, true
					return
				}
				sums[target] = ir.RoundFloat(d, op.join(sums[target], weight))
			})
			if err != nil {
				return nil, fmt.Errorf("tree %d: leaf %d: %w", t, leaf, err)
			}
		}
		for t, v := range sums {
			if op.Aggregate == AggregateAverage {
				v = ir.RoundFloat(d, v/float64(roots.Len()))
			}
			if base != nil {
				v += base.Float(t)
			}
			y.SetFloat(r*op.Targets+t, v)
		}
	}
	return []*ir.Tensor{y}, nil
}

func (op TreeEnsemble) join(a, b float64) float64 {
	switch op.Aggregate {
	case AggregateMin:
		return math.Min(a, b)
	case AggregateMax:
		return math.Max(a, b)
	}
	return a + b
}

// leaf returns the index of the leaf that row r of x reaches from child `child`. It returns an error if a node on
// the way is invalid.
func (op TreeEnsemble) leaf(in []*ir.Tensor, r int, child int64) (int, error) {
	x, nodes, thresholds := in[treeX], in[treeNodes], in[treeThresholds]
	for child >= 0 {
		if child >= int64(thresholds.Len()) {
			return 0, fmt.Errorf("no node %d", child)
		}
		feature, next := nodes.Int(3*int(child)), nodes.Int(3*int(child)+1)
		if feature < 0 || feature >= int64(min(op.Features, x.Shape[1])) {
			return 0, fmt.Errorf("node %d looks at feature %d of %d", child, feature, op.Features)
		}
		if x.Float(r*x.Shape[1]+int(feature)) <= thresholds.Float(int(child)) {
			next = nodes.Int(3*int(child) + 2)
		}
		if next >= 0 && next <= child {
			return 0, fmt.Errorf("child %d does not stand behind node %d", next, child)
		}
		child = next
	}
	return int(-1 - child), nil
}

func (op TreeEnsemble) entries(in []*ir.Tensor, leaf int, give func(target int, weight float64)) error {
	leaves, targets, weights := in[treeLeaves], in[treeTargets], in[treeWeights]
	if leaves == nil {
		if leaf >= weights.Shape[0] {
			return fmt.Errorf("one of %d", weights.Shape[0])
		}
		for t := range op.Targets {
			give(t, weights.Float(leaf*op.Targets+t))
		}
		return nil
	}
	if leaf+1 >= leaves.Len() {
		return fmt.Errorf("one of %d", leaves.Len()-1)
	}
	from, to := leaves.Int(leaf), leaves.Int(leaf+1)
	if from < 0 || to < from || to > int64(weights.Len()) {
		return fmt.Errorf("entries %d to %d of %d", from, to, weights.Len())
	}
	for i := int(from); i < int(to); i++ {
		t := targets.Int(i)
		if t < 0 || t >= int64(op.Targets) {
			return fmt.Errorf("target %d of %d", t, op.Targets)
		}
		give(int(t), weights.Float(i))
	}
	return nil
}
