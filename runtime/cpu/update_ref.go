package cpu

import "math"

// The conversions force rounding of products before additions.

func sgdRef(w, g []float32, rates *SGDRates) {
	for i, x := range w {
		d := g[i] + float32(rates.Decay*x)
		w[i] = x - float32(rates.Rate*d)
	}
}

func momentumRef(w, g, m []float32, rates *SGDRates) {
	for i, x := range w {
		d := g[i] + float32(rates.Decay*x)
		m[i] = float32(rates.Momentum*m[i]) + float32(rates.Keep*d)
		step := float32(rates.Heavy*m[i]) + float32(rates.Direct*d)
		w[i] = x - float32(rates.Rate*step)
	}
}

func adamRef(w, g, m, v []float32, rates *AdamRates) {
	for i := range w {
		d := rates.moments(w[i], g[i], &m[i], &v[i])
		w[i] = rates.step(w[i], m[i], d)
	}
}

func amsgradRef(w, g, m, v, most []float32, rates *AdamRates) {
	for i := range w {
		d := rates.moments(w[i], g[i], &m[i], &v[i])
		if !(most[i] > d) {
			most[i] = d
		}
		w[i] = rates.step(w[i], m[i], most[i])
	}
}

// moments updates the moments m and v of a weight w. g is the gradient of w. moments returns the
// new second moment, v.
func (r *AdamRates) moments(w, g float32, m, v *float32) float32 {
	d := g + float32(r.Decay*w)
	*m = float32(r.Beta1**m) + float32(r.Rest1*d)
	*v = float32(r.Beta2**v) + float32(float32(r.Rest2*d)*d)
	return *v
}

// step returns the value of a weight w after a step. m is its first moment, and v its second
// moment.
func (r *AdamRates) step(w, m, v float32) float32 {
	root := float32(squareRoot(v)*r.Scale) + r.Epsilon
	shrink := r.Shrink
	if w*m < 0 {
		shrink = r.Against
	}
	return float32(shrink*w) - float32(r.Rate*m)/root
}

func adaGradRef(w, g, v []float32, rates *AdaGradRates) {
	for i, x := range w {
		d := g[i] + float32(rates.Decay*x)
		v[i] += float32(d * d)
		s := d / (squareRoot(v[i]) + rates.Epsilon)
		w[i] = x - float32(rates.Rate*s)
	}
}

func rmsPropRef(w, g, v, mean, m []float32, rates *RMSPropRates) {
	for i, x := range w {
		d := g[i] + float32(rates.Decay*x)
		v[i] = float32(rates.Alpha*v[i]) + float32(float32(rates.Rest*d)*d)
		spread := v[i]
		if mean != nil {
			mean[i] = float32(rates.Alpha*mean[i]) + float32(rates.Rest*d)
			if spread -= float32(mean[i] * mean[i]); !(spread > 0) {
				spread = 0
			}
		}
		s := d / (squareRoot(spread) + rates.Epsilon)
		if m != nil {
			m[i] = float32(rates.Momentum*m[i]) + s
			s = m[i]
		}
		w[i] = x - float32(rates.Rate*s)
	}
}

func adanRef(w, g, last, m, d, v []float32, rates *AdanRates) {
	for i, x := range w {
		e := g[i] - last[i]
		last[i] = g[i]
		m[i] = float32(rates.Beta1*m[i]) + float32(rates.Rest1*g[i])
		d[i] = float32(rates.Beta2*d[i]) + float32(rates.Rest2*e)
		e = g[i] + float32(rates.Beta2*e)
		v[i] = float32(rates.Beta3*v[i]) + float32(float32(rates.Rest3*e)*e)
		root := float32(squareRoot(v[i])*rates.Scale) + rates.Epsilon
		x = float32(rates.Before*x) - float32(rates.Rate*m[i])/root
		x -= float32(rates.DifferenceRate*d[i]) / root
		w[i] = float32(x * rates.After)
	}
}

func lionRef(w, g, m []float32, rates *LionRates) {
	for i, x := range w {
		s := float32(rates.Beta1*m[i]) + float32(rates.Rest1*g[i])
		m[i] = float32(rates.Beta2*m[i]) + float32(rates.Rest2*g[i])
		switch {
		case s > 0:
			s = rates.Rate
		case s < 0:
			s = -rates.Rate
		}
		w[i] = float32(rates.Shrink*x) - s
	}
}

func squareRoot(x float32) float32 { return float32(math.Sqrt(float64(x))) }
