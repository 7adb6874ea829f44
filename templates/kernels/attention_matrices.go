package kernels

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// warpMatrices multiplies rows of heads by warps. A warp has 16 rows in the registers of its threads, and the block has a
// tile of other rows, or columns, in shared memory.
type warpMatrices struct {
	*Emitter
	matrix ir.DType
}

// loadRow returns elements `element` … element+n−1 of a row. n is 2 or 8, and divides element.
type loadRow func(row, element *kernel.Value, n int) []*kernel.Value

const (
	// gap is the number of unused elements after each row in shared memory. With the gap, the threads of a warp access
	// different banks.
	gap = 8
	// elementsAtOnce is the number of elements of a row that a thread loads at a time: 16 bytes.
	elementsAtOnce = 8
)

// rowMatrices loads the 16 rows of a warp as first factors of [kernel.MatMulAdd]. It returns the thread's elements:
// 8 for each 16 elements of a row. `rows` are the thread's two rows, `pair` is the index of its first element in
// them, and a row has `width` elements. Rows from index `end` on count as 0.
func (w *warpMatrices) rowMatrices(rows [2]*kernel.Value, pair, end *kernel.Value, width int, load loadRow) []*kernel.Value {
	elements := make([]*kernel.Value, width/2)
	for h, row := range rows {
		loaded := w.inside(w.Lt(row, end), width/4, func() (list []*kernel.Value) {
			for k := 0; k < width; k += 8 {
				list = append(list, load(row, w.Add(pair, w.Int(k)), 2)...)
			}
			return list
		})
		for i, x := range loaded {
			elements[i/2*4+2*h+i%2] = x
		}
	}
	return elements
}

// inside returns the n results of the function `load` if cond is true, and n zeros otherwise.
func (w *warpMatrices) inside(cond *kernel.Value, n int, load func() []*kernel.Value) []*kernel.Value {
	return w.If(cond, load, func() []*kernel.Value {
		return slices.Repeat([]*kernel.Value{w.Convert(w.matrix, w.Float(ir.F32, 0))}, n)
	})
}

// loadRows loads n rows, from row `first` on, to the array `to`. A row has `width` elements, and a gap follows it
// in the array. Rows from index `end` on count as 0. Neighbouring threads load neighbouring parts of a row.
func (w *warpMatrices) loadRows(to, thread, first, end *kernel.Value, n, width int, load loadRow) {
	w.loadParts(thread, first, end, n, width, load, func(i *kernel.Value) (row, part *kernel.Value) {
		parts := w.Int(width / elementsAtOnce)
		return w.Div(i, parts), w.Rem(i, parts)
	}, func(row, column *kernel.Value, x []*kernel.Value) {
		w.Builder.Store(to, w.Add(w.Mul(row, w.Int(width+gap)), column), x...)
	})
}

// loadColumns is like loadRows, but stores the rows as columns: row c of the array has element c of each of the n
// rows, and then a gap. Neighbouring threads load the same part of neighbouring rows. So they store neighbouring
// elements of a row of the array, which avoids conflicts between banks.
func (w *warpMatrices) loadColumns(to, thread, first, end *kernel.Value, n, width int, load loadRow) {
	w.loadParts(thread, first, end, n, width, load, func(i *kernel.Value) (row, part *kernel.Value) {
		return w.Rem(i, w.Int(n)), w.Div(i, w.Int(n))
	}, func(row, column *kernel.Value, x []*kernel.Value) {
		for c, v := range x {
			w.Builder.Store(to, w.Add(w.Mul(w.Add(column, w.Int(c)), w.Int(n+gap)), row), v)
		}
	})
}

// loadParts loads a tile of n rows of `width` elements in parts of 8 elements, and calls put with each part. The
// tile begins at row `first` of the operand. Rows of the operand from index `end` on count as 0. place says where
// part i is: its row in the tile, and its index among the parts of the row.
func (w *warpMatrices) loadParts(thread, first, end *kernel.Value, n, width int, load loadRow,
	place func(i *kernel.Value) (row, part *kernel.Value), put func(row, column *kernel.Value, x []*kernel.Value)) {
	threads := w.BlockSize(0)
	parts := n * width / elementsAtOnce
	w.ForUnrolled((parts+threads-1)/threads, thread, w.Int(parts), w.Int(threads), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
		row, part := place(i)
		column := w.Mul(part, w.Int(elementsAtOnce))
		at := w.Add(first, row)
		put(row, column, w.inside(w.Lt(at, end), elementsAtOnce, func() []*kernel.Value { return load(at, column, elementsAtOnce) }))
		return nil
	})
}

// products returns the thread's dot products of its warp's rows and n rows in shared memory. `rows` are the
// warp's rows, from rowMatrices. array has the n rows, from loadRows.
func (w *warpMatrices) products(rows []*kernel.Value, array *kernel.Value, n, width int, lane *kernel.Value) []*kernel.Value {
	var list []*kernel.Value
	for j := range n / matrixN {
		sums := make([]*kernel.Value, 4)
		for i := range sums {
			sums[i] = w.Float(ir.F32, 0)
		}
		for k := 0; k < width; k += termsOfHeld {
			sums = w.MatMulAdd(rows[k/2:k/2+8], w.column(array, width+gap, j*matrixN, k, lane), sums)
		}
		list = append(list, sums...)
	}
	return list
}

// addProducts adds to sums the product of two matrices: the warp's weights, [16, n], and the n rows that
// loadColumns has stored in array. sums and weights are the thread's elements.
func (w *warpMatrices) addProducts(sums, weights []*kernel.Value, array *kernel.Value, n int, lane *kernel.Value) {
	for k := 0; k < n; k += termsOfHeld {
		var a []*kernel.Value
		for _, x := range weights[k/2 : k/2+8] {
			a = append(a, w.Convert(w.matrix, x))
		}
		for j := range len(sums) / 4 {
			copy(sums[4*j:], w.MatMulAdd(a, w.column(array, n+gap, j*matrixN, k, lane), sums[4*j:4*j+4]))
		}
	}
}

// column returns the thread's elements of the second factor of [kernel.MatMulAdd]: 16 terms, from term k on, of 8
// columns, from column `first` on. In shared memory, each column is a row of the array. Rows of the array are
// `stride` elements apart.
func (w *warpMatrices) column(array *kernel.Value, stride, first, k int, lane *kernel.Value) []*kernel.Value {
	row := w.Add(w.Div(lane, w.Int(4)), w.Int(first))
	at := w.Add(w.Mul(row, w.Int(stride)), w.Add(w.Mul(w.Rem(lane, w.Int(4)), w.Int(2)), w.Int(k)))
	return append(w.LoadN(array, at, 2), w.LoadN(array, w.Add(at, w.Int(8)), 2)...)
}
