package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Vectors describes what [MatVec] computes. Its functions are called with indices inside of the
// extents.
type Vectors struct {
	// M is the number of vectors, and K the number of their elements. N is the number of columns of
	// each matrix.
	M, N, K dim.Dim
	// Matrices is the number of matrices, [K,N], by which each vector is multiplied. It is at most
	// [MaxMatrices].
	Matrices int
	// DType is the type of the sums.
	DType ir.DType
	// A returns element k of vector m, and B element (k, n) of a matrix. Elements of B with
	// adjacent n are adjacent in memory.
	A func(e *Emitter, m, k *kernel.Value) *kernel.Value
	B func(e *Emitter, matrix int, k, n *kernel.Value) *kernel.Value
	// Store stores element n of the products of vector m and each matrix.
	Store func(e *Emitter, m, n *kernel.Value, sums []*kernel.Value)
}

// A block of [MatVec] computes vecLanes columns of up to vecRows vectors. The terms of each sum are divided among
// vecParts threads.
const (
	vecLanes = 32
	vecParts = Threads / vecLanes
	vecRows  = 4
)

// MaxMatrices is the largest number of matrices of [MatVec]. With this number of matrices, sums of f64 fill 32 KiB of
// shared memory.
const MaxMatrices = 4

// MatVec returns the [Launch] of a kernel that multiplies a few vectors by matrices. A block computes the same
// columns for all matrices. Several threads each add a part of the terms of a sum. The order of additions depends
// only on K.
func MatVec(name string, v Vectors) (Launch, error) {
	rows := vecRows
	if n, ok := v.M.Int(); ok {
		rows = max(1, min(rows, n))
	}
	tiles := v.N.CeilDiv(dim.Const(vecLanes))
	return Grid(name, []dim.Dim{tiles, v.M.CeilDiv(dim.Const(rows))}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		shared := make([]*kernel.Value, v.Matrices)
		for i := range shared {
			shared[i] = e.Shared("s", v.DType, rows*Threads)
		}
		return func(at []*kernel.Value) {
			t := tile{Emitter: e, Vectors: v, rows: rows, shared: shared, m0: e.Mul(at[1], e.Int(rows)), n0: e.Mul(at[0], e.Int(vecLanes))}
			t.share(t.parts())
			e.Barrier()
			t.store()
			e.Barrier()
		}
	})
}

// tile is the part of the results that a block of [MatVec] computes. It covers vectors m0 to m0 + rows − 1, and
// columns n0 to n0 + vecLanes − 1.
type tile struct {
	*Emitter
	Vectors
	rows   int
	m0, n0 *kernel.Value
	// shared has an array for each matrix. The array has a partial sum for each vector and thread.
	shared []*kernel.Value
}

func (t *tile) inside(i *kernel.Value, extent dim.Dim) *kernel.Value {
	return t.Min(i, t.Sub(t.Dim(extent), t.Int(1)))
}

// parts returns the thread's partial sums for its column. The sum at index r·Matrices + i belongs to vector r and
// matrix i.
func (t *tile) parts() []*kernel.Value {
	sums := make([]*kernel.Value, t.rows*t.Matrices)
	for i := range sums {
		sums[i] = t.Number(t.DType, 0)
	}
	n := t.inside(t.Add(t.n0, t.Rem(t.Thread(0), t.Int(vecLanes))), t.N)
	first := t.Div(t.Thread(0), t.Int(vecLanes))
	return t.ForUnrolled(4, first, t.Dim(t.K), t.Int(vecParts), sums, func(k *kernel.Value, sums []*kernel.Value) []*kernel.Value {
		out, a := make([]*kernel.Value, len(sums)), make([]*kernel.Value, t.rows)
		for r := range a {
			a[r] = t.A(t.Emitter, t.inside(t.Add(t.m0, t.Int(r)), t.M), k)
		}
		for i := range t.Matrices {
			b := t.B(t.Emitter, i, k, n)
			for r := range a {
				out[r*t.Matrices+i] = t.MulAdd(a[r], b, sums[r*t.Matrices+i])
			}
		}
		return out
	})
}

func (t *tile) share(parts []*kernel.Value) {
	for i, v := range parts {
		t.Emitter.Store(t.shared[i%t.Matrices], t.Add(t.Int(i/t.Matrices*Threads), t.Thread(0)), v)
	}
}

// store adds the partial sums of all threads and stores the results. Neighbouring threads store neighbouring
// columns of a vector.
func (t *tile) store() {
	row, lane := t.Div(t.Thread(0), t.Int(vecLanes)), t.Rem(t.Thread(0), t.Int(vecLanes))
	m, n := t.Add(t.m0, row), t.Add(t.n0, lane)
	exists := t.And(t.Lt(row, t.Int(t.rows)), t.And(t.Lt(m, t.Dim(t.M)), t.Lt(n, t.Dim(t.N))))
	t.Do(exists, func() {
		first := t.Add(t.Mul(row, t.Int(Threads)), lane)
		sums := make([]*kernel.Value, t.Matrices)
		for i, shared := range t.shared {
			sums[i] = t.Load(shared, first)
			for part := 1; part < vecParts; part++ {
				sums[i] = t.Add(sums[i], t.Load(shared, t.Add(first, t.Int(part*vecLanes))))
			}
		}
		t.Vectors.Store(t.Emitter, m, n, sums)
	})
}
