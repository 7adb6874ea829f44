package kernels

import (
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// A group stores its sums through shared memory, columnsOfChunk columns at a time. It first writes them there. Then
// each thread stores columnsOfThread adjacent columns of a row in the result. Rows in shared memory are rowOfChunk
// elements apart. In odd rows, columns 8·i … 8·i+3 change places with columns 8·i+4 … 8·i+7. So threads that access
// shared memory at the same time access different banks.
const (
	columnsOfChunk  = 32
	columnsOfThread = 8
	rowOfChunk      = 40
	columnsOfLoad   = 4 // of shared memory
)

// store stores the sums of a group of threads. The first sum is at row m0 and column n0 of the product. `group` is
// the index of the group among the groups that multiply, and `thread` the index of the thread in its group.
func (p *pipelined) store(sums, batch, m0, n0, group, thread *kernel.Value) {
	warp, lane := p.Div(thread, p.Int(kernel.Warp)), p.Rem(thread, p.Int(kernel.Warp))
	first := p.Mul(group, p.Int(rowsOfGroup*rowOfChunk))
	at := func(row, column *kernel.Value) *kernel.Value {
		return p.Add(first, p.Add(p.Mul(row, p.Int(rowOfChunk)), column))
	}
	exchange := func(row, column *kernel.Value) *kernel.Value {
		return p.Binary(kernel.Xor, column, p.Mul(p.Rem(row, p.Int(2)), p.Int(columnsOfLoad)))
	}
	row := p.Add(p.Mul(warp, p.Int(16)), p.Div(lane, p.Int(4)))
	pair := exchange(row, p.Mul(p.Rem(lane, p.Int(4)), p.Int(2)))
	own := p.Div(thread, p.Int(columnsOfChunk/columnsOfThread))
	column := p.Mul(p.Rem(thread, p.Int(columnsOfChunk/columnsOfThread)), p.Int(columnsOfThread))
	rows := kernel.Group * columnsOfThread / columnsOfChunk // that the group stores at a time
	p.ForUnrolled(1, p.Int(0), p.Int(p.tile.N/columnsOfChunk), p.Int(1), nil, func(chunk *kernel.Value, _ []*kernel.Value) []*kernel.Value {
		for c := range p.tile.N / columnsOfChunk {
			p.Do(p.Eq(chunk, p.Int(c)), func() {
				for j := range columnsOfChunk / 8 {
					for h := range 2 {
						i := 4*(c*columnsOfChunk/8+j) + 2*h
						p.Builder.Store(p.chunk, at(p.Add(row, p.Int(8*h)), p.Add(pair, p.Int(8*j))), p.Sum(sums, i), p.Sum(sums, i+1))
					}
				}
			})
		}
		p.GroupBarrier()
		n := p.Add(n0, p.Add(p.Mul(chunk, p.Int(columnsOfChunk)), column))
		for r := 0; r < rowsOfGroup; r += rows {
			inGroup := p.Add(own, p.Int(r))
			m := p.Add(m0, inGroup)
			p.inside(m, n, func() {
				var loaded []*kernel.Value
				for c := 0; c < columnsOfThread; c += columnsOfLoad {
					loaded = append(loaded, p.LoadN(p.chunk, at(inGroup, exchange(own, p.Add(column, p.Int(c)))), columnsOfLoad)...)
				}
				p.together(n, columnsOfThread, func(lane int, n *kernel.Value) { p.Store(p.Emitter, batch, m, n, loaded[lane]) })
			})
		}
		p.GroupBarrier()
		return nil
	})
}

// inside calls `do` to emit code that runs if element (m, n) is inside the product. If an extent of the product is
// known to be a multiple of the extent of a tile, the code does not check it.
func (p *pipelined) inside(m, n *kernel.Value, do func()) {
	cond := p.Bool(true)
	if _, ok := p.M.DivExact(dim.Const(p.tile.M)); !ok {
		cond = p.And(cond, p.Lt(m, p.Dim(p.M)))
	}
	if p.n%p.tile.N != 0 {
		cond = p.And(cond, p.Lt(n, p.Int(p.n)))
	}
	whenTrue(p.Emitter, cond, do)
}
