package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// importTreeEnsembleClassifier imports TreeEnsembleClassifier. The results are the label of each row and the scores
// of its classes. The label is the class with the highest score. Only classes are compared that have a base value,
// or a weight in a leaf that the row reaches.
//
// If there are two classes and all leaves have weights for the same class, a single score decides. The label is the
// second class if the score is above a threshold. The threshold is 0 if a weight is negative, and ½ otherwise. The
// score is the score of the second class, even if the weights are for the first class. [twoScores] computes the score
// of the first class from it.
func importTreeEnsembleClassifier(c ir.Importer) ([]*ir.Value, error) {
	labels, err := classLabels(c, "classlabels_int64s")
	if err != nil {
		return nil, err
	}
	classes := labels.Len()
	t, err := readTrees(c, "class", classes)
	if err != nil {
		return nil, err
	}
	b, transform := c.Builder(), c.Text("post_transform", "NONE")
	binary := classes == 2 && len(t.used) == 1
	if !binary || t.used[1] {
		scores, err := t.graph.ensemble(b, t.x, classes, AggregateSum, t.classBase(classes))
		if err != nil {
			return nil, err
		}
		named, err := t.named(b, scores)
		if err != nil {
			return nil, err
		}
		class := b.Node(ArgMax{Axis: 1}, named)
		if binary {
			class = t.isPositive(b, b.Node(Gather{Axis: 1}, scores, b.Const(ir.Scalar(ir.I64, 1))))
		}
		scores = postTransform(b, scores, transform)
		return []*ir.Value{labelsOf(b, labels, class), ConvertTo(b, scores, ir.F32)}, nil
	}
	if len(t.base) > 1 {
		t.base = t.base[:1]
	}
	score, err := t.graph.ensemble(b, t.x, 1, AggregateSum, t.base)
	if err != nil {
		return nil, err
	}
	class := t.isPositive(b, ReshapeTo(b, score, score.Type.Shape[0]))
	scores := twoScores(b, score, t.least >= 0, transform)
	return []*ir.Value{labelsOf(b, labels, class), ConvertTo(b, scores, ir.F32)}, nil
}

// named appends the scores of classes. A class that has no weight in the leaves that a row reaches gets −∞. named
// returns scores unchanged in three cases:
//   - All weights are above 0, because then 0 is never the highest score.
//   - There are base values.
//   - Every class has a weight in every leaf of some tree.
func (t *trees) named(b *ir.Builder, scores *ir.Value) (*ir.Value, error) {
	classes, _ := scores.Type.Shape[1].Int()
	if t.least > 0 || len(t.base) > 0 || len(t.certain) == classes {
		return scores, nil
	}
	votes := t.graph
	votes.leaves = make([][]treeEntry, len(t.graph.leaves))
	for i, entries := range t.graph.leaves {
		for _, e := range entries {
			votes.leaves[i] = append(votes.leaves[i], treeEntry{e.target, 1})
		}
	}
	counts, err := votes.ensemble(b, t.x, classes, AggregateSum, nil)
	if err != nil {
		return nil, err
	}
	some := b.Node(Greater{}, counts, b.Scalar(counts.Type.DType, 0))
	return b.Node(Where{}, some, scores, b.Scalar(scores.Type.DType, math.Inf(-1))), nil
}

// classBase returns a base value for each class. If there are two classes but only one base value, it belongs to
// the first class, and the second class gets 0.
func (t *trees) classBase(classes int) []float64 {
	if classes == 2 && len(t.base) == 1 {
		return []float64{t.base[0], 0}
	}
	return t.base
}

// isPositive returns 0 or 1 for each row, as i64. It returns 1 if the score selects the second of two classes.
func (t *trees) isPositive(b *ir.Builder, score *ir.Value) *ir.Value {
	bound := 0.5
	if t.least < 0 {
		bound = 0
	}
	return b.Node(Cast{To: ir.I64}, b.Node(Greater{}, score, b.Scalar(score.Type.DType, bound)))
}
