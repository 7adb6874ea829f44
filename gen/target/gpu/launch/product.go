package launch

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var product = []entry{
	multiplies(matMul),
	multiplies(gemm),
	ends(squaredDistances),
}

func matMul(_ op.MatMul, n *ir.Node, put store, by Options) ([]kernels.Launch, error) {
	sums, ok := kernels.Arithmetic(n.Results[0].Type.DType)
	if !ok {
		return nil, errNarrow
	}
	factor := func(e *kernels.Emitter, v, _ *kernel.Value) *kernel.Value { return by.factor(e, v) }
	f, err := factorsOf(n, sums, by.matrix(n.Args[0].Type.DType), factor, factor, func(e *kernels.Emitter, i *kernel.Value, at []*kernel.Value, _, sum *kernel.Value) {
		put(e, i, at, sum)
	})
	if err != nil {
		return nil, err
	}
	return stored("product", f, n.Args, by)
}

// stored returns the launch of a matrix product whose factors are in memory: they are the elements of two operands.
// If by.Pipelined is set, the launch's field Faster is the launch of a pipelined kernel, or nil if no such kernel can
// do it.
func stored(name string, f kernels.Factors, operands []*ir.Value, by Options) ([]kernels.Launch, error) {
	l, err := kernels.Product(name, f)
	if by.Pipelined && err == nil {
		l.Faster = pipelined(name, f, operands)
	}
	return one(l, err)
}

// pipelined returns the launch of a pipelined kernel that multiplies the first two operands. It returns nil if no
// such kernel can do it.
func pipelined(name string, f kernels.Factors, operands []*ir.Value) *kernels.Launch {
	extents, ok := dim.Ints([]dim.Dim{f.Batch, f.M, f.N, f.K})
	if !ok {
		return nil
	}
	for i, v := range operands[:2] {
		shape, ok := v.Type.Static()
		if !ok || len(shape) < 2 {
			return nil
		}
		lead := len(shape) - 2
		m := kernels.Matrices{Value: v, Batch: op.LenOf(shape[:lead]), Rows: shape[lead], Columns: shape[lead+1]}
		if m.Batch != 1 && m.Batch != extents[0] {
			return nil
		}
		f.Stored[i] = &m
	}
	l, err := kernels.Pipelined(name, f, kernels.TilesOf(extents[0]*extents[1], extents[2]))
	if err != nil {
		return nil
	}
	return &l
}

func matrices(name string, n *ir.Node, sums, matrix ir.DType, a, b func(e *kernels.Emitter, v, column *kernel.Value) *kernel.Value, put storeSum) ([]kernels.Launch, error) {
	f, err := factorsOf(n, sums, matrix, a, b, put)
	if err != nil {
		return nil, err
	}
	return one(kernels.Product(name, f))
}

// factorsOf describes the products of batches of matrices that n computes. The function a converts an element v of
// the left matrix, and the function b an element v of the right matrix. b gets the column as `column`; a gets nil.
// sums is the type of the sums, and matrix is [kernels.Factors.Matrix]. put stores each sum.
func factorsOf(n *ir.Node, sums, matrix ir.DType, a, b func(e *kernels.Emitter, v, column *kernel.Value) *kernel.Value, put storeSum) (f kernels.Factors, err error) {
	x, y := n.Args[0], n.Args[1]
	p, err := op.Matrices(x.Type, y.Type)
	if err != nil {
		return f, err
	}
	element := func(e *kernels.Emitter, v *ir.Value, shape []dim.Dim, batch, row, column *kernel.Value) *kernel.Value {
		lead := len(shape) - 2
		at := e.Unflatten(batch, p.Batch)[len(p.Batch)-lead:]
		first := e.Int(0)
		for i, d := range shape[:lead] {
			first = e.Add(e.Mul(first, e.Dim(d)), broadcast(e, at[i], d, p.Batch[len(p.Batch)-lead+i]))
		}
		i := e.Add(e.Mul(first, e.Dim(shape[lead])), row)
		return e.Read(v).Get(e.Add(e.Mul(i, e.Dim(shape[lead+1])), column))
	}
	return kernels.Factors{
		Batch: dim.Product(p.Batch...), M: p.M, N: p.N, K: p.K, DType: sums, Matrix: matrix, RowsB: true,
		A: func(e *kernels.Emitter, batch, m, k *kernel.Value) *kernel.Value {
			return a(e, element(e, x, p.A, batch, m, k), nil)
		},
		B: func(e *kernels.Emitter, batch, k, j *kernel.Value) *kernel.Value {
			return b(e, element(e, y, p.B, batch, k, j), j)
		},
		Store: func(e *kernels.Emitter, batch, m, j, sum *kernel.Value) {
			at := e.Unflatten(batch, p.Batch)
			if x.Type.Rank() > 1 {
				at = append(at, m)
			}
			if y.Type.Rank() > 1 {
				at = append(at, j)
			}
			i := e.Add(e.Mul(batch, e.Dim(p.M)), m)
			put(e, e.Add(e.Mul(i, e.Dim(p.N)), j), at, j, sum)
		},
	}, nil
}

