package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importSVMRegressor imports SVMRegressor. The result is rho plus the sum of coefficient · kernel(x, vector) over
// the support vectors. Without support vectors it is rho plus the product of x and the coefficients. With one_class,
// the result is 1 if this number is above 0, and −1 otherwise.
func importSVMRegressor(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	k, err := readSVM(c)
	if err != nil {
		return nil, err
	}
	vectors := c.Int("n_supports", 0)
	x := k.x
	if vectors > 0 {
		if x, err = k.apply(b, vectors); err != nil {
			return nil, err
		}
	}
	coefficients := ir.FloatTensor(ir.F32, k.coefficients...).Reshape(1, len(k.coefficients))
	y := b.Node(Gemm{Alpha: 1, Beta: 1, TransB: true}, x, b.Const(coefficients), b.Scalar(ir.F32, k.rho[0]))
	oneClass, transform := c.Int("one_class", 0) != 0, c.Text("post_transform", "NONE")
	if oneClass {
		inside := b.Node(Greater{}, y, b.Scalar(ir.F32, 0))
		y = b.Node(Where{}, inside, b.Scalar(ir.F32, 1), b.Scalar(ir.F32, -1))
	}
	return []*ir.Value{postTransform(b, y, transform)}, nil
}

type svm struct {
	x                                  *ir.Value // f32[N,F]
	kernel                             string
	params                             [3]float64 // gamma, coef0, degree
	coefficients, rho, supportElements []float64
}

func readSVM(c ir.Importer) (*svm, error) {
	x, err := rowsOf(c.Builder(), c.Arg(0))
	if err != nil {
		return nil, err
	}
	k := &svm{
		x: ConvertTo(c.Builder(), x, ir.F32), kernel: c.Text("kernel_type", "LINEAR"),
		coefficients: c.Floats("coefficients", nil), rho: c.Floats("rho", nil), supportElements: c.Floats("support_vectors", nil),
	}
	params := c.Floats("kernel_params", nil)
	if len(params) != 0 && len(params) != len(k.params) {
		return nil, fmt.Errorf("%d kernel_params", len(params))
	}
	copy(k.params[:], params)
	if len(k.coefficients) == 0 || len(k.rho) == 0 {
		return nil, fmt.Errorf("%d coefficients, %d rho", len(k.coefficients), len(k.rho))
	}
	return k, nil
}

// apply returns the kernel function of each row x and support vector s, f32[N,vectors]. The function is x·s, (γ·x·s
// + c)ᵈ, e^(−γ·|x−s|²) or tanh(γ·x·s + c).
func (k *svm) apply(b *ir.Builder, vectors int) (*ir.Value, error) {
	if len(k.supportElements) == 0 || len(k.supportElements)%vectors != 0 {
		return nil, fmt.Errorf("%d numbers for %d support vectors", len(k.supportElements), vectors)
	}
	s := b.Const(ir.FloatTensor(ir.F32, k.supportElements...).Reshape(vectors, len(k.supportElements)/vectors))
	gamma, coef0, degree := b.Scalar(ir.F32, k.params[0]), b.Scalar(ir.F32, k.params[1]), b.Scalar(ir.F32, k.params[2])
	product := func() *ir.Value { return b.Node(Gemm{Alpha: 1, Beta: 1, TransB: true}, k.x, s) }
	affine := func() *ir.Value { return b.Node(Add{}, b.Node(Mul{}, product(), gamma), coef0) }
	switch k.kernel {
	case "LINEAR":
		return product(), nil
	case "POLY":
		return b.Node(Pow{}, affine(), degree), nil
	case "RBF":
		return b.Node(Exp{}, b.Node(Neg{}, b.Node(Mul{}, b.Node(SquaredDistances{}, k.x, s), gamma))), nil
	case "SIGMOID":
		return b.Node(Tanh{}, affine()), nil
	}
	return nil, fmt.Errorf("unknown kernel_type %q", k.kernel)
}

