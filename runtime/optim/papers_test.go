package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// papers are optimizers that PyTorch 1.13 lacks, as their papers define step n of a parameter. w
// are the weights with rows and columns, g their gradients, and m the vectors of the optimizer's
// state, which start at zero.
var papers = map[string]struct {
	make constructor
	step func(n int, rate float64, w, g []float64, m [][]float64, rows, columns int)
}{
	"adamw, cautious":          {of(optim.NewAdamW, optim.AdamWConfig{WeightDecay: 0.3, Cautious: true}), cautious(false)},
	"adamw, cautious, amsgrad": {of(optim.NewAdamW, optim.AdamWConfig{WeightDecay: 0.3, Cautious: true, AMSGrad: true}), cautious(true)},
	"adan":                     {of(optim.NewAdan, optim.AdanConfig{}), adan(0.98, 0.92, 0.99, 1e-8, 0, false)},
	"adan, all":                {of(optim.NewAdan, optim.AdanConfig{Beta1: 0.9, Beta2: 0.8, Beta3: 0.7, Epsilon: 1e-3, WeightDecay: 0.2}), adan(0.9, 0.8, 0.7, 1e-3, 0.2, false)},
	"adan, without prox": {of(optim.NewAdan, optim.AdanConfig{WeightDecay: 0.2, NoProx: true}),
		adan(0.98, 0.92, 0.99, 1e-8, 0.2, true)},
	"lion":      {of(optim.NewLion, optim.LionConfig{}), lion(0.9, 0.99, 0)},
	"lion, all": {of(optim.NewLion, optim.LionConfig{Beta1: 0.7, Beta2: 0.8, WeightDecay: 0.2}), lion(0.7, 0.8, 0.2)},
	"muon":      {of(optim.NewMuon, optim.MuonConfig{}), muon(0.95, 0.1, 5, true, false)},
	"muon, all": {of(optim.NewMuon, optim.MuonConfig{Momentum: 0.8, WeightDecay: zero, Iterations: 3, NoNesterov: true, MatchRMS: true}),
		muon(0.8, 0, 3, false, true)},
}

type rule = func(n int, rate float64, w, g []float64, m [][]float64, rows, columns int)

// cautious is algorithm 1 of the paper for AdamW: weights decay where their signs are those of the update.
func cautious(largest bool) rule {
	const beta1, beta2, epsilon, decay = 0.9, 0.999, 1e-8, 0.3
	return func(n int, rate float64, w, g []float64, m [][]float64, _, _ int) {
		for i, x := range g {
			m[0][i] += (1 - beta1) * (x - m[0][i])
			m[1][i] += (1 - beta2) * (x*x - m[1][i])
			second := m[1][i]
			if largest {
				m[2][i] = max(m[2][i], second)
				second = m[2][i]
			}
			update := m[0][i] / (1 - math.Pow(beta1, float64(n))) / (math.Sqrt(second/(1-math.Pow(beta2, float64(n)))) + epsilon)
			if update*w[i] >= 0 {
				w[i] -= rate * decay * w[i]
			}
			w[i] -= rate * update
		}
	}
}

// adan is algorithm 1 of the paper. Its factors are 1 minus the factors of the paper, and it
// corrects the bias as in the authors' program.
func adan(beta1, beta2, beta3, epsilon, decay float64, noProx bool) rule {
	return func(n int, rate float64, w, g []float64, m [][]float64, _, _ int) {
		for i, x := range g {
			difference := 0.0
			if n > 1 {
				difference = x - m[0][i]
			}
			m[0][i] = x
			m[1][i] += (1 - beta1) * (x - m[1][i])
			m[2][i] += (1 - beta2) * (difference - m[2][i])
			m[3][i] += (1 - beta3) * (math.Pow(x+beta2*difference, 2) - m[3][i])
			corrected := func(k int, beta float64) float64 { return m[k][i] / (1 - math.Pow(beta, float64(n))) }
			eta := rate / (math.Sqrt(corrected(3, beta3)) + epsilon)
			step := eta * (corrected(1, beta1) + beta2*corrected(2, beta2))
			if noProx {
				w[i] = w[i]*(1-rate*decay) - step
			} else {
				w[i] = (w[i] - step) / (1 + rate*decay)
			}
		}
	}
}

// lion is algorithm 2 of the paper.
func lion(beta1, beta2, decay float64) rule {
	return func(_ int, rate float64, w, g []float64, m [][]float64, _, _ int) {
		for i, x := range g {
			c := beta1*m[0][i] + (1-beta1)*x
			sign := 0.0
			if math.Abs(c) > 1e-9 { // zero, as far as float32 tells
				sign = math.Copysign(1, c)
			}
			w[i] -= rate * (sign + decay*w[i])
			m[0][i] = beta2*m[0][i] + (1-beta2)*x
		}
	}
}

