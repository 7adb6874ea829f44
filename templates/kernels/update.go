package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// lane is the number of adjacent elements that a thread updates together. They have 16 bytes.
const lane = 4

// Update is a kernel called Name that changes f32 vectors element by element, such as a step of an optimizer. Its
// parameters are, in this order: the Numbers as f32, the number of groups of 4 elements as an i32, the number of
// threads as an i32, and the Vectors. Each vector starts at a multiple of 16 bytes. Its memory has whole groups,
// so it may have up to 3 additional elements. Doc is the formula for the comment of the kernel.
type Update struct {
	Name, Doc string
	Numbers   []string
	Vectors   []string
	// Step computes the new elements from the numbers c and the elements x, in the order of Numbers and Vectors.
	// For each vector it returns the new element, or nil if the vector does not change.
	Step func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value
}

// Build returns the kernel. It returns the errors of [kernel.Build].
func (u *Update) Build() (*kernel.Kernel, error) {
	return kernel.Build(u.Name, []int{Threads}, func(b *kernel.Builder) {
		b.Doc("%s", u.Doc)
		var c, vectors []*kernel.Value
		for _, name := range u.Numbers {
			c = append(c, b.Scalar(name, ir.F32))
		}
		groups, threads := b.Scalar("groups", ir.I32), b.Scalar("threads", ir.I32)
		for _, name := range u.Vectors {
			vectors = append(vectors, b.Pointer(name, ir.F32))
		}
		b.For(b.Global(0), groups, threads, nil, func(group *kernel.Value, _ []*kernel.Value) []*kernel.Value {
			at := b.Mul(group, b.Int(lane))
			old, changed := make([][]*kernel.Value, len(vectors)), make([][]*kernel.Value, len(vectors))
			for k, v := range vectors {
				old[k] = b.LoadN(v, at, lane)
			}
			for i := range lane {
				x := make([]*kernel.Value, len(vectors))
				for k := range vectors {
					x[k] = old[k][i]
				}
				for k, v := range u.Step(b, c, x) {
					if v != nil {
						changed[k] = append(changed[k], v)
					}
				}
			}
			for k, v := range changed {
				if v != nil {
					b.Store(vectors[k], at, v...)
				}
			}
			return nil
		})
	})
}

