package rt

import "math"

// ClipNorm scales the gradients that are there so that the norm of all of them
// together, the root of the sum of their squares, is at most limit, and returns what it
// was. A norm that is not finite changes nothing. The sum is one of float64s in an
// order that depends on nothing but the parameters. PyTorch: clip_grad_norm_.
func (p *Params) ClipNorm(limit float64) float64 {
	sum := 0.0
	p.there(func(g []float32) { sum += squares(g) })
	norm := math.Sqrt(sum)
	if factor, ok := clipping(norm, limit); ok {
		p.Scale(factor)
	}
	return norm
}

// ClipNorms scales the gradient of each parameter for itself so that its norm is at
// most limit, see [Params.ClipNorm].
func (p *Params) ClipNorms(limit float64) {
	p.there(func(g []float32) {
		if factor, ok := clipping(math.Sqrt(squares(g)), limit); ok {
			scale(g, float32(factor))
		}
	})
}

// ClipValue makes every element of the gradients that are there at least -limit and at
// most limit. NaN stays. PyTorch: clip_grad_value_.
func (p *Params) ClipValue(limit float64) {
	most := float32(max(0, limit))
	p.there(func(g []float32) {
		for i, v := range g {
			if v > most {
				g[i] = most
			} else if v < -most {
				g[i] = -most
			}
		}
	})
}

// Scale multiplies the gradients that are there by a factor, rounded to float32: 1/k
// makes a mean of what k steps of a trainer have added.
func (p *Params) Scale(factor float64) {
	p.there(func(g []float32) { scale(g, float32(factor)) })
}

// there calls f with the gradients that are there.
func (p *Params) there(f func(g []float32)) {
	p.each(func(all *parameters, i int) {
		if all.there[i] {
			f(all.of(all.grad, i))
		}
	})
}

// clipping returns the factor that makes a norm the limit, and whether it takes one.
func clipping(norm, limit float64) (factor float64, ok bool) {
	const epsilon = 1e-6 // as PyTorch, so that rounding leaves the norm below the limit
	factor = max(0, limit) / (norm + epsilon)
	return factor, factor < 1 && !math.IsInf(norm, 0)
}

// squares returns the sum of the squares, as four sums of every fourth: additions that
// need not wait for each other.
func squares(x []float32) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		p, q, r, s := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		a += float64(p * p)
		b += float64(q * q)
		c += float64(r * r)
		d += float64(s * s)
	}
	for _, v := range x {
		a += float64(float64(v) * float64(v))
	}
	return a + b + (c + d)
}

func scale(x []float32, factor float32) {
	for i := range x {
		x[i] *= factor
	}
}
