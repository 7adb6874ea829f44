package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var product = []entry{
	computes(func(o storage.PackColumns, n node) kernel.Call {
		x := n.shape(0)
		return kernel.PackColumns(n.out(0), sums(o.Sums, n), n.in(0), x[0], x[1], x[2])
	}),
	computes(func(o storage.PackRows, n node) kernel.Call {
		x := n.shape(0)
		return kernel.PackRows(n.out(0), sums(o.Sums, n), n.in(0), x[0], x[1], x[2])
	}),
	computes(patches),
	computes(productColumns),
	computes(productInteger),
}

func sums(wanted bool, n node) kernel.Memory {
	if wanted {
		return n.out(1)
	}
	return nil
}

func patches(o storage.Patches, n node) kernel.Call {
	x, spatial, group := n.Arg(0).Type, len(o.Kernel), dim.Const(o.Group)
	out, err := o.Places(x.Shape[2:])
	if err != nil {
		return none("%w", err)
	}
	return kernel.Patches(n.out(0), sums(o.Sums, n), n.in(0), n.in(1), x.Shape[0].Mul(group), x.Shape[1].FloorDiv(group), x.Shape[2:], out,
		dim.Consts(o.Kernel...), dim.Consts(o.EachStride(spatial)...), dim.Consts(o.EachDilation(spatial)...), o.Padding(x.Shape[2:])[:spatial])
}

// columnParts is the number of parts of a product that have scratch memory and can be computed
// concurrently.
const columnParts = 8

func productColumns(_ storage.ProductColumns, n node) kernel.Call {
	a, w := n.shape(0), n.shape(1)
	strips := w[2].CeilDiv(dim.Const(4 * op.BlockLanes))
	parts := dim.Const(columnParts).Min(w[0].Mul(strips).Max(dim.Const(1)))
	scratch := kernel.Scratch{DType: ir.I8, Len: kernel.ProductColumnsScratch(w[1]).Mul(parts)}
	return kernel.ProductColumns(n.out(0), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), scratch, a[0], w[0], a[1], w[2], w[1])
}

func productInteger(o storage.ProductInteger, n node) kernel.Call {
	a, panels := n.shape(0), n.shape(1)
	if o.To == ir.F32 {
		return kernel.ProductScaled(n.out(0), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(6), n.in(5), a[0], panels[0], a[1], o.N, a[2])
	}
	lo, hi := bounds(o.Requantize)
	return kernel.ProductInteger(n.out(0), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5), n.in(6), a[0], panels[0], a[1], o.N, a[2], lo, hi)
}
