package optim

import (
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// RMSPropConfig configures [RMSProp].
type RMSPropConfig struct {
	Alpha       float64 // decay of the mean square; default 0.99
	Epsilon     float64 // added to the root of the mean square; default 1e-8
	WeightDecay float64 // WeightDecay times the weights is added to the gradient
	Momentum    float64 // decay of the momentum, below 1
	Centered    bool    // use the variance of the gradients instead of their mean square
}

// RMSProp divides the rate of each element by the root mean square of its gradients (Hinton,
// lecture 6e of Neural networks for machine learning, 2012). PyTorch: RMSprop. A variance that
// rounding makes negative counts as 0.
type RMSProp struct {
	bound
	c          RMSPropConfig
	v, mean, m []float32
	rates      cpu.RMSPropRates
}

// NewRMSProp binds RMSProp to parameters. It returns the errors of [rt.Params.Bind], and an error
// if the configuration is invalid or there is no memory for the state.
func NewRMSProp(p *rt.Params, c RMSPropConfig) (*RMSProp, error) {
	o := &RMSProp{}
	err := complete("rmsprop", beta("Alpha", &c.Alpha, 0.99), positive("Epsilon", &c.Epsilon, 1e-8),
		positive("WeightDecay", &c.WeightDecay, 0), beta("Momentum", &c.Momentum, 0))
	if err != nil {
		return nil, err
	}
	names := []string{"square_avg"}
	if c.Centered {
		names = append(names, "grad_avg")
	}
	if c.Momentum != 0 {
		names = append(names, "momentum_buffer")
	}
	if err := o.bind("rmsprop", p, names...); err != nil {
		return nil, err
	}
	o.c, o.v, o.mean, o.m = c, o.vector("square_avg"), o.vector("grad_avg"), o.vector("momentum_buffer")
	if err := o.onDevice(); err != nil {
		return nil, err
	}
	return o, nil
}

// Step implements [Optimizer].
func (o *RMSProp) Step(rate float64) error { return o.step(o, rate, 20) }

func (o *RMSProp) prepare(_ int64, rate float64) {
	o.rates = cpu.RMSPropRates{
		Decay: float32(o.c.WeightDecay), Alpha: float32(o.c.Alpha), Rest: rest(o.c.Alpha),
		Momentum: float32(o.c.Momentum), Epsilon: float32(o.c.Epsilon), Rate: float32(rate),
	}
}

func (o *RMSProp) kernel() (name string, numbers []float32, vectors [][]float32) {
	r := &o.rates
	name, vectors = "rmsprop", [][]float32{o.v}
	if o.mean != nil {
		name, vectors = name+"_centered", append(vectors, o.mean)
	}
	if o.m != nil {
		name, vectors = name+"_momentum", append(vectors, o.m)
	}
	return name, []float32{r.Decay, r.Alpha, r.Rest, r.Momentum, r.Epsilon, r.Rate}, vectors
}

func (o *RMSProp) update(w, g []float32, from int) {
	to := from + len(w)
	var mean, m []float32
	if o.mean != nil {
		mean = o.mean[from:to]
	}
	if o.m != nil {
		m = o.m[from:to]
	}
	cpu.RMSProp(w, g, o.v[from:to], mean, m, &o.rates)
}