// Updates are the kernels of training that are the same for all models: the steps of optimizers, and operations
// on gradients such as sums and scaling. They compute the same operations in the same order on every target.
var Updates = []*Update{
	{
		Name: "accumulate", Doc: "y = y + x", Vectors: []string{"y", "x"},
		Step: func(b *kernel.Builder, _, x []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Add(x[0], x[1]), nil}
		},
	},
	{
		Name: "copy", Doc: "y = x", Vectors: []string{"y", "x"},
		Step: func(b *kernel.Builder, _, x []*kernel.Value) []*kernel.Value { return []*kernel.Value{x[1], nil} },
	},
	{
		Name: "zero", Doc: "x = 0", Vectors: []string{"x"},
		Step: func(b *kernel.Builder, _, _ []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Float(ir.F32, 0)}
		},
	},
	{
		Name: "scale", Doc: "x = factor x", Numbers: []string{"factor"}, Vectors: []string{"x"},
		Step: func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Mul(x[0], c[0])}
		},
	},
	{
		Name: "clamp", Doc: "x = x held in [-limit, limit]; a NaN stays", Numbers: []string{"limit"}, Vectors: []string{"x"},
		Step: func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
			least := b.Neg(c[0])
			v := b.Select(b.Lt(x[0], least), least, x[0])
			return []*kernel.Value{b.Select(b.Gt(x[0], c[0]), c[0], v)}
		},
	},
	{
		Name: "sgd", Doc: "w = w - rate (g + decay w)",
		Numbers: []string{"decay", "rate"}, Vectors: []string{"w", "g"},
		Step: func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
			d := b.Add(x[1], b.Mul(c[0], x[0]))
			return []*kernel.Value{b.Sub(x[0], b.Mul(c[1], d)), nil}
		},
	},
	{
		Name: "momentum", Doc: "d = g + decay w; m = momentum m + keep d; w = w - rate (direct d + heavy m)",
		Numbers: []string{"decay", "rate", "momentum", "keep", "direct", "heavy"}, Vectors: []string{"w", "g", "m"},
		Step: func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
			d := b.Add(x[1], b.Mul(c[0], x[0]))
			m := b.Add(b.Mul(c[2], x[2]), b.Mul(c[3], d))
			step := b.Add(b.Mul(c[5], m), b.Mul(c[4], d))
			return []*kernel.Value{b.Sub(x[0], b.Mul(c[1], step)), nil, m}
		},
	},
	{
		Name: "adam", Doc: "d = g + decay w; m = beta1 m + rest1 d; v = beta2 v + rest2 d²; w = shrink w - rate m/(scale √v + epsilon), with against for shrink if w m < 0",
		Numbers: adamNumbers, Vectors: []string{"w", "g", "m", "v"},
		Step: func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
			m, v := moments(b, c, x)
			return []*kernel.Value{adamStep(b, c, x[0], m, v), nil, m, v}
		},
	},
	{
		Name: "amsgrad", Doc: "as adam, but with most = max(most, v) under the root",
		Numbers: adamNumbers, Vectors: []string{"w", "g", "m", "v", "most"},
		Step: func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
			m, v := moments(b, c, x)
			most := b.Select(b.Gt(x[4], v), x[4], v)
			return []*kernel.Value{adamStep(b, c, x[0], m, most), nil, m, v, most}
		},
	},
	{
		Name: "adagrad", Doc: "d = g + decay w; v = v + d²; w = w - rate (d/(√v + epsilon))",
		Numbers: []string{"decay", "epsilon", "rate"}, Vectors: []string{"w", "g", "v"},
		Step: func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
			d := b.Add(x[1], b.Mul(c[0], x[0]))
			v := b.Add(x[2], b.Mul(d, d))
			s := b.Div(d, b.Add(b.Unary(kernel.Sqrt, v), c[1]))
			return []*kernel.Value{b.Sub(x[0], b.Mul(c[2], s)), nil, v}
		},
	},
	rmsProp("rmsprop", false, false),
	rmsProp("rmsprop_momentum", false, true),
	rmsProp("rmsprop_centered", true, false),
	rmsProp("rmsprop_centered_momentum", true, true),
	adan("adan", false),
	adan("adan_first", true),
	{
		Name: "lion", Doc: "w = shrink w - rate sign(beta1 m + rest1 g); m = beta2 m + rest2 g",
		Numbers: []string{"shrink", "beta1", "rest1", "beta2", "rest2", "rate"}, Vectors: []string{"w", "g", "m"},
		Step: func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
			s := b.Add(b.Mul(c[1], x[2]), b.Mul(c[2], x[1]))
			zero := b.Float(ir.F32, 0)
			step := b.Select(b.Lt(s, zero), b.Neg(c[5]), s)
			step = b.Select(b.Gt(s, zero), c[5], step)
			m := b.Add(b.Mul(c[3], x[2]), b.Mul(c[4], x[1]))
			return []*kernel.Value{b.Sub(b.Mul(c[0], x[0]), step), nil, m}
		},
	},
}

var adamNumbers = []string{"decay", "shrink", "beta1", "rest1", "beta2", "rest2", "scale", "epsilon", "rate", "against"}

// moments returns m and v, the moments of Adam, after a step. c holds the numbers that adamNumbers names. x holds
// the weight, its gradient, m and v.
func moments(b *kernel.Builder, c, x []*kernel.Value) (m, v *kernel.Value) {
	d := b.Add(x[1], b.Mul(c[0], x[0]))
	m = b.Add(b.Mul(c[2], x[2]), b.Mul(c[3], d))
	v = b.Add(b.Mul(c[4], x[3]), b.Mul(b.Mul(c[5], d), d))
	return m, v
}

// adamStep returns the weight w after a step of Adam. m and v are the new moments. c holds the numbers that
// adamNumbers names.
func adamStep(b *kernel.Builder, c []*kernel.Value, w, m, v *kernel.Value) *kernel.Value {
	root := b.Add(b.Mul(b.Unary(kernel.Sqrt, v), c[6]), c[7])
	shrink := b.Select(b.Lt(b.Mul(w, m), b.Float(ir.F32, 0)), c[9], c[1])
	return b.Sub(b.Mul(shrink, w), b.Div(b.Mul(c[8], m), root))
}

