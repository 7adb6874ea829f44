package kernels

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// RowFactors describes the matrix products of [RowProducts]. In both factors, adjacent terms are adjacent in memory.
// Terms are loaded in chunks. A chunk has [RowFactors.Chunk] adjacent terms, and begins at a multiple of this number.
type RowFactors struct {
	// Batch is the number of products. M and N are the extents of each result, and K is the number of terms
	// of its sums, a multiple of a chunk.
	Batch int
	M     dim.Dim
	N, K  int
	// A and B have the elements of the factors, which are of one type: f32, f16 or bf16. Element (n, k) of B in
	// a product has the index (batch·N + n)·K + k.
	A, B *ir.Value
	// Matrix is the element type of matrices that warps multiply, as in [Factors]. It is ir.Invalid if each
	// thread computes its own sums.
	Matrix ir.DType
	// Row returns values that depend on row m of the first factor, to be passed to At. It is called once for each row
	// that a thread loads.
	Row func(e *Emitter, batch, m *kernel.Value) []*kernel.Value
	// At returns the index in A of element (m, k), the first of a chunk. If inside is false, the elements of the
	// chunk are 0, and the index is ignored. `row` is the result of Row for m.
	At func(e *Emitter, batch *kernel.Value, row []*kernel.Value, k *kernel.Value) (i, inside *kernel.Value)
	// Factor changes an element of a factor, of type f32. It is called with elements of f32 only. A nil Factor
	// does not change elements.
	Factor func(e *Emitter, v *kernel.Value) *kernel.Value
	// Store stores the sum, an f32, as element (m, n) of the result of a product.
	Store func(e *Emitter, batch, m, n, sum *kernel.Value)
	// Pipelined describes the same products for devices that run pipelined kernels. It is nil if no device does.
	Pipelined *Factors
}

// Chunk returns the number of terms in a chunk. A chunk takes 16 bytes in shared memory.
func (f RowFactors) Chunk() int { return bytesOfChunk / f.stored().Size() }

// stored returns the type of elements in shared memory.
func (f RowFactors) stored() ir.DType {
	if f.Matrix != ir.Invalid {
		return f.Matrix
	}
	return ir.F32
}

const (
	bytesOfChunk = 16
	chunksOfRow  = 4 // of a tile in shared memory
	sumsOfPart   = 4 // that a thread stores at a time
)

// blockTile describes a tile of m × n sums that a block computes.
type blockTile struct {
	m, n int
	// parts is the number of parts of a row of a factor that a block loads at a time. A part is chunksOfRow chunks.
	parts int
}

// These are the sizes of a block's tile of sums; a block has Threads threads. A product with few sums has small
// tiles, so that there are enough blocks. A product with few columns has narrow tiles.
var (
	smallTile  = blockTile{64, 64, 2}
	narrowTile = blockTile{128, 64, 1}
	largeTile  = blockTile{128, 128, 1}
)

// leastLarge is the least number of large or narrow tiles. A product with fewer of them is computed with small tiles.
// Tests change this number.
var leastLarge = 100

// leastPipelined takes the place of leastLarge for products with a pipelined kernel. This kernel computes large tiles
// faster, so that fewer large tiles are enough.
const leastPipelined = 60

func (t blockTile) blocks(f RowFactors) dim.Dim {
	return f.M.CeilDiv(dim.Const(t.m)).Mul(dim.Const((f.N + t.n - 1) / t.n * f.Batch))
}

