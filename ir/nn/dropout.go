package nn

import "github.com/burngen/burngen/ir/op"

// Dropout makes elements zero at random, with the probability Rate, and divides the
// others by 1 − Rate, in what a trainer computes. Everywhere else it does nothing.
type Dropout struct{ Rate float64 }

// NewDropout returns a dropout.
func NewDropout(rate float64) Dropout { return Dropout{rate} }

// Forward drops elements.
func (d Dropout) Forward(x Value) Value {
	if !(d.Rate >= 0 && d.Rate <= 1) {
		fail("the rate %g is not from 0 to 1", d.Rate)
	}
	if d.Rate == 0 {
		return x
	}
	return one(op.Dropout{Rate: d.Rate, Site: site()}, x)
}

// GaussianNoise adds normally distributed numbers of mean 0 in what a trainer computes.
// Everywhere else it does nothing.
type GaussianNoise struct{ Deviation float64 }

// Forward adds the numbers.
func (g GaussianNoise) Forward(x Value) Value {
	return one(op.Noise{Deviation: g.Deviation, Site: site()}, x)
}
