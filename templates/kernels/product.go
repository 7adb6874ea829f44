package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Factors describes the matrix products of [Product]. The functions are called with indices inside
// of the extents.
type Factors struct {
	// Batch is the number of products, M and N are the extents of each result, and K is the number of
	// terms of its sums.
	Batch, M, N, K dim.Dim
	// DType is the type of the sums.
	DType ir.DType
	// A returns element (m, k) of the first factor of a product, and B element (k, n) of the
	// second. ColumnsA says that elements with adjacent m are adjacent in memory; otherwise
	// elements with adjacent k are. RowsB says that elements of B with adjacent n are adjacent in
	// memory; otherwise elements with adjacent k are.
	A        func(e *Emitter, batch, m, k *kernel.Value) *kernel.Value
	B        func(e *Emitter, batch, k, n *kernel.Value) *kernel.Value
	ColumnsA bool
	RowsB    bool
	// Matrix is the element type of matrices that warps multiply: f16, bf16 or f32. Elements are rounded to f16 or
	// bf16; elements of f32 must already be tf32. Matrix is ir.Invalid if each thread computes its own sums. If it is
	// not ir.Invalid, Term must be nil.
	Matrix ir.DType
	// Stored are the two factors as tensors in row-major order, if A and B return the elements of tensors as they
	// are; otherwise they are nil. A tensor has 2 axes, or 3 with the axis of Batch first. Element (m, k) of the
	// first factor is in row m or, with ColumnsA, in row k. Element (k, n) of the second factor is in row n or, with
	// RowsB, in row k. If M is not constant, the first tensor has 0 in place of its number of rows, M.
	Stored [2]*Matrices
	// Windows describes the first factor in place of Stored[0] if the products are convolutions. It is nil for other
	// products. A and B may then be nil.
	Windows *Windows
	// Term returns sum plus the term of the elements a and b. A nil Term adds their product. The
	// term of two zeros must be zero.
	Term func(e *Emitter, a, b, sum *kernel.Value) *kernel.Value
	// Store stores the sum as element (m, n) of the result of a product.
	Store func(e *Emitter, batch, m, n, sum *kernel.Value)
}

// A block computes a tile of tileM × tileN sums, and each of its threads computes perM × perN of these sums. The
// block loads tileK terms of both factors at a time. lanesN is the number of threads along the columns of the tile.
const (
	tileM, tileN, tileK = 64, 64, 16
	perM, perN          = 4, 4
	lanesN              = tileN / perN
)

// Product returns the [Launch] of a kernel that computes matrix products. A block of threads loads tiles of both
// factors into shared memory, and each thread computes some of the sums. A sum adds its terms in the order of k. If
// warps multiply matrices, the device chooses the order of the terms that one matrix instruction adds.
func Product(name string, f Factors) (Launch, error) {
	if f.Term == nil {
		f.Term = (*Emitter).MulAdd
	}
	tiles := []dim.Dim{f.N.CeilDiv(dim.Const(tileN)), f.M.CeilDiv(dim.Const(tileM)), f.Batch}
	elem, terms := f.DType, tileK
	if f.Matrix != ir.Invalid {
		elem, terms = f.Matrix, termsOf(f.Matrix)
	}
	return Grid(name, tiles, []int{tileM / perM * lanesN}, func(e *Emitter) func([]*kernel.Value) {
		p := &product{Emitter: e, Factors: f,
			a: e.Shared("a", elem, terms*tileM), b: e.Shared("b", elem, terms*tileN),
			m: e.Dim(f.M), n: e.Dim(f.N), k: e.Dim(f.K), thread: e.Thread(0)}
		return func(at []*kernel.Value) {
			p.batch, p.m0, p.n0 = at[2], e.Mul(at[1], e.Int(tileM)), e.Mul(at[0], e.Int(tileN))
			p.build()
		}
	})
}

type product struct {
	*Emitter
	Factors
	a, b          *kernel.Value // tiles: a[k][m] and b[k][n], or a[m][k] and b[n][k] of matrices
	m, n, k       *kernel.Value // extents
	batch, m0, n0 *kernel.Value // the block's product and the first indices of its tile
	thread        *kernel.Value // index of the thread in its block
}

