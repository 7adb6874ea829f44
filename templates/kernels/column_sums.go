package kernels

import (
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Columns describes what [ReduceColumns] computes of a tensor [Outer, Rows, Inner] in row-major order. It reduces
// each column: the Rows elements that have the same indices on the axes Outer and Inner.
type Columns struct {
	Outer, Rows, Inner dim.Dim
	// Size is the size of an element in bytes.
	Size int
	// Start returns the state of no elements.
	Start func(e *Emitter) []*kernel.Value
	// Add returns the state after the element of the tensor at index i in row-major order.
	Add func(e *Emitter, state []*kernel.Value, i *kernel.Value) []*kernel.Value
	// Join returns the state of the elements of two states.
	Join func(e *Emitter, x, y []*kernel.Value) []*kernel.Value
	// Store stores the result of a column, whose index counts the columns in row-major order.
	Store func(e *Emitter, column *kernel.Value, state []*kernel.Value)
}

const (
	// ReduceColumns divides columns into parts until its first kernel has about columnThreads threads. There are at
	// most partsMost parts, and each has at least rowsOfPart rows.
	columnThreads, rowsOfPart, partsMost = 1 << 16, 32, 128
	// columnsOfBlock is the number of columns for which a block of the second kernel combines the parts.
	columnsOfBlock = 32
)

// ReduceColumns returns the launches of kernels that reduce each column to a state. Adjacent threads take adjacent
// columns, so that they read adjacent elements. If there are few columns, several threads each reduce a part of the
// rows of a column, and a second kernel combines the states of the parts in order. The number of parts depends only
// on the extents.
func ReduceColumns(name string, c Columns) ([]Launch, error) {
	lanes := 1
	for lanes < maxLanes && lanes*c.Size < 16 {
		if _, ok := c.Inner.DivExact(dim.Const(2 * lanes)); !ok {
			break
		}
		lanes *= 2
	}
	width, _ := c.Inner.DivExact(dim.Const(lanes))
	parts := partsOf(c, width)
	columns := c.Outer.Mul(c.Inner)
	var partial []*Scratch // for each value of a state
	groups := c.Outer.Mul(width)
	chunk := c.Rows.CeilDiv(dim.Const(parts))
	first, err := Grid(name, []dim.Dim{groups.CeilDiv(dim.Const(Threads)), dim.Const(parts)}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		for _, v := range c.Start(e) {
			partial = append(partial, &Scratch{DType: v.Type.DType, Shape: []dim.Dim{dim.Const(parts), columns}})
		}
		return func(at []*kernel.Value) {
			group := e.Add(e.Mul(at[0], e.Int(Threads)), e.Thread(0))
			e.Do(e.Lt(group, e.Dim(groups)), func() {
				place := e.Unflatten(group, []dim.Dim{c.Outer, width})
				lane := e.Mul(place[1], e.Int(lanes))
				lo := e.Mul(at[1], e.Dim(chunk))
				hi := e.Min(e.Dim(c.Rows), e.Add(lo, e.Dim(chunk)))
				var start []*kernel.Value
				for range lanes {
					start = append(start, c.Start(e)...)
				}
				n := len(start) / lanes
				sums := e.ForUnrolled(4, lo, hi, e.Int(1), start, func(row *kernel.Value, sums []*kernel.Value) []*kernel.Value {
					i := e.Add(e.Mul(e.Add(e.Mul(place[0], e.Dim(c.Rows)), row), e.Dim(c.Inner)), lane)
					var out []*kernel.Value
					for k := range lanes {
						out = append(out, c.Add(e, sums[k*n:(k+1)*n], e.Add(i, e.Int(k)))...)
					}
					return out
				})
				for k := range lanes {
					column := e.Add(e.Add(e.Mul(place[0], e.Dim(c.Inner)), lane), e.Int(k))
					if parts == 1 {
						c.Store(e, column, sums[k*n:(k+1)*n])
						continue
					}
					for j, s := range partial {
						e.Scratch(s).SetRaw(e.Add(e.Mul(at[1], e.Dim(columns)), column), sums[k*n+j])
					}
				}
			})
		}
	})
	if err != nil || parts == 1 {
		return []Launch{first}, err
	}
	second, err := Grid(name+"_parts", []dim.Dim{columns.CeilDiv(dim.Const(columnsOfBlock))}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		const share = Threads / columnsOfBlock
		var shared []*kernel.Value
		for _, s := range partial {
			shared = append(shared, e.Shared("s", s.DType, Threads))
		}
		return func(at []*kernel.Value) {
			column := e.Add(e.Mul(at[0], e.Int(columnsOfBlock)), e.Rem(e.Thread(0), e.Int(columnsOfBlock)))
			inside := e.Min(column, e.Sub(e.Dim(columns), e.Int(1)))
			sums := e.ForUnrolled(4, e.Div(e.Thread(0), e.Int(columnsOfBlock)), e.Int(parts), e.Int(share), c.Start(e), func(part *kernel.Value, sums []*kernel.Value) []*kernel.Value {
				var of []*kernel.Value
				for _, s := range partial {
					of = append(of, e.Scratch(s).Raw(e.Add(e.Mul(part, e.Dim(columns)), inside)))
				}
				return c.Join(e, sums, of)
			})
			for j, s := range shared {
				e.Store(s, e.Thread(0), sums[j])
			}
			e.Barrier()
			own := e.And(e.Lt(e.Thread(0), e.Int(columnsOfBlock)), e.Lt(column, e.Dim(columns)))
			e.Do(own, func() {
				var state []*kernel.Value
				for k := range share {
					var of []*kernel.Value
					for _, s := range shared {
						of = append(of, e.Load(s, e.Add(e.Thread(0), e.Int(k*columnsOfBlock))))
					}
					if state == nil {
						state = of
					} else {
						state = c.Join(e, state, of)
					}
				}
				c.Store(e, column, state)
			})
			e.Barrier()
		}
	})
	return []Launch{first, second}, err
}

// partsOf returns the number of parts into which the rows of a column are divided. A thread reduces one part of a
// group of adjacent columns. `width` is the number of groups for each index on the axis Outer. If there are fewer
// groups, there are more parts, so that the device has enough threads.
func partsOf(c Columns, width dim.Dim) int {
	parts := partsMost
	if groups, ok := c.Outer.Mul(width).Int(); ok {
		parts = min(parts, max(1, columnThreads/max(groups, 1)))
	}
	if rows, ok := c.Rows.Int(); ok {
		parts = min(parts, max(1, rows/rowsOfPart))
	}
	return parts
}
