package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// SVMPairs returns a decision value for each of the P = C(C−1)/2 pairs of C classes, f32[N,P]. The order of the
// pairs is (0,1), (0,2), …, (1,2), …. The operands are f32[N,V], the kernel function of each row and support
// vector; coefficients f32[C−1,V]; rho f32[P]; and i64[C], the number of vectors of each class. The sum of these
// numbers is V. The vectors are in the order of the classes. For a vector of class i, the coefficient for the
// decision against class j is in row j if j < i, and in row j−1 if j > i.
type SVMPairs struct{}

// SVMVotes returns, for each row, the class that wins the most pairs: i64[N] from 0 to Classes − 1. Its operand is
// the decision values f32[N,P] of [SVMPairs]. The first class of a pair wins if the decision value of the pair is
// above 0, and the second class otherwise. If several classes win equally many pairs, the result is the one with
// the lowest index.
type SVMVotes struct{ Classes int }

// SVMProbabilities returns the probabilities of classes, f32[N,Classes]. Its operands are the decision values
// f32[N,P] of [SVMPairs], and Platt's coefficients a and b, f32[P]. The first class of a pair with decision value v
// has the probability 1 − 1/(1+e^−(a·v+b)) within the pair. The second method of Wu, Lin and Weng (2004) combines
// the probabilities of all pairs.
type SVMProbabilities struct{ Classes int }

// maxSVMClasses is the maximum number of classes. It limits the number of pairs of classes.
const maxSVMClasses = 1 << 15

// pairsOf returns the number of pairs of C classes, C(C−1)/2. It returns an error if there are less than 2 or more
// than [maxSVMClasses] classes.
func pairsOf(classes int) (int, error) {
	if classes < 2 || classes > maxSVMClasses {
		return 0, fmt.Errorf("%d classes, 2 to %d expected", classes, maxSVMClasses)
	}
	return classes * (classes - 1) / 2, nil
}

// inferPairs returns an error unless operand 0 is f32[N,P], where P is the number of pairs of classes. It also
// returns an error unless exactly `vectors` operands f32[P] follow.
func inferPairs(in []ir.Type, classes, vectors int) error {
	if err := CheckTensors(in, 1+vectors, 1+vectors); err != nil {
		return err
	}
	pairs, err := pairsOf(classes)
	if err != nil {
		return err
	}
	if in[0].Rank() != 2 || !in[0].Equal(ir.TensorOf(ir.F32, in[0].Shape[0], dim.Const(pairs))) {
		return fmt.Errorf("pairs are %s, %d columns of f32 expected", in[0], pairs)
	}
	for i, t := range in[1:] {
		if want := ir.StaticTensor(ir.F32, pairs); !t.Equal(want) {
			return fmt.Errorf("operand %d is %s, %s expected", i+1, t, want)
		}
	}
	return nil
}

// Infer returns f32[N,P].
func (op SVMPairs) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 4, 4); err != nil {
		return nil, err
	}
	classes, ok := in[3].Elems().Int()
	if !ok {
		return nil, fmt.Errorf("counts are %s", in[3])
	}
	pairs, err := pairsOf(classes)
	if err != nil {
		return nil, err
	}
	if in[0].Rank() != 2 {
		return nil, fmt.Errorf("operand is %s, a matrix expected", in[0])
	}
	rows, vectors := in[0].Shape[0], in[0].Shape[1]
	for i, want := range []ir.Type{
		ir.TensorOf(ir.F32, rows, vectors), ir.TensorOf(ir.F32, dim.Const(classes-1), vectors),
		ir.StaticTensor(ir.F32, pairs), ir.StaticTensor(ir.I64, classes),
	} {
		if !in[i].Equal(want) {
			return nil, fmt.Errorf("operand %d is %s, %s expected", i, in[i], want)
		}
	}
	return []ir.Type{ir.TensorOf(ir.F32, rows, dim.Const(pairs))}, nil
}

// Infer returns i64[N].
func (op SVMVotes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := inferPairs(in, op.Classes, 0); err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(ir.I64, in[0].Shape[0])}, nil
}

// Infer returns f32[N,Classes].
func (op SVMProbabilities) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := inferPairs(in, op.Classes, 2); err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(ir.F32, in[0].Shape[0], dim.Const(op.Classes))}, nil
}

