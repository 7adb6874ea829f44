package launch

import (
	"errors"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var pool = []entry{
	ends(averagePool),
	ends(globalAveragePool),
	ends(maxPool),
	ends(maxPoolGrad),
}

var errBlocked = errors.New("the channels are in blocks")

// overWindow returns the launch of a kernel that pools. There is a thread for each window. The thread carries a
// state through the cells of the window. The function `start` returns the first state, `step` the state after a
// cell, and `result` the value that the last state gives for the window. The arguments of `step` are the state before
// the cell; `inside`, whether the cell is in the operand; `padded`, whether it is in the operand or its padding;
// and `get`, which reads the cell.
//
// The spatial axes begin at axis `first`: at 2, or at 1 if the channels are the last axis.
func overWindow(name string, o op.Window, n *ir.Node, first int, put store, start func(e *kernels.Emitter) []*kernel.Value,
	step func(e *kernels.Emitter, state []*kernel.Value, inside, padded *kernel.Value, get func() *kernel.Value) []*kernel.Value,
	result func(e *kernels.Emitter, state []*kernel.Value) *kernel.Value) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	end := first + len(o.Kernel)
	in := x.Type.Shape[first:end]
	w := windowOf(o, in)
	pads := o.Padding(in)
	taps := dim.Consts(o.Kernel...)
	return one(kernels.Map(name, y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		state := e.Times(e.Dim(dim.Product(taps...)), start(e), func(t *kernel.Value, state []*kernel.Value) []*kernel.Value {
			cells, inside := w.cells(e, at[first:end], e.Unflatten(t, taps))
			padded := e.Bool(true)
			for k, c := range cells {
				padded = e.And(padded, e.Lt(c, e.Dim(in[k].Add(pads[len(in)+k]))))
			}
			return step(e, state, inside, padded, func() *kernel.Value {
				return e.Read(x).At(slices.Concat(at[:first], cells, at[end:])...)
			})
		})
		put(e, i, at, result(e, state))
	}))
}

// averagePool computes the average of each window: the sum of the window's cells inside the operand, divided by the
// number of these cells. With CountPad, the number also counts the window's cells in the padding.
func averagePool(o op.AveragePool, n *ir.Node, put store) ([]kernels.Launch, error) {
	if o.Blocked {
		return nil, errBlocked
	}
	return averageOverWindow(o.Window, o.CountPad, n, 2, put)
}

func averageOverWindow(o op.Window, countPad bool, n *ir.Node, first int, put store) ([]kernels.Launch, error) {
	d, ok := kernels.Arithmetic(n.Args[0].Type.DType)
	if !ok {
		return nil, errNarrow
	}
	return overWindow("average_pool", o, n, first, put,
		func(e *kernels.Emitter) []*kernel.Value { return []*kernel.Value{e.Float(d, 0), e.Float(d, 0)} },
		func(e *kernels.Emitter, s []*kernel.Value, inside, padded *kernel.Value, get func() *kernel.Value) []*kernel.Value {
			counts := inside
			if countPad {
				counts = padded
			}
			v := e.If(inside, func() []*kernel.Value { return []*kernel.Value{get()} }, func() []*kernel.Value { return []*kernel.Value{e.Float(d, 0)} })
			return []*kernel.Value{e.Add(s[0], v[0]), e.Add(s[1], e.Select(counts, e.Float(d, 1), e.Float(d, 0)))}
		},
		func(e *kernels.Emitter, s []*kernel.Value) *kernel.Value {
			return e.Div(s[0], e.Max(s[1], e.Float(d, 1)))
		})
}

// maxPool computes the maximum of each window. The maximum is NaN if a cell of the window is NaN.
func maxPool(o op.MaxPool, n *ir.Node, put store) ([]kernels.Launch, error) {
	if o.Blocked {
		return nil, errBlocked
	}
	return maxOverWindow(o.Window, n, 2, put)
}

