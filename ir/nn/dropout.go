package nn

import "github.com/burngen/burngen/ir/op"

// Dropout is a layer that zeroes elements at random with probability Rate, and divides the other elements by 1 −
// Rate. It does so only in training. In inference it returns its input.
type Dropout struct{ Rate float64 }

// NewDropout returns a dropout layer with this rate.
func NewDropout(rate float64) Dropout { return Dropout{rate} }

// Forward applies dropout to x.
func (d Dropout) Forward(x Value) Value {
	if !(d.Rate >= 0 && d.Rate <= 1) {
		fail("the rate %g is not from 0 to 1", d.Rate)
	}
	if d.Rate == 0 {
		return x
	}
	return one(op.Dropout{Rate: d.Rate, Site: site()}, x)
}

// GaussianNoise is a layer that adds normally distributed numbers with mean 0 and standard deviation Deviation. It
// does so only in training. In inference it returns its input.
type GaussianNoise struct{ Deviation float64 }

// Forward adds noise to x.
func (g GaussianNoise) Forward(x Value) Value {
	return one(op.Noise{Deviation: g.Deviation, Site: site()}, x)
}
