package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var matrix = []entry{
	computes(det),
	computes(inverse),
	computes(matMulPanels),
	computes(packPanels),
	computes(squaredDistances),
}

func matMulPanels(o storage.MatMulPanels, n node) kernel.Call {
	a, panels := n.shape(0), n.shape(1)
	i, j := len(a)-2, len(panels)-3
	s := &kernel.MatMulShape{M: a[i], N: o.N, K: a[i+1], LDA: a[i+1], LDC: o.N, Terms: dim.Const(o.Terms)}
	s.Batch = dim.Product(a[:i]...)
	switch {
	case j == 0: // one matrix for all rows
		s.M, s.Batch = s.M.Mul(s.Batch), dim.Const(1)
	case i == 0:
		s.Batch, s.StrideB = dim.Product(panels[:j]...), dim.Product(panels[j:]...)
	default:
		s.StrideA, s.StrideB = s.M.Mul(s.K), dim.Product(panels[j:]...)
	}
	if j > 0 {
		s.StrideC = s.M.Mul(o.N)
	}
	if n.Arg(1).Type.DType != ir.F32 {
		return kernel.MatMulNarrow(n.out(0), n.in(0), n.in(1), s, epilogue(o.Epilogue, n))
	}
	return kernel.MatMul(n.out(0), n.in(0), n.in(1), s, epilogue(o.Epilogue, n))
}

func packPanels(o storage.PackPanels, n node) kernel.Call {
	shape := n.shape(0)
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	batch, k, width := o.Extents(shape)
	return kernel.PackPanels(n.out(0), n.in(0), k, width, columns, o.Trans, dim.Product(batch...), rows.Mul(columns))
}

func det(_ op.Det, n node) kernel.Call {
	m := n.shape(0)[len(n.shape(0))-1]
	return kernel.Det(n.out(0), n.in(0), kernel.Scratch{DType: ir.F64, Len: m.Mul(m)}, m)
}

func inverse(_ op.Inverse, n node) kernel.Call {
	shape := n.shape(0)
	rows := shape[len(shape)-1]
	work := kernel.Scratch{DType: ir.F64, Len: rows.Mul(rows).Mul(dim.Const(2))}
	return kernel.Inverse(n.out(0), n.in(0), work, dim.Product(shape[:len(shape)-2]...), rows)
}

func squaredDistances(_ op.SquaredDistances, n node) kernel.Call {
	a, b := n.shape(0), n.shape(1)
	return kernel.SquaredDistances(n.out(0), n.in(0), n.in(1), a[0], b[0], a[1])
}
