package nn

import (
	"sync/atomic"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// seed is the seed of eager random numbers and initial values.
var seed atomic.Uint64

// Seed sets the seed of random numbers and of initial parameter values that are computed from now on. It restarts
// the sequence of random numbers. Without a call of Seed, the seed is 0. A generated program does not use this
// seed: its caller passes one.
func Seed(s uint64) {
	seed.Store(s)
	session.random.Store(0)
}

// site returns a number that identifies one place in a model at which random numbers are drawn. Each call returns
// the next number.
func site() int64 { return session.random.Add(1) }

func drawSeed() int64 {
	a, _ := rt.Philox(seed.Load(), uint64(site()))
	return int64(a)
}

// Uniform returns f32 numbers from the uniform distribution on [low, high). Each call draws new
// numbers.
func Uniform(low, high float64, shape ...Extent) Value {
	return one(op.RandomUniform{DType: F32, Shape: extents(shape), Low: low, High: high, Seed: drawSeed()})
}

// Normal returns f32 numbers from a normal distribution with the given mean and standard deviation. Each call draws
// new numbers.
func Normal(mean, deviation float64, shape ...Extent) Value {
	return one(op.RandomNormal{DType: F32, Shape: extents(shape), Mean: mean, Scale: deviation, Seed: drawSeed()})
}

// Bernoulli returns f32 numbers that are 1 with probability p, and 0 otherwise.
func Bernoulli(p float64, shape ...Extent) Value { return Uniform(0, 1, shape...).Less(p).Float() }

// Random returns f32 numbers from the uniform distribution on [0, 1).
func Random(shape ...Extent) Value { return Uniform(0, 1, shape...) }

// RandomLike returns f32 numbers of x's shape from the uniform distribution on [0, 1).
func RandomLike(x Value) Value { return Uniform(0, 1, shapeOf(x)...) }

// UniformLike returns f32 numbers of x's shape from the uniform distribution on [low, high).
func UniformLike(x Value, low, high float64) Value { return Uniform(low, high, shapeOf(x)...) }

// NormalLike returns f32 numbers of x's shape from a normal distribution with the given mean and standard
// deviation.
func NormalLike(x Value, mean, deviation float64) Value {
	return Normal(mean, deviation, shapeOf(x)...)
}

// BernoulliLike returns f32 numbers of x's shape that are 1 with probability p, and 0 otherwise.
func BernoulliLike(x Value, p float64) Value { return Bernoulli(p, shapeOf(x)...) }

// RandomInts returns i64 numbers from the uniform distribution on [low, high).
func RandomInts(low, high int, shape ...Extent) Value {
	if high <= low {
		fail("no number is from %d to %d", low, high)
	}
	d := op.RandomUniform{DType: F64, Shape: extents(shape), Low: float64(low), High: float64(high), Seed: drawSeed()}
	return one(d).Floor().Cast(I64).Clamp(float64(low), float64(high-1))
}

// Multinomial draws n column indices for each row of probabilities, f32[N,C], with replacement. The sum of a row
// need not be 1. The result is i64[N,n].
func Multinomial(probabilities Value, n int) Value {
	return one(op.Multinomial{Samples: n, DType: ir.I64, Seed: drawSeed()}, probabilities.Log())
}
