package op

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// awkward are numbers that trees compare.
var awkward = []float64{-2, -1, -math.SmallestNonzeroFloat32, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat32, 1, 2, math.Inf(1), math.Inf(-1), math.NaN()}

// drawTrees draws trees of a given depth, whose nodes may be shared.
func drawTrees(t *rapid.T, features, targets int) *treeGraph {
	g := &treeGraph{}
	leaves := rapid.IntRange(1, 6).Draw(t, "leaves")
	for range leaves {
		var leaf []treeEntry
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			leaf = append(leaf, treeEntry{rapid.IntRange(0, targets-1).Draw(t, "target"), float64(rapid.IntRange(-8, 8).Draw(t, "weight"))})
		}
		g.leaves = append(g.leaves, leaf)
	}
	nodes := rapid.IntRange(0, 8).Draw(t, "nodes")
	for i := range nodes {
		child := func() int { return rapid.SampledFrom(append(seq(-leaves, -1), seq(i+1, nodes-1)...)).Draw(t, "child") }
		g.nodes = append(g.nodes, treeNode{
			feature: rapid.IntRange(0, features-1).Draw(t, "feature"),
			mode:    rapid.SampledFrom([]treeMode{treeLEQ, treeLT, treeGTE, treeGT, treeEQ, treeNEQ, treeMember}).Draw(t, "mode"),
			value:   rapid.SampledFrom(awkward).Draw(t, "value"),
			set:     rapid.SliceOfN(rapid.SampledFrom(awkward), 0, 5).Draw(t, "set"),
			missing: rapid.Bool().Draw(t, "missing"),
			yes:     child(), no: child(),
		})
	}
	for range rapid.IntRange(1, 3).Draw(t, "trees") {
		g.roots = append(g.roots, rapid.SampledFrom(append(seq(-leaves, -1), seq(0, nodes-1)...)).Draw(t, "root"))
	}
	return g
}

// seq returns the integers from one to another.
func seq(from, to int) (all []int) {
	for i := from; i <= to; i++ {
		all = append(all, i)
	}
	return all
}

// holdsFor is what ONNX says of the comparison of a node.
func (n treeNode) holdsFor(v float64) bool {
	if math.IsNaN(v) {
		return n.missing || n.mode == treeNEQ
	}
	switch n.mode {
	case treeLEQ:
		return v <= n.value
	case treeLT:
		return v < n.value
	case treeGTE:
		return v >= n.value
	case treeGT:
		return v > n.value
	case treeEQ:
		return v == n.value
	case treeNEQ:
		return v != n.value
	}
	return slices.Contains(n.set, v)
}

// sumsOf adds up what the trees give a row.
func (g *treeGraph) sumsOf(row []float64, targets int) []float64 {
	sums := make([]float64, targets)
	for _, at := range g.roots {
		for at >= 0 {
			n := g.nodes[at]
			at = n.no
			if n.holdsFor(row[n.feature]) {
				at = n.yes
			}
		}
		for _, e := range g.leaves[-1-at] {
			sums[e.target] += e.weight
		}
	}
	return sums
}

func TestTreesDecideAsTheirNodesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const features, rows = 3, 4
		targets := rapid.IntRange(1, 3).Draw(t, "targets")
		d := rapid.SampledFrom([]ir.DType{ir.F32, ir.F64}).Draw(t, "dtype")
		g := drawTrees(t, features, targets)
		x := ir.NewTensor(d, rows, features)
		for i := range x.Len() {
			x.SetFloat(i, rapid.SampledFrom(awkward).Draw(t, "x"))
		}
		for i, n := range g.nodes {
			g.nodes[i].value = ir.RoundFloat(d, n.value)
		}
		f := buildFunc(t, []ir.Type{ir.TensorOf(d, dim.Sym("N"), dim.Const(features))}, func(b *ir.Builder, p []*ir.Value) []*ir.Value {
			y, err := g.ensemble(b, p[0], targets, AggregateSum, nil)
			if err != nil {
				t.Fatal(err)
			}
			return []*ir.Value{y}
		})
		y := checkLower(t, f, 0, x)[0]
		for r := range rows {
			row := make([]float64, features)
			for i := range row {
				row[i] = x.Float(r*features + i)
			}
			for target, want := range g.sumsOf(row, targets) {
				if got := y.Float(r*targets + target); got != want {
					t.Fatalf("row %v target %d is %v, want %v:\n%s", row, target, got, want, f)
				}
			}
		}
	})
}

