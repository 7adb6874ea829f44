package op

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/burngen/burngen/ir"
)

func importTreeEnsembleRegressor(c ir.Importer) ([]*ir.Value, error) {
	aggregates := map[string]Aggregate{"SUM": AggregateSum, "AVERAGE": AggregateAverage, "MIN": AggregateMin, "MAX": AggregateMax}
	name := c.Text("aggregate_function", "SUM")
	aggregate, ok := aggregates[name]
	if !ok {
		return nil, fmt.Errorf("unknown aggregate_function %q", name)
	}
	targets := c.Int("n_targets", 1)
	if targets < 1 {
		return nil, fmt.Errorf("%d targets", targets)
	}
	t, err := readTrees(c, "target", targets)
	if err != nil {
		return nil, err
	}
	b := c.Builder()
	y, err := t.graph.ensemble(b, t.x, targets, aggregate, t.base)
	if err != nil {
		return nil, err
	}
	y = postTransform(b, y, c.Text("post_transform", "NONE"))
	return []*ir.Value{ConvertTo(b, y, ir.F32)}, nil
}

type trees struct {
	graph treeGraph
	x     *ir.Value // a matrix of f32, or of f64 if one of the floats is f64
	base  []float64
	used  map[int]bool // targets that have a weight in a leaf
	// certain are the targets that have a weight in every leaf of some tree.
	certain map[int]bool
	least   float64 // smallest of all weights; +∞ if there are none
}

type treeKey struct{ tree, node int }

// readTrees reads the trees from the attribute base_values, and from the attributes whose names start with nodes_ or
// with `entries`, which is "target" or "class". It returns an error if the attributes do not fit together, or if a
// leaf has a weight for a target outside [0, targets).
func readTrees(c ir.Importer, entries string, targets int) (*trees, error) {
	t := &trees{used: map[int]bool{}, least: math.Inf(1)}
	x, err := rowsOf(c.Builder(), c.Arg(0))
	if err != nil {
		return nil, err
	}
	double := x.Type.DType == ir.F64
	values := treeFloats(c, "nodes_values", &double)
	weights := treeFloats(c, entries+"_weights", &double)
	t.base = treeFloats(c, "base_values", &double)
	t.x = ConvertTo(c.Builder(), x, ir.F32)
	if double {
		t.x = ConvertTo(c.Builder(), x, ir.F64)
	}
	for _, name := range []string{"nodes_hitrates", "nodes_hitrates_as_tensor"} {
		c.Has(name) // hit rates do not affect results
	}
	leaves, err := t.readNodes(c, values)
	if err != nil {
		return nil, err
	}
	ids, nodeIDs, treeIDs := c.Ints(entries+"_ids", nil), c.Ints(entries+"_nodeids", nil), c.Ints(entries+"_treeids", nil)
	if len(ids) != len(nodeIDs) || len(ids) != len(treeIDs) || len(ids) != len(weights) {
		return nil, fmt.Errorf("%d ids, %d nodeids, %d treeids and %d weights of leaves", len(ids), len(nodeIDs), len(treeIDs), len(weights))
	}
	for i, id := range ids {
		if id < 0 || id >= targets {
			return nil, fmt.Errorf("%s_ids: %d of %d", entries, id, targets)
		}
		leaf, ok := leaves[treeKey{treeIDs[i], nodeIDs[i]}]
		switch {
		case !ok:
			return nil, fmt.Errorf("tree %d has no node %d", treeIDs[i], nodeIDs[i])
		case leaf < 0:
			t.graph.leaves[-1-leaf] = append(t.graph.leaves[-1-leaf], treeEntry{id, weights[i]})
		}
		t.used[id], t.least = true, min(t.least, weights[i])
	}
	t.certain = t.graph.certain(leaves)
	return t, nil
}

// certain returns the targets that have a weight in every leaf of some tree. children has the child number of each
// node; a number below 0 is a leaf.
func (g *treeGraph) certain(children map[treeKey]int) map[int]bool {
	common := map[int]map[int]bool{} // tree → targets that all leaves so far name
	for key, child := range children {
		if child >= 0 {
			continue
		}
		named := map[int]bool{}
		for _, e := range g.leaves[-1-child] {
			named[e.target] = true
		}
		if before, ok := common[key.tree]; ok {
			maps.DeleteFunc(before, func(target int, _ bool) bool { return !named[target] })
		} else {
			common[key.tree] = named
		}
	}
	all := map[int]bool{}
	for _, targets := range common {
		maps.Copy(all, targets)
	}
	return all
}

