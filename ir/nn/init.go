package nn

import (
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// Init describes the initial elements of a parameter. A recording keeps the description, not the elements. So the
// generated program draws the same numbers as this package. The numbers depend on the parameter's name.
type Init func(shape []int) rt.Init

// Constant sets all elements to x.
func Constant(x float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitConstant, A: x} }
}

// UniformInit draws from the uniform distribution on [low, high).
func UniformInit(low, high float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitUniform, A: low, B: high} }
}

// NormalInit draws from a normal distribution with the given mean and standard deviation.
func NormalInit(mean, deviation float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitNormal, A: mean, B: deviation} }
}

// TruncatedNormal is like [NormalInit], but draws no values that are more than two standard deviations from the
// mean.
func TruncatedNormal(mean, deviation float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitTruncated, A: mean, B: deviation} }
}

// Orthogonal initialises a matrix with orthonormal rows, times gain. If the matrix has more rows than columns, its
// columns are orthonormal instead. A weight of higher rank is treated as a matrix. Axis 0 gives the rows, and all
// other axes together give the columns.
func Orthogonal(gain float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitOrthogonal, A: gain} }
}

// fans returns the fan-in and fan-out of weights [out, in, window…].
func fans(shape []int) (in, out float64) {
	if len(shape) < 2 {
		fail("a parameter of shape %v has no fan", shape)
	}
	window := 1
	for _, n := range shape[2:] {
		window *= n
	}
	return float64(shape[1] * window), float64(shape[0] * window)
}

// spread draws from a normal distribution with mean 0 if normal is true, and otherwise from a uniform distribution
// with mean 0. deviation returns the standard deviation for a given fan-in and fan-out.
func spread(normal bool, deviation func(in, out float64) float64) Init {
	return func(shape []int) rt.Init {
		in, out := fans(shape)
		d := deviation(max(in, 1), max(out, 1))
		if normal {
			return rt.Init{Kind: rt.InitNormal, B: d}
		}
		return rt.Init{Kind: rt.InitUniform, A: -math.Sqrt(3) * d, B: math.Sqrt(3) * d}
	}
}

// KaimingUniform draws from a uniform distribution with mean 0 and standard deviation gain/√fan-in (He and others,
// 2015). With a gain of √2, a ReLU layer preserves the variance of its input. A gain of 1/√3 gives the default of
// PyTorch's Linear and convolutions.
func KaimingUniform(gain float64) Init {
	return spread(false, func(in, _ float64) float64 { return gain / math.Sqrt(in) })
}

// KaimingNormal is like [KaimingUniform] with a normal distribution.
func KaimingNormal(gain float64) Init {
	return spread(true, func(in, _ float64) float64 { return gain / math.Sqrt(in) })
}

// XavierUniform draws from a uniform distribution with mean 0 and standard deviation gain·√(2/(fan-in + fan-out)).
// A linear layer then about preserves the variance of activations and of gradients (Glorot and Bengio, 2010).
func XavierUniform(gain float64) Init {
	return spread(false, func(in, out float64) float64 { return gain * math.Sqrt(2/(in+out)) })
}

// XavierNormal is like [XavierUniform] with a normal distribution.
func XavierNormal(gain float64) Init {
	return spread(true, func(in, out float64) float64 { return gain * math.Sqrt(2/(in+out)) })
}

// fanIn is PyTorch's default initialisation of weights and biases: uniform in ±1/√in.
func fanIn(in int) Init {
	b := 1 / math.Sqrt(float64(max(in, 1)))
	return UniformInit(-b, b)
}