// stumps returns the attributes of trees with one comparison each, of feature 0 with 0. Each tree
// has two leaves, with a weight for each target in its map.
func stumps(entries string, trees ...[2]map[int]float64) attrs {
	a := attrs{}
	ints := func(name string, v ...int) { l, _ := a[name].([]int); a[name] = append(l, v...) }
	for tree, sides := range trees {
		ints("nodes_treeids", tree, tree, tree)
		ints("nodes_nodeids", 0, 1, 2)
		ints("nodes_featureids", 0, 0, 0)
		ints("nodes_truenodeids", 1, 0, 0)
		ints("nodes_falsenodeids", 2, 0, 0)
		modes, _ := a["nodes_modes"].([]string)
		a["nodes_modes"] = append(modes, "BRANCH_LEQ", "LEAF", "LEAF")
		values, _ := a["nodes_values"].([]float64)
		a["nodes_values"] = append(values, 0, 0, 0)
		for side, given := range sides {
			for target := range 4 {
				if weight, ok := given[target]; ok {
					ints(entries+"_treeids", tree)
					ints(entries+"_nodeids", 1+side)
					ints(entries+"_ids", target)
					weights, _ := a[entries+"_weights"].([]float64)
					a[entries+"_weights"] = append(weights, weight)
				}
			}
		}
	}
	return a
}

func (a attrs) with(more attrs) attrs {
	b := attrs{}
	for _, m := range []attrs{a, more} {
		for name, v := range m {
			b[name] = v
		}
	}
	return b
}

// twoRows returns the rows −1 and 1 of one feature.
func twoRows() *ir.Tensor { return ir.FloatTensor(ir.F32, -1, 1).Reshape(2, 1) }

func TestTreeEnsembleRegressorAggregates(t *testing.T) {
	both := stumps("target", [2]map[int]float64{{0: 1}, {0: -4, 1: 8}}, [2]map[int]float64{{0: 2}, {1: 2}})
	for name, test := range map[string]struct {
		more attrs
		want []float64
	}{
		"sum":              {attrs{}, []float64{3, 0, -4, 10}},
		"sum with base":    {attrs{"base_values": []float64{0.5, 0.25}}, []float64{3.5, 0.25, -3.5, 10.25}},
		"average":          {attrs{"aggregate_function": "AVERAGE"}, []float64{1.5, 0, -2, 5}},
		"minimum":          {attrs{"aggregate_function": "MIN"}, []float64{1, 0, -4, 2}},
		"maximum":          {attrs{"aggregate_function": "MAX"}, []float64{2, 0, -4, 8}},
		"maximum and base": {attrs{"aggregate_function": "MAX", "base_values": []float64{1, 2}}, []float64{3, 2, -3, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			a := both.with(test.more).with(attrs{"n_targets": 2})
			f, err := importFunc("ai.onnx.ml:TreeEnsembleRegressor", 3, 1, a, types(t, "f32[N,1]"))
			if err != nil {
				t.Fatal(err)
			}
			lowered(t, f)
			y := run(t, f, twoRows())[0]
			if want := ir.FloatTensor(ir.F32, test.want...).Reshape(2, 2); !y.Equal(want) {
				t.Errorf("%s, want %s", y, want)
			}
		})
	}
}

func TestTreeEnsembleClassifierOfTwoClasses(t *testing.T) {
	type side = [2]map[int]float64
	for name, test := range map[string]struct {
		leaves side
		more   attrs
		labels string
		scores []float64
	}{
		"first class, positive":           {side{{0: 0.25}, {0: 0.75}}, attrs{}, "no yes", []float64{0.75, 0.25, 0.25, 0.75}},
		"first class, mixed":              {side{{0: -0.25}, {0: 0.75}}, attrs{}, "no yes", []float64{0.25, -0.25, -0.75, 0.75}},
		"first class, positive, logistic": {side{{0: 0.25}, {0: 0.75}}, attrs{"post_transform": "LOGISTIC"}, "no yes", []float64{0.4378235, 0.5621765, 0.3208213, 0.6791787}},
		"first class, softmax":            {side{{0: -0.25}, {0: 0.75}}, attrs{"post_transform": "SOFTMAX"}, "no yes", []float64{0.25, -0.25, -0.75, 0.75}},
		"first class, base":               {side{{0: 0.25}, {0: 0.75}}, attrs{"base_values": []float64{0.125}}, "no yes", []float64{0.625, 0.375, 0.125, 0.875}},
		"second class":                    {side{{1: 0.25}, {1: 0.75}}, attrs{}, "no yes", []float64{0, 0.25, 0, 0.75}},
		"second class, logistic":          {side{{1: -0.25}, {1: 0.75}}, attrs{"post_transform": "LOGISTIC"}, "no yes", []float64{0.5, 0.4378235, 0.5, 0.6791787}},
		"both classes":                    {side{{0: 0.75, 1: 0.25}, {0: 0.25, 1: 0.75}}, attrs{}, "no yes", []float64{0.75, 0.25, 0.25, 0.75}},
	} {
		t.Run(name, func(t *testing.T) {
			a := stumps("class", test.leaves).with(test.more).with(attrs{"classlabels_strings": []string{"no", "yes"}})
			f, err := importFunc("ai.onnx.ml:TreeEnsembleClassifier", 3, 2, a, types(t, "f32[N,1]"))
			if err != nil {
				t.Fatal(err)
			}
			y := run(t, f, twoRows())
			if want := textTensor(strings.Fields(test.labels)); !y[0].Equal(want) {
				t.Errorf("labels %s, want %s", y[0], want)
			}
			if want := ir.FloatTensor(ir.F32, test.scores...).Reshape(2, 2); !closeTo(y[1], want, 1e-6) {
				t.Errorf("scores %s, want %s", y[1], want)
			}
		})
	}
}

