package cpu

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

type treeAggregate uint8

const (
	treeSum treeAggregate = iota
	treeAverage
	treeMin
	treeMax
)

var treeAggregates = [...]string{treeSum: "sum", treeAverage: "average", treeMin: "min", treeMax: "max"}

// TreeEnsemble evaluates decision trees for n targets (ONNX TreeEnsemble). dst is [rows, n] and x
// is [rows, features]. It returns an error if `features` is less than `need`, the number of features
// for which the trees were made.
//
// A node is three elements of nodes, and a threshold. The first element is the index of a feature.
// The second is the child to take if the row's feature is above the threshold or NaN. The third is
// the child to take otherwise. A child c ≥ 0 is the index of a node, which must be after its parent.
// A child c < 0 is leaf −1−c. roots has the root of each tree in the same form.
//
// Leaf k adds weights[leaves[k]:leaves[k+1]] to the targets that `targets` lists at the same
// indices. If leaves is nil, leaf k adds row k of weights, which is then [leaves, n]. A target
// combines the contributions of the trees as aggregate says: "sum", "average" over all trees, "min"
// or "max". It does so in the order of the trees and in type T. A target without contributions is 0.
// base is added unless it is nil.
func TreeEnsemble[T Float](dst, x []T, nodes []int32, thresholds []T, roots, leaves, targets []int32, weights, base []T, rows, features, need, n int, aggregate string) error {
	if features < need {
		return fmt.Errorf("trees: %d features, %d expected", features, need)
	}
	f := forest[T]{
		dst: trim(dst, volume(rows, n)), x: trim(x, volume(rows, features)),
		nodes: trim(nodes, 3*len(thresholds)), thresholds: thresholds, roots: roots,
		leaves: leaves, targets: targets, weights: weights, base: base,
		rows: rows, features: features, n: n,
	}
	for a, name := range treeAggregates {
		if name == aggregate {
			f.aggregate = treeAggregate(a)
		}
	}
	if base != nil {
		f.base = trim(base, n)
	}
	const nsPerTree = 20
	parts := min(rt.Parts(int64(rows)*int64(len(roots))*nsPerTree), rows)
	shared := false
	switch f := any(&f).(type) {
	case *forest[float32]:
		shared = forests32.run(f, parts)
	case *forest[float64]:
		shared = forests64.run(f, parts)
	}
	if !shared {
		f.Part(0, 1)
	}
	return nil
}

type forest[T Float] struct {
	dst, x                 []T
	nodes                  []int32
	thresholds             []T
	roots, leaves, targets []int32
	weights, base          []T
	rows, features, n      int
	aggregate              treeAggregate
}

var (
	forests32 slot[forest[float32], *forest[float32]]
	forests64 slot[forest[float64], *forest[float64]]
)

// treeRows is the number of rows that a tree is evaluated for before the next tree. The nodes of
// the tree stay in the cache meanwhile.
const treeRows = 64

func (f *forest[T]) Part(i, parts int) {
	from, to := portion(f.rows, i, parts)
	for ; from < to; from += treeRows {
		f.some(from, min(from+treeRows, to))
	}
}

// some evaluates the trees for rows [from, to).
func (f *forest[T]) some(from, to int) {
	dst, x := f.dst[from*f.n:to*f.n], f.x[from*f.features:to*f.features]
	first := T(0)
	if f.aggregate == treeMin || f.aggregate == treeMax {
		first = T(math.NaN())
	}
	Fill(dst, first)
	rows := to - from
	whole := rows &^ (lanes - 1)
	single := f.n == 1 && f.leaves == nil && f.aggregate <= treeAverage
	for _, root := range f.roots {
		for r := 0; r < whole; r += lanes {
			at := [lanes]int32{root, root, root, root}
			f.walk(&at, x[r*f.features:], f.features)
			if single {
				for lane, sum := range dst[r:][:lanes] {
					dst[r+lane] = sum + f.weights[at[lane]]
				}
				continue
			}
			for lane, leaf := range at {
				f.add(dst[(r+lane)*f.n:][:f.n], leaf)
			}
		}
	}
	for r := whole; r < rows; r++ {
		for roots := f.roots; len(roots) > 0; roots = roots[min(lanes, len(roots)):] {
			at := [lanes]int32{-1, -1, -1, -1}
			n := copy(at[:], roots)
			f.walk(&at, x[r*f.features:], 0)
			for _, leaf := range at[:n] {
				f.add(dst[r*f.n:][:f.n], leaf)
			}
		}
	}
	for r := range to - from {
		f.finish(dst[r*f.n:][:f.n])
	}
}

