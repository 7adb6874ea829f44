package kerneltest

import (
	"math"
	"testing"
)

// Sum is a sum of products in float64. It has a tolerance for kernels that add the products in
// float32, in any order.
type Sum struct {
	Value    float64
	absolute float64
	terms    float64
}

// Add adds the product of two numbers.
func (s *Sum) Add(x, y float32) {
	p := float64(x) * float64(y)
	s.Value += p
	s.absolute += math.Abs(p)
	s.terms++
}

// Scale multiplies the sum by a positive number.
func (s *Sum) Scale(factor float64) {
	s.Value *= factor
	s.absolute *= factor
}

// Near reports whether got is within the tolerance of the sum.
func (s *Sum) Near(got float32) bool {
	switch {
	case math.IsNaN(s.Value):
		return got != got
	case math.IsInf(s.Value, 0):
		return float64(got) == s.Value
	}
	room := s.absolute * (4 + math.Sqrt(s.terms)) / (1 << 24)
	return math.Abs(float64(got)-s.Value) <= room+math.SmallestNonzeroFloat32*(1+s.terms)
}

// Random generates reproducible operands.
type Random struct {
	state   uint32
	special bool
}

// NewRandom returns a generator with the given seed.
func NewRandom(seed uint32) *Random { return &Random{state: seed*2654435761 + 1} }

func (r *Random) next() uint32 {
	r.state = r.state*1664525 + 1013904223
	return r.state >> 8
}

// Float32 returns a number in [−1, 1), or occasionally a special number if the generator is set to
// produce them.
func (r *Random) Float32() float32 {
	if r.special && r.next()%64 == 0 {
		odd := [...]float32{
			float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)),
			float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0,
		}
		return odd[r.next()%uint32(len(odd))]
	}
	return float32(int32(r.next()))/(1<<23) - 1
}

// Input returns a frozen slice of n random numbers. Its address is `shift` elements after an aligned
// address.
func (r *Random) Input(n, shift int) *Slice[float32] {
	s := NewSlice[float32](n, shift)
	for i := range s.Data {
		s.Data[i] = r.Float32()
	}
	s.Freeze()
	return s
}

type epilogue struct {
	ep       Epilogue
	operands []*Slice[float32]
	residual []float32 // its values before the kernel runs
	then     []bool    // which elements Then has seen
	twice    bool
}

// newEpilogue returns an epilogue for results of `length` elements with the given number of columns or channels. bits
// selects its steps: withBias … withThen. The operands of the epilogue start `shift` elements after an aligned
// address. The residual is zero at the elements for which the function `pad` returns true. A nil `pad` is never true.
func newEpilogue(r *Random, bits, columns, length, shift int, pad func(at int) bool) *epilogue {
	e := &epilogue{}
	if bits&withBias != 0 {
		bias := NewSlice[float32]((columns+15)/16*16, shift)
		clear(bias.Data)
		for i := range columns {
			bias.Data[i] = r.Float32()
		}
		bias.Freeze()
		e.ep.Bias, e.operands = bias.Data, append(e.operands, bias)
	}
	if bits&withResidual != 0 {
		residual := r.Input(length, shift)
		for i := range residual.Data {
			if pad != nil && pad(i) {
				residual.Data[i] = 0
			}
		}
		residual.Freeze()
		e.ep.Residual, e.operands = residual.Data, append(e.operands, residual)
		e.residual = append(e.residual, residual.Data...)
	}
	if bits&withClamp != 0 {
		e.ep.Clamp, e.ep.Lo, e.ep.Hi = true, -0.5, 1
	}
	if bits&withClampUp != 0 {
		e.ep.Clamp, e.ep.Lo, e.ep.Hi = true, 0.25, float32(math.Inf(1))
	}
	if bits&withThen != 0 {
		in := r.Input(length, shift)
		e.operands = append(e.operands, in)
		e.ep.In[1] = in.Data
		e.then = make([]bool, length)
		e.ep.Then = func(t []float32, at int, in *[2][]float32) {
			for i := range t {
				t[i] = thenScale*t[i] + in[1][at+i]
				e.twice = e.twice || e.then[at+i]
				e.then[at+i] = true
			}
		}
	}
	return e
}

const thenScale = 2

// check fails the test if an operand or its guard bands have changed, or if Then has been called twice
// for an element.
func (e *epilogue) check(t *testing.T) {
	t.Helper()
	for _, s := range e.operands {
		s.Check(t, "epilogue operand")
	}
	if e.twice {
		t.Fatal("Then has been called twice for an element")
	}
}

// apply returns the result of the epilogue for s, a sum. `at` is the index of the sum in dst, and
// column its column.
func (e *epilogue) apply(s Sum, at, column int) Sum {
	if e.ep.Bias != nil {
		s.Add(e.ep.Bias[column], 1)
	}
	if e.residual != nil {
		s.Add(e.residual[at], 1)
	}
	if e.ep.Clamp {
		if s.Value < float64(e.ep.Lo) {
			s.Value = float64(e.ep.Lo)
		}
		if s.Value > float64(e.ep.Hi) {
			s.Value = float64(e.ep.Hi)
		}
	}
	if e.ep.Then != nil {
		s.Scale(thenScale)
		s.Add(e.ep.In[1][at], 1)
	}
	return s
}
