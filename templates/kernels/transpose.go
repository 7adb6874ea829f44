package kernels

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Transpose returns the [Launch] of a kernel that copies elements of x to y in another order: element (i0, i1, …) of
// y is element offset + i0·strides[0] + i1·strides[1] + … of x. Elements that are adjacent in x are adjacent along
// axis `from` of y, which must not be the last axis of y. Tiles go through shared memory, so that threads both read
// and write adjacent elements.
func Transpose(name string, x, y *ir.Value, strides []dim.Dim, offset dim.Dim, from int) (Launch, error) {
	shape := y.Type.Shape
	last := len(shape) - 1
	size := y.Type.DType.Size()
	lanes := max(1, 4/max(size, 1)) // adjacent elements of a thread
	divides := func(d dim.Dim) bool {
		_, ok := d.DivExact(dim.Const(lanes))
		return ok
	}
	for k, d := range shape {
		whole := k == from || k == last
		if whole && !divides(d) || k != from && !divides(strides[k]) || !divides(offset) {
			lanes = 1
			break
		}
	}
	const rows = Threads / kernel.Warp
	tile := kernel.Warp * lanes
	tiles := []dim.Dim{shape[last].CeilDiv(dim.Const(tile)), shape[from].CeilDiv(dim.Const(tile)), dim.Const(1)}
	var others []int
	for k, d := range shape {
		if k != from && k != last {
			others, tiles[2] = append(others, k), tiles[2].Mul(d)
		}
	}
	return Grid(name, tiles, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		apart := tile + lanes // of rows of the tile, so that a warp accesses different banks
		shared := e.Shared("s", Memory(y.Type.DType), tile*apart)
		tx, ty := e.Mul(e.Rem(e.Thread(0), e.Int(kernel.Warp)), e.Int(lanes)), e.Div(e.Thread(0), e.Int(kernel.Warp))
		return func(at []*kernel.Value) {
			index := make([]*kernel.Value, len(shape))
			extents := make([]dim.Dim, len(others))
			for i, k := range others {
				extents[i] = shape[k]
			}
			for i, v := range e.Unflatten(at[2], extents) {
				index[others[i]] = v
			}
			a, b := e.Mul(at[0], e.Int(tile)), e.Mul(at[1], e.Int(tile)) // the first indices on the axes last and from
			// each calls move for the adjacent elements of a thread: along one axis from tx on, and of row r·rows + ty across it.
			each := func(along, across int, firstAlong, firstAcross *kernel.Value, move func(row *kernel.Value, columns []*kernel.Value, indices [][]*kernel.Value)) {
				for r := 0; r < tile; r += rows {
					row, first := e.Add(ty, e.Int(r)), e.Add(firstAlong, tx)
					index[across] = e.Add(firstAcross, row)
					inside := e.And(within(e, index[across], shape[across], tile), within(e, first, shape[along], tile))
					whenTrue(e, inside, func() {
						var columns []*kernel.Value
						var indices [][]*kernel.Value
						for k := range lanes {
							index[along] = e.Add(first, e.Int(k))
							columns, indices = append(columns, e.Add(tx, e.Int(k))), append(indices, slices.Clone(index))
						}
						move(row, columns, indices)
					})
				}
			}
			each(from, last, b, a, func(row *kernel.Value, columns []*kernel.Value, indices [][]*kernel.Value) {
				var list []*kernel.Value
				for _, at := range indices {
					place := e.Dim(offset)
					for k, s := range strides {
						place = e.Add(place, e.Mul(at[k], e.Dim(s)))
					}
					list = append(list, e.Read(x).Raw(place))
				}
				for k, v := range list {
					e.Store(shared, e.Add(e.Mul(row, e.Int(apart)), columns[k]), v)
				}
			})
			e.Barrier()
			each(last, from, a, b, func(row *kernel.Value, columns []*kernel.Value, indices [][]*kernel.Value) {
				var list []*kernel.Value
				for _, column := range columns {
					list = append(list, e.Load(shared, e.Add(e.Mul(column, e.Int(apart)), row)))
				}
				for k, v := range list {
					e.Write(y).SetRaw(e.Flatten(indices[k], shape), v)
				}
			})
			e.Barrier()
		}
	})
}

// within reports whether index i, which belongs to a tile, is below an extent. If `tile`, the extent of tiles,
// divides the extent, the result is the constant true.
func within(e *Emitter, i *kernel.Value, extent dim.Dim, tile int) *kernel.Value {
	if _, ok := extent.DivExact(dim.Const(tile)); ok {
		return e.Bool(true)
	}
	return e.Lt(i, e.Dim(extent))
}

// whenTrue calls `do` to emit code that runs if cond is true. If cond is a constant, it must be true, and the code
// has no condition.
func whenTrue(e *Emitter, cond *kernel.Value, do func()) {
	if _, always := cond.Const(); always {
		do()
		return
	}
	e.Do(cond, do)
}

// TransposedAxis returns the axis `from` for [Transpose]: the axis whose element of strides is 1. ok is false if
// there is no such axis, if the last axis has stride 0 or 1, or if one of these two axes is known to have fewer than
// 32 elements.
func TransposedAxis(shape, strides []dim.Dim) (axis int, ok bool) {
	one := dim.Const(1)
	long := func(d dim.Dim) bool {
		n, known := d.Int()
		return !known || n >= kernel.Warp
	}
	last := len(shape) - 1
	if last < 1 || strides[last].Equal(one) || strides[last].Equal(dim.Const(0)) || !long(shape[last]) {
		return 0, false
	}
	axis = slices.IndexFunc(strides, func(d dim.Dim) bool { return d.Equal(one) })
	return axis, axis >= 0 && long(shape[axis])
}