// importSVMClassifier imports SVMClassifier. The results are the label of each row, and scores.
//
// With support vectors, the operator computes a decision value for every pair of classes. The label is the class
// that wins most pairs. If prob_a and prob_b are given, the scores are the probabilities of the classes. Otherwise
// they are the decision values. If there are two classes, two scores are derived from their single decision value.
//
// Without support vectors, there is a linear score for each class, and the label is the class with the highest
// score.
func importSVMClassifier(c ir.Importer) ([]*ir.Value, error) {
	b, transform := c.Builder(), c.Text("post_transform", "NONE")
	labels, err := classLabels(c, "classlabels_ints")
	if err != nil {
		return nil, err
	}
	k, err := readSVM(c)
	if err != nil {
		return nil, err
	}
	probA, probB := c.Floats("prob_a", nil), c.Floats("prob_b", nil)
	counts, vectors := c.Ints("vectors_per_class", nil), 0
	for _, n := range counts {
		if n < 0 || n > len(k.supportElements)-vectors {
			return nil, fmt.Errorf("vectors_per_class: %d", n)
		}
		vectors += n
	}
	if vectors == 0 {
		return k.linear(b, labels, len(probA) > 0, transform)
	}
	classes := labels.Len()
	pairs, err := pairsOf(classes)
	if err != nil {
		return nil, err
	}
	if len(counts) != classes || len(k.rho) != pairs || len(k.coefficients) != (classes-1)*vectors {
		return nil, fmt.Errorf("%d vectors_per_class, %d rho and %d coefficients for %d classes and %d vectors", len(counts), len(k.rho), len(k.coefficients), classes, vectors)
	}
	if len(probA) != len(probB) || len(probA) != 0 && len(probA) != pairs {
		return nil, fmt.Errorf("%d prob_a, %d prob_b for %d pairs", len(probA), len(probB), pairs)
	}
	kernel, err := k.apply(b, vectors)
	if err != nil {
		return nil, err
	}
	coefficients := ir.FloatTensor(ir.F32, k.coefficients...).Reshape(classes-1, vectors)
	scores := b.Node(SVMPairs{}, kernel, b.Const(coefficients), b.Const(ir.FloatTensor(ir.F32, k.rho...)), b.Const(intTensor(counts)))
	label := labelsOf(b, labels, b.Node(SVMVotes{Classes: classes}, scores))
	switch {
	case len(probA) > 0:
		scores = b.Node(SVMProbabilities{Classes: classes}, scores, b.Const(ir.FloatTensor(ir.F32, probA...)), b.Const(ir.FloatTensor(ir.F32, probB...)))
	case classes == 2:
		return []*ir.Value{label, twoScores(b, scores, transform != "NONE", transform)}, nil
	}
	return []*ir.Value{label, postTransform(b, scores, transform)}, nil
}

// linear returns the labels and scores of a classifier without support vectors. The label is the class with the
// highest score. There is one exception. If there are two classes and probable is false, a high score selects the
// second class, even if it is the score of the first. A score is high if it is above 0 or, if no coefficient is
// negative, at least ½. transform is applied to the scores, see [postTransform].
func (k *svm) linear(b *ir.Builder, labels *ir.Tensor, probable bool, transform string) ([]*ir.Value, error) {
	classes := labels.Len()
	if len(k.coefficients)%classes != 0 {
		return nil, fmt.Errorf("%d coefficients for %d classes", len(k.coefficients), classes)
	}
	w := b.Const(ir.FloatTensor(ir.F32, k.coefficients...).Reshape(classes, len(k.coefficients)/classes))
	scores := b.Node(Gemm{Alpha: 1, Beta: 1, TransB: true}, k.x, w, b.Scalar(ir.F32, k.rho[0]))
	class := b.Node(ArgMax{Axis: 1}, scores)
	if classes == 2 && !probable {
		positive := true
		for _, v := range k.coefficients {
			positive = positive && v >= 0
		}
		top := b.Node(Reduce{Kind: ReduceMax, Axes: []int{1}}, scores)
		var second *ir.Value
		if positive {
			second = b.Node(GreaterOrEqual{}, top, b.Scalar(ir.F32, 0.5))
		} else {
			second = b.Node(Greater{}, top, b.Scalar(ir.F32, 0))
		}
		class = b.Node(Where{}, second, b.Const(ir.Scalar(ir.I64, 1)), class)
	}
	return []*ir.Value{labelsOf(b, labels, class), postTransform(b, scores, transform)}, nil
}
