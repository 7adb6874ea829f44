package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// resize has the operators that resize axes by tables of indices and weights. An index that is outside of the axis
// stands for the nearest one inside.
var resize = []entry{
	computes(resizeAxis),
	computes(resizeLinear),
	computes(resizeNearest),
}

func resizeNearest(_ op.ResizeNearest, n *ir.Node) ([]kernels.Launch, error) {
	x, rows, columns, y := n.Args[0], n.Args[1], n.Args[2], n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	shape := x.Type.Shape
	return one(kernels.Map("resize_nearest", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		row, column := place(e, e.Read(rows).Get(at[1]), shape[1]), place(e, e.Read(columns).Get(at[2]), shape[2])
		in := e.Read(x)
		e.Write(y).SetRaw(i, in.Raw(in.Offset([]*kernel.Value{at[0], row, column, at[3]})))
	}))
}

type tap struct{ at, weight *kernel.Value }

// tapAt returns entry i of the tables `index` and `weights`. The index is within the extent of its axis. The weight
// is converted to d.
func tapAt(e *kernels.Emitter, d ir.DType, index, weights *ir.Value, i *kernel.Value, extent dim.Dim) tap {
	return tap{place(e, e.Read(index).Get(i), extent), e.Convert(d, e.Read(weights).Get(i))}
}

// resizeLinear interpolates linearly along two axes. There is a thread for each element of the result. The thread
// mixes four elements of the operand.
func resizeLinear(_ op.ResizeLinear, n *ir.Node) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok || !d.IsFloat() {
		return nil, errNarrow
	}
	shape := x.Type.Shape
	return one(kernels.Map("resize_linear", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		// taps returns the two entries of a place on an axis.
		taps := func(axis int, index, weights *ir.Value) (out [2]tap) {
			for k := range out {
				out[k] = tapAt(e, d, index, weights, e.Add(e.Mul(at[axis], e.Int(2)), e.Int(k)), shape[axis])
			}
			return out
		}
		rows, columns := taps(1, n.Args[1], n.Args[2]), taps(2, n.Args[3], n.Args[4])
		sum := e.Float(d, 0)
		for _, c := range columns {
			part := e.Float(d, 0)
			for _, r := range rows {
				part = e.Add(part, e.Mul(r.weight, e.Read(x).At(at[0], r.at, c.at, at[3])))
			}
			sum = e.Add(sum, e.Mul(c.weight, part))
		}
		e.Write(y).Set(i, sum)
	}))
}

// resizeAxis resizes one axis. There is a thread for each element of the result. The thread computes a weighted sum
// of elements of the operand.
func resizeAxis(o op.ResizeAxis, n *ir.Node) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok || !d.IsFloat() {
		return nil, errNarrow
	}
	return one(kernels.Map("resize_axis", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		taps := e.Dim(o.Taps)
		sum := e.Times(taps, []*kernel.Value{e.Float(d, 0)}, func(k *kernel.Value, sum []*kernel.Value) []*kernel.Value {
			t := tapAt(e, d, n.Args[1], n.Args[2], e.Add(e.Mul(at[1], taps), k), x.Type.Shape[1])
			return []*kernel.Value{e.Add(sum[0], e.Mul(t.weight, e.Read(x).At(at[0], t.at, at[2])))}
		})
		e.Write(y).Set(i, sum[0])
	}))
}
