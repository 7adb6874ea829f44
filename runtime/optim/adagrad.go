package optim

import (
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// AdaGradConfig configures [AdaGrad].
type AdaGradConfig struct {
	RateDecay   float64 // step n uses the rate divided by 1 + (n-1)·RateDecay
	WeightDecay float64 // WeightDecay times the weights is added to the gradient
	Start       float64 // initial value of the sums of squares
	Epsilon     float64 // added to the root of the sums; default 1e-10
}

// AdaGrad divides the rate of each element by the root of the sum of its squared gradients (Duchi,
// Hazan, Singer: Adaptive subgradient methods, 2011). PyTorch: Adagrad.
type AdaGrad struct {
	bound
	c     AdaGradConfig
	sum   []float32
	rates cpu.AdaGradRates
}

// NewAdaGrad binds AdaGrad to parameters. It returns the errors of [rt.Params.Bind], and an error
// if the configuration is invalid or there is no memory for the state.
func NewAdaGrad(p *rt.Params, c AdaGradConfig) (*AdaGrad, error) {
	o := &AdaGrad{}
	err := complete("adagrad", positive("RateDecay", &c.RateDecay, 0), positive("WeightDecay", &c.WeightDecay, 0),
		positive("Start", &c.Start, 0), positive("Epsilon", &c.Epsilon, 1e-10))
	if err != nil {
		return nil, err
	}
	if err := o.bind("adagrad", p, "sum"); err != nil {
		return nil, err
	}
	o.c, o.sum = c, o.vector("sum")
	for i := range o.sum {
		o.sum[i] = float32(c.Start)
	}
	if err := o.onDevice(); err != nil {
		return nil, err
	}
	return o, nil
}

// Step implements [Optimizer].
func (o *AdaGrad) Step(rate float64) error { return o.step(o, rate, 16) }

func (o *AdaGrad) prepare(n int64, rate float64) {
	o.rates = cpu.AdaGradRates{
		Decay: float32(o.c.WeightDecay), Epsilon: float32(o.c.Epsilon),
		Rate: float32(rate / shrunk(-o.c.RateDecay, float64(n-1))),
	}
}

func (o *AdaGrad) kernel() (name string, numbers []float32, vectors [][]float32) {
	return "adagrad", []float32{o.rates.Decay, o.rates.Epsilon, o.rates.Rate}, [][]float32{o.sum}
}

func (o *AdaGrad) update(w, g []float32, from int) {
	cpu.AdaGrad(w, g, o.sum[from:][:len(w)], &o.rates)
}