// RowProducts returns the launches of kernels that compute matrix products; see [RowFactors]. Products of few rows have
// a kernel of their own, see [fewRows]. For other products, blocks compute tiles. If there are few sums with many terms,
// the terms are divided into parts, see [splitsOf]. Different blocks then sum the parts, and the last launch adds the
// sums of the parts. The order in which terms are added depends only on the extents.
func RowProducts(name string, f RowFactors) ([]Launch, error) {
	if f.K%f.Chunk() != 0 {
		return nil, fmt.Errorf("%d terms, want a multiple of %d", f.K, f.Chunk())
	}
	one, tile := dim.Const(1), largeTile
	if f.N <= narrowTile.n {
		tile = narrowTile
	}
	faster, least := pipelinedRows(name, f.Pipelined), leastLarge
	if faster != nil {
		least = min(least, leastPipelined)
	}
	large := tile.blocks(f).FloorDiv(dim.Const(least)).Min(one) // 1 or 0
	var launches []Launch
	many := exceedsFew(f.M) // 1 or 0
	if few := one.Sub(many); !few.Equal(dim.Dim{}) {
		l, err := fewRowsOf(f).launch(name, few)
		if err != nil {
			return nil, err
		}
		launches = append(launches, l)
	}
	for _, c := range []struct {
		tile blockTile
		used dim.Dim // 1 or 0
	}{{tile, large.Mul(many)}, {smallTile, one.Sub(large).Mul(many)}} {
		if c.used.Equal(dim.Dim{}) {
			continue
		}
		p := rowProducts{RowFactors: f, tile: c.tile, splits: one}
		p.steps = (f.K + p.terms() - 1) / p.terms()
		if c.tile == smallTile {
			p.splits = splitsOf(c.tile.blocks(f), p.steps)
		}
		more, err := p.launches(name, c.used)
		if err != nil {
			return nil, err
		}
		if c.tile != smallTile {
			more[0].Faster = faster
		}
		launches = append(launches, more...)
	}
	return launches, nil
}

// pipelinedRows returns the launch of a pipelined kernel, or nil if f is nil or no such kernel computes it.
func pipelinedRows(name string, f *Factors) *Launch {
	if f == nil {
		return nil
	}
	rows, ok := f.M.Int()
	if !ok {
		rows = manyRows
	}
	columns, _ := f.N.Int()
	l, err := Pipelined(name, *f, TilesOf(rows, columns))
	if err != nil {
		return nil
	}
	return &l
}

// manyRows stands for a number of rows that is not known when tiles are chosen.
const manyRows = 1 << 16

// rowProducts is the state of [RowProducts] for one tile.
type rowProducts struct {
	RowFactors
	*Emitter
	tile   blockTile
	splits dim.Dim // in how many parts the terms are added
	steps  int     // of terms
	a, b   *kernel.Value
	parts  *Scratch // nil if the terms are added in one part

	batch, m0, n0 *kernel.Value // of the block's tile
	warp, lane    *kernel.Value
}

// terms returns the number of terms that a block loads at a time.
func (p *rowProducts) terms() int { return p.tile.parts * chunksOfRow * p.Chunk() }

func (p *rowProducts) launches(name string, used dim.Dim) ([]Launch, error) {
	one := dim.Const(1)
	tilesM, tilesN := p.M.CeilDiv(dim.Const(p.tile.m)), dim.Const((p.N+p.tile.n-1)/p.tile.n)
	if !p.splits.Equal(one) {
		p.parts = splitMemory(p.tile.blocks(p.RowFactors), p.splits, p.tile.m*p.tile.n)
	}
	elem := p.stored()
	multiply, err := Grid(name, []dim.Dim{tilesN, tilesM, p.splits.Mul(dim.Const(p.Batch)).Mul(used)}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		p.Emitter = e
		p.a = e.Shared("a", elem, 2*p.tile.m*p.terms())
		p.b = e.Shared("b", elem, 2*p.tile.n*p.terms())
		return func(at []*kernel.Value) { p.multiply(at, e.Dim(p.splits)) }
	})
	if err != nil || p.parts == nil {
		return []Launch{multiply}, err
	}
	groups := dim.Const(p.tile.m * p.tile.n / Threads / sumsOfPart)
	split := p.splits.Sub(one).Min(one) // 1 or 0
	add, err := Grid("sum_"+name, []dim.Dim{tilesN.Mul(groups), tilesM, split.Mul(dim.Const(p.Batch)).Mul(used)}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		p.Emitter = e
		return func(at []*kernel.Value) { p.add(at, e.Dim(p.splits), e.Dim(groups)) }
	})
	return []Launch{multiply, add}, err
}

// at sets the fields batch, m0, n0, warp and lane for tile (m, n) of a product.
func (p *rowProducts) at(batch, m, n *kernel.Value) {
	p.batch, p.m0, p.n0 = batch, p.Mul(m, p.Int(p.tile.m)), p.Mul(n, p.Int(p.tile.n))
	p.warp, p.lane = p.Div(p.Thread(0), p.Int(kernel.Warp)), p.Rem(p.Thread(0), p.Int(kernel.Warp))
}

