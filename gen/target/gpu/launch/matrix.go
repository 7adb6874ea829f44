package launch

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// matrix has the operators on square matrices. Their kernels eliminate in f64, with partial pivoting.
var matrix = []entry{
	computes(det),
	computes(inverse),
}

// det eliminates the elements below the diagonal and multiplies the pivots.
func det(_ op.Det, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	return eliminate("det", n, 1, func(p pivoted, row, column *kernel.Value) *kernel.Value {
		factor := p.Div(p.at(row, p.k), p.at(p.k, p.k))
		return p.Select(p.Gt(row, p.k), p.Sub(p.at(row, column), p.Mul(factor, p.at(p.k, column))), p.at(row, column))
	}, func(p pivoted, det *kernel.Value) {
		p.Do(p.Eq(p.Thread(0), p.Int(0)), func() { p.Write(y).Set(p.Index, det) })
	})
}

// inverse inverts square matrices. It eliminates all elements except the diagonal. The identity matrix to the right
// of the matrix then becomes the inverse.
func inverse(_ op.Inverse, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	return eliminate("inverse", n, 2, func(p pivoted, row, column *kernel.Value) *kernel.Value {
		scale := p.Div(p.Float(ir.F64, 1), p.at(p.k, p.k))
		pivot := p.Mul(p.at(p.k, column), scale)
		return p.Select(p.Eq(row, p.k), pivot, p.Sub(p.at(row, column), p.Mul(p.at(row, p.k), pivot)))
	}, func(p pivoted, _ *kernel.Value) {
		first := p.Mul(p.Index, p.Int(p.rows*p.rows))
		p.Each(func(i *kernel.Value) {
			row, column := p.place(i)
			column = p.Sub(column, p.Int(p.rows))
			p.Do(p.Ge(column, p.Int(0)), func() {
				p.Write(y).Set(p.Add(first, p.Add(p.Mul(row, p.Int(p.rows)), column)), p.element(i))
			})
		})
	})
}

// eliminate returns the launch of a kernel that runs Gaussian elimination with pivoting. A block of threads keeps a
// matrix in shared memory. If `wide` is 2, the identity matrix is to the right of the matrix. There is a step for
// each row k. The pivot row is the row at or below k with the largest absolute value in column k. The step swaps
// the pivot row with row k, and then replaces every element by the result of `next`. The function `store` gets det
// after the last step: the product of the pivots, negated if the number of swaps is odd.
func eliminate(name string, n *ir.Node, wide int, next func(p pivoted, row, column *kernel.Value) *kernel.Value, store func(p pivoted, det *kernel.Value)) ([]kernels.Launch, error) {
	x := n.Args[0]
	if _, ok := kernels.Arithmetic(x.Type.DType); !ok {
		return nil, errNarrow
	}
	shape := x.Type.Shape
	extent := shape[len(shape)-1]
	rows, ok := extent.Int()
	if !ok || rows > math.MaxInt16 || 2*wide*rows*rows*ir.F64.Size() > kernel.MaxShared {
		return nil, fmt.Errorf("matrices of %s rows, which do not fit into shared memory", extent)
	}
	matrices, size := dim.Product(shape[:len(shape)-2]...), wide*rows*rows
	return one(kernels.Rows(name, matrices, dim.Const(size), func(r *kernels.Row) {
		p := pivoted{Row: r, rows: rows, columns: wide * rows, first: r.Int(0)}
		p.work = r.Shared("a", ir.F64, max(2*size, 1))
		r.Each(func(i *kernel.Value) {
			row, column := p.place(i)
			inside := r.Lt(column, r.Int(rows))
			v := r.If(inside, func() []*kernel.Value {
				from := r.Add(r.Mul(r.Add(r.Mul(r.Index, r.Int(rows)), row), r.Int(rows)), column)
				return []*kernel.Value{r.Convert(ir.F64, r.Read(x).Get(from))}
			}, func() []*kernel.Value {
				return []*kernel.Value{r.Convert(ir.F64, r.Eq(r.Sub(column, r.Int(rows)), row))}
			})
			r.Store(p.work, i, v[0])
		})
		r.Barrier()
		start := []*kernel.Value{r.Float(ir.F64, 1), r.Bool(false), p.first}
		state := r.Times(r.Int(rows), start, func(k *kernel.Value, state []*kernel.Value) []*kernel.Value {
			det, singular := state[0], state[1]
			p.first, p.k, p.best = state[2], k, k
			p.best = p.greatest()
			pivot := p.at(k, k)
			signed := r.Select(r.Ne(p.best, k), r.Neg(det), det)
			det = r.Select(singular, det, r.Mul(signed, pivot))
			// Each step reads one of two matrices, and writes the other.
			to := r.Sub(r.Int(size), p.first)
			r.Each(func(i *kernel.Value) {
				row, column := p.place(i)
				r.Store(p.work, r.Add(to, i), next(p, row, column))
			})
			r.Barrier()
			return []*kernel.Value{det, r.Or(singular, r.Eq(pivot, r.Float(ir.F64, 0))), to}
		})
		p.first = state[2]
		store(p, state[0])
		r.Barrier()
	}))
}

// pivoted is a matrix in a step of an elimination, after rows k and best are swapped.
type pivoted struct {
	*kernels.Row
	work          *kernel.Value // memory of two matrices
	first         *kernel.Value // index of the first element in work
	rows, columns int
	k, best       *kernel.Value
}

func (p pivoted) place(i *kernel.Value) (row, column *kernel.Value) {
	return p.Div(i, p.Int(p.columns)), p.Rem(i, p.Int(p.columns))
}

func (p pivoted) element(i *kernel.Value) *kernel.Value { return p.Load(p.work, p.Add(p.first, i)) }

func (p pivoted) at(row, column *kernel.Value) *kernel.Value {
	from := p.Select(p.Eq(row, p.k), p.best, p.Select(p.Eq(row, p.best), p.k, row))
	return p.element(p.Add(p.Mul(from, p.Int(p.columns)), column))
}

// greatest returns the pivot row: the row at or after k whose element in column k has the largest
// absolute value. Ties go to the first row.
func (p pivoted) greatest() *kernel.Value {
	size := func(row *kernel.Value) *kernel.Value {
		return p.Abs(p.element(p.Add(p.Mul(row, p.Int(p.columns)), p.k)))
	}
	start := []*kernel.Value{p.k, size(p.k)}
	best := p.For(p.Add(p.k, p.Int(1)), p.Int(p.rows), p.Int(1), start, func(i *kernel.Value, best []*kernel.Value) []*kernel.Value {
		v := size(i)
		greater := p.Gt(v, best[1])
		return []*kernel.Value{p.Select(greater, i, best[0]), p.Select(greater, v, best[1])}
	})
	return best[0]
}
