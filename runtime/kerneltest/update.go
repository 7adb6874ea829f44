package kerneltest

import (
	"fmt"
	"math"
	"testing"
)

// Updates holds the steps of the optimizers.
type Updates struct {
	SGD     func(w, g, m []float32, rates *SGDRates)
	Adam    func(w, g, m, v, most []float32, rates *AdamRates)
	AdaGrad func(w, g, v []float32, rates *AdaGradRates)
	RMSProp func(w, g, v, mean, m []float32, rates *RMSPropRates)
	Adan    func(w, g, last, m, d, v []float32, rates *AdanRates)
	Lion    func(w, g, m []float32, rates *LionRates)
}

// An UpdateCase is a step of an optimizer. Its slices are the parameters, the gradients and the
// optimizer's state.
type UpdateCase struct {
	Name   string
	Slices int
	Run    func(u *Updates, x [][]float32)
	Want   func(x []float64) // computes one element; x has an element of each slice
}

var (
	sgdRates     = SGDRates{Decay: 0.125, Rate: 0.3, Momentum: 0.9, Keep: 0.8, Direct: 0.7, Heavy: 0.6}
	adamRates    = AdamRates{Decay: 0.125, Shrink: 0.99, Against: 0.98, Beta1: 0.9, Rest1: 0.1, Beta2: 0.97, Rest2: 0.03, Scale: 1.7, Epsilon: 0.01, Rate: 0.3}
	adaGradRates = AdaGradRates{Decay: 0.125, Epsilon: 0.01, Rate: 0.3}
	rmsPropRates = RMSPropRates{Decay: 0.125, Alpha: 0.95, Rest: 0.05, Momentum: 0.8, Epsilon: 0.01, Rate: 0.3}
	adanRates    = AdanRates{Beta1: 0.98, Rest1: 0.02, Beta2: 0.92, Rest2: 0.08, Beta3: 0.99, Rest3: 0.01, Scale: 1.7, Epsilon: 0.01, Rate: 0.3, DifferenceRate: 0.2, Before: 0.98, After: 0.97}
	lionRates    = LionRates{Shrink: 0.99, Beta1: 0.9, Rest1: 0.1, Beta2: 0.97, Rest2: 0.03, Rate: 0.3}
)

// UpdateCases lists the steps, with and without their optional slices.
var UpdateCases = []UpdateCase{
	{"SGD", 2, func(u *Updates, x [][]float32) { u.SGD(x[0], x[1], nil, &sgdRates) }, func(x []float64) {
		r := floatsOf(sgdRates.Decay, sgdRates.Rate)
		x[0] -= r[1] * (x[1] + r[0]*x[0])
	}},
	{"SGD with momentum", 3, func(u *Updates, x [][]float32) { u.SGD(x[0], x[1], x[2], &sgdRates) }, func(x []float64) {
		s := &sgdRates
		r := floatsOf(s.Decay, s.Rate, s.Momentum, s.Keep, s.Direct, s.Heavy)
		g := x[1] + r[0]*x[0]
		x[2] = r[2]*x[2] + r[3]*g
		x[0] -= r[1] * (r[4]*g + r[5]*x[2])
	}},
	{"Adam", 4, func(u *Updates, x [][]float32) { u.Adam(x[0], x[1], x[2], x[3], nil, &adamRates) }, adam},
	{"Adam with the largest moments", 5, func(u *Updates, x [][]float32) { u.Adam(x[0], x[1], x[2], x[3], x[4], &adamRates) }, adam},
	{"AdaGrad", 3, func(u *Updates, x [][]float32) { u.AdaGrad(x[0], x[1], x[2], &adaGradRates) }, func(x []float64) {
		r := floatsOf(adaGradRates.Decay, adaGradRates.Epsilon, adaGradRates.Rate)
		g := x[1] + r[0]*x[0]
		x[2] += g * g
		x[0] -= r[2] * g / (math.Sqrt(x[2]) + r[1])
	}},
	{"RMSProp", 3, func(u *Updates, x [][]float32) { u.RMSProp(x[0], x[1], x[2], nil, nil, &rmsPropRates) },
		func(x []float64) { rmsProp(x, nil, nil) }},
	{"RMSProp centred", 4, func(u *Updates, x [][]float32) { u.RMSProp(x[0], x[1], x[2], x[3], nil, &rmsPropRates) },
		func(x []float64) { rmsProp(x, &x[3], nil) }},
	{"RMSProp with momentum", 4, func(u *Updates, x [][]float32) { u.RMSProp(x[0], x[1], x[2], nil, x[3], &rmsPropRates) },
		func(x []float64) { rmsProp(x, nil, &x[3]) }},
	{"RMSProp centred with momentum", 5, func(u *Updates, x [][]float32) { u.RMSProp(x[0], x[1], x[2], x[3], x[4], &rmsPropRates) },
		func(x []float64) { rmsProp(x, &x[3], &x[4]) }},
	{"Adan", 6, func(u *Updates, x [][]float32) { u.Adan(x[0], x[1], x[5], x[2], x[4], x[3], &adanRates) }, func(x []float64) {
		s := &adanRates
		r := floatsOf(s.Beta1, s.Rest1, s.Beta2, s.Rest2, s.Beta3, s.Rest3, s.Scale, s.Epsilon, s.Rate, s.DifferenceRate, s.Before, s.After)
		e := x[1] - x[5]
		x[5] = x[1]
		x[2] = r[0]*x[2] + r[1]*x[1]
		x[4] = r[2]*x[4] + r[3]*e
		x[3] = r[4]*x[3] + r[5]*(x[1]+r[2]*e)*(x[1]+r[2]*e)
		root := r[6]*math.Sqrt(x[3]) + r[7]
		x[0] = (r[10]*x[0] - (r[8]*x[2]+r[9]*x[4])/root) * r[11]
	}},
	{"Lion", 3, func(u *Updates, x [][]float32) { u.Lion(x[0], x[1], x[2], &lionRates) }, func(x []float64) {
		s := &lionRates
		r := floatsOf(s.Shrink, s.Beta1, s.Rest1, s.Beta2, s.Rest2, s.Rate)
		c := float64(float32(r[1]*x[2])) + float64(float32(r[2]*x[1])) // rounded, because its sign is used
		x[2] = r[3]*x[2] + r[4]*x[1]
		x[0] *= r[0]
		if c != 0 {
			x[0] -= r[5] * math.Copysign(1, c)
		}
	}},
}