// lanes is the number of paths that are followed at the same time. While one path waits for memory,
// the others proceed.
const lanes = 4

// walk follows `lanes` paths to their leaves, each for another row of x. Rows are `stride` elements
// apart. at[i] is the node at which path i begins, or −1−k if it begins at leaf k. walk replaces it
// by the index of the leaf.
func (f *forest[T]) walk(at *[lanes]int32, x []T, stride int) {
	nodes, thresholds, width := f.nodes, f.thresholds, f.features
	x0, x1, x2, x3 := x[:width], x[stride:][:width], x[2*stride:][:width], x[3*stride:][:width]
	a0, a1, a2, a3 := at[0], at[1], at[2], at[3]
	for a0&a1&a2&a3 >= 0 {
		if a0 >= 0 {
			a0 = treeStep(nodes, thresholds, x0, a0)
		}
		if a1 >= 0 {
			a1 = treeStep(nodes, thresholds, x1, a1)
		}
		if a2 >= 0 {
			a2 = treeStep(nodes, thresholds, x2, a2)
		}
		if a3 >= 0 {
			a3 = treeStep(nodes, thresholds, x3, a3)
		}
	}
	*at = [lanes]int32{^a0, ^a1, ^a2, ^a3}
}

// treeStep returns the child to which a row goes from node number `at`. It does not branch on the
// comparison, because processors cannot predict the result.
func treeStep[T Float](nodes []int32, thresholds, x []T, at int32) int32 {
	node := (*[3]int32)(nodes[3*int(at):])
	var side uint8
	if x[node[0]] <= thresholds[at] {
		side = 1
	}
	next := node[1+side&1]
	if uint32(next) <= uint32(at) {
		panic("trees: a child does not stand behind its parent")
	}
	return next
}

// add combines the weights of a leaf with dst, a row of results, which holds the contributions of
// earlier trees.
func (f *forest[T]) add(dst []T, leaf int32) {
	if f.leaves == nil {
		if f.aggregate <= treeAverage {
			for t, w := range f.weights[int(leaf)*f.n:][:len(dst)] {
				dst[t] += w
			}
			return
		}
		weights := f.weights[int(leaf)*f.n:][:len(dst)]
		for t, w := range weights {
			dst[t] = f.join(dst[t], w)
		}
		return
	}
	from, to := f.leaves[leaf], f.leaves[leaf+1]
	weights := f.weights[from:to]
	for i, t := range f.targets[from:to] {
		dst[t] = f.join(dst[t], weights[i])
	}
}

// join combines two numbers as f.aggregate says. For a minimum or a maximum, NaN stands for a
// missing number.
func (f *forest[T]) join(a, b T) T {
	switch f.aggregate {
	case treeMin:
		if a <= b {
			return a
		}
		return b
	case treeMax:
		if a >= b {
			return a
		}
		return b
	}
	return a + b
}

// finish converts the combined contributions of a row to results. It divides for an average, sets
// targets without contributions to 0, and adds base.
func (f *forest[T]) finish(dst []T) {
	for t, v := range dst {
		switch {
		case f.aggregate == treeAverage:
			v /= T(len(f.roots))
		case f.aggregate != treeSum && v != v:
			v = 0
		}
		if f.base != nil {
			v += f.base[t]
		}
		dst[t] = v
	}
}
