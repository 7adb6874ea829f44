package optim

import (
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// LionConfig configures [Lion].
type LionConfig struct {
	Beta1       float64 // weight of the momentum in a step; default 0.9
	Beta2       float64 // decay of the momentum; default 0.99
	WeightDecay float64 // decoupled weight decay, scaled by the rate
}

// Lion moves each element by the learning rate, in the direction of the sign of its momentum (Chen
// and others: Symbolic discovery of optimization algorithms, 2023). Suitable rates are a tenth to
// a third of the rates for Adam.
type Lion struct {
	bound
	c     LionConfig
	m     []float32
	rates cpu.LionRates
}

// NewLion binds Lion to parameters. It returns the errors of [rt.Params.Bind], and an error if the
// configuration is invalid or there is no memory for the state.
func NewLion(p *rt.Params, c LionConfig) (*Lion, error) {
	o := &Lion{}
	err := complete("lion", beta("Beta1", &c.Beta1, 0.9), beta("Beta2", &c.Beta2, 0.99), positive("WeightDecay", &c.WeightDecay, 0))
	if err != nil {
		return nil, err
	}
	if err := o.bind("lion", p, "exp_avg"); err != nil {
		return nil, err
	}
	o.c, o.m = c, o.vector("exp_avg")
	if err := o.onDevice(); err != nil {
		return nil, err
	}
	return o, nil
}

// Step implements [Optimizer].
func (o *Lion) Step(rate float64) error { return o.step(o, rate, 12) }

func (o *Lion) prepare(_ int64, rate float64) {
	o.rates = cpu.LionRates{
		Shrink: float32(shrunk(rate, o.c.WeightDecay)), Rate: float32(rate),
		Beta1: float32(o.c.Beta1), Rest1: rest(o.c.Beta1),
		Beta2: float32(o.c.Beta2), Rest2: rest(o.c.Beta2),
	}
}

func (o *Lion) kernel() (name string, numbers []float32, vectors [][]float32) {
	r := &o.rates
	return "lion", []float32{r.Shrink, r.Beta1, r.Rest1, r.Beta2, r.Rest2, r.Rate}, [][]float32{o.m}
}

func (o *Lion) update(w, g []float32, from int) { cpu.Lion(w, g, o.m[from:][:len(w)], &o.rates) }
