package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// maxFewRows is the largest number of rows of A for which [RowProducts] uses [fewRows] instead of tiles. Most of the
// time of such products is spent on reading B, and the matrices of a tile would be mostly empty.
const maxFewRows = 8

// exceedsFew returns 1 if m is above maxFewRows, and 0 otherwise. If m is above maxFewRows for all positive values of
// its symbols, the result is the constant 1, even where a symbol is 0.
func exceedsFew(m dim.Dim) dim.Dim {
	one := dim.Const(1)
	if least, err := m.Eval(func(string) (int64, bool) { return 1, true }); err == nil && least > maxFewRows {
		return one
	}
	return m.FloorDiv(dim.Const(maxFewRows + 1)).Min(one)
}

// fewRows is the state of a kernel that multiplies few rows of A. A block computes `rows` rows of the result, in
// `groups` groups of columns. A group has `lanes` threads, and each of them adds every lanes-th chunk of the terms. A
// thread reads a chunk of B once for all rows.
type fewRows struct {
	RowFactors
	*Emitter
	rows    int
	columns int // of a group
	groups  int // of a block
	lanes   int // threads of a group
	chunks  int // of a row
	// batch is how many chunks of each row a thread loads before it multiplies them.
	batch int

	product     *kernel.Value
	m0, n0      *kernel.Value     // the first row and the first column of the block
	states      [][]*kernel.Value // of the rows, see [RowFactors.Row]
	lane, group *kernel.Value
}

// fewRowsOf chooses the numbers of fewRows so that a large device is busy.
func fewRowsOf(f RowFactors) *fewRows {
	const loads = 16 // chunks that a thread has in flight
	p := &fewRows{RowFactors: f, rows: maxFewRows / 2, columns: 4, lanes: kernel.Warp, chunks: f.K / f.Chunk()}
	if n, ok := f.M.Int(); ok {
		p.rows = max(1, n)
	}
	groups := func() int { return (f.N + p.columns - 1) / p.columns * f.Batch }
	for p.columns > 1 && (p.columns > p.rows || groups()*p.lanes < enoughBlocks*Threads) {
		p.columns /= 2
	}
	for p.lanes < Threads && 4*p.lanes < p.chunks && groups()*p.lanes < enoughBlocks*Threads/2 {
		p.lanes *= 2
	}
	p.groups = Threads / p.lanes
	p.batch = 1
	for 2*p.batch*(p.rows+p.columns) <= loads {
		p.batch *= 2
	}
	return p
}

// launch returns the launch of the kernel. used is 1, or 0 if other kernels compute the products: the grid is then
// empty.
func (p *fewRows) launch(name string, used dim.Dim) (Launch, error) {
	each := p.groups * p.columns
	items := []dim.Dim{dim.Const((p.N + each - 1) / each), p.M.CeilDiv(dim.Const(p.rows)).Mul(used), dim.Const(p.Batch)}
	return Grid(name, items, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		p.Emitter = e
		sums := e.Shared("s", ir.F32, p.lanes*p.stride())
		return func(at []*kernel.Value) {
			p.at(at)
			p.share(sums, p.multiply())
			e.Barrier()
			p.store(sums)
			e.Barrier()
		}
	})
}

// at sets the product, the rows and the columns of the thread. at[k] is the index of the item in dimension k of the
// grid.
func (p *fewRows) at(at []*kernel.Value) {
	p.lane, p.group = p.Rem(p.Thread(0), p.Int(p.lanes)), p.Div(p.Thread(0), p.Int(p.lanes))
	p.product, p.m0, p.n0 = at[2], p.Mul(at[1], p.Int(p.rows)), p.Mul(at[0], p.Int(p.groups*p.columns))
	p.states = nil
	for r := range p.rows {
		m := p.Min(p.Add(p.m0, p.Int(r)), p.Sub(p.Dim(p.M), p.Int(1)))
		p.states = append(p.states, p.Row(p.Emitter, p.product, m))
	}
}

// multiply returns the thread's part of the sums. Element r·columns + c belongs to row r and column c of the group.
func (p *fewRows) multiply() []*kernel.Value {
	sums := make([]*kernel.Value, p.rows*p.columns)
	for i := range sums {
		sums[i] = p.Float(ir.F32, 0)
	}
	each := p.lanes * p.batch
	whole := p.chunks / each
	if whole > 0 {
		sums = p.Times(p.Int(whole), sums, func(i *kernel.Value, sums []*kernel.Value) []*kernel.Value {
			return p.add(p.Add(p.Mul(i, p.Int(each)), p.lane), p.batch, false, sums)
		})
	}
	first := p.Add(p.Int(whole*each), p.lane)
	left := p.chunks - whole*each
	sums = p.add(first, left/p.lanes, false, sums)
	if left%p.lanes > 0 {
		sums = p.add(p.Add(first, p.Int(left/p.lanes*p.lanes)), 1, true, sums)
	}
	return sums
}

