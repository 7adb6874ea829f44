package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var movement = []entry{
	computes(concat),
	computes(pad),
	computes(stridedCopy),
}

func stridedCopy(o op.StridedCopy, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	if axis, ok := kernels.TransposedAxis(y.Type.Shape, o.Strides); ok {
		return one(kernels.Transpose("transpose", n.Args[0], y, o.Strides, o.Offset, axis))
	}
	lanes := 1
	if last := len(o.Strides) - 1; last >= 0 && o.Strides[last].Equal(dim.Const(1)) {
		lanes = kernels.LanesOf(y.Type.Elems(), max(1, y.Type.DType.Size()), 1)
	}
	return one(kernels.MapLanes("copy", y.Type.Shape, lanes, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		from := e.Dim(o.Offset)
		for k, s := range o.Strides {
			from = e.Add(from, e.Mul(at[k], e.Dim(s)))
		}
		e.Write(y).SetRaw(i, e.Read(n.Args[0]).Raw(from))
	}))
}

func concat(o op.Concat, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	row, first := dim.Product(y.Type.Shape[o.Axis:]...), dim.Const(0)
	var launches []kernels.Launch
	for _, x := range n.Args {
		outer, width := dim.Product(x.Type.Shape[:o.Axis]...), dim.Product(x.Type.Shape[o.Axis:]...)
		start := first
		l, err := kernels.Map("concat", []dim.Dim{outer, width}, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
			to := e.Add(e.Mul(at[0], e.Dim(row)), e.Add(e.Dim(start), at[1]))
			e.Write(y).SetRaw(to, e.Read(x).Raw(i))
		})
		if err != nil {
			return nil, err
		}
		launches, first = append(launches, l), first.Add(width)
	}
	return launches, nil
}

// pad pads a tensor with a constant, with a thread for each element of the result. It returns an error for the other
// modes of padding, which are lowered.
func pad(o op.Pad, n *ir.Node) ([]kernels.Launch, error) {
	x, value, y := n.Args[0], n.Arg(1), n.Results[0]
	switch {
	case y.Type.DType == ir.String:
		return nil, errText
	case o.Mode != "constant":
		return nil, errMode
	}
	return one(kernels.Map("pad", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		from, inside := make([]*kernel.Value, len(at)), e.Bool(true)
		for k, d := range x.Type.Shape {
			from[k] = e.Sub(at[k], e.Dim(o.Before[k]))
			inside = e.And(inside, e.And(e.Ge(from[k], e.Int(0)), e.Lt(from[k], e.Dim(d))))
		}
		v := e.If(inside, func() []*kernel.Value {
			in := e.Read(x)
			return []*kernel.Value{in.Raw(in.Offset(from))}
		}, func() []*kernel.Value {
			if value != nil {
				return []*kernel.Value{e.Read(value).Raw(e.Int(0))}
			}
			return []*kernel.Value{e.Convert(kernels.Memory(y.Type.DType), e.Int(0))}
		})
		e.Write(y).SetRaw(i, v[0])
	}))
}