// adam applies a step of Adam to one element. x holds the weight, gradient, first moment and
// second moment. A fifth element of x is the largest second moment so far, for AMSGrad.
func adam(x []float64) {
	s := &adamRates
	r := floatsOf(s.Decay, s.Shrink, s.Beta1, s.Rest1, s.Beta2, s.Rest2, s.Scale, s.Epsilon, s.Rate, s.Against)
	g := x[1] + r[0]*x[0]
	x[2] = r[2]*x[2] + r[3]*g
	x[3] = r[4]*x[3] + r[5]*g*g
	second := x[3]
	if len(x) > 4 {
		x[4] = max(x[4], x[3])
		second = x[4]
	}
	shrink := r[1]
	if x[0]*x[2] < 0 {
		shrink = r[9]
	}
	x[0] = shrink*x[0] - r[8]*x[2]/(r[6]*math.Sqrt(second)+r[7])
}

// rmsProp applies a step of RMSProp to one element. x holds the weight, the gradient and the mean
// square of gradients. mean is the mean of gradients, for the centred variant, and m is the
// momentum. A nil pointer selects the variant without it.
func rmsProp(x []float64, mean, m *float64) {
	s := &rmsPropRates
	r := floatsOf(s.Decay, s.Alpha, s.Rest, s.Momentum, s.Epsilon, s.Rate)
	g := x[1] + r[0]*x[0]
	x[2] = r[1]*x[2] + r[2]*g*g
	spread := x[2]
	if mean != nil {
		*mean = r[1]**mean + r[2]*g
		spread = max(0, spread-*mean**mean)
	}
	step := g / (math.Sqrt(spread) + r[4])
	if m != nil {
		*m = r[3]**m + step
		step = *m
	}
	x[0] -= r[5] * step
}

func floatsOf(list ...float32) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

// Update tests the kernels in u on slices of every short length and of a long one.
func Update(t *testing.T, u *Updates) {
	for _, c := range UpdateCases {
		t.Run(c.Name, func(t *testing.T) {
			r := NewRandom(3)
			for n := range 72 {
				if n == 71 {
					n = 70_001 // more than one call of assembly handles
				}
				checkUpdate(t, c, u, r, n)
			}
		})
	}
}

func checkUpdate(t *testing.T, c UpdateCase, u *Updates, r *Random, n int) {
	t.Helper()
	operands := make([]*Slice[float32], c.Slices)
	data, want := make([][]float32, c.Slices), make([][]float64, c.Slices)
	for k := range operands {
		operands[k] = r.Input(n, (n+k)%5)
		data[k] = operands[k].Data
		if k != 1 {
			operands[k].frozen = nil
		}
		for i, v := range data[k] {
			if k >= 2 { // the state may be a mean of squares, which is above the square of a mean
				data[k][i] = (v + 3) / float32(2*k-3)
			}
		}
		want[k] = floatsOf(data[k]...)
	}
	c.Run(u, data)
	x := make([]float64, c.Slices)
	for i := range n {
		for k := range x {
			x[k] = want[k][i]
		}
		c.Want(x)
		for k, w := range x {
			if got := data[k][i]; !within(got, w, 4, 2e-6) {
				t.Fatalf("%d elements: slice %d: element %d is %v, want %v", n, k, i, got, w)
			}
		}
	}
	for k, s := range operands {
		s.Check(t, fmt.Sprintf("slice %d of %d elements", k, n))
	}
}

// SpecialUpdates runs every step of [UpdateCases] three times on operands with special numbers. It
// returns the slices of each step afterwards, by the name of the step.
func SpecialUpdates(u *Updates) map[string][][]float32 {
	out := map[string][][]float32{}
	for _, c := range UpdateCases {
		r := NewRandom(11)
		r.special = true
		data := make([][]float32, c.Slices)
		for k := range data {
			data[k] = r.Input(10_007, 0).Data
		}
		for range 3 {
			c.Run(u, data)
		}
		out[c.Name] = data
	}
	return out
}