// multiply emits code that computes the sums of a tile over one part of the terms. The tile has column at[0] and row
// at[1] of the grid of tiles. at[2] is batch·splits plus the index of the part, where splits is the number of parts.
// If there is only one part, the code stores the sums in the result, otherwise in scratch memory.
func (p *rowProducts) multiply(at []*kernel.Value, splits *kernel.Value) {
	split := p.Rem(at[2], splits)
	p.at(p.Div(at[2], splits), at[1], at[0])
	each := p.Div(p.Add(p.Int(p.steps-1), splits), splits)
	first := p.Mul(split, each)
	last := p.Min(p.Add(first, each), p.Int(p.steps))
	l := p.loader(last)
	l.store(l.load(first), p.Int(0))
	p.Barrier()
	sums := make([]*kernel.Value, p.tile.m*p.tile.n/Threads)
	for i := range sums {
		sums[i] = p.Float(ir.F32, 0)
	}
	places := p.places()
	sums = p.For(first, last, p.Int(1), sums, func(step *kernel.Value, sums []*kernel.Value) []*kernel.Value {
		now := p.And(p.Sub(step, first), p.Int(1)) // the half of shared memory that has the terms of this step
		loaded := l.load(p.Add(step, p.Int(1)))
		sums = p.step(places, now, sums)
		l.store(loaded, p.Sub(p.Int(1), now))
		p.Barrier()
		return sums
	})
	store := func() []*kernel.Value {
		perRow := p.perRow()
		for i := 0; i < len(sums); i += perRow {
			p.storeRow(p.Int(i/perRow), p.Int(0), sums[i:i+perRow])
		}
		return nil
	}
	if p.parts == nil {
		store()
		return
	}
	p.If(p.Eq(splits, p.Int(1)), store, func() []*kernel.Value {
		for i := 0; i < len(sums); i += sumsOfPart {
			p.Builder.Store(p.Scratch(p.parts).pointer, p.part(at[2], at[1], at[0], p.Int(i/sumsOfPart)), sums[i:i+sumsOfPart]...)
		}
		return nil
	})
}

// part returns where one group of the thread's sums begins in scratch memory. The sums belong to tile (m, n) and to
// one part of the terms. `group` is the index of the group among the thread's groups. z is batch·splits plus the
// index of the part of the terms.
func (p *rowProducts) part(z, m, n, group *kernel.Value) *kernel.Value {
	tiles := p.Dim(p.M.CeilDiv(dim.Const(p.tile.m)))
	columns := p.Int((p.N + p.tile.n - 1) / p.tile.n)
	block := p.Add(p.Mul(p.Add(p.Mul(z, tiles), m), columns), n)
	groups := p.tile.m * p.tile.n / Threads / sumsOfPart
	i := p.Add(p.Mul(block, p.Int(groups)), group)
	return p.Mul(p.Add(p.Mul(i, p.Int(Threads)), p.Thread(0)), p.Int(sumsOfPart))
}

// add adds the parts of one group of the thread's sums in order, and stores the results. splits is
// the number of parts. The sums are in product at[2], in the tile of row at[1] and column
// at[0]/groups of the grid of tiles. The index of the group is at[0] mod groups.
func (p *rowProducts) add(at []*kernel.Value, splits, groups *kernel.Value) {
	n, group := p.Div(at[0], groups), p.Rem(at[0], groups)
	p.at(at[2], at[1], n)
	sums := make([]*kernel.Value, sumsOfPart)
	for i := range sums {
		sums[i] = p.Float(ir.F32, 0)
	}
	parts := p.Scratch(p.parts).pointer
	sums = p.ForUnrolled(4, p.Int(0), splits, p.Int(1), sums, func(split *kernel.Value, sums []*kernel.Value) []*kernel.Value {
		more := p.LoadN(parts, p.part(p.Add(p.Mul(p.batch, splits), split), at[1], n, group), sumsOfPart)
		for i, v := range more {
			sums[i] = p.Add(sums[i], v)
		}
		return sums
	})
	inRow := p.Int(p.perRow() / sumsOfPart)
	p.storeRow(p.Div(group, inRow), p.Mul(p.Rem(group, inRow), p.Int(sumsOfPart)), sums)
}