// TestTreeEnsembleClassifierChoosesAmongVotes asserts that a class is not chosen if no leaf of a
// row names it, even if its score 0 is the highest. If the class has a base value, it may be
// chosen. The expected results come from ONNX Runtime 1.30.
func TestTreeEnsembleClassifierChoosesAmongVotes(t *testing.T) {
	type side = [2]map[int]float64
	for name, test := range map[string]struct {
		leaves side
		more   attrs
		labels string
		scores []float64
	}{
		"above 0":                   {side{{0: 0.75}, {1: 0.25}}, attrs{}, "a b", []float64{0.75, 0, 0, 0, 0.25, 0}},
		"below 0":                   {side{{0: -0.75}, {1: -0.25}}, attrs{}, "a b", []float64{-0.75, 0, 0, 0, -0.25, 0}},
		"one class":                 {side{{2: -0.75}, {2: -0.25}}, attrs{}, "c c", []float64{0, 0, -0.75, 0, 0, -0.25}},
		"two of three":              {side{{0: -0.75, 1: -0.25}, {0: 0.25, 1: -0.75}}, attrs{}, "b a", []float64{-0.75, -0.25, 0, 0.25, -0.75, 0}},
		"zeros":                     {side{{1: 0}, {2: 0}}, attrs{}, "b c", []float64{0, 0, 0, 0, 0, 0}},
		"no leaf of the row":        {side{{}, {1: -0.25}}, attrs{}, "a b", []float64{0, 0, 0, 0, -0.25, 0}},
		"base values":               {side{{0: -0.75}, {1: -0.75}}, attrs{"base_values": []float64{0.25, -0.125, -0.25}}, "b a", []float64{-0.5, -0.125, -0.25, 0.25, -0.875, -0.25}},
		"transformed":               {side{{0: -0.75}, {1: -0.25}}, attrs{"post_transform": "LOGISTIC"}, "a b", []float64{0.3208213, 0.5, 0.5, 0.5, 0.4378235, 0.5}},
		"classes that all vote for": {side{{0: -0.75, 1: -0.5, 2: -0.25}, {0: -0.25, 1: -0.5, 2: -0.75}}, attrs{}, "c a", []float64{-0.75, -0.5, -0.25, -0.25, -0.5, -0.75}},
	} {
		t.Run(name, func(t *testing.T) {
			a := stumps("class", test.leaves).with(test.more).with(attrs{"classlabels_strings": []string{"a", "b", "c"}})
			f, err := importFunc("ai.onnx.ml:TreeEnsembleClassifier", 3, 2, a, types(t, "f32[N,1]"))
			if err != nil {
				t.Fatal(err)
			}
			lowered(t, f)
			y := run(t, f, twoRows())
			if want := textTensor(strings.Fields(test.labels)); !y[0].Equal(want) {
				t.Errorf("labels %s, want %s", y[0], want)
			}
			if want := ir.FloatTensor(ir.F32, test.scores...).Reshape(2, 3); !closeTo(y[1], want, 1e-6) {
				t.Errorf("scores %s, want %s", y[1], want)
			}
		})
	}
}