// broadcast returns an index on an axis of extent d. The axis is broadcast to extent `to`, and i is an index on the
// broadcast axis. The result is i, or 0 if d is 1. d may be known only at run time.
func broadcast(e *kernels.Emitter, i *kernel.Value, d, to dim.Dim) *kernel.Value {
	if d.Equal(to) {
		return i
	}
	one := dim.Const(1)
	return e.Mul(i, e.Dim(d.Sub(one).Max(dim.Dim{}).Min(one)))
}

func gemm(o op.Gemm, n *ir.Node, put store, by Options) ([]kernels.Launch, error) {
	a, b, c, y := n.Arg(0), n.Arg(1), n.Arg(2), n.Results[0]
	sums, ok := kernels.Arithmetic(y.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	k := a.Type.Shape[1]
	if o.TransA {
		k = a.Type.Shape[0]
	}
	rows, columns := y.Type.Shape[0], y.Type.Shape[1]
	// entry returns element (i, j) of a matrix that may be stored transposed.
	entry := func(e *kernels.Emitter, v *ir.Value, trans bool, i, j *kernel.Value) *kernel.Value {
		at := []*kernel.Value{i, j}
		if trans {
			slices.Reverse(at)
		}
		return e.Read(v).Get(e.Add(e.Mul(at[0], e.Dim(v.Type.Shape[1])), at[1]))
	}
	return stored("gemm", kernels.Factors{
		Batch: dim.Const(1), M: rows, N: columns, K: k, DType: sums, ColumnsA: o.TransA, RowsB: !o.TransB, Matrix: by.matrix(a.Type.DType),
		A: func(e *kernels.Emitter, _, m, k *kernel.Value) *kernel.Value {
			return by.factor(e, entry(e, a, o.TransA, m, k))
		},
		B: func(e *kernels.Emitter, _, k, j *kernel.Value) *kernel.Value {
			return by.factor(e, entry(e, b, o.TransB, k, j))
		},
		Store: func(e *kernels.Emitter, _, m, j, sum *kernel.Value) {
			if o.Alpha != 1 {
				sum = e.Mul(sum, e.Number(sums, o.Alpha))
			}
			if c != nil && o.Beta != 0 {
				t := e.Read(c)
				v := t.Get(t.BroadcastOffset([]*kernel.Value{m, j}))
				if o.Beta != 1 {
					v = e.Mul(v, e.Number(sums, o.Beta))
				}
				sum = e.Add(sum, v)
			}
			put(e, e.Add(e.Mul(m, e.Dim(columns)), j), []*kernel.Value{m, j}, sum)
		},
	}, n.Args, by)
}

func squaredDistances(_ op.SquaredDistances, n *ir.Node, put store) ([]kernels.Launch, error) {
	a, b, y := n.Args[0], n.Args[1], n.Results[0]
	return one(kernels.Product("squared_distances", kernels.Factors{
		Batch: dim.Const(1), M: y.Type.Shape[0], N: y.Type.Shape[1], K: a.Type.Shape[1], DType: y.Type.DType,
		A: func(e *kernels.Emitter, _, m, k *kernel.Value) *kernel.Value { return e.Read(a).At(m, k) },
		B: func(e *kernels.Emitter, _, k, j *kernel.Value) *kernel.Value { return e.Read(b).At(j, k) },
		Term: func(e *kernels.Emitter, a, b, sum *kernel.Value) *kernel.Value {
			d := e.Sub(a, b)
			return e.Fma(d, d, sum)
		},
		Store: func(e *kernels.Emitter, _, m, j, sum *kernel.Value) {
			put(e, e.Add(e.Mul(m, e.Dim(y.Type.Shape[1])), j), []*kernel.Value{m, j}, sum)
		},
	}))
}