// rowLoader loads chunks of both factors. In each step, a thread loads one chunk from each of several rows. The chunk
// has the same index in all these rows.
type rowLoader struct {
	*rowProducts
	end       *kernel.Value // of the terms that are loaded
	chunk     *kernel.Value // the number of the chunk in the terms of a step
	firstRow  *kernel.Value
	statesOfA [][]*kernel.Value
}

func (p *rowProducts) loader(last *kernel.Value) *rowLoader {
	chunks := p.tile.parts * chunksOfRow
	l := &rowLoader{rowProducts: p, end: p.Min(p.Mul(last, p.Int(p.terms())), p.Int(p.K))}
	l.chunk, l.firstRow = p.Rem(p.Thread(0), p.Int(chunks)), p.Div(p.Thread(0), p.Int(chunks))
	m := p.Dim(p.M)
	for i := 0; i < p.tile.m; i += l.step() {
		row := p.Add(p.m0, p.Add(l.firstRow, p.Int(i)))
		l.statesOfA = append(l.statesOfA, p.Row(p.Emitter, p.batch, p.Min(row, p.Sub(m, p.Int(1)))))
	}
	return l
}

// step returns the number of rows that the threads load at a time.
func (l *rowLoader) step() int { return Threads / (l.tile.parts * chunksOfRow) }

// loadedChunk is a chunk of a factor in registers, and the row of a tile in shared memory where it will be stored.
// The tile has `rows` rows. If inside is false, zeros are stored instead of the elements.
type loadedChunk struct {
	tile, row *kernel.Value
	rows      int
	inside    *kernel.Value
	elements  []*kernel.Value
}

// load loads the chunks of one step that belong to the thread. For a chunk outside of a factor, it loads the first
// chunk of that factor, so that the access is valid.
func (l *rowLoader) load(step *kernel.Value) []loadedChunk {
	k := l.Add(l.Mul(step, l.Int(l.terms())), l.Mul(l.chunk, l.Int(l.Chunk())))
	exists := l.Lt(k, l.end)
	k = l.Select(exists, k, l.Int(0))
	a, b := l.Read(l.A), l.Read(l.B)
	var list []loadedChunk
	add := func(tile *kernel.Value, rows int, row *kernel.Value, from *Tensor, i, inside *kernel.Value) {
		list = append(list, loadedChunk{tile, row, rows, inside, l.LoadN(from.pointer, l.Select(inside, i, l.Int(0)), l.Chunk())})
	}
	for i, state := range l.statesOfA {
		row := l.Add(l.firstRow, l.Int(i*l.step()))
		at, inside := l.At(l.Emitter, l.batch, state, k)
		inside = l.And(l.And(exists, inside), l.Lt(l.Add(l.m0, row), l.Dim(l.M)))
		add(l.a, l.tile.m, row, a, at, inside)
	}
	for i := 0; i < l.tile.n; i += l.step() {
		row := l.Add(l.firstRow, l.Int(i))
		n, inside := l.Add(l.n0, row), exists
		if l.N%l.tile.n != 0 {
			inside = l.And(inside, l.Lt(n, l.Int(l.N)))
		}
		add(l.b, l.tile.n, row, b, l.Add(l.Mul(l.Add(l.Mul(l.batch, l.Int(l.N)), n), l.Int(l.K)), k), inside)
	}
	return list
}

// store stores loaded chunks in shared memory. Shared memory has two halves, each for the chunks of
// one step; half is 0 or 1.
func (l *rowLoader) store(list []loadedChunk, half *kernel.Value) {
	elem := l.stored()
	part, chunk := l.Div(l.chunk, l.Int(chunksOfRow)), l.Rem(l.chunk, l.Int(chunksOfRow))
	for _, c := range list {
		at := l.inTile(c.rows, half, part, c.row, chunk)
		l.If(c.inside, func() []*kernel.Value {
			values := make([]*kernel.Value, len(c.elements))
			for i, v := range c.elements {
				if elem == ir.F32 {
					v = l.Convert(ir.F32, v)
					if l.Factor != nil {
						v = l.Factor(l.Emitter, v)
					}
				}
				values[i] = v
			}
			l.Builder.Store(c.tile, at, values...)
			return nil
		}, func() []*kernel.Value {
			zeros := make([]*kernel.Value, len(c.elements))
			for i := range zeros {
				zeros[i] = l.Convert(elem, l.Float(ir.F32, 0))
			}
			l.Builder.Store(c.tile, at, zeros...)
			return nil
		})
	}
}

