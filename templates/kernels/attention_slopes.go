package kernels

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// tilePlace names the elements of a tile of weights that a thread holds, and the head that they belong to.
type tilePlace struct {
	Attending                  // without query and key
	rows      [2]*kernel.Value // the thread's rows
	first     *kernel.Value    // the thread's first column
}

// slopes computes tiles of P and dS, see [AttentionGradient], in registers. Threads hold the elements of a tile as they
// hold the sums of [kernel.MultiplyTiles].
type slopes struct {
	*Emitter
	keys      bool             // the rows of tiles are keys, and their columns are queries; else the reverse
	ends      [2]*kernel.Value // numbers of rows and of columns
	moments   *Tensor
	heads     *kernel.Value // number of heads of queries
	scale     float64
	change    func(e *Emitter, at Attending, score *kernel.Value) *kernel.Value
	low, high bounds
}

// bounds limits the index of a column minus the index of a row: n is the least or the greatest
// difference whose weight may be other than 0. If known is false, there is no limit.
type bounds struct {
	known bool
	n     *kernel.Value
}

// limit sets s.low, the least difference, and s.high, the greatest one. past is the position of the first
// query; before and after are as in [Attention].
func (s *slopes) limit(past *kernel.Value, before, after int) {
	s.low, s.high = bounds{before >= 0, s.Sub(past, s.Int(before))}, bounds{after >= 0, s.Add(past, s.Int(after))}
	if s.keys {
		s.low, s.high = bounds{after >= 0, s.Neg(s.high.n)}, bounds{before >= 0, s.Neg(s.low.n)}
	}
}

// loadMoments loads one of the two numbers that [AttentionMoments] has stored for each query: the first if `which`
// is 0, the second if it is 1. It returns a function f. f(i) is the number for the query of element i among the
// thread's elements of a tile with n columns.
func (s *slopes) loadMoments(at tilePlace, which, n int) func(i int) *kernel.Value {
	rows := s.Dim(s.moments.Shape[3])
	head := s.Add(s.Mul(s.Add(s.Mul(at.Batch, s.heads), at.Head), s.Int(2)), s.Int(which))
	first := s.Mul(head, rows)
	var list []*kernel.Value
	if s.keys {
		first = s.Add(first, at.first)
		for j := 0; j < n; j += 8 {
			list = append(list, s.LoadN(s.moments.Pointer(), s.Add(first, s.Int(j)), 2)...)
		}
		return func(i int) *kernel.Value { return list[i/4*2+i%2] }
	}
	for _, row := range at.rows {
		list = append(list, s.Load(s.moments.Pointer(), s.Add(first, s.Min(row, s.Sub(rows, s.Int(1))))))
	}
	return func(i int) *kernel.Value { return list[i/2%2] }
}

// weights returns the thread's elements of P. `products` are its products of queries and keys, and top(i) is the
// first moment of the query of element i. If masked is true, excluded keys get the weight 0, and scores change as
// s.change says.
func (s *slopes) weights(at tilePlace, products []*kernel.Value, top func(i int) *kernel.Value, masked bool) []*kernel.Value {
	p := make([]*kernel.Value, len(products))
	for i, x := range products {
		weigh := func(x *kernel.Value, scale float64) *kernel.Value {
			return s.Exp2(s.Fma(x, s.Float(ir.F32, scale*math.Log2E), s.Neg(top(i))))
		}
		if !masked {
			p[i] = weigh(x, s.scale)
			continue
		}
		row, column := at.rows[i/2%2], s.Add(at.first, s.Int(i/4*8+i%2))
		attends := s.Lt(column, s.ends[1])
		distance := s.Sub(column, row)
		if s.low.known {
			attends = s.And(attends, s.Ge(distance, s.low.n))
		}
		if s.high.known {
			attends = s.And(attends, s.Le(distance, s.high.n))
		}
		zero := s.Float(ir.F32, 0)
		if s.change == nil {
			p[i] = s.Select(attends, weigh(x, s.scale), zero)
			continue
		}
		place := at.Attending
		place.Query, place.Key = row, column
		if s.keys {
			place.Query, place.Key = column, row
		}
		p[i] = s.If(s.And(attends, s.Lt(row, s.ends[0])), func() []*kernel.Value {
			return []*kernel.Value{weigh(s.change(s.Emitter, place, s.Mul(x, s.Float(ir.F32, s.scale))), 1)}
		}, func() []*kernel.Value { return []*kernel.Value{zero} })[0]
	}
	return p
}

// slopes returns the thread's elements of dS. p are its elements of P, `products` are its products of dY and
// values, and sum(i) is the second moment of the query of element i.
func (s *slopes) slopes(p, products []*kernel.Value, sum func(i int) *kernel.Value) []*kernel.Value {
	out := make([]*kernel.Value, len(p))
	for i, x := range products {
		out[i] = s.Mul(p[i], s.Sub(x, sum(i)))
	}
	return out
}
