package nn

import (
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// Init says how the elements of a parameter begin. It is recorded as data: the program
// that is generated draws the same numbers as a value here has once the parameter has
// a name.
type Init func(shape []int) rt.Init

// Constant makes all elements x.
func Constant(x float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitConstant, A: x} }
}

// UniformInit draws from low to high.
func UniformInit(low, high float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitUniform, A: low, B: high} }
}

// NormalInit draws from a normal distribution.
func NormalInit(mean, deviation float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitNormal, A: mean, B: deviation} }
}

// TruncatedNormal is [NormalInit] without what is further than two deviations away.
func TruncatedNormal(mean, deviation float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitTruncated, A: mean, B: deviation} }
}

// Orthogonal makes rows, or columns where there are fewer, orthonormal, times a gain.
func Orthogonal(gain float64) Init {
	return func([]int) rt.Init { return rt.Init{Kind: rt.InitOrthogonal, A: gain} }
}

// fans returns how many elements one element of the result depends on, and how many one
// of the operand acts on, for weights [out, in, window…].
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

// spread is a distribution of mean 0 and a deviation that depends on the shape.
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

// KaimingUniform keeps the deviation of what a layer gets through a ReLU: uniform, of
// deviation gain/√(elements that an element of the result depends on), see He and
// others (2015). The gain is √2 for a ReLU, and 1/√3 gives what PyTorch's Linear and
// convolutions begin with.
func KaimingUniform(gain float64) Init {
	return spread(false, func(in, _ float64) float64 { return gain / math.Sqrt(in) })
}

// KaimingNormal is [KaimingUniform] of a normal distribution.
func KaimingNormal(gain float64) Init {
	return spread(true, func(in, _ float64) float64 { return gain / math.Sqrt(in) })
}

// XavierUniform keeps deviations forward and backward: uniform, of deviation
// gain·√(2/(in + out)), see Glorot and Bengio (2010).
func XavierUniform(gain float64) Init {
	return spread(false, func(in, out float64) float64 { return gain * math.Sqrt(2/(in+out)) })
}

// XavierNormal is [XavierUniform] of a normal distribution.
func XavierNormal(gain float64) Init {
	return spread(true, func(in, out float64) float64 { return gain * math.Sqrt(2/(in+out)) })
}

// fanIn is PyTorch's initial distribution of weights and biases of layers: uniform
// within 1/√in.
func fanIn(in int) Init {
	b := 1 / math.Sqrt(float64(max(in, 1)))
	return UniformInit(-b, b)
}