// inTile returns the index of a chunk in a tile in shared memory. The tile is one `part` of a step, in half 0 or 1 of
// shared memory, and has `rows` rows of 64 bytes. Chunk c of row r is stored at place c XOR (r/2 mod 4) of its row.
// Because of this, 8 threads access different banks if they access two whole rows, and also if they access the same
// chunk of 8 rows.
func (p *rowProducts) inTile(rows int, half, part, row, chunk *kernel.Value) *kernel.Value {
	place := p.Binary(kernel.Xor, chunk, p.And(p.Div(row, p.Int(2)), p.Int(chunksOfRow-1)))
	at := p.Add(p.Mul(p.Add(p.Mul(half, p.Int(p.tile.parts)), part), p.Int(rows)), row)
	return p.Mul(p.Add(p.Mul(at, p.Int(chunksOfRow)), place), p.Int(p.Chunk()))
}

// warps returns the number of warps along the rows and along the columns of a tile.
func (p *rowProducts) warps() (m, n int) {
	if p.Matrix != ir.Invalid {
		return 2, Threads / kernel.Warp / 2
	}
	return 4, Threads / kernel.Warp / 4
}

// perRow returns the number of sums that a thread has in each of its rows of the result.
func (p *rowProducts) perRow() int {
	_, n := p.warps()
	if p.Matrix != ir.Invalid {
		return p.tile.n / n / 4
	}
	return p.tile.n / n / lanesOfRow
}

// lanesOfRow is the number of threads of a warp that have sums of the same row, if the warp does not multiply
// matrices.
const lanesOfRow = 8

// row returns the index in the tile of row r of the thread. r counts the rows in which the thread
// has sums.
func (p *rowProducts) row(r *kernel.Value) *kernel.Value {
	m, n := p.warps()
	first := p.Mul(p.Div(p.warp, p.Int(n)), p.Int(p.tile.m/m))
	if p.Matrix == ir.Invalid {
		return p.Add(p.Add(first, p.Div(p.lane, p.Int(lanesOfRow))), p.Mul(r, p.Int(kernel.Warp/lanesOfRow)))
	}
	return p.Add(p.Add(first, p.Div(p.lane, p.Int(4))), p.Mul(r, p.Int(8)))
}

// column returns the index in the tile of column c of the thread. c counts the columns in which the thread has
// sums. The columns of a thread are adjacent if warps multiply matrices.
func (p *rowProducts) column(c *kernel.Value) *kernel.Value {
	_, n := p.warps()
	first := p.Mul(p.Rem(p.warp, p.Int(n)), p.Int(p.tile.n/n))
	if p.Matrix == ir.Invalid {
		return p.Add(p.Add(first, p.Rem(p.lane, p.Int(lanesOfRow))), p.Mul(c, p.Int(lanesOfRow)))
	}
	return p.Add(p.Add(first, p.Mul(p.Rem(p.lane, p.Int(4)), p.Int(p.perRow()))), c)
}

// rowPlaces finds chunks in shared memory. It has a function for each row of the tiles of A and B that a thread
// reads. The function returns the index of a chunk of this row.
type rowPlaces struct {
	a, b []func(half *kernel.Value, part, chunk int) *kernel.Value
}

func (p *rowProducts) places() rowPlaces {
	var at rowPlaces
	place := func(rows int, row *kernel.Value, own *kernel.Value) func(half *kernel.Value, part, chunk int) *kernel.Value {
		return func(half *kernel.Value, part, chunk int) *kernel.Value {
			c := own
			if c == nil {
				c = p.Int(chunk)
			}
			return p.inTile(rows, half, p.Int(part), row, c)
		}
	}
	if p.Matrix == ir.Invalid {
		for i := range p.tile.m * p.tile.n / Threads / p.perRow() {
			at.a = append(at.a, place(p.tile.m, p.row(p.Int(i)), nil))
		}
		for i := range p.perRow() {
			at.b = append(at.b, place(p.tile.n, p.column(p.Int(i)), nil))
		}
		return at
	}
	_, n := p.warps()
	pair, g := p.Rem(p.lane, p.Int(4)), p.Div(p.lane, p.Int(4))
	for i := range p.tile.m * p.tile.n / Threads / p.perRow() {
		at.a = append(at.a, place(p.tile.m, p.row(p.Int(i)), pair))
	}
	first := p.Mul(p.Rem(p.warp, p.Int(n)), p.Int(p.tile.n/n))
	for j := range p.perRow() / 2 {
		column := p.Add(p.Mul(p.Div(g, p.Int(2)), p.Int(p.perRow())), p.Add(p.Int(2*j), p.Rem(g, p.Int(2))))
		at.b = append(at.b, place(p.tile.n, p.Add(first, column), pair))
	}
	return at
}

