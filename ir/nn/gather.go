package nn

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// oneOf returns v, a tensor of indices, with a check. When the model runs, a call returns an error if an index is
// not in [0, count). `item` and `things` are words for the error: with "token" and "rows" it says
// "token 7 is not one of 5 rows".
func (v Value) oneOf(count Extent, item, things string) Value {
	return one(op.CheckIndex{Count: extent(count), What: item, Things: things}, v)
}

// Gather picks elements along an axis. For axis 1, the result at [i, j, k] is v at [i, indices[i, j, k], k]
// (torch.gather). Negative indices count from the end. The model returns an error when it runs if an index is out
// of range.
func (v Value) Gather(axis int, indices Value) Value {
	return one(op.GatherElements{Axis: v.axis(axis)}, v, indices)
}

// Scatter returns v with values added to it. Each element of values is added to the element of v that [Value.Gather]
// would pick for the same position, with the same axis and indices (torch.scatter_add).
func (v Value) Scatter(axis int, indices, values Value) Value {
	return v.ScatterWith("add", axis, indices, values)
}

// ScatterWith is like [Value.Scatter] with another update: "" (replace the element), "add", "mul", "max" or "min".
// Values for the same element are applied in row-major order. So with "", the last value replaces the others.
func (v Value) ScatterWith(update string, axis int, indices, values Value) Value {
	return one(op.ScatterElements{Axis: v.axis(axis), Reduction: update}, v, indices, values)
}

// Select picks slices of v along an axis by their indices (torch.index_select). indices may have any shape. In the
// shape of the result, the shape of indices replaces the axis. Negative indices count from the end. The model
// returns an error when it runs if an index is out of range.
func (v Value) Select(axis int, indices Value) Value {
	return one(op.Gather{Axis: v.axis(axis)}, v, indices)
}

// Take is [Value.Select].
func (v Value) Take(axis int, indices Value) Value { return v.Select(axis, indices) }

// SelectAssign returns v with values added to it. It adds slice i of values to slice indices[i] of v along an axis
// (torch.index_add).
func (v Value) SelectAssign(axis int, indices, values Value) Value {
	axis = v.axis(axis)
	at := indices.Unsqueeze(-1)
	return one(op.ScatterND{Reduction: "add"}, v.MoveDim(axis, 0), at, values.MoveDim(axis, 0)).MoveDim(0, axis)
}

// GatherND picks slices of v. indices is [shape…, k]. Its last axis holds the coordinates of a slice on the first k
// axes of v. The result is [shape…, rest…], where rest are the extents of the other axes of v. Negative coordinates
// count from the end. The model returns an error when it runs if a coordinate is out of range.
func (v Value) GatherND(indices Value) Value { return one(op.GatherND{}, v, indices) }

// ScatterND returns v with some slices updated: the slices that [Value.GatherND] picks with the same indices.
// values has the shape of GatherND's result. update says how a slice and its values are combined; see
// [Value.ScatterWith].
func (v Value) ScatterND(update string, indices, values Value) Value {
	return one(op.ScatterND{Reduction: update}, v, indices, values)
}

// OneHot converts integers to one-hot vectors of n elements along a new last axis. The element at the index is 1,
// and the others are 0. The result is f32. Negative indices count from the end. An index out of range gives a
// vector of zeros.
func (v Value) OneHot(n Extent) Value { return v.OneHotFill(n, 1, 0, -1) }

// OneHotFill is like [Value.OneHot] with other numbers and another position of the new axis. The element at the
// index is `hot`, and the other elements are `cold`. `axis` is the position of the new axis.
func (v Value) OneHotFill(n Extent, hot, cold float64, axis int) Value {
	if axis < 0 {
		axis += v.Rank() + 1
	}
	if axis < 0 || axis > v.Rank() {
		fail("axis %d out of range for rank %d", axis, v.Rank()+1)
	}
	return one(op.OneHot{Axis: axis, Depth: extent(n)}, v, Of([]float64{cold, hot}))
}

// symbol returns a new symbol for an extent that is known only when the model runs.
func symbol(hint string) string { return fmt.Sprintf("%s%d", hint, session.symbols.Add(1)) }

// resolved applies op and returns the results. Some extents of the results may be symbols that op binds. If the
// operands have data, these extents become numbers.
func resolved(op ir.Op, args ...Value) []Value {
	for _, a := range args {
		if !a.HasData() {
			return many(op, args...)
		}
	}
	tensors := make([]*ir.Tensor, len(args))
	for i, a := range args {
		tensors[i] = a.tensor()
	}
	out, err := op.Eval(tensors)
	if err != nil {
		failOp(op, err)
	}
	values := make([]Value, len(out))
	for i, t := range out {
		values[i] = constant(t)
	}
	return values
}

// ArgWhere returns the coordinates of the elements that are not 0, i64[count, rank], in row-major order of the
// elements.
func (v Value) ArgWhere() Value { return resolved(op.NonZero{Count: symbol("count")}, v)[0].T() }

// NonZero returns the coordinates of the elements that are not 0, as one i64 vector for each axis.
func (v Value) NonZero() []Value {
	places := resolved(op.NonZero{Count: symbol("count")}, v)[0]
	out := make([]Value, v.Rank())
	for i := range out {
		out[i] = places.SelectDim(0, i)
	}
	return out
}

// MaskSelect returns a vector of the elements of v at which mask is true. mask broadcasts to the shape of v.
func (v Value) MaskSelect(mask Value) Value {
	at := mask.Expand(shapeOf(v)...).ArgWhere()
	return v.GatherND(at)
}
