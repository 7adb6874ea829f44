package targettest

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var learningTrials = Trials{
	"lookup":     tryLookup,
	"map_lookup": tryMapLookup,
	"map_values": func(d *Draw) Trial {
		m, _ := d.mapping()
		return Trial{Op: op.MapValues{Count: "count"}, Args: []*ir.Tensor{m}}
	},
	"squared_distances": trySquaredDistances,
	"svm_pairs":         trySVMPairs,
	"svm_probabilities": trySVMProbabilities,
	"svm_votes":         trySVMVotes,
	"tree_ensemble":     tryTreeEnsemble,
	"zip_map":           tryZipMap,
}

// keys draws n different keys of a table, at most 8, in increasing order. NaN comes first. others
// are keys to look up, which the table may not have.
func (d *Draw) keys(t ir.DType, n int) (keys, others *ir.Tensor) {
	at := rapid.Permutation(upTo(8)).Draw(d.T, "keys")[:n]
	slices.Sort(at)
	keys, others = ir.NewTensor(t, n), ir.NewTensor(t, d.Shape(0, 2)...)
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
		k := d.Int(0, 7, "key")
		if d.Int(0, 3, "known") > 0 && n > 0 {
			k = at[k%n]
		}
		set(others, i, k)
	}
	return keys, others
}

func tryLookup(d *Draw) Trial {
	n := d.Int(0, 8, "entries")
	keys, x := d.keys(Pick(d, ir.String, ir.F32, ir.F64, ir.I16, ir.I32, ir.I64), n)
	t := d.DType(anyTypes)
	return Trial{Op: op.Lookup{}, Args: Trimmed(x, keys, d.Any(t, n), d.Maybe(d.Any(t, 1))), Exact: true}
}

// mapping draws a map. others are keys to look up, which the map may not have.
func (d *Draw) mapping() (m, others *ir.Tensor) {
	keys, others := d.keys(Pick(d, ir.I64, ir.String), d.Int(0, 8, "entries"))
	t := Pick(d, ir.F32, ir.F64, ir.I64, ir.String)
	values, items := d.Any(t, keys.Len()), make([]*ir.Tensor, keys.Len())
	for i := range items {
		items[i] = ir.NewTensor(t)
		items[i].Copy(0, values, i)
	}
	return ir.MapTensor(ir.TensorOf(t), keys, items), others.Reshape(others.Len())
}

func tryMapLookup(d *Draw) Trial {
	m, keys := d.mapping()
	return Trial{Op: op.MapLookup{}, Args: []*ir.Tensor{m, keys, d.Any(m.Elem.DType, 1)}, Exact: true}
}

func trySquaredDistances(d *Draw) Trial {
	t, n, m, k := Pick(d, ir.F32, ir.F64), d.Extent(), d.Extent(), d.Extent()
	return Trial{Op: op.SquaredDistances{}, Args: []*ir.Tensor{d.Any(t, n, k), d.Tensor(t, m, k)}, Sums: true}
}

func trySVMPairs(d *Draw) Trial {
	counts := d.Lengths(ir.I64, d.Int(2, 4, "classes"), 0, 3)
	classes, vectors := counts.Len(), 0
	for i := range classes {
		vectors += int(counts.Int(i))
	}
	return Trial{
		Op: op.SVMPairs{}, Sums: true,
		Args: []*ir.Tensor{d.Tensor(ir.F32, d.Extent(), vectors), d.Tensor(ir.F32, classes-1, vectors), d.Tensor(ir.F32, classes*(classes-1)/2), counts},
	}
}

// pairs draws x, the decision values of a support vector machine. x has a row for each example, and a column for each
// pair of classes. classes is the number of classes, and pairs is the number of pairs.
func (d *Draw) pairs() (classes, pairs int, x *ir.Tensor) {
	classes = d.Int(2, 4, "classes")
	pairs = classes * (classes - 1) / 2
	return classes, pairs, d.Scaled(0.25, ir.F32, d.Extent(), pairs)
}

func trySVMProbabilities(d *Draw) Trial {
	classes, pairs, x := d.pairs()
	return Trial{
		Op: op.SVMProbabilities{Classes: classes}, Sums: true, Loose: 100,
		Args: []*ir.Tensor{x, d.Scaled(0.25, ir.F32, pairs), d.Scaled(0.25, ir.F32, pairs)},
	}
}

func trySVMVotes(d *Draw) Trial {
	classes, _, x := d.pairs()
	return Trial{Op: op.SVMVotes{Classes: classes}, Args: []*ir.Tensor{x}}
}

func tryTreeEnsemble(d *Draw) Trial {
	t, features, nodes, leaves := Pick(d, ir.F32, ir.F64), d.Int(1, 4, "features"), d.Int(0, 9, "nodes"), d.Int(1, 6, "leaves")
	o := op.TreeEnsemble{
		Targets: d.Int(1, 3, "targets"), Features: features,
		Aggregate: Pick(d, op.AggregateSum, op.AggregateAverage, op.AggregateMin, op.AggregateMax),
	}
	child := func(from int) int64 {
		if k := d.Int(0, leaves+nodes-from-1, "child"); k >= leaves {
			return int64(from + k - leaves)
		} else {
			return int64(-1 - k)
		}
	}
	splits, thresholds := ir.NewTensor(ir.I32, nodes, 3), d.Any(t, nodes)
	for i := range nodes {
		splits.SetInt(3*i, int64(d.Int(0, features-1, "feature")))
		splits.SetInt(3*i+1, child(i+1))
		splits.SetInt(3*i+2, child(i+1))
	}
	roots := ir.NewTensor(ir.I32, d.Int(0, 4, "trees"))
	for i := range roots.Len() {
		roots.SetInt(i, child(0))
	}
	args := []*ir.Tensor{d.Any(t, d.Extent(), features), splits, thresholds, roots, nil, nil, nil, d.Maybe(d.Tensor(t, o.Targets))}
	if d.Flag("dense") {
		args[6] = d.Tensor(t, leaves, o.Targets)
	} else {
		first := ir.NewTensor(ir.I32, leaves+1)
		for i := range leaves {
			first.SetInt(i+1, first.Int(i)+int64(d.Int(0, 2, "entries")))
		}
		n := int(first.Int(leaves))
		args[4], args[5], args[6] = first, d.Lengths(ir.I32, n, 0, o.Targets-1), d.Tensor(t, n)
	}
	return Trial{Op: o, Args: Trimmed(args...), Sums: true}
}

func tryZipMap(d *Draw) Trial {
	keys := d.Tensor(ir.String, d.Int(0, 5, "keys"))
	if d.Flag("integers") {
		keys = d.Lengths(ir.I64, keys.Len(), 0, 5)
	}
	return Trial{Op: op.ZipMap{}, Args: []*ir.Tensor{d.Any(Pick(d, ir.F32, ir.F64, ir.I64, ir.String), d.Extent(), keys.Len()), keys}, Exact: true}
}
