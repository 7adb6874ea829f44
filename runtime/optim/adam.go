package optim

import (
	"math"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// AdamConfig configures [Adam].
type AdamConfig struct {
	Beta1, Beta2 float64 // decay of the moments; default 0.9 and 0.999
	Epsilon      float64 // added to the root of the second moment; default 1e-8 as in PyTorch (1e-5 in Burn)
	WeightDecay  float64 // WeightDecay times the weights is added to the gradient
	AMSGrad      bool    // use the largest second moment so far (Reddi, Kale, Kumar 2018)
}

// Adam adapts the rate of each element to the moments of its gradient (Kingma, Ba: Adam, a method
// for stochastic optimization, 2015). PyTorch: Adam.
type Adam struct {
	bound
	c          AdamConfig
	decoupled  bool // weight decay is separate from the gradient
	cautious   bool // decoupled, and weights whose first moments have the other sign do not decay
	m, v, most []float32
	rates      cpu.AdamRates
}

// NewAdam binds Adam to parameters. It returns the errors of [rt.Params.Bind], and an error if the
// configuration is invalid or there is no memory for the state.
func NewAdam(p *rt.Params, c AdamConfig) (*Adam, error) {
	o := &Adam{}
	if err := o.init("adam", p, c, 0); err != nil {
		return nil, err
	}
	return o, nil
}

// AdamWConfig configures [AdamW].
type AdamWConfig struct {
	Beta1, Beta2 float64 // decay of the moments; default 0.9 and 0.999
	Epsilon      float64 // added to the root of the second moment; default 1e-8
	WeightDecay  float64 // decoupled weight decay, scaled by the rate; default 0.01
	AMSGrad      bool    // use the largest second moment so far
	// Cautious omits the decay of weights that the gradient part of the step moves away from 0 (Chen and
	// others: Cautious weight decay, 2025).
	Cautious bool
}

// AdamW is Adam with weight decay that is separate from the gradient (Loshchilov, Hutter: Decoupled
// weight decay regularization, 2019). PyTorch: AdamW.
type AdamW struct{ Adam }

// NewAdamW binds AdamW to parameters. It returns the errors of [NewAdam].
func NewAdamW(p *rt.Params, c AdamWConfig) (*AdamW, error) {
	o := &AdamW{Adam{decoupled: true, cautious: c.Cautious}}
	adam := AdamConfig{Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon, WeightDecay: c.WeightDecay, AMSGrad: c.AMSGrad}
	if err := o.init("adamw", p, adam, 0.01); err != nil {
		return nil, err
	}
	return o, nil
}

// init is [NewAdam] for an optimizer called name. decay is the default of WeightDecay.
func (o *Adam) init(name string, p *rt.Params, c AdamConfig, decay float64) error {
	err := complete(name, beta("Beta1", &c.Beta1, 0.9), beta("Beta2", &c.Beta2, 0.999),
		positive("Epsilon", &c.Epsilon, 1e-8), positive("WeightDecay", &c.WeightDecay, decay))
	if err != nil {
		return err
	}
	names := []string{"exp_avg", "exp_avg_sq"}
	if c.AMSGrad {
		names = append(names, "max_exp_avg_sq")
	}
	if err := o.bind(name, p, names...); err != nil {
		return err
	}
	o.c = c
	o.m, o.v, o.most = o.vector("exp_avg"), o.vector("exp_avg_sq"), o.vector("max_exp_avg_sq")
	return o.onDevice()
}

// Step implements [Optimizer].
func (o *Adam) Step(rate float64) error { return o.step(o, rate, 24) }

func (o *Adam) prepare(n int64, rate float64) {
	o.rates = cpu.AdamRates{
		Decay: float32(o.c.WeightDecay), Shrink: 1, Against: 1,
		Beta1: float32(o.c.Beta1), Rest1: rest(o.c.Beta1),
		Beta2: float32(o.c.Beta2), Rest2: rest(o.c.Beta2),
		Scale:   float32(1 / math.Sqrt(bias(o.c.Beta2, n))),
		Epsilon: float32(o.c.Epsilon),
		Rate:    float32(rate / bias(o.c.Beta1, n)),
	}
	if o.decoupled {
		o.rates.Decay, o.rates.Shrink = 0, float32(shrunk(rate, o.c.WeightDecay))
		if !o.cautious {
			o.rates.Against = o.rates.Shrink
		}
	}
}

func (o *Adam) kernel() (name string, numbers []float32, vectors [][]float32) {
	r := &o.rates
	numbers = []float32{r.Decay, r.Shrink, r.Beta1, r.Rest1, r.Beta2, r.Rest2, r.Scale, r.Epsilon, r.Rate, r.Against}
	if o.most != nil {
		return "amsgrad", numbers, [][]float32{o.m, o.v, o.most}
	}
	return "adam", numbers, [][]float32{o.m, o.v}
}

func (o *Adam) update(w, g []float32, from int) {
	to := from + len(w)
	var most []float32
	if o.most != nil {
		most = o.most[from:to]
	}
	cpu.Adam(w, g, o.m[from:to], o.v[from:to], most, &o.rates)
}