// rmsProp returns the kernel for a step of RMSProp. If centered is true, it also has a running mean of the
// gradient. If momentum is true, it has momentum.
func rmsProp(name string, centered, momentum bool) *Update {
	u := &Update{
		Name: name, Doc: "d = g + decay w; v = alpha v + rest d²; s = d/(√v + epsilon); w = w - rate s",
		Numbers: []string{"decay", "alpha", "rest", "momentum", "epsilon", "rate"}, Vectors: []string{"w", "g", "v"},
	}
	if centered {
		u.Doc += "; mean = alpha mean + rest d, and v - mean², at least 0, is under the root"
		u.Vectors = append(u.Vectors, "mean")
	}
	if momentum {
		u.Doc += "; m = momentum m + s takes the place of s"
		u.Vectors = append(u.Vectors, "m")
	}
	u.Step = func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
		d := b.Add(x[1], b.Mul(c[0], x[0]))
		v := b.Add(b.Mul(c[1], x[2]), b.Mul(b.Mul(c[2], d), d))
		out := []*kernel.Value{nil, nil, v}
		spread := v
		if centered {
			mean := b.Add(b.Mul(c[1], x[3]), b.Mul(c[2], d))
			zero := b.Float(ir.F32, 0)
			spread = b.Sub(v, b.Mul(mean, mean))
			spread = b.Select(b.Gt(spread, zero), spread, zero)
			out = append(out, mean)
		}
		s := b.Div(d, b.Add(b.Unary(kernel.Sqrt, spread), c[4]))
		if momentum {
			s = b.Add(b.Mul(c[3], x[len(x)-1]), s)
			out = append(out, s)
		}
		out[0] = b.Sub(x[0], b.Mul(c[5], s))
		return out
	}
	return u
}

// adan returns the kernel for a step of Adan. If first is true, it is the first step of a parameter. This step
// uses the gradient itself as the previous gradient.
func adan(name string, first bool) *Update {
	u := &Update{
		Name: name, Doc: "e = g - last; m = beta1 m + rest1 g; d = beta2 d + rest2 e; v = beta3 v + rest3 (g + beta2 e)²; r = scale √v + epsilon; w = (before w - rate m/r - difference d/r) after; last = g",
		Numbers: []string{"beta1", "rest1", "beta2", "rest2", "beta3", "rest3", "scale", "epsilon", "rate", "difference", "before", "after"},
		Vectors: []string{"w", "g", "last", "m", "d", "v"},
	}
	if first {
		u.Doc += "; at first, last is g"
	}
	u.Step = func(b *kernel.Builder, c, x []*kernel.Value) []*kernel.Value {
		w, g, last := x[0], x[1], x[2]
		if first {
			last = g
		}
		e := b.Sub(g, last)
		m := b.Add(b.Mul(c[0], x[3]), b.Mul(c[1], g))
		d := b.Add(b.Mul(c[2], x[4]), b.Mul(c[3], e))
		ahead := b.Add(g, b.Mul(c[2], e))
		v := b.Add(b.Mul(c[4], x[5]), b.Mul(b.Mul(c[5], ahead), ahead))
		root := b.Add(b.Mul(b.Unary(kernel.Sqrt, v), c[6]), c[7])
		w = b.Sub(b.Mul(c[10], w), b.Div(b.Mul(c[8], m), root))
		w = b.Sub(w, b.Div(b.Mul(c[9], d), root))
		return []*kernel.Value{b.Mul(w, c[11]), nil, g, m, d, v}
	}
	return u
}

// squaresPerBlock is the number of elements whose squares a block of [Squares] sums.
const squaresPerBlock = 16 * Threads

// Squares returns the kernel that sums the squares of n f32 elements, for the norm of gradients. Each block
// stores one sum, of at most squaresPerBlock squares. The parameters of the kernel are n as an i32, the elements
// and the sums.
func Squares() (*kernel.Kernel, error) {
	return kernel.Build("squares", []int{Threads}, func(b *kernel.Builder) {
		b.Doc("sums[block] = the sum of x² over %d elements", squaresPerBlock)
		n := b.Scalar("n", ir.I32)
		x, sums := b.Pointer("x", ir.F32), b.Pointer("sums", ir.F32)
		first := b.Mul(b.BlockIdx(0), b.Int(squaresPerBlock))
		end := b.Min(n, b.Add(first, b.Int(squaresPerBlock)))
		sum := b.For(b.Add(first, b.Thread(0)), end, b.Int(Threads), []*kernel.Value{b.Float(ir.F32, 0)}, func(i *kernel.Value, sum []*kernel.Value) []*kernel.Value {
			v := b.Load(x, i)
			return []*kernel.Value{b.Add(sum[0], b.Mul(v, v))}
		})
		e := &Emitter{Builder: b}
		total := e.JoinBlock([]*kernel.Value{b.Shared("s", ir.F32, Threads)}, sum, func(_ *Emitter, x, y []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{b.Add(x[0], y[0])}
		})
		b.Do(b.Eq(b.Thread(0), b.Int(0)), func() { b.Store(sums, b.BlockIdx(0), total[0]) })
	})
}