// step adds the products of the terms of one step to the sums of the thread, and returns the new sums. The terms are
// in half `half`, 0 or 1, of shared memory.
func (p *rowProducts) step(at rowPlaces, half *kernel.Value, sums []*kernel.Value) []*kernel.Value {
	for part := range p.tile.parts {
		if p.Matrix != ir.Invalid {
			p.stepOfMatrices(at, half, part, sums)
			continue
		}
		for chunk := range chunksOfRow {
			a, b := make([][]*kernel.Value, len(at.a)), make([][]*kernel.Value, len(at.b))
			for i, place := range at.a {
				a[i] = p.LoadN(p.a, place(half, part, chunk), p.Chunk())
			}
			for j, place := range at.b {
				b[j] = p.LoadN(p.b, place(half, part, chunk), p.Chunk())
			}
			for k := range p.Chunk() {
				for i := range a {
					for j := range b {
						s := &sums[i*len(b)+j]
						*s = p.MulAdd(a[i][k], b[j][k], *s)
					}
				}
			}
		}
	}
	return sums
}

// stepOfMatrices adds the products of one part of a step to `sums`, with matrix products by warps. A thread reads a
// chunk of each of its rows from half `half`, 0 or 1, of shared memory. The first matrix product takes the first
// half of every chunk, and the second one the second half.
func (p *rowProducts) stepOfMatrices(at rowPlaces, half *kernel.Value, part int, sums []*kernel.Value) {
	a, b := make([][]*kernel.Value, len(at.a)), make([][]*kernel.Value, len(at.b))
	for i, place := range at.a {
		a[i] = p.LoadN(p.a, place(half, part, 0), p.Chunk())
	}
	for j, place := range at.b {
		b[j] = p.LoadN(p.b, place(half, part, 0), p.Chunk())
	}
	adjacent := p.Chunk() / 4
	for k := 0; k < p.Chunk(); k += 2 * adjacent {
		for i := 0; i < len(a); i += 2 {
			for j := range b {
				var x, y []*kernel.Value
				for h := k; h < k+2*adjacent; h += adjacent {
					x = append(append(x, a[i][h:h+adjacent]...), a[i+1][h:h+adjacent]...)
					y = append(y, b[j][h:h+adjacent]...)
				}
				above, below := sums[i*p.perRow()+2*j:][:2], sums[(i+1)*p.perRow()+2*j:][:2]
				s := p.MatMulAdd(x, y, []*kernel.Value{above[0], above[1], below[0], below[1]})
				copy(above, s[:2])
				copy(below, s[2:])
			}
		}
	}
}

// storeRow stores sums of the thread in the result. They belong to row r of the thread and to its columns c, c+1, …;
// see [rowProducts.row] and [rowProducts.column].
func (p *rowProducts) storeRow(r, c *kernel.Value, sums []*kernel.Value) {
	m := p.Add(p.m0, p.row(r))
	together := p.Matrix != ir.Invalid && p.N%len(sums) == 0
	p.Do(p.Lt(m, p.Dim(p.M)), func() {
		if together {
			n := p.Add(p.n0, p.column(c))
			p.Do(p.Lt(n, p.Int(p.N)), func() {
				p.together(n, len(sums), func(lane int, n *kernel.Value) { p.Store(p.Emitter, p.batch, m, n, sums[lane]) })
			})
			return
		}
		for i, sum := range sums {
			n := p.Add(p.n0, p.column(p.Add(c, p.Int(i))))
			p.Do(p.Lt(n, p.Int(p.N)), func() { p.Store(p.Emitter, p.batch, m, n, sum) })
		}
	})
}
