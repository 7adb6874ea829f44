package nn

import (
	"sync/atomic"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// seed is what eager random numbers and initial values depend on.
var seed atomic.Uint64

// Seed sets the seed of the random numbers and the initial values of parameters that
// are computed from here on, and begins the numbers anew. It is 0 at first. A recorded
// model has the seed that its program gives it.
func Seed(s uint64) {
	seed.Store(s)
	session.random.Store(0)
}

// site returns the number of the next place at which random numbers are drawn.
func site() int64 { return session.random.Add(1) }

// drawSeed returns a seed for the next site.
func drawSeed() int64 {
	a, _ := rt.Philox(seed.Load(), uint64(site()))
	return int64(a)
}

// Uniform returns f32 numbers that are uniformly distributed from low to high,
// without high. Each call draws others.
func Uniform(low, high float64, shape ...Extent) Value {
	return one(op.RandomUniform{DType: F32, Shape: extents(shape), Low: low, High: high, Seed: drawSeed()})
}

// Normal returns f32 numbers that are normally distributed.
func Normal(mean, deviation float64, shape ...Extent) Value {
	return one(op.RandomNormal{DType: F32, Shape: extents(shape), Mean: mean, Scale: deviation, Seed: drawSeed()})
}

// Bernoulli returns f32 numbers that are 1 with the probability p, else 0.
func Bernoulli(p float64, shape ...Extent) Value { return Uniform(0, 1, shape...).Less(p).Float() }

// Random is [Uniform] from 0 to 1.
func Random(shape ...Extent) Value { return Uniform(0, 1, shape...) }

// RandomLike returns numbers of x's shape, uniformly distributed from 0 to 1.
func RandomLike(x Value) Value { return Uniform(0, 1, shapeOf(x)...) }

// RandomInts returns i64 numbers that are uniformly distributed from low to high,
// without high.
func RandomInts(low, high int, shape ...Extent) Value {
	if high <= low {
		fail("no number is from %d to %d", low, high)
	}
	d := op.RandomUniform{DType: F64, Shape: extents(shape), Low: float64(low), High: float64(high), Seed: drawSeed()}
	return one(d).Floor().Cast(I64).Clamp(float64(low), float64(high-1))
}

// Multinomial draws n of the columns of each row of probabilities, f32[N,C], which need
// not add up to 1: i64[N,n].
func Multinomial(probabilities Value, n int) Value {
	return one(op.Multinomial{Samples: n, DType: ir.I64, Seed: drawSeed()}, probabilities.Log())
}