func (p *product) build() {
	if p.Matrix != ir.Invalid {
		p.buildMatrices()
		return
	}
	row, lane := p.Div(p.thread, p.Int(lanesN)), p.Rem(p.thread, p.Int(lanesN))
	sums := p.accumulate(func(sums []*kernel.Value) []*kernel.Value {
		return p.ForUnrolled(tileK, p.Int(0), p.Int(tileK), p.Int(1), sums, func(k *kernel.Value, sums []*kernel.Value) []*kernel.Value {
			return p.terms(k, row, lane, sums)
		})
	})
	for i := range perM {
		m := p.Add(p.m0, p.Add(p.Mul(row, p.Int(perM)), p.Int(i)))
		p.Do(p.Lt(m, p.m), func() {
			for j := range perN {
				n := p.Add(p.n0, p.Add(lane, p.Int(j*lanesN)))
				p.Do(p.Lt(n, p.n), func() { p.Store(p.Emitter, p.batch, m, n, sums[i*perN+j]) })
			}
		})
	}
}

// accumulate returns the sums of a thread over all terms. It loads tileK terms of both factors at a time, and calls
// the function `multiply`, which adds the products of these terms to the sums and returns the new sums.
func (p *product) accumulate(multiply func(sums []*kernel.Value) []*kernel.Value) []*kernel.Value {
	sums := make([]*kernel.Value, perM*perN)
	for i := range sums {
		sums[i] = p.Number(p.DType, 0)
	}
	return p.For(p.Int(0), p.k, p.Int(tileK), sums, func(k0 *kernel.Value, sums []*kernel.Value) []*kernel.Value {
		p.load(p.a, tileM, !p.ColumnsA, p.m0, k0, p.m, func(m, k *kernel.Value) *kernel.Value { return p.A(p.Emitter, p.batch, m, k) })
		p.load(p.b, tileN, !p.RowsB, p.n0, k0, p.n, func(n, k *kernel.Value) *kernel.Value { return p.B(p.Emitter, p.batch, k, n) })
		p.Barrier()
		sums = multiply(sums)
		p.Barrier()
		return sums
	})
}

// load copies a tile of a factor to shared memory. The tile has `width` columns, beginning with column `first`, and
// tileK terms, beginning with term k0. extent is the number of columns of the factor, and element returns one of its
// elements. Elements outside the factor become 0. If termsNear is true, neighbouring threads load neighbouring terms
// of a column. Otherwise they load neighbouring columns.
func (p *product) load(tile *kernel.Value, width int, termsNear bool, first, k0, extent *kernel.Value, element func(column, k *kernel.Value) *kernel.Value) {
	threads := tileM / perM * lanesN
	for i := range width * tileK / threads {
		at := p.Add(p.thread, p.Int(i*threads))
		column, k := p.Rem(at, p.Int(width)), p.Div(at, p.Int(width))
		if termsNear {
			column, k = p.Div(at, p.Int(tileK)), p.Rem(at, p.Int(tileK))
		}
		c, t := p.Add(first, column), p.Add(k0, k)
		inside := p.And(p.Lt(c, extent), p.Lt(t, p.k))
		v := p.If(inside, func() []*kernel.Value { return []*kernel.Value{element(c, t)} },
			func() []*kernel.Value { return []*kernel.Value{p.Number(p.DType, 0)} })
		if p.Matrix != ir.Invalid {
			p.Builder.Store(tile, p.inMatrix(column, k), p.Convert(p.Matrix, v[0]))
			continue
		}
		p.Builder.Store(tile, p.Add(p.Mul(k, p.Int(width)), column), v[0])
	}
}

// terms adds the products of term k of the tiles to a thread's sums, and returns the new sums. The threads of a block
// form a grid over the sums of a tile: `row` and `lane` are the row and the column of the thread in this grid.
func (p *product) terms(k, row, lane *kernel.Value, sums []*kernel.Value) []*kernel.Value {
	var a [perM]*kernel.Value
	var b [perN]*kernel.Value
	for i := range a {
		a[i] = p.Load(p.a, p.Add(p.Mul(k, p.Int(tileM)), p.Add(p.Mul(row, p.Int(perM)), p.Int(i))))
	}
	for j := range b {
		b[j] = p.Load(p.b, p.Add(p.Mul(k, p.Int(tileN)), p.Add(lane, p.Int(j*lanesN))))
	}
	out := make([]*kernel.Value, len(sums))
	for i := range a {
		for j := range b {
			out[i*perN+j] = p.Term(p.Emitter, a[i], b[j], sums[i*perN+j])
		}
	}
	return out
}

// MulAdd returns x · y + z.
func (e *Emitter) MulAdd(x, y, z *kernel.Value) *kernel.Value {
	if x.Type.DType.IsFloat() {
		return e.Fma(x, y, z)
	}
	return e.Add(e.Mul(x, y), z)
}