func maxOverWindow(o op.Window, n *ir.Node, first int, put store) ([]kernels.Launch, error) {
	elem := n.Args[0].Type.DType
	d, ok := kernels.Arithmetic(elem)
	if !ok {
		return nil, errNarrow
	}
	most := extreme(true, elem, d)
	return overWindow("max_pool", o, n, first, put, most.start,
		func(e *kernels.Emitter, s []*kernel.Value, inside, _ *kernel.Value, get func() *kernel.Value) []*kernel.Value {
			return e.If(inside, func() []*kernel.Value { return most.add(e, s, get()) }, func() []*kernel.Value { return s })
		},
		func(_ *kernels.Emitter, s []*kernel.Value) *kernel.Value { return s[0] })
}

func globalAveragePool(o op.GlobalAveragePool, n *ir.Node, put store) ([]kernels.Launch, error) {
	x := n.Args[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if o.Blocked || !ok {
		return nil, errBlocked
	}
	shape := x.Type.Shape
	rows, length := shape[0].Mul(shape[1]), dim.Product(shape[2:]...)
	return one(kernels.Reduce("global_average_pool", rows, length, kernels.Reduction{
		Start: func(e *kernels.Emitter) []*kernel.Value { return []*kernel.Value{e.Float(d, 0)} },
		Add: func(e *kernels.Emitter, s []*kernel.Value, row, i *kernel.Value) []*kernel.Value {
			return []*kernel.Value{e.Add(s[0], e.Read(x).Get(e.Add(e.Mul(row, e.Dim(length)), i)))}
		},
		Join: func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{e.Add(s[0], t[0])}
		},
		Store: func(e *kernels.Emitter, row *kernel.Value, s []*kernel.Value) {
			put(e, row, nil, e.Div(s[0], e.Convert(d, e.Dim(length))))
		},
	}))
}

// maxPoolGrad computes the gradient of a maximum pool in two launches. The first launch finds the greatest cell of
// each window. If several cells are equal, it takes the first of them. The second launch has a thread for each cell
// of x. The thread adds the gradients of the windows whose greatest cell is this cell, in the order of the windows.
func maxPoolGrad(o op.MaxPoolGrad, n *ir.Node, put store) ([]kernels.Launch, error) {
	x, g := n.Args[0], n.Args[1]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if o.Blocked || !ok {
		return nil, errBlocked
	}
	in, out, taps := x.Type.Shape[2:], g.Type.Shape[2:], dim.Consts(o.Kernel...)
	w, count := windowOf(o.Window, in), dim.Product(taps...)
	best := &kernels.Scratch{DType: ir.I32, Shape: g.Type.Shape}
	find, err := kernels.Map("max_pool_places", g.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		start := []*kernel.Value{e.Number(d, 0), e.Int(-1)}
		found := e.Times(e.Dim(count), start, func(t *kernel.Value, s []*kernel.Value) []*kernel.Value {
			cells, inside := w.cells(e, at[2:], e.Unflatten(t, taps))
			return e.If(inside, func() []*kernel.Value {
				cell := e.Read(x).Offset(append([]*kernel.Value{at[0], at[1]}, cells...))
				v := e.Read(x).Get(cell)
				greater := e.Or(e.Gt(v, s[0]), e.And(e.Ne(v, v), e.Eq(s[0], s[0])))
				takes := e.Or(greater, e.Lt(s[1], e.Int(0)))
				return []*kernel.Value{e.Select(takes, v, s[0]), e.Select(takes, cell, s[1])}
			}, func() []*kernel.Value { return s })
		})
		e.Scratch(best).Set(i, found[1])
	})
	if err != nil {
		return nil, err
	}
	add, err := kernels.Map("max_pool_grad", x.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		last := e.Dim(count.Sub(dim.Const(1)))
		sum := e.Times(e.Dim(count), []*kernel.Value{e.Number(d, 0)}, func(k *kernel.Value, sum []*kernel.Value) []*kernel.Value {
			places, exists := w.places(e, at[2:], e.Unflatten(e.Sub(last, k), taps), out)
			return e.If(exists, func() []*kernel.Value {
				place := e.Read(g).Offset(append([]*kernel.Value{at[0], at[1]}, places...))
				mine := e.Eq(e.Scratch(best).Get(place), i)
				return []*kernel.Value{e.Select(mine, e.Add(sum[0], e.Read(g).Get(place)), sum[0])}
			}, func() []*kernel.Value { return sum })
		})
		put(e, i, at, sum[0])
	})
	return []kernels.Launch{find, add}, err
}
