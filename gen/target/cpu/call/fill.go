package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var fill = []entry{
	computes(cosineWindow),
	computes(eye),
	computes(func(o op.Fill, n node) kernel.Call { return kernel.Fill(n.out(0), first(o.Value)) }),
	computes(melWeightMatrix),
	computes(func(_ op.Range, n node) kernel.Call { return kernel.Range(n.out(0), n.element(0), n.element(1)) }),
}

func eye(o op.Eye, n node) kernel.Call {
	return kernel.Eye(n.out(0), o.Rows, o.Cols, dim.Const(o.K), first(ir.Scalar(o.DType, 1)))
}

func cosineWindow(o op.CosineWindow, n node) kernel.Call {
	return kernel.CosineWindow(n.out(0), o.Periodic, kernel.F64(o.A), kernel.F64(o.B), kernel.F64(o.C))
}

func melWeightMatrix(o op.MelWeightMatrix, n node) kernel.Call {
	return kernel.MelWeightMatrix(n.out(0), o.Bins, o.Length, n.read(0), n.read(1), n.read(2))
}
