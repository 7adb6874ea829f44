package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importLinearRegressor imports LinearRegressor: x·coefficientsᵀ + intercepts in f32, where coefficients are
// [targets, F]. post_transform then transforms the result.
func importLinearRegressor(c ir.Importer) ([]*ir.Value, error) {
	b, targets := c.Builder(), c.Int("targets", 1)
	intercepts := c.Floats("intercepts", nil)
	if len(intercepts) > 0 && len(intercepts) != targets {
		return nil, fmt.Errorf("%d intercepts for %d targets", len(intercepts), targets)
	}
	y, err := linearScores(c, targets, intercepts)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{postTransform(b, y, c.Text("post_transform", "NONE"))}, nil
}

// linearScores appends x·coefficientsᵀ + intercepts, f32[N, rows]. x is operand 0, and coefficients, [rows, F], is
// an attribute. If intercepts is empty, linearScores appends only the product.
func linearScores(c ir.Importer, rows int, intercepts []float64) (*ir.Value, error) {
	b, coefficients := c.Builder(), c.Floats("coefficients", nil)
	x, err := rowsOf(b, c.Arg(0))
	if err != nil {
		return nil, err
	}
	if rows < 1 || len(coefficients) == 0 || len(coefficients)%rows != 0 {
		return nil, fmt.Errorf("%d coefficients for %d scores", len(coefficients), rows)
	}
	w := ir.FloatTensor(ir.F32, coefficients...).Reshape(rows, len(coefficients)/rows)
	args := []*ir.Value{ConvertTo(b, x, ir.F32), b.Const(w)}
	if len(intercepts) > 0 {
		args = append(args, b.Const(ir.FloatTensor(ir.F32, intercepts...)))
	}
	return b.Node(Gemm{Alpha: 1, Beta: 1, TransB: true}, args...), nil
}

// importLinearClassifier imports LinearClassifier. The results are the label of each row, and the scores of its
// classes, x·coefficientsᵀ + intercepts. The label is the class with the highest score. If there is only one score,
// there are two classes, and the label is the second one if the score is above 0.
func importLinearClassifier(c ir.Importer) ([]*ir.Value, error) {
	b, transform := c.Builder(), c.Text("post_transform", "NONE")
	c.Int("multi_class", 0) // describes the training of the model
	labels, err := classLabels(c, "classlabels_ints")
	if err != nil {
		return nil, err
	}
	intercepts := c.Floats("intercepts", nil)
	rows := len(intercepts)
	if rows == 0 {
		rows = labels.Len()
	}
	if rows != labels.Len() && (rows != 1 || labels.Len() > 2) {
		return nil, fmt.Errorf("%d scores for %d classes", rows, labels.Len())
	}
	scores, err := linearScores(c, rows, intercepts)
	if err != nil {
		return nil, err
	}
	if rows == labels.Len() {
		label := labelsOf(b, labels, b.Node(ArgMax{Axis: 1}, scores))
		return []*ir.Value{label, postTransform(b, scores, transform)}, nil
	}
	positive := b.Node(Greater{}, ReshapeTo(b, scores, scores.Type.Shape[0]), b.Scalar(ir.F32, 0))
	label := labelsOf(b, labels, b.Node(Cast{To: ir.I64}, positive))
	return []*ir.Value{label, twoScores(b, scores, true, transform)}, nil
}
