package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var fill = []entry{
	computes(fillAll),
	computes(rangeOf),
	computes(eye),
	computes(extents),
	computes(trilu),
}

func fillAll(o op.Fill, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	if _, ok := kernels.Arithmetic(o.Value.DType); !ok {
		return nil, errNarrow
	}
	return one(kernels.Map("fill", y.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		v, err := number(e, o.Value)
		if err != nil {
			e.Fail("%w", err)
		}
		e.Write(y).Set(i, v)
	}))
}

func rangeOf(o op.Range, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	d, ok := kernels.Arithmetic(y.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	return one(kernels.Map("range", y.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		start, delta := e.Read(n.Args[0]).Get(e.Int(0)), e.Read(n.Args[1]).Get(e.Int(0))
		e.Write(y).Set(i, e.Add(start, e.Mul(e.Convert(d, i), delta)))
	}))
}

func eye(o op.Eye, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	d, ok := kernels.Arithmetic(y.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	return one(kernels.Map("eye", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		e.Write(y).Set(i, e.Convert(d, e.Eq(at[1], e.Add(at[0], e.Int(o.K)))))
	}))
}

// maxExtents is the largest number of extents that one thread stores, because a kernel has few arguments. The host
// stores more extents.
const maxExtents = 16

func extents(o ir.Extents, n *ir.Node) ([]kernels.Launch, error) {
	y := n.Results[0]
	d, ok := kernels.Arithmetic(y.Type.DType)
	switch {
	case !ok:
		return nil, errNarrow
	case len(o.Elems) > maxExtents:
		return nil, errArguments
	}
	return one(kernels.New("extents", nil, []int{1}, func(e *kernels.Emitter) {
		for i, extent := range o.Elems {
			e.Write(y).Set(e.Int(i), e.Extent(d, extent))
		}
	}))
}

func trilu(o op.Trilu, n *ir.Node) ([]kernels.Launch, error) {
	x, k, y := n.Args[0], n.Arg(1), n.Results[0]
	if y.Type.DType == ir.String {
		return nil, errText
	}
	return one(kernels.Map("trilu", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		row, column := at[len(at)-2], at[len(at)-1]
		distance, diagonal := column, row
		if k != nil {
			distance, diagonal = e.Convert(ir.I64, e.Sub(column, row)), e.Read(k).Get(e.Int(0))
		}
		keeps := e.Le(distance, diagonal)
		if o.Upper {
			keeps = e.Ge(distance, diagonal)
		}
		v := e.Read(x).Raw(i)
		e.Write(y).SetRaw(i, e.Select(keeps, v, e.Convert(v.Type.DType, e.Int(0))))
	}))
}