// treeFloats returns a list of floats from an attribute. From opset 3 on, a tensor may replace the attribute.
// treeFloats sets *double to true if this tensor is f64.
func treeFloats(c ir.Importer, name string, double *bool) []float64 {
	floats := c.Floats(name, nil)
	if tensor := name + "_as_tensor"; c.Opset() >= 3 && c.Has(tensor) {
		v := c.Tensor(tensor)
		*double = *double || v.DType == ir.F64
		return floatElems(v)
	}
	return floats
}

// floatElems returns the elements of t as float64. It returns nil if t is nil. It panics, as [ir.Fail] does, if t
// has strings.
func floatElems(t *ir.Tensor) []float64 {
	if t == nil {
		return nil
	}
	if t.DType == ir.String {
		ir.Fail("%s where numbers are expected", t.DType)
	}
	v := make([]float64, t.Len())
	for i := range v {
		v[i] = t.Number(i)
	}
	return v
}

// readNodes reads the nodes and returns the child number of each. values[i] is the number that node i compares
// with. The first node of a tree is its root. readNodes returns an error if the attributes do not fit together.
func (t *trees) readNodes(c ir.Importer, values []float64) (map[treeKey]int, error) {
	treeIDs, nodeIDs := c.Ints("nodes_treeids", nil), c.Ints("nodes_nodeids", nil)
	features, modes := c.Ints("nodes_featureids", nil), c.Texts("nodes_modes", nil)
	yes, no := c.Ints("nodes_truenodeids", nil), c.Ints("nodes_falsenodeids", nil)
	missing := c.Ints("nodes_missing_value_tracks_true", nil)
	n := len(treeIDs)
	for _, k := range [6]int{len(nodeIDs), len(features), len(modes), len(yes), len(no), len(values)} {
		if k != n {
			return nil, fmt.Errorf("%d nodes_treeids, but %d of another attribute of nodes", n, k)
		}
	}
	if n == 0 {
		return nil, errors.New("no nodes")
	}
	children := make(map[treeKey]int, n)
	begun := map[int]bool{}
	for i := range n {
		key := treeKey{treeIDs[i], nodeIDs[i]}
		if _, ok := children[key]; ok {
			return nil, fmt.Errorf("tree %d has two nodes %d", key.tree, key.node)
		}
		mode, ok := treeModes[modes[i]]
		if !ok || mode == treeMember {
			return nil, fmt.Errorf("node %d: unknown mode %q", i, modes[i])
		}
		child := len(t.graph.nodes)
		if mode == treeLeaf {
			child = -1 - len(t.graph.leaves)
			t.graph.leaves = append(t.graph.leaves, nil)
		} else {
			if err := checkFeature(features[i]); err != nil {
				return nil, fmt.Errorf("node %d: %w", i, err)
			}
			t.graph.nodes = append(t.graph.nodes, treeNode{
				feature: features[i], mode: mode, value: values[i],
				missing: i < len(missing) && missing[i] != 0,
				yes:     yes[i], no: no[i],
			})
		}
		children[key] = child
		if !begun[key.tree] {
			begun[key.tree] = true
			t.graph.roots = append(t.graph.roots, child)
		}
	}
	for i := range n {
		at := children[treeKey{treeIDs[i], nodeIDs[i]}]
		if at < 0 {
			continue
		}
		for _, child := range [2]*int{&t.graph.nodes[at].yes, &t.graph.nodes[at].no} {
			place, ok := children[treeKey{treeIDs[i], *child}]
			if !ok {
				return nil, fmt.Errorf("tree %d has no node %d", treeIDs[i], *child)
			}
			*child = place
		}
	}
	return children, nil
}

func checkFeature(feature int) error {
	if feature < 0 || feature >= math.MaxInt32/2 {
		return fmt.Errorf("feature %d", feature)
	}
	return nil
}