// Eval returns the decision values, f32[N,P]. It returns an error if the number of vectors of a class is negative,
// or if these numbers add up to more than V.
func (op SVMPairs) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	kernel, coefficients, rho, counts := in[0], in[1], in[2], in[3]
	classes, vectors := counts.Len(), kernel.Shape[1]
	first := make([]int, classes+1)
	for i := range classes {
		n := counts.Int(i)
		if n < 0 || n > int64(vectors-first[i]) {
			return nil, fmt.Errorf("class %d has %d of %d vectors", i, n, vectors)
		}
		first[i+1] = first[i] + int(n)
	}
	y := ir.NewTensor(ir.F32, shape...)
	for r := range shape[0] {
		p := 0
		for i := range classes {
			for j := i + 1; j < classes; j++ {
				sum := rho.Float(p)
				for v := first[i]; v < first[i+1]; v++ {
					sum += float64(coefficients.Float((j-1)*vectors+v) * kernel.Float(r*vectors+v))
				}
				for v := first[j]; v < first[j+1]; v++ {
					sum += float64(coefficients.Float(i*vectors+v) * kernel.Float(r*vectors+v))
				}
				y.SetFloat(r*shape[1]+p, sum)
				p++
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// Eval returns the class of each row, i64[N].
func (op SVMVotes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := InferOf(op, in); err != nil {
		return nil, err
	}
	y := ir.NewTensor(ir.I64, in[0].Shape[0])
	at := 0
	for r := range y.Len() {
		votes, best := make([]int, op.Classes), 0
		for i := range op.Classes {
			for j := i + 1; j < op.Classes; j++ {
				winner := j
				if in[0].Float(at) > 0 {
					winner = i
				}
				votes[winner]++
				at++
			}
		}
		for c, n := range votes {
			if n > votes[best] {
				best = c
			}
		}
		y.SetInt(r, int64(best))
	}
	return []*ir.Tensor{y}, nil
}

// Eval returns the probabilities, f32[N,Classes]. It couples the pairs in float64.
func (op SVMProbabilities) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := InferOf(op, in); err != nil {
		return nil, err
	}
	rows, n := in[0].Shape[0], op.Classes
	y := ir.NewTensor(ir.F32, rows, n)
	r := make([]float64, n*n)
	at := 0
	for row := range rows {
		p := 0
		for i := range n {
			for j := i + 1; j < n; j++ {
				v := 1 - 1/(1+portable.Exp(-(float64(in[1].Float(p)*in[0].Float(at))+in[2].Float(p))))
				r[i*n+j] = min(max(v, 1e-7), 1-1e-7)
				r[j*n+i] = 1 - r[i*n+j]
				p++
				at++
			}
		}
		for c, v := range coupled(r, n) {
			y.SetFloat(row*n+c, v)
		}
	}
	return []*ir.Tensor{y}, nil
}

// coupled returns the probabilities p of n classes, given the probabilities for every pair of them. r[i,j], element
// i·n+j of r, is the probability of class i if only the classes i and j are possible. p minimises pᵀQp, where
// Q[i,i] = Σr[j,i]² and Q[i,j] = −r[j,i]·r[i,j]. coupled finds it by the iteration of Wu, Lin and Weng.
func coupled(r []float64, n int) []float64 {
	q, p := make([]float64, n*n), make([]float64, n)
	for i := range n {
		p[i] = 1 / float64(n)
		for j := range n {
			if j != i {
				q[i*n+i] += float64(r[j*n+i] * r[j*n+i])
				q[i*n+j] = -r[j*n+i] * r[i*n+j]
			}
		}
	}
	for range 100 {
		qp, pqp := make([]float64, n), 0.0
		for i := range n {
			for j := range n {
				qp[i] += float64(q[i*n+j] * p[j])
			}
			pqp += float64(p[i] * qp[i])
		}
		worst := 0.0
		for _, v := range qp {
			worst = max(worst, v-pqp, pqp-v)
		}
		if worst < 0.005/float64(n) {
			break
		}
		for i := range n {
			step := (pqp - qp[i]) / q[i*n+i]
			p[i] += step
			pqp = (pqp + float64(step*(float64(step*q[i*n+i])+2*qp[i]))) / (1 + step) / (1 + step)
			for j := range n {
				qp[j] = (qp[j] + float64(step*q[i*n+j])) / (1 + step)
				p[j] /= 1 + step
			}
		}
	}
	return p
}
