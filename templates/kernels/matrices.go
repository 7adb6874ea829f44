package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// These are the sizes of a product by [kernel.MatMulAdd]. A warp computes warpM × warpN sums of a
// block's tile, in matrices of matrixM × matrixN. warpsN is the number of warps along the columns
// of the tile.
const (
	warpM, warpN     = 16, 32
	matrixM, matrixN = 16, 8
	warpsN           = tileN / warpN
)

// termsOf returns the distance between adjacent columns of a tile in shared memory, in elements of
// type d. A column has tileK terms and a gap of 16 bytes. The gap makes the threads of a warp
// access different banks.
func termsOf(d ir.DType) int { return tileK + 16/d.Size() }

// inMatrix returns the index of element (column, term) in a tile; see [termsOf].
func (p *product) inMatrix(column, term *kernel.Value) *kernel.Value {
	return p.Add(p.Mul(column, p.Int(termsOf(p.Matrix))), term)
}

// buildMatrices is [product.build] with warps that multiply matrices, see [kernel.MatMulAdd].
func (p *product) buildMatrices() {
	warp, lane := p.Div(p.thread, p.Int(kernel.Warp)), p.Rem(p.thread, p.Int(kernel.Warp))
	row, pair := p.Div(lane, p.Int(4)), p.Rem(lane, p.Int(4))
	m0, n0 := p.Mul(p.Div(warp, p.Int(warpsN)), p.Int(warpM)), p.Mul(p.Rem(warp, p.Int(warpsN)), p.Int(warpN))
	sums := p.accumulate(func(sums []*kernel.Value) []*kernel.Value {
		_, _, terms, _ := kernel.FactorsOfMatrix(p.Matrix)
		for k := 0; k < tileK; k += terms {
			a := p.factors(p.a, p.Add(m0, row), pair, k, matrixM/8)
			for j := range warpN / matrixN {
				b := p.factors(p.b, p.Add(n0, p.Add(row, p.Int(j*matrixN))), pair, k, 1)
				copy(sums[4*j:], p.MatMulAdd(a, b, sums[4*j:4*j+4]))
			}
		}
		return sums
	})
	for i, sum := range sums {
		matrix, below, right := i/4, i/2%2, i%2
		m := p.Add(p.m0, p.Add(m0, p.Add(row, p.Int(8*below))))
		n := p.Add(p.n0, p.Add(n0, p.Add(p.Mul(pair, p.Int(2)), p.Int(matrix*matrixN+right))))
		p.Do(p.And(p.Lt(m, p.m), p.Lt(n, p.n)), func() { p.Store(p.Emitter, p.batch, m, n, sum) })
	}
}

// factors returns the elements that a thread passes to [kernel.MatMulAdd] for a matrix in `tile`.
// They are elements of the given column and, if `columns` is 2, also of column + 8. The matrix begins
// at term `first` of each column of the tile. Four threads have elements of the same column; pair, 0
// to 3, is the index of the thread among them.
func (p *product) factors(tile, column, pair *kernel.Value, first, columns int) []*kernel.Value {
	adjacent := min(4/p.Matrix.Size(), 2)
	var elements []*kernel.Value
	for half := range 2 {
		term := p.Add(p.Mul(pair, p.Int(adjacent)), p.Int(first+4*adjacent*half))
		for c := range columns {
			elements = append(elements, p.LoadN(tile, p.inMatrix(p.Add(column, p.Int(8*c)), term), adjacent)...)
		}
	}
	return elements
}