// muon is algorithm 2 of its description, with sums of products written out.
func muon(momentum, decay float64, iterations int, nesterov, matchRMS bool) rule {
	return func(_ int, rate float64, w, g []float64, m [][]float64, rows, columns int) {
		x := make([]float64, len(g))
		norm := 0.0
		for i, v := range g {
			m[0][i] = momentum*m[0][i] + (1-momentum)*v
			x[i] = m[0][i]
			if nesterov {
				x[i] = momentum*m[0][i] + (1-momentum)*v
			}
			norm += x[i] * x[i]
		}
		for i := range x {
			x[i] /= math.Sqrt(norm) + 1e-7
		}
		for range iterations {
			// x → 3.4445·x − 4.775·x·xᵀ·x + 2.0315·(x·xᵀ)²·x
			gram := product(x, transposed(x, rows, columns), rows, columns, rows)
			cubic := product(gram, x, rows, rows, columns)
			fifth := product(gram, cubic, rows, rows, columns)
			for i := range x {
				x[i] = 3.4445*x[i] - 4.775*cubic[i] + 2.0315*fifth[i]
			}
		}
		factor := math.Sqrt(math.Max(1, float64(rows)/float64(columns)))
		if matchRMS {
			factor = 0.2 * math.Sqrt(math.Max(float64(rows), float64(columns)))
		}
		for i := range w {
			w[i] = w[i]*(1-rate*decay) - rate*factor*x[i]
		}
	}
}

func product(a, b []float64, m, k, n int) []float64 {
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				out[i*n+j] += a[i*k+l] * b[l*n+j]
			}
		}
	}
	return out
}

func transposed(x []float64, rows, columns int) []float64 {
	out := make([]float64, len(x))
	for i := range rows {
		for j := range columns {
			out[j*rows+i] = x[i*columns+j]
		}
	}
	return out
}

func TestOptimizersAreThoseOfTheirPapers(t *testing.T) {
	for name, c := range papers {
		t.Run(name, func(t *testing.T) {
			p := params(t, rt.Param{Name: "a", Shape: []int{3, 5}}, rt.Param{Name: "b", Shape: []int{6, 2, 2}, Off: 16}, rt.Param{Name: "c", Shape: []int{20, 2}, Off: 40})
			o, err := c.make(p)
			if err != nil {
				t.Fatal(err)
			}
			w, m, n := make([][]float64, 3), make([][][]float64, 3), make([]int, 3)
			for i := range w {
				w[i] = floats(p.Value(i))
				for range 4 {
					m[i] = append(m[i], make([]float64, len(w[i])))
				}
			}
			for step := range 20 {
				rate := 0.1 / float64(1+step%3)
				train(p, o, step)
				for i, it := range p.Items {
					if step == 6 && it.Name == "b" {
						continue
					}
					n[i]++
					c.step(n[i], rate, w[i], floats(p.Gradient(i)), m[i], it.Shape[0], len(w[i])/it.Shape[0])
					near(t, fmt.Sprintf("%s after step %d", it.Name, step), p.Value(i), w[i], 1e-5)
				}
			}
		})
	}
}

func floats(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// Muon's steps have singular values near 1 at every level.
func TestMuonIsNearlyOrthogonal(t *testing.T) {
	for _, l := range cpu.Levels() {
		for _, shape := range [][]int{{40, 17}, {17, 40}, {33, 33}} {
			t.Run(fmt.Sprintf("%v at %v", shape, l), func(t *testing.T) {
				defer cpu.SetLevel(l)()
				p := params(t, rt.Param{Name: "a", Shape: shape})
				o, err := optim.NewMuon(p, optim.MuonConfig{WeightDecay: zero})
				if err != nil {
					t.Fatal(err)
				}
				for i := range p.Grad {
					p.Grad[i] = float32(math.Sin(float64(i*i)*0.37 + 1))
				}
				p.Renew()
				clear(p.Data)
				o.Step(1)
				rows, columns := shape[0], shape[1]
				x := floats(p.Data)
				scale := math.Max(1, float64(rows)/float64(columns))
				if rows > columns {
					x, rows, columns = transposed(x, rows, columns), columns, rows
				}
				gram := product(x, transposed(x, rows, columns), rows, columns, rows)
				trace := 0.0
				for i := range rows {
					trace += gram[i*rows+i] / scale
				}
				if mean := trace / float64(rows); mean < 0.5 || mean > 1.3 {
					t.Errorf("the mean square of the singular values is %v", mean)
				}
			})
		}
	}
}
