package exec_test

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// learningTrials are of the operators of ai.onnx.ml and what they are made of.
var learningTrials = map[string]func(*draw) trial{
	"lookup":     tryLookup,
	"map_lookup": tryMapLookup,
	"map_values": func(d *draw) trial {
		m, _ := d.mapping()
		return trial{op: op.MapValues{Count: "count"}, args: []*ir.Tensor{m}}
	},
	"squared_distances": trySquaredDistances,
	"svm_pairs":         trySVMPairs,
	"svm_probabilities": trySVMProbabilities,
	"svm_votes":         trySVMVotes,
	"tree_ensemble":     tryTreeEnsemble,
	"zip_map":           tryZipMap,
}

// keys draws n different keys of a table in increasing order, and more that it
// may not have.
func (d *draw) keys(t ir.DType, n int) (keys, others *ir.Tensor) {
	at := rapid.Permutation(upTo(8)).Draw(d.T, "keys")[:n]
	slices.Sort(at)
	keys, others = ir.NewTensor(t, n), ir.NewTensor(t, d.shape(0, 2)...)
	floats := []float64{math.NaN(), math.Inf(-1), -2.5, 0, 0.5, 1, 7, math.Inf(1)}
	set := func(x *ir.Tensor, i, k int) {
		switch {
		case t == ir.String:
			x.SetText(i, string(rune('a'+k)))
		case t.IsFloat():
			x.SetFloat(i, floats[k])
		default:
			x.SetInt(i, int64(3*k-9))
		}
	}
	for i, k := range at {
		set(keys, i, k)
	}
	for i := range others.Len() {
		k := d.int(0, 7, "key")
		if d.int(0, 3, "known") > 0 && n > 0 {
			k = at[k%n]
		}
		set(others, i, k)
	}
	return keys, others
}

func tryLookup(d *draw) trial {
	n := d.int(0, 8, "entries")
	keys, x := d.keys(pick(d, ir.String, ir.F32, ir.F64, ir.I16, ir.I32, ir.I64), n)
	t := d.dtype(anyTypes)
	return trial{op: op.Lookup{}, args: trimmed(x, keys, d.any(t, n), d.maybe(d.any(t, 1))), exact: true}
}

// mapping draws a map and keys that it may not have.
func (d *draw) mapping() (m, others *ir.Tensor) {
	keys, others := d.keys(pick(d, ir.I64, ir.String), d.int(0, 8, "entries"))
	t := pick(d, ir.F32, ir.F64, ir.I64, ir.String)
	values, items := d.any(t, keys.Len()), make([]*ir.Tensor, keys.Len())
	for i := range items {
		items[i] = ir.NewTensor(t)
		items[i].Copy(0, values, i)
	}
	return ir.MapTensor(ir.TensorOf(t), keys, items), others.Reshape(others.Len())
}

func tryMapLookup(d *draw) trial {
	m, keys := d.mapping()
	return trial{op: op.MapLookup{}, args: []*ir.Tensor{m, keys, d.any(m.Elem.DType, 1)}, exact: true}
}

func trySquaredDistances(d *draw) trial {
	t, n, m, k := pick(d, ir.F32, ir.F64), d.extent(), d.extent(), d.extent()
	return trial{op: op.SquaredDistances{}, args: []*ir.Tensor{d.any(t, n, k), d.tensor(t, m, k)}, sums: true}
}

func trySVMPairs(d *draw) trial {
	counts := d.lengths(ir.I64, d.int(2, 4, "classes"), 0, 3)
	classes, vectors := counts.Len(), 0
	for i := range classes {
		vectors += int(counts.Int(i))
	}
	return trial{
		op: op.SVMPairs{}, sums: true,
		args: []*ir.Tensor{d.tensor(ir.F32, d.extent(), vectors), d.tensor(ir.F32, classes-1, vectors), d.tensor(ir.F32, classes*(classes-1)/2), counts},
	}
}

// pairs draws what the pairs of some classes decided.
func (d *draw) pairs() (classes, pairs int, x *ir.Tensor) {
	classes = d.int(2, 4, "classes")
	pairs = classes * (classes - 1) / 2
	return classes, pairs, d.scaled(0.25, ir.F32, d.extent(), pairs)
}

func trySVMProbabilities(d *draw) trial {
	classes, pairs, x := d.pairs()
	return trial{
		op: op.SVMProbabilities{Classes: classes}, sums: true, loose: 100,
		args: []*ir.Tensor{x, d.scaled(0.25, ir.F32, pairs), d.scaled(0.25, ir.F32, pairs)},
	}
}

func trySVMVotes(d *draw) trial {
	classes, _, x := d.pairs()
	return trial{op: op.SVMVotes{Classes: classes}, args: []*ir.Tensor{x}}
}

func tryTreeEnsemble(d *draw) trial {
	t, features, nodes, leaves := pick(d, ir.F32, ir.F64), d.int(1, 4, "features"), d.int(0, 9, "nodes"), d.int(1, 6, "leaves")
	o := op.TreeEnsemble{
		Targets: d.int(1, 3, "targets"), Features: features,
		Aggregate: pick(d, op.AggregateSum, op.AggregateAverage, op.AggregateMin, op.AggregateMax),
	}
	child := func(from int) int64 {
		if k := d.int(0, leaves+nodes-from-1, "child"); k >= leaves {
			return int64(from + k - leaves)
		} else {
			return int64(-1 - k)
		}
	}
	splits, thresholds := ir.NewTensor(ir.I32, nodes, 3), d.any(t, nodes)
	for i := range nodes {
		splits.SetInt(3*i, int64(d.int(0, features-1, "feature")))
		splits.SetInt(3*i+1, child(i+1))
		splits.SetInt(3*i+2, child(i+1))
	}
	roots := ir.NewTensor(ir.I32, d.int(0, 4, "trees"))
	for i := range roots.Len() {
		roots.SetInt(i, child(0))
	}
	args := []*ir.Tensor{d.any(t, d.extent(), features), splits, thresholds, roots, nil, nil, nil, d.maybe(d.tensor(t, o.Targets))}
	if d.flag("dense") {
		args[6] = d.tensor(t, leaves, o.Targets)
	} else {
		first := ir.NewTensor(ir.I32, leaves+1)
		for i := range leaves {
			first.SetInt(i+1, first.Int(i)+int64(d.int(0, 2, "entries")))
		}
		n := int(first.Int(leaves))
		args[4], args[5], args[6] = first, d.lengths(ir.I32, n, 0, o.Targets-1), d.tensor(t, n)
	}
	return trial{op: o, args: trimmed(args...), sums: true}
}

func tryZipMap(d *draw) trial {
	keys := d.tensor(ir.String, d.int(0, 5, "keys"))
	if d.flag("integers") {
		keys = d.lengths(ir.I64, keys.Len(), 0, 5)
	}
	return trial{op: op.ZipMap{}, args: []*ir.Tensor{d.any(pick(d, ir.F32, ir.F64, ir.I64, ir.String), d.extent(), keys.Len()), keys}, exact: true}
}
