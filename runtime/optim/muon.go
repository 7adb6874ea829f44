package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// MuonConfig configures [Muon].
type MuonConfig struct {
	Momentum    float64 // decay of the momentum; default 0.95
	WeightDecay float64 // decoupled weight decay, scaled by the rate; default 0.1
	Epsilon     float64 // added to the norm of an update; default 1e-7
	Iterations  int     // Newton–Schulz iterations; default 5
	NoNesterov  bool    // step along the momentum, without looking ahead
	MatchRMS    bool    // scale steps to the size of Adam's, by 0.2·√max(rows, columns), to use its rates
}

// Muon orthogonalises the momentum of a weight matrix approximately and steps along the result
// (Jordan and others: Muon, an optimizer for hidden layers in neural networks, 2024). PyTorch: Muon,
// but in float32. A parameter with more than two axes is treated as a matrix with a row for each
// index of the first axis. Vectors and scalars need another optimizer. The order of summation depends
// on the machine, so results may differ in their last bits.
type Muon struct {
	bound
	c        MuonConfig
	momentum []float32

	// Scratch memory for the largest matrix x: y is a product of the size of x, a = x·xᵀ, b is a
	// polynomial of a, and panels is a packed operand.
	x, y, a, b, panels []float32
}

// NewMuon binds Muon to parameters. It returns the errors of [rt.Params.Bind]. It also returns an
// error if the configuration is invalid, if a parameter is a vector or a scalar, or if there is no
// memory for the state.
func NewMuon(p *rt.Params, c MuonConfig) (*Muon, error) {
	o := &Muon{}
	err := complete("muon", beta("Momentum", &c.Momentum, 0.95), positive("WeightDecay", &c.WeightDecay, 0.1),
		positive("Epsilon", &c.Epsilon, 1e-7))
	if c.Iterations == 0 {
		c.Iterations = 5
	}
	if c.Iterations < 0 || c.Iterations > 100 {
		err = errors.Join(err, fmt.Errorf("muon: Iterations is %d: at least 1 and at most 100 expected", c.Iterations))
	}
	var size, square, panels int
	if p != nil {
		for i, it := range p.Items {
			rows, columns := matrix(it.Shape, p.Size(i))
			if len(it.Shape) < 2 {
				err = errors.Join(err, fmt.Errorf("muon: parameter %.100q is not a matrix: it needs another optimizer", it.Name))
				continue
			}
			short, long := min(rows, columns), max(rows, columns)
			size, square = max(size, rows*columns), max(square, short*short)
			panels = max(panels, cpu.PanelsLen(long, short), cpu.PanelsLen(short, long), cpu.PanelsLen(short, short))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := o.bind("muon", p, "momentum_buffer"); err != nil {
		return nil, err
	}
	o.c, o.momentum = c, o.vector("momentum_buffer")
	for _, m := range []struct {
		vector *[]float32
		n      int
	}{{&o.x, size}, {&o.y, size}, {&o.a, square}, {&o.b, square}, {&o.panels, panels}} {
		memory, err := rt.NewArena(4 * int64(m.n))
		if err != nil {
			p.Release()
			return nil, named("muon", err)
		}
		*m.vector = rt.View[float32](memory, 0, m.n)
	}
	return o, nil
}

// matrix returns the numbers of rows and columns of a parameter of n elements as a matrix. Both are 0
// if the parameter is empty or a scalar.
func matrix(shape []int, n int) (rows, columns int) {
	if n == 0 || len(shape) == 0 {
		return 0, 0
	}
	return shape[0], n / shape[0]
}

// Step implements [Optimizer].
func (o *Muon) Step(rate float64) error {
	if err := o.checkRate(rate); err != nil || o.params == nil {
		return err
	}
	if o.size >= shared {
		rt.Begin()
		defer rt.End()
	}
	for i, it := range o.params.Items {
		if w := o.params.Value(i); o.params.Fresh(i) && len(w) > 0 {
			o.steps[i]++
			rows, columns := matrix(it.Shape, len(w))
			o.update(w, o.params.Gradient(i), o.momentum[o.at[i]:][:len(w)], rows, columns, rate)
		}
	}
	o.params.UseUp()
	return nil
}

// update performs a step for one matrix w with gradients g and momentum m.
func (o *Muon) update(w, g, m []float32, rows, columns int, rate float64) {
	x := o.x[:len(w)]
	var sum float64
	keep := float32(o.c.Momentum)
	for i, v := range g {
		m[i] += float32((1 - keep) * (v - m[i]))
		step := m[i]
		if !o.c.NoNesterov {
			step = v + float32(keep*(m[i]-v))
		}
		x[i] = step
		sum += float64(float64(step) * float64(step))
	}
	norm := float32(math.Sqrt(sum) + o.c.Epsilon)
	for i := range x {
		x[i] /= norm
	}
	x = o.orthogonal(x, rows, columns)

	factor := math.Sqrt(max(1, float64(rows)/float64(columns)))
	if o.c.MatchRMS {
		factor = 0.2 * math.Sqrt(float64(max(rows, columns)))
	}
	shrink, step := float32(shrunk(rate, o.c.WeightDecay)), float32(rate*factor)
	for i, v := range w {
		w[i] = float32(v*shrink) - float32(step*x[i])
	}
}

// orthogonal returns a matrix with the same singular vectors as x and with singular values near 1. It
// uses Newton–Schulz iterations x → a·x + (b·A + c·A²)·x, where A = x·xᵀ and a, b, c are constants.
// The Frobenius norm of x must be at most 1. orthogonal overwrites x.
func (o *Muon) orthogonal(x []float32, rows, columns int) []float32 {
	const a, b, c = 3.4445, -4.775, 2.0315 // coefficients of the paper
	y := o.y[:len(x)]
	short, long := rows, columns
	if rows > columns {
		short, long = columns, rows
		transpose(y, x, rows, columns)
		x, y = y, x
	}
	first, second := o.a[:short*short], o.b[:short*short]
	for range o.c.Iterations {
		o.multiply(first, x, x, short, long, short, true)
		o.multiply(second, first, first, short, short, short, false)
		for i, v := range first {
			second[i] = float32(b*v) + float32(c*second[i])
		}
		o.multiply(y, second, x, short, short, long, false)
		for i, v := range x {
			y[i] += float32(a * v)
		}
		x, y = y, x
	}
	if rows > columns {
		transpose(y, x, columns, rows)
		x = y
	}
	return x
}

// multiply computes dst = p·q, where p is m×k and q is k×n. If transposed is true, it computes dst
// = p·qᵀ, where q is n×k.
func (o *Muon) multiply(dst, p, q []float32, m, k, n int, transposed bool) {
	stride := n
	if transposed {
		stride = k
	}
	cpu.PackPanels(o.panels, q, k, n, stride, transposed, 1, 0)
	cpu.MatMul(dst, p, o.panels, &cpu.MatMulShape{M: m, N: n, K: k, LDA: k, LDC: n, Batch: 1}, nil)
}

func transpose(dst, x []float32, rows, columns int) {
	for i := range rows {
		for j, v := range x[i*columns:][:columns] {
			dst[j*rows+i] = v
		}
	}
}
