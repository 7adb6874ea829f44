package optim

import (
	"errors"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// SGDConfig configures [SGD].
type SGDConfig struct {
	Momentum    float64 // decay of the momentum, below 1
	Dampening   float64 // 1 minus the weight of the gradient in the momentum, below 1
	WeightDecay float64 // WeightDecay times the weights is added to the gradient
	Nesterov    bool    // look ahead along the momentum; requires momentum and no dampening
}

// SGD is stochastic gradient descent, with optional momentum. PyTorch: SGD.
type SGD struct {
	bound
	c     SGDConfig
	m     []float32
	rates cpu.SGDRates
}

// NewSGD binds SGD to parameters. It returns the errors of [rt.Params.Bind], and an error if the
// configuration is invalid or there is no memory for the state.
func NewSGD(p *rt.Params, c SGDConfig) (*SGD, error) {
	o := &SGD{}
	err := complete("sgd", beta("Momentum", &c.Momentum, 0), beta("Dampening", &c.Dampening, 0), positive("WeightDecay", &c.WeightDecay, 0))
	if c.Nesterov && (c.Momentum == 0 || c.Dampening != 0) {
		err = errors.Join(err, errors.New("sgd: Nesterov takes Momentum and no Dampening"))
	}
	if err != nil {
		return nil, err
	}
	var names []string
	if c.Momentum != 0 {
		names = []string{"momentum_buffer"}
	}
	if err := o.bind("sgd", p, names...); err != nil {
		return nil, err
	}
	o.c, o.m = c, o.vector("momentum_buffer")
	if err := o.onDevice(); err != nil {
		return nil, err
	}
	return o, nil
}

// Step implements [Optimizer].
func (o *SGD) Step(rate float64) error { return o.step(o, rate, 12) }

func (o *SGD) prepare(n int64, rate float64) {
	o.rates = cpu.SGDRates{
		Decay: float32(o.c.WeightDecay), Rate: float32(rate),
		Momentum: float32(o.c.Momentum), Keep: rest(o.c.Dampening), Heavy: 1,
	}
	if n == 1 {
		o.rates.Momentum, o.rates.Keep = 0, 1
	}
	if o.c.Nesterov {
		o.rates.Direct, o.rates.Heavy = 1, float32(o.c.Momentum)
	}
}

func (o *SGD) kernel() (name string, numbers []float32, vectors [][]float32) {
	r := &o.rates
	if o.m == nil {
		return "sgd", []float32{r.Decay, r.Rate}, nil
	}
	return "momentum", []float32{r.Decay, r.Rate, r.Momentum, r.Keep, r.Direct, r.Heavy}, [][]float32{o.m}
}

func (o *SGD) update(w, g []float32, from int) {
	var m []float32
	if o.m != nil {
		m = o.m[from:][:len(w)]
	}
	cpu.SGD(w, g, m, &o.rates)
}