// importTreeEnsemble imports TreeEnsemble. Nodes and leaves are numbered separately. A leaf has one weight for one
// target. The sets of all membership nodes are in one list, separated by NaN.
func importTreeEnsemble(c ir.Importer) ([]*ir.Value, error) {
	aggregates := []Aggregate{AggregateAverage, AggregateSum, AggregateMin, AggregateMax}
	transforms := []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
	aggregate, transform, targets := c.Int("aggregate_function", 1), c.Int("post_transform", 0), c.Int("n_targets", 1)
	if aggregate < 0 || aggregate >= len(aggregates) || transform < 0 || transform >= len(transforms) || targets < 1 {
		return nil, fmt.Errorf("aggregate_function %d, post_transform %d, n_targets %d", aggregate, transform, targets)
	}
	b, x := c.Builder(), c.Arg(0)
	rows, err := matrixOf(b, x)
	if err != nil {
		return nil, err
	}
	if !x.Type.DType.IsFloat() {
		return nil, fmt.Errorf("rows are %s, floats expected", x.Type.DType)
	}
	g, err := readTreeGraph(c, targets)
	if err != nil {
		return nil, err
	}
	y, err := g.ensemble(b, ConvertTo(b, rows, wide(x.Type.DType)), targets, aggregates[aggregate], nil)
	if err != nil {
		return nil, err
	}
	y = postTransform(b, y, transforms[transform])
	return []*ir.Value{ConvertTo(b, y, x.Type.DType)}, nil
}

func readTreeGraph(c ir.Importer, targets int) (*treeGraph, error) {
	c.Has("nodes_hitrates") // hit rates do not affect results
	features, modes, values := c.Ints("nodes_featureids", nil), floatElems(c.Tensor("nodes_modes")), floatElems(c.Tensor("nodes_splits"))
	yes, no := c.Ints("nodes_truenodeids", nil), c.Ints("nodes_falsenodeids", nil)
	yesLeaf, noLeaf := c.Ints("nodes_trueleafs", nil), c.Ints("nodes_falseleafs", nil)
	missing := c.Ints("nodes_missing_value_tracks_true", nil)
	n := len(features)
	for _, k := range [6]int{len(modes), len(values), len(yes), len(no), len(yesLeaf), len(noLeaf)} {
		if k != n {
			return nil, fmt.Errorf("%d nodes_featureids, but %d of another attribute of nodes", n, k)
		}
	}
	g := &treeGraph{roots: c.Ints("tree_roots", nil)}
	ids, weights := c.Ints("leaf_targetids", nil), floatElems(c.Tensor("leaf_weights"))
	if len(ids) != len(weights) {
		return nil, fmt.Errorf("%d leaf_targetids, %d leaf_weights", len(ids), len(weights))
	}
	for i, id := range ids {
		if id < 0 || id >= targets {
			return nil, fmt.Errorf("leaf_targetids: %d of %d", id, targets)
		}
		g.leaves = append(g.leaves, []treeEntry{{id, weights[i]}})
	}
	members := floatElems(c.Tensor("membership_values"))
	child := func(at, leaf int) int {
		switch {
		case leaf != 0 && at >= 0 && at < len(ids):
			return -1 - at
		case leaf == 0 && at >= 0 && at < n:
			return at
		}
		ir.Fail("no node or leaf %d", at)
		return 0
	}
	for i := range n {
		if !(modes[i] >= 0 && modes[i] <= float64(treeMember)) {
			return nil, fmt.Errorf("node %d: unknown mode %v", i, modes[i])
		}
		node := treeNode{
			feature: features[i], mode: treeMode(modes[i]), value: values[i],
			missing: i < len(missing) && missing[i] != 0,
			yes:     child(yes[i], yesLeaf[i]), no: child(no[i], noLeaf[i]),
		}
		if err := checkFeature(node.feature); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
		if node.mode == treeMember {
			node.set, members = nextSet(members)
		}
		g.nodes = append(g.nodes, node)
	}
	if len(g.roots) == 0 {
		return nil, errors.New("no trees")
	}
	for _, r := range g.roots {
		child(r, 0)
	}
	return g, nil
}

func nextSet(members []float64) (set, rest []float64) {
	for i, v := range members {
		if math.IsNaN(v) {
			return members[:i], members[i+1:]
		}
	}
	return members, nil
}