func TestMalformedTreesAreRefused(t *testing.T) {
	good := stumps("target", [2]map[int]float64{{0: 1}, {0: 2}}).with(attrs{"n_targets": 1})
	for name, test := range map[string]struct {
		change attrs
		want   string
	}{
		"lists of different lengths": {attrs{"nodes_values": []float64{0}}, "of another attribute"},
		"a circle":                   {attrs{"nodes_modes": []string{"BRANCH_LEQ", "BRANCH_LT", "LEAF"}, "nodes_truenodeids": []int{1, 2, 0}, "nodes_falsenodeids": []int{1, 0, 0}}, "descendant"},
		"a node that is its child":   {attrs{"nodes_truenodeids": []int{0, 0, 0}}, "descendant"},
		"a child that is not there":  {attrs{"nodes_falsenodeids": []int{7, 0, 0}}, "no node 7"},
		"a node twice":               {attrs{"nodes_nodeids": []int{0, 1, 1}}, "two nodes 1"},
		"an unknown mode":            {attrs{"nodes_modes": []string{"BRANCH", "LEAF", "LEAF"}}, "unknown mode"},
		"a negative feature":         {attrs{"nodes_featureids": []int{-1, 0, 0}}, "feature -1"},
		"a feature beyond the row":   {attrs{"nodes_featureids": []int{5, 0, 0}}, "6 features expected"},
		"a target out of range":      {attrs{"target_ids": []int{0, 1}}, "target_ids: 1 of 1"},
		"a weight of no node":        {attrs{"target_nodeids": []int{1, 9}}, "no node 9"},
		"weights that are missing":   {attrs{"target_weights": []float64{1}}, "1 weights"},
		"two base values":            {attrs{"base_values": []float64{1, 2}}, "2 base values"},
		"no nodes":                   {attrs{"nodes_treeids": []int(nil), "nodes_nodeids": []int(nil), "nodes_featureids": []int(nil), "nodes_modes": []string(nil), "nodes_values": []float64(nil), "nodes_truenodeids": []int(nil), "nodes_falsenodeids": []int(nil)}, "no nodes"},
		"no targets":                 {attrs{"n_targets": 0}, "0 targets"},
		"an unknown aggregate":       {attrs{"aggregate_function": "MEDIAN"}, "MEDIAN"},
		"an unknown transform":       {attrs{"post_transform": "TWIST"}, "TWIST"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := importFunc("ai.onnx.ml:TreeEnsembleRegressor", 3, 1, good.with(test.change), types(t, "f32[N,2]"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := importFunc("ai.onnx.ml:TreeEnsembleRegressor", 3, 1, good, types(t, "f32[N,2]")); err != nil {
		t.Error(err)
	}
}

func TestTreeEnsembleEvalRefusesWrongTrees(t *testing.T) {
	for name, change := range map[string]func(in []*ir.Tensor){
		"a child before its parent": func(in []*ir.Tensor) { in[treeNodes].SetInt(2, 0) },
		"a child that is not there": func(in []*ir.Tensor) { in[treeNodes].SetInt(2, 3) },
		"a leaf that is not there":  func(in []*ir.Tensor) { in[treeNodes].SetInt(2, -9) },
		"a root that is not there":  func(in []*ir.Tensor) { in[treeRoots].SetInt(0, 3) },
		"a feature beyond the row":  func(in []*ir.Tensor) { in[treeNodes].SetInt(0, 3) },
		"a target out of range":     func(in []*ir.Tensor) { in[treeTargets].SetInt(0, 2) },
		"entries out of range":      func(in []*ir.Tensor) { in[treeLeaves].SetInt(1, 9) },
		"entries backwards":         func(in []*ir.Tensor) { in[treeLeaves].SetInt(0, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			in := []*ir.Tensor{
				treeX: ir.FloatTensor(ir.F32, 0).Reshape(1, 1), treeNodes: ir.IntTensor(ir.I32, 0, -2, -1).Reshape(1, 3),
				treeThresholds: ir.FloatTensor(ir.F32, 0), treeRoots: ir.IntTensor(ir.I32, 0), treeLeaves: ir.IntTensor(ir.I32, 0, 1, 2),
				treeTargets: ir.IntTensor(ir.I32, 0, 1), treeWeights: ir.FloatTensor(ir.F32, 1, 2),
			}
			op := TreeEnsemble{Targets: 2, Features: 1, Aggregate: AggregateSum}
			if _, err := op.Eval(in); err != nil {
				t.Fatal(err)
			}
			change(in)
			if y, err := op.Eval(in); err == nil {
				t.Errorf("%s", y[0])
			}
		})
	}
}
