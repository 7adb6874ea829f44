package optim

import (
	"math"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// AdanConfig configures [Adan].
type AdanConfig struct {
	Beta1, Beta2, Beta3 float64 // decay of the moments; default 0.98, 0.92 and 0.99
	Epsilon             float64 // added to the root of the second moment; default 1e-8
	WeightDecay         float64 // decoupled weight decay, scaled by the rate
	NoProx              bool    // decay weights before the step, as AdamW does, instead of after it
}

// Adan uses the differences of successive gradients to look ahead (Xie and others: Adan, adaptive
// Nesterov momentum algorithm, 2022). Beta1, Beta2 and Beta3 are 1 minus the β of the paper, as in the
// authors' program.
type Adan struct {
	bound
	c             AdanConfig
	last, m, d, v []float32
	first         bool // there is no previous gradient
	rates         cpu.AdanRates
}

// NewAdan binds Adan to parameters. It returns the errors of [rt.Params.Bind], and an error if the
// configuration is invalid or there is no memory for the state.
func NewAdan(p *rt.Params, c AdanConfig) (*Adan, error) {
	o := &Adan{}
	err := complete("adan", beta("Beta1", &c.Beta1, 0.98), beta("Beta2", &c.Beta2, 0.92), beta("Beta3", &c.Beta3, 0.99),
		positive("Epsilon", &c.Epsilon, 1e-8), positive("WeightDecay", &c.WeightDecay, 0))
	if err != nil {
		return nil, err
	}
	if err := o.bind("adan", p, "previous_grad", "exp_avg", "exp_avg_diff", "exp_avg_sq"); err != nil {
		return nil, err
	}
	o.c = c
	o.last, o.m, o.d, o.v = o.vectors[0], o.vectors[1], o.vectors[2], o.vectors[3]
	if err := o.onDevice(); err != nil {
		return nil, err
	}
	return o, nil
}

// Step implements [Optimizer].
func (o *Adan) Step(rate float64) error { return o.step(o, rate, 36) }

func (o *Adan) prepare(n int64, rate float64) {
	o.first = n == 1
	o.rates = cpu.AdanRates{
		Beta1: float32(o.c.Beta1), Rest1: rest(o.c.Beta1),
		Beta2: float32(o.c.Beta2), Rest2: rest(o.c.Beta2),
		Beta3: float32(o.c.Beta3), Rest3: rest(o.c.Beta3),
		Scale:          float32(1 / math.Sqrt(bias(o.c.Beta3, n))),
		Epsilon:        float32(o.c.Epsilon),
		Rate:           float32(rate / bias(o.c.Beta1, n)),
		DifferenceRate: float32(rate * o.c.Beta2 / bias(o.c.Beta2, n)),
		Before:         1,
		After:          float32(1 / shrunk(-rate, o.c.WeightDecay)),
	}
	if o.c.NoProx {
		o.rates.Before, o.rates.After = float32(shrunk(rate, o.c.WeightDecay)), 1
	}
}

func (o *Adan) kernel() (name string, numbers []float32, vectors [][]float32) {
	r := &o.rates
	numbers = []float32{r.Beta1, r.Rest1, r.Beta2, r.Rest2, r.Beta3, r.Rest3, r.Scale, r.Epsilon, r.Rate, r.DifferenceRate, r.Before, r.After}
	name = "adan"
	if o.first {
		name = "adan_first"
	}
	return name, numbers, [][]float32{o.last, o.m, o.d, o.v}
}

func (o *Adan) update(w, g []float32, from int) {
	to := from + len(w)
	if o.first {
		copy(o.last[from:to], g)
	}
	cpu.Adan(w, g, o.last[from:to], o.m[from:to], o.d[from:to], o.v[from:to], &o.rates)
}
