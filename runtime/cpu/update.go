package cpu

// Steps of optimizers: one pass over parameters w, their gradients g, which do not change, and the
// optimizer's state. All operations are in float32 and rounded one by one, so that the bits are the
// same at every level. The slices have equal lengths and do not overlap. A pass is not shared among
// workers; callers can do that, because elements are independent.

// SGDRates holds the constants of a step of stochastic gradient descent.
type SGDRates struct {
	Decay          float32 // weight decay: Decay times the weights is added to the gradient
	Rate           float32 // learning rate
	Momentum, Keep float32 // factors of the old momentum and of the gradient in the new one
	Direct, Heavy  float32 // factors of the gradient and of the momentum in the step
}

// SGD computes a step of stochastic gradient descent. w holds the parameters, g their gradients,
// and m the momentum. Decay, Rate, Momentum, Keep, Direct and Heavy are fields of rates.
//
//	d = g + Decay·w
//	w = w − Rate·d
//
// With momentum, if m is not nil, it computes:
//
//	d = g + Decay·w
//	m = Momentum·m + Keep·d
//	w = w − Rate·(Direct·d + Heavy·m)
func SGD(w, g, m []float32, rates *SGDRates) {
	g = g[:len(w)]
	if m == nil {
		if !sgdFast(w, g, rates) {
			sgdRef(w, g, rates)
		}
		return
	}
	if m = m[:len(w)]; !momentumFast(w, g, m, rates) {
		momentumRef(w, g, m, rates)
	}
}

// AdamRates holds the constants of a step of [Adam].
type AdamRates struct {
	Decay        float32 // weight decay: Decay times the weights is added to the gradient
	Shrink       float32 // factor of the weights
	Against      float32 // factor, in place of Shrink, of weights whose sign is not that of the new first moment
	Beta1, Rest1 float32 // factors of the old first moment and of the gradient in the new one
	Beta2, Rest2 float32 // factors of the old second moment and of the squared gradient in the new one
	Scale        float32 // factor of the root of the second moment
	Epsilon      float32 // added to the root of the second moment
	Rate         float32 // learning rate
}

// Adam computes a step of Adam. w holds the parameters, and g their gradients. m and v are the
// moments. Capitalised names are fields of rates.
//
//	d = g + Decay·w
//	m = Beta1·m + Rest1·d
//	v = Beta2·v + Rest2·d²
//	w = s·w − Rate·m/(Scale·√v + Epsilon), where s is Against if w·m < 0, else Shrink
//
// If `most` is not nil, it also computes most = max(most, v), and uses √most instead of √v.
func Adam(w, g, m, v, most []float32, rates *AdamRates) {
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	if most == nil {
		if !adamFast(w, g, m, v, rates) {
			adamRef(w, g, m, v, rates)
		}
		return
	}
	if most = most[:len(w)]; !amsgradFast(w, g, m, v, most, rates) {
		amsgradRef(w, g, m, v, most, rates)
	}
}

// AdaGradRates holds the constants of a step of AdaGrad.
type AdaGradRates struct {
	Decay   float32 // weight decay: Decay times the weights is added to the gradient
	Epsilon float32 // added to the root
	Rate    float32 // learning rate
}

// AdaGrad computes a step of AdaGrad. w holds the parameters, g their gradients, and v the sums of
// squares. Capitalised names are fields of rates.
//
//	d = g + Decay·w
//	v = v + d²
//	w = w − Rate·(d/(√v + Epsilon))
func AdaGrad(w, g, v []float32, rates *AdaGradRates) {
	g, v = g[:len(w)], v[:len(w)]
	if !adaGradFast(w, g, v, rates) {
		adaGradRef(w, g, v, rates)
	}
}

// RMSPropRates holds the constants of a step of RMSProp.
type RMSPropRates struct {
	Decay       float32 // weight decay: Decay times the weights is added to the gradient
	Alpha, Rest float32 // factors of the old mean and of the new value
	Momentum    float32 // factor of the old momentum
	Epsilon     float32 // added to the root
	Rate        float32 // learning rate
}

// RMSProp computes a step of RMSProp. w holds the parameters, g their gradients, and v the mean
// squares of the gradients. Capitalised names are fields of rates.
//
//	d = g + Decay·w
//	v = Alpha·v + Rest·d²
//	s = d/(√v + Epsilon)
//	w = w − Rate·s
//
// If mean is not nil, it also computes mean = Alpha·mean + Rest·d, and uses max(v − mean², 0)
// instead of v under the root. If m is not nil, it also computes m = Momentum·m + s, and uses m
// instead of s in the last line.
func RMSProp(w, g, v, mean, m []float32, rates *RMSPropRates) {
	g, v = g[:len(w)], v[:len(w)]
	if mean != nil {
		mean = mean[:len(w)]
	}
	if m != nil {
		m = m[:len(w)]
	}
	done := false
	switch {
	case mean == nil && m == nil:
		done = rmsPropFast(w, g, v, rates)
	case mean == nil:
		done = rmsPropMomentumFast(w, g, v, m, rates)
	case m == nil:
		done = rmsPropCenteredFast(w, g, v, mean, rates)
	default:
		done = rmsPropCenteredMomentumFast(w, g, v, mean, m, rates)
	}
	if !done {
		rmsPropRef(w, g, v, mean, m, rates)
	}
}

// AdanRates holds the constants of a step of Adan.
type AdanRates struct {
	Beta1, Rest1   float32 // factors of the old first moment and of the gradient in the new one
	Beta2, Rest2   float32 // factors of the moment of differences
	Beta3, Rest3   float32 // factors of the second moment
	Scale          float32 // factor of the root of the second moment
	Epsilon        float32 // added to the root of the second moment
	Rate           float32 // learning rate
	DifferenceRate float32 // learning rate of the moment of differences
	Before, After  float32 // factors of the weights before and after the step (weight decay)
}

// Adan computes a step of Adan. w holds the parameters, g their gradients, and `last` the gradients
// of the last step. m, d and v are the moments. Capitalised names are fields of rates.
//
//	e = g − last
//	m = Beta1·m + Rest1·g
//	d = Beta2·d + Rest2·e
//	v = Beta3·v + Rest3·(g + Beta2·e)²
//	r = Scale·√v + Epsilon
//	w = (Before·w − Rate·m/r − DifferenceRate·d/r)·After
//	last = g
func Adan(w, g, last, m, d, v []float32, rates *AdanRates) {
	g, last, m, d, v = g[:len(w)], last[:len(w)], m[:len(w)], d[:len(w)], v[:len(w)]
	if !adanFast(w, g, last, m, d, v, rates) {
		adanRef(w, g, last, m, d, v, rates)
	}
}

// LionRates holds the constants of a step of Lion.
type LionRates struct {
	Shrink       float32 // factor of the weights
	Beta1, Rest1 float32 // factors of the momentum and of the gradient in the step
	Beta2, Rest2 float32 // factors of the momentum and of the gradient in the new momentum
	Rate         float32 // learning rate
}

// Lion computes a step of Lion. w holds the parameters, g their gradients, and m the moment.
// Capitalised names are fields of rates.
//
//	w = Shrink·w − Rate·sign(Beta1·m + Rest1·g)
//	m = Beta2·m + Rest2·g
func Lion(w, g, m []float32, rates *LionRates) {
	g, m = g[:len(w)], m[:len(w)]
	if !lionFast(w, g, m, rates) {
		lionRef(w, g, m, rates)
	}
}
