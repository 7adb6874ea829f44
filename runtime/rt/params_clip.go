package rt

import "math"

// ClipNorm scales the gradients that are present so that the L2 norm of all of them together is at
// most limit. It returns the norm before scaling. A limit below 0 counts as 0. If the norm is not
// finite, ClipNorm changes nothing. The host sums in float64 and in a fixed order. A device sums
// blocks of 4,096 elements in float32. If the device fails, the norm is NaN, and [Params.Err]
// returns the error. PyTorch: clip_grad_norm_.
func (p *Params) ClipNorm(limit float64) float64 {
	sum := 0.0
	p.present(func(all *parameters, g []float32) { sum += all.squares(g) })
	norm := math.Sqrt(sum)
	if factor, ok := clipping(norm, limit); ok {
		p.Scale(factor)
	}
	return norm
}

// ClipNorms limits the L2 norm of each parameter's gradient to `limit`, as [Params.ClipNorm] limits
// the norm of all gradients together. It does not return the norms.
func (p *Params) ClipNorms(limit float64) {
	p.each(func(all *parameters, i int) {
		if !all.there[i] {
			return
		}
		g := all.of(all.grad, i)
		if factor, ok := clipping(math.Sqrt(all.squares(g)), limit); ok {
			all.scale(g, float32(factor))
		}
	})
}

// ClipValue clamps every element of the gradients that are present to [-limit, limit]. A limit below
// 0 counts as 0. A NaN stays. PyTorch: clip_grad_value_.
func (p *Params) ClipValue(limit float64) {
	most := float32(max(0, limit))
	p.present(func(all *parameters, g []float32) {
		if all.away {
			all.update("clamp", []float32{most}, g)
			return
		}
		for i, v := range g {
			if v > most {
				g[i] = most
			} else if v < -most {
				g[i] = -most
			}
		}
	})
}

// Scale multiplies the gradients that are present by factor, rounded to float32. A factor of 1/k
// turns the sum of k steps into their mean.
func (p *Params) Scale(factor float64) {
	p.present(func(all *parameters, g []float32) { all.scale(g, float32(factor)) })
}

// present calls f with the gradients that are present: one parameter at a time or, on a device, a
// range of adjacent parameters at a time.
func (p *Params) present(f func(all *parameters, g []float32)) {
	if p == nil {
		return
	}
	if p.all != nil && p.all.away {
		p.spans(func(all *parameters, i int) bool { return all.there[i] }, func(all *parameters, from, to int) { f(all, all.grad[from:to]) })
		return
	}
	p.each(func(all *parameters, i int) {
		if all.there[i] {
			f(all, all.of(all.grad, i))
		}
	})
}

// squares returns the sum of the squares of g, a range of the gradients. It returns NaN if the
// device fails.
func (all *parameters) squares(g []float32) float64 {
	if !all.away {
		return squares(g)
	}
	sum, err := all.mirror.Squares(g)
	if err != nil {
		all.fail(err)
		return math.NaN()
	}
	return sum
}

func (all *parameters) scale(g []float32, factor float32) {
	if all.away {
		all.update("scale", []float32{factor}, g)
	} else {
		scale(g, factor)
	}
}

// clipping returns the factor that scales `norm` to at most `limit`. ok is true if there is
// something to scale: the factor is below 1 and the norm is finite.
func clipping(norm, limit float64) (factor float64, ok bool) {
	const epsilon = 1e-6 // as in PyTorch, so that rounding leaves the norm below the limit
	factor = max(0, limit) / (norm + epsilon)
	return factor, factor < 1 && !math.IsInf(norm, 0)
}

// squares returns the sum of the squares of x. It adds four partial sums, which a processor can
// compute at the same time.
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