// add adds the products of n chunks of terms to the sums, and returns the new sums. The chunks are first, first +
// lanes, first + 2·lanes, …. If partial is true, a chunk may be past the end of the rows; it then counts as zeros.
func (p *fewRows) add(first *kernel.Value, n int, partial bool, sums []*kernel.Value) []*kernel.Value {
	a, b := p.Read(p.A).pointer, p.Read(p.B).pointer
	var x, y [][]*kernel.Value
	for i := range n {
		chunk, exists := p.Add(first, p.Int(i*p.lanes)), p.Bool(true)
		if partial {
			exists = p.Lt(chunk, p.Int(p.chunks))
			chunk = p.Select(exists, chunk, p.Int(0))
		}
		k := p.Mul(chunk, p.Int(p.Chunk()))
		for c := range p.columns {
			n := p.Add(p.n0, p.Add(p.group, p.Int(c*p.groups)))
			row := p.Add(p.Mul(p.product, p.Int(p.N)), p.Min(n, p.Int(p.N-1)))
			y = append(y, p.load(b, p.Add(p.Mul(row, p.Int(p.K)), k), exists))
		}
		for r := range p.rows {
			at, inside := p.At(p.Emitter, p.product, p.states[r], k)
			x = append(x, p.load(a, at, p.And(exists, inside)))
		}
	}
	sums = append([]*kernel.Value{}, sums...)
	for i := range n {
		for k := range p.Chunk() {
			for r := range p.rows {
				for c := range p.columns {
					s := &sums[r*p.columns+c]
					*s = p.MulAdd(x[i*p.rows+r][k], y[i*p.columns+c][k], *s)
				}
			}
		}
	}
	return sums
}

// load returns the chunk at index i of a factor in f32, or zeros if inside is false.
func (p *fewRows) load(from, i, inside *kernel.Value) []*kernel.Value {
	values := make([]*kernel.Value, p.Chunk())
	for k, v := range p.LoadN(from, p.Select(inside, i, p.Int(0)), p.Chunk()) {
		stored := v.Type.DType
		v = p.Convert(ir.F32, v)
		if p.Factor != nil && stored == ir.F32 {
			v = p.Factor(p.Emitter, v)
		}
		values[k] = p.Select(inside, v, p.Float(ir.F32, 0))
	}
	return values
}

// stride is the distance in shared memory between the sums of adjacent threads of a group, in elements. It is odd, so
// that threads access different banks.
func (p *fewRows) stride() int { return p.rows*p.columns*p.groups | 1 }

// share stores the thread's parts of the sums in shared memory. For thread number l of group g, the part of the sum
// of row r and column c is at index l·stride + (r·columns + c)·groups + g.
func (p *fewRows) share(shared *kernel.Value, sums []*kernel.Value) {
	first := p.Add(p.Mul(p.lane, p.Int(p.stride())), p.group)
	for i, sum := range sums {
		p.Builder.Store(shared, p.Add(first, p.Int(i*p.groups)), sum)
	}
}

// store adds the parts of each sum, in the order of the threads, and stores the sums. Neighbouring threads store
// neighbouring columns.
func (p *fewRows) store(shared *kernel.Value) {
	count := p.rows * p.columns * p.groups
	first, each := p.Thread(0), p.columns*p.groups
	p.Do(p.Lt(first, p.Int(count)), func() {
		zero := []*kernel.Value{p.Float(ir.F32, 0)}
		sum := p.ForUnrolled(8, p.Int(0), p.Int(p.lanes), p.Int(1), zero, func(lane *kernel.Value, sum []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{p.Add(sum[0], p.Load(shared, p.Add(p.Mul(lane, p.Int(p.stride())), first)))}
		})[0]
		row := p.Div(first, p.Int(each))
		n := p.Add(p.n0, p.Rem(first, p.Int(each)))
		m := p.Add(p.m0, row)
		p.Do(p.And(p.Lt(m, p.Dim(p.M)), p.Lt(n, p.Int(p.N))), func() { p.Store(p.Emitter, p.product, m, n, sum) })
	})
}
