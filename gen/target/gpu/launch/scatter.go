package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// scatter has the operators that write elements at indices. A thread computes an element of the result and applies
// the updates of this element in their order. Results therefore do not depend on the order of threads.
var scatter = []entry{
	computes(scatterElements),
	computes(scatterND),
}

var reductions = map[string]op.Scalar{"add": op.Add{}, "mul": op.Mul{}, "max": op.Max{}, "min": op.Min{}}

// update returns a function that combines an element x with an update u. Both have the type in which memory holds
// them. The function returns u if reduction is "". update returns an error for strings, and for reductions of
// floats of 8 bits.
func update(reduction string, d ir.DType) (func(e *kernels.Emitter, x, u *kernel.Value) *kernel.Value, error) {
	if d == ir.String {
		return nil, errText
	}
	if reduction == "" {
		return func(_ *kernels.Emitter, _, u *kernel.Value) *kernel.Value { return u }, nil
	}
	wide, ok := kernels.Arithmetic(d)
	if !ok {
		return nil, errNarrow
	}
	return func(e *kernels.Emitter, x, u *kernel.Value) *kernel.Value {
		v := reductions[reduction].Scalar(e.Builder, d, []*kernel.Value{e.Convert(wide, x), e.Convert(wide, u)})
		return e.Convert(kernels.Memory(d), v)
	}, nil
}

// scatterElements writes updates to elements of a tensor. There is a thread for each element of the result. The
// thread goes through the indices along o.Axis at the element's place on the other axes.
func scatterElements(o op.ScatterElements, n *ir.Node) ([]kernels.Launch, error) {
	x, indices, updates, y := n.Args[0], n.Args[1], n.Args[2], n.Results[0]
	join, err := update(o.Reduction, y.Type.DType)
	if err != nil {
		return nil, err
	}
	if !fits(indices.Type.Shape, x.Type.Shape, o.Axis) {
		return nil, errExtents
	}
	extent := x.Type.Shape[o.Axis]
	return one(kernels.Map("scatter_elements", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		inside := e.Bool(true)
		for k, d := range indices.Type.Shape {
			if k != o.Axis {
				inside = e.And(inside, e.Lt(at[k], e.Dim(d)))
			}
		}
		count := e.Select(inside, e.Dim(indices.Type.Shape[o.Axis]), e.Int(0))
		line := e.Read(indices)
		v := e.Times(count, []*kernel.Value{e.Read(x).Raw(i)}, func(k *kernel.Value, v []*kernel.Value) []*kernel.Value {
			from := append([]*kernel.Value{}, at...)
			from[o.Axis] = k
			offset := line.Offset(from)
			return e.If(e.Eq(place(e, line.Get(offset), extent), at[o.Axis]), func() []*kernel.Value {
				return []*kernel.Value{join(e, v[0], e.Read(updates).Raw(offset))}
			}, func() []*kernel.Value { return v })
		})
		e.Write(y).SetRaw(i, v[0])
	}))
}

// scatterND writes updates to slices of x. A first kernel finds the first and the last update of each slice. A second
// kernel has a thread for each element of the result. The thread goes through the updates between these two.
// scatterND returns an error unless each index tuple has one coordinate.
func scatterND(o op.ScatterND, n *ir.Node) ([]kernels.Launch, error) {
	x, indices, updates, y := n.Args[0], n.Args[1], n.Args[2], n.Results[0]
	join, err := update(o.Reduction, y.Type.DType)
	if err != nil {
		return nil, err
	}
	shape := indices.Type.Shape
	if !shape[len(shape)-1].Equal(dim.Const(1)) {
		return nil, errTuples
	}
	slices, inner, tuples := x.Type.Shape[0], dim.Product(x.Type.Shape[1:]...), indices.Type.Elems()
	bounds := &kernels.Scratch{DType: ir.I32, Shape: []dim.Dim{slices, dim.Const(2)}}
	none, err := kernels.Map("scatter_none", []dim.Dim{slices}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		t, at := e.Scratch(bounds), e.Mul(i, e.Int(2))
		t.Set(at, e.Dim(tuples))
		t.Set(e.Add(at, e.Int(1)), e.Int(0))
	})
	if err != nil {
		return nil, err
	}
	find, err := kernels.Map("scatter_bounds", []dim.Dim{tuples}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		at := e.Mul(place(e, e.Read(indices).Get(i), slices), e.Int(2))
		t := e.Scratch(bounds).Pointer()
		e.Atomic(kernel.AtomicMin, t, at, i)
		e.Atomic(kernel.AtomicMax, t, e.Add(at, e.Int(1)), e.Add(i, e.Int(1)))
	})
	if err != nil {
		return nil, err
	}
	apply, err := kernels.Map("scatter_nd", []dim.Dim{slices, inner}, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		t, first := e.Scratch(bounds), e.Mul(at[0], e.Int(2))
		lo, hi := t.Get(first), t.Get(e.Add(first, e.Int(1)))
		const ahead = 8 // indices that are loaded at once
		v := e.For(lo, hi, e.Int(ahead), []*kernel.Value{e.Read(x).Raw(i)}, func(first *kernel.Value, v []*kernel.Value) []*kernel.Value {
			var here []*kernel.Value
			for k := range ahead {
				k := e.Add(first, e.Int(k))
				index := e.Read(indices).Get(e.Min(k, e.Sub(hi, e.Int(1))))
				here = append(here, e.And(e.Lt(k, hi), e.Eq(place(e, index, slices), at[0])))
			}
			for k, applies := range here {
				v = e.If(applies, func() []*kernel.Value {
					from := e.Add(e.Mul(e.Add(first, e.Int(k)), e.Dim(inner)), at[1])
					return []*kernel.Value{join(e, v[0], e.Read(updates).Raw(from))}
				}, func() []*kernel.Value { return v })
			}
			return v
		})
		e.Write(y).SetRaw(i, v[0])
	})
	return []kernels.Launch{none, find, apply}, err
}
