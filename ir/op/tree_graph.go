package op

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// treeGraph holds decision trees as a model gives them. A child is a number: −1−c is leaf c, and other children are
// indices of nodes.
type treeGraph struct {
	nodes  []treeNode
	roots  []int         // child that each tree starts with
	leaves [][]treeEntry // entries of each leaf
}

// treeNode compares a feature with a number, which is `value`, or with the numbers of a set.
type treeNode struct {
	feature int
	mode    treeMode
	value   float64
	set     []float64 // numbers of a membership test, mode treeMember
	missing bool      // the comparison holds for NaN
	yes, no int       // children if the comparison holds, and if not
}

type treeEntry struct {
	target int
	weight float64
}

type treeMode uint8

// The modes, as ONNX numbers them.
const (
	treeLEQ treeMode = iota
	treeLT
	treeGTE
	treeGT
	treeEQ
	treeNEQ
	treeMember
	treeLeaf
)

var treeModes = map[string]treeMode{
	"BRANCH_LEQ": treeLEQ, "BRANCH_LT": treeLT, "BRANCH_GTE": treeGTE, "BRANCH_GT": treeGT,
	"BRANCH_EQ": treeEQ, "BRANCH_NEQ": treeNEQ, "BRANCH_MEMBER": treeMember, "LEAF": treeLeaf,
}

// treeSplit is a node of a [TreeEnsemble]. It leads to left if the feature is at most the threshold, or if lost is
// set and the feature is NaN. Otherwise it leads to right.
type treeSplit struct {
	feature     int
	lost        bool
	threshold   float64
	left, right int
}

// negate rewrites a split in which NaN goes left, because in a [TreeEnsemble] NaN goes right. It compares the
// negative of the feature instead, and swaps the children. The negative of a feature is the feature after it, see
// [withNegatives]. d is the type of the features.
func (s *treeSplit) negate(d ir.DType) {
	if !s.lost {
		return
	}
	s.feature, s.lost, s.left, s.right = s.feature+1, false, s.right, s.left
	if math.IsNaN(s.threshold) {
		s.threshold = math.Inf(1)
	} else {
		s.threshold = numberBefore(d, -s.threshold)
	}
}

// withNegatives appends x, [N,F], with the negative of each element inserted after the element. The result is
// [N,2·F].
func withNegatives(b *ir.Builder, x *ir.Value) *ir.Value {
	n, features := x.Type.Shape[0], x.Type.Shape[1]
	column := ReshapeTo(b, x, n, features, dim.Const(1))
	pairs := b.Node(Concat{Axis: 2}, column, b.Node(Neg{}, column))
	return ReshapeTo(b, pairs, n, features.Mul(dim.Const(2)))
}

// ensemble appends a [TreeEnsemble] of the trees for the rows of x, f32 or f64. base has one value for each target,
// or is empty. ensemble returns an error if base has another length, or if the trees are invalid or too large.
func (g *treeGraph) ensemble(b *ir.Builder, x *ir.Value, targets int, aggregate Aggregate, base []float64) (*ir.Value, error) {
	d := x.Type.DType
	splits, roots, err := g.splits(d)
	if err != nil {
		return nil, err
	}
	if n, ok := base, len(base) == 0 || len(base) == targets; !ok {
		return nil, fmt.Errorf("%d base values for %d targets", len(n), targets)
	}
	if targets > math.MaxInt32 || len(splits) > math.MaxInt32 || len(g.leaves) > math.MaxInt32-1 {
		return nil, errors.New("trees too large")
	}
	nodes, thresholds := ir.NewTensor(ir.I32, len(splits), 3), ir.NewTensor(d, len(splits))
	if slices.ContainsFunc(splits, func(s treeSplit) bool { return s.lost }) {
		x = withNegatives(b, x)
		for i := range splits {
			splits[i].feature *= 2
			splits[i].negate(d)
		}
	}
	features := 0
	for i, s := range splits {
		features = max(features, s.feature+1)
		for j, v := range [3]int{s.feature, s.right, s.left} {
			nodes.SetInt(3*i+j, int64(v))
		}
		thresholds.SetFloat(i, s.threshold)
	}
	args := make([]*ir.Value, numTreeOperands)
	args[treeX], args[treeNodes], args[treeThresholds] = x, b.Const(nodes), b.Const(thresholds)
	args[treeRoots] = b.Const(indexTensor(roots))
	if weights := g.dense(d, targets, aggregate); weights != nil {
		args[treeWeights] = b.Const(weights)
	} else if err := g.sparse(b, d, args); err != nil {
		return nil, err
	}
	if len(base) > 0 {
		args[treeBase] = b.Const(ir.FloatTensor(d, base...))
	}
	return b.Node(TreeEnsemble{Targets: targets, Features: features, Aggregate: aggregate}, args...), nil
}

