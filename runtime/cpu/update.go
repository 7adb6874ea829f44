package cpu

// Steps of optimizers: one pass over parameters w, their gradients g, which stay as they
// are, and what the optimizer remembers of every parameter. All operations are in
// float32 and rounded one by one, so that the bits are the same at every level. The
// slices have one length; they do not overlap. A pass is not shared by the workers of
// the pool: elements do not depend on each other, so that callers can.

// SGDRates are the numbers of a step of stochastic gradient descent.
type SGDRates struct {
	Decay          float32 // of the weights, added to the gradient
	Rate           float32 // to learn at
	Momentum, Keep float32 // factors of what is remembered and of the gradient in what will be
	Direct, Heavy  float32 // factors of the gradient and of what is remembered in the step
}

// SGD computes
//
//	d = g + Decay·w
//	w = w − Rate·d
//
// or, where m is not nil, with momentum
//
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

// AdamRates are the numbers of a step of Adam.
type AdamRates struct {
	Decay        float32 // of the weights, added to the gradient
	Shrink       float32 // factor of the weights
	Beta1, Rest1 float32 // factors of the first moment and of the gradient in it
	Beta2, Rest2 float32
	Scale        float32 // of the root of the second moment
	Epsilon      float32 // added to it
	Rate         float32 // to learn at
}

// Adam computes
//
//	d = g + Decay·w
//	m = Beta1·m + Rest1·d
//	v = Beta2·v + Rest2·d²
//	w = Shrink·w − Rate·m/(Scale·√v + Epsilon)
//
// and where most is not nil the root is that of most = max(most, v).
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

// AdaGradRates are the numbers of a step of AdaGrad.
type AdaGradRates struct {
	Decay   float32 // of the weights, added to the gradient
	Epsilon float32 // added to the root
	Rate    float32 // to learn at
}

// AdaGrad computes
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

// RMSPropRates are the numbers of a step of RMSProp.
type RMSPropRates struct {
	Decay       float32 // of the weights, added to the gradient
	Alpha, Rest float32 // factors of what is remembered and of what is new
	Momentum    float32
	Epsilon     float32 // added to the root
	Rate        float32 // to learn at
}

// RMSProp computes
//
//	d = g + Decay·w
//	v = Alpha·v + Rest·d²
//	s = d/(√v + Epsilon)
//	w = w − Rate·s
//
// Where mean is not nil, mean = Alpha·mean + Rest·d and the root is that of v − mean²,
// at least 0. Where m is not nil, m = Momentum·m + s takes the place of s.
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

// AdanRates are the numbers of a step of Adan.
type AdanRates struct {
	Beta1, Rest1   float32 // factors of the first moment and of the gradient in it
	Beta2, Rest2   float32 // of the differences
	Beta3, Rest3   float32 // of the second moment
	Scale          float32 // of the root of the second moment
	Epsilon        float32 // added to it
	Rate           float32 // to learn at
	DifferenceRate float32
	Before, After  float32 // factors of the weights
}

// Adan computes
//
//	e = g − last
//	m = Beta1·m + Rest1·g
//	d = Beta2·d + Rest2·e
//	v = Beta3·v + Rest3·(g + Beta2·e)²
//	r = Scale·√v + Epsilon
//	w = (Before·w − Rate·m/r − DifferenceRate·d/r)·After
//
// and then last = g.
func Adan(w, g, last, m, d, v []float32, rates *AdanRates) {
	g, last, m, d, v = g[:len(w)], last[:len(w)], m[:len(w)], d[:len(w)], v[:len(w)]
	if !adanFast(w, g, last, m, d, v, rates) {
		adanRef(w, g, last, m, d, v, rates)
	}
}

// LionRates are the numbers of a step of Lion.
type LionRates struct {
	Shrink       float32 // factor of the weights
	Beta1, Rest1 float32 // factors of what is remembered and of the gradient in the step
	Beta2, Rest2 float32 // and in what will be remembered
	Rate         float32 // to learn at
}

// Lion computes
//
//	w = Shrink·w − Rate·sign(Beta1·m + Rest1·g)
//	m = Beta2·m + Rest2·g
func Lion(w, g, m []float32, rates *LionRates) {
	g, m = g[:len(w)], m[:len(w)]
	if !lionFast(w, g, m, rates) {
		lionRef(w, g, m, rates)
	}
}
