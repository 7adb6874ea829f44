package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var movement = []entry{
	computes(col2Im),
	computes(concat),
	computes(pad),
	computes(func(o op.StridedCopy, n node) kernel.Call {
		return kernel.StridedCopy(n.out(0), n.in(0), o.Shape, o.Strides, o.Offset)
	}),
	computes(trilu),
}

func concat(o op.Concat, n node) kernel.Call {
	widths, parts := make([]dim.Dim, len(n.Args)), make([]kernel.Memory, len(n.Args))
	for i, a := range n.Args {
		widths[i], parts[i] = dim.Product(a.Type.Shape[o.Axis:]...), n.in(i)
	}
	return kernel.Concat(n.out(0), dim.Product(n.shape(0)[:o.Axis]...), widths, parts...)
}

func pad(o op.Pad, n node) kernel.Call {
	value := first(ir.NewTensor(n.Args[0].Type.DType))
	if n.Arg(1) != nil {
		value = n.element(1)
	}
	return kernel.Pad(n.out(0), n.in(0), n.shape(0), o.Before, o.After, value)
}

func trilu(o op.Trilu, n node) kernel.Call {
	x := n.shape(0)
	k := kernel.Scalar(kernel.I64(0))
	if n.Arg(1) != nil {
		k = n.element(1)
	}
	last := len(x) - 2
	return kernel.Trilu(n.out(0), n.in(0), dim.Product(x[:last]...), x[last], x[last+1], k, o.Upper)
}

func col2Im(o op.Col2Im, n node) kernel.Call {
	x, axes := n.shape(0), len(o.Image)
	w := op.Window{Strides: o.Strides, Dilations: o.Dilations}
	pads := o.Pads
	if pads == nil {
		pads = make([]int, 2*axes)
	}
	return kernel.Col2Im(n.out(0), n.in(0), x[0], x[1], x[2], o.Image, o.Block,
		dim.Consts(w.EachStride(axes)...), dim.Consts(w.EachDilation(axes)...), dim.Consts(pads...))
}