func indexTensor(n []int) *ir.Tensor {
	t := ir.NewTensor(ir.I32, len(n))
	for i, v := range n {
		t.SetInt(i, int64(v))
	}
	return t
}

// dense returns a matrix with the weight of each leaf for each target. It returns nil if a leaf has two weights for
// one target. It also returns nil if a leaf lacks a weight for a target, unless the aggregate treats a missing weight
// as 0. It also returns nil if the matrix would be too large, or have more zeros than entries.
func (g *treeGraph) dense(d ir.DType, targets int, aggregate Aggregate) *ir.Tensor {
	entries := 0
	for _, leaf := range g.leaves {
		entries += len(leaf)
	}
	if size := int64(targets) * int64(len(g.leaves)); size/2 > int64(entries) || targets > 1<<16 {
		return nil
	}
	sum := aggregate == AggregateSum || aggregate == AggregateAverage
	weights := ir.NewTensor(d, len(g.leaves), targets)
	given := make([]int, targets)
	for k, leaf := range g.leaves {
		if !sum && len(leaf) != targets {
			return nil
		}
		for _, e := range leaf {
			if given[e.target] == k+1 {
				return nil
			}
			given[e.target] = k + 1
			weights.SetFloat(k*targets+e.target, e.weight)
		}
	}
	return weights
}

func (g *treeGraph) sparse(b *ir.Builder, d ir.DType, args []*ir.Value) error {
	starts, targets := []int{0}, []int{}
	var weights []float64
	for _, leaf := range g.leaves {
		for _, e := range leaf {
			targets, weights = append(targets, e.target), append(weights, e.weight)
		}
		starts = append(starts, len(targets))
	}
	if len(targets) > math.MaxInt32 {
		return errors.New("leaves too large")
	}
	args[treeLeaves], args[treeTargets] = b.Const(indexTensor(starts)), b.Const(indexTensor(targets))
	args[treeWeights] = b.Const(ir.FloatTensor(d, weights...))
	return nil
}

// splits converts all comparisons to splits with thresholds of type d. It returns the splits, parents before
// children, and the roots. It omits nodes that cannot be reached from a root. It returns an error if the nodes form
// a cycle.
func (g *treeGraph) splits(d ir.DType) (splits []treeSplit, roots []int, err error) {
	s := splitter{dtype: d, entry: make([]int, len(g.nodes))}
	for range 2 { // a first pass, to find where the splits of each node start
		s.all = s.all[:0]
		for i, n := range g.nodes {
			s.entry[i] = len(s.all)
			s.append(n)
		}
	}
	roots = make([]int, len(g.roots))
	for i, r := range g.roots {
		roots[i] = s.child(r)
	}
	order, err := orderSplits(s.all, roots)
	if err != nil {
		return nil, nil, err
	}
	place := make([]int, len(s.all))
	for i, old := range order {
		place[old] = i
	}
	move := func(child int) int {
		if child < 0 {
			return child
		}
		return place[child]
	}
	for _, old := range order {
		n := s.all[old]
		n.left, n.right = move(n.left), move(n.right)
		splits = append(splits, n)
	}
	for i, r := range roots {
		roots[i] = move(r)
	}
	return splits, roots, nil
}

// orderSplits returns the splits that can be reached from the roots. Each split comes before its children.
// orderSplits returns an error if a split is its own descendant.
func orderSplits(splits []treeSplit, roots []int) ([]int, error) {
	const unseen, open, done = 0, 1, 2
	state := make([]uint8, len(splits))
	var order, stack []int
	for _, root := range slices.Backward(roots) {
		stack = append(stack, root)
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			if at < 0 || state[at] == done {
				stack = stack[:len(stack)-1]
				continue
			}
			if state[at] == open {
				state[at], stack, order = done, stack[:len(stack)-1], append(order, at)
				continue
			}
			state[at] = open
			for _, child := range [2]int{splits[at].left, splits[at].right} {
				if child >= 0 && state[child] == open {
					return nil, errors.New("a node is its own descendant")
				}
				stack = append(stack, child)
			}
		}
	}
	slices.Reverse(order)
	return order, nil
}

// splitter converts nodes to splits with thresholds of type dtype, and appends the splits to all. The first split
// of node i is all[entry[i]].
type splitter struct {
	dtype ir.DType
	entry []int
	all   []treeSplit
}

func (s *splitter) child(c int) int {
	if c < 0 {
		return c
	}
	return s.entry[c]
}

// numberBefore returns the largest number of type d that is below v. d is f32 or f64. numberBefore returns NaN if v
// is −∞.
func numberBefore(d ir.DType, v float64) float64 {
	switch {
	case math.IsInf(v, -1):
		return math.NaN()
	case d == ir.F32:
		return float64(math.Nextafter32(float32(v), float32(math.Inf(-1))))
	}
	return math.Nextafter(v, math.Inf(-1))
}

// set returns the set that node n compares with. ok is false if n does not test membership in a set. n tests
// membership if it lists members, if it compares with = or ≠ (a set of one number), or if it compares with NaN (the
// empty set). bounds holds two numbers for each member, in increasing order of the members: the largest number
// below the member, and the member.
func (s *splitter) set(n treeNode) (bounds []float64, ok bool) {
	members := n.set
	if n.mode != treeMember {
		members = []float64{n.value}
	}
	var sorted []float64
	for _, v := range members {
		if v = ir.RoundFloat(s.dtype, v); v == v {
			sorted = append(sorted, v)
		}
	}
	if n.mode < treeEQ && len(sorted) > 0 {
		return nil, false
	}
	slices.Sort(sorted)
	for _, v := range slices.Compact(sorted) {
		bounds = append(bounds, numberBefore(s.dtype, v), v)
	}
	return bounds, true
}

// append appends the splits of node n to s.all. A comparison with <, ≤, > or ≥ needs one split, and a membership
// test needs several.
func (s *splitter) append(n treeNode) {
	yes, no := s.child(n.yes), s.child(n.no)
	bounds, ok := s.set(n)
	if !ok {
		split := treeSplit{n.feature, n.missing, ir.RoundFloat(s.dtype, n.value), yes, no}
		if n.mode == treeLT || n.mode == treeGTE {
			split.threshold = numberBefore(s.dtype, split.threshold)
		}
		if n.mode == treeGTE || n.mode == treeGT {
			split.lost, split.left, split.right = !n.missing, no, yes
		}
		s.all = append(s.all, split)
		return
	}
	in, out, missing := yes, no, n.missing
	if n.mode == treeNEQ {
		in, out, missing = no, yes, false
	}
	switch {
	case len(bounds) == 0:
		s.all = append(s.all, treeSplit{n.feature, missing, math.NaN(), in, out})
		return
	case missing:
		s.all = append(s.all, treeSplit{n.feature, false, math.Inf(1), len(s.all) + 1, in})
	}
	s.search(n.feature, bounds, out, in)
}

// search appends splits that count the bounds below the feature. They lead to child `even` if the number is even, and
// to child `odd` otherwise. bounds are in increasing order. search returns the first of these splits, as a child.
func (s *splitter) search(feature int, bounds []float64, even, odd int) int {
	if len(bounds) == 0 {
		return even
	}
	at, half := len(s.all), len(bounds)/2
	s.all = append(s.all, treeSplit{feature: feature, threshold: bounds[half]})
	left := s.search(feature, bounds[:half], even, odd)
	if half%2 == 0 {
		even, odd = odd, even
	}
	right := s.search(feature, bounds[half+1:], even, odd)
	s.all[at].left, s.all[at].right = left, right
	return at
}
