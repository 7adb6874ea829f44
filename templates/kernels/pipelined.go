package kernels

import (
	"errors"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Matrices describes a factor of several matrix products. The memory of Value has Batch matrices, one after the
// other. If Batch is 1, all products have the same matrix.
type Matrices struct {
	Value                *ir.Value
	Batch, Rows, Columns int
}

// Tiles say how a pipelined product is computed.
type Tiles struct {
	// M and N are the extents of a tile. M is a multiple of 64, and N a multiple of 64 up to 256.
	M, N int
	// Turns says that two groups of threads take turns: each computes whole tiles, and one multiplies while the other
	// stores its sums. Otherwise M/64 groups compute 64 rows each of the same tile. With Turns, M·N is at most 128·128.
	Turns bool
	// Stages is how many steps of 128 bytes of terms are in shared memory.
	Stages int
	// Blocks is the greatest number of blocks. A block computes several tiles, one after the other.
	Blocks int
	// Raster is the number of tiles along M that are computed before the next tile along N, so that blocks which run
	// at the same time read the same factors.
	Raster int
}

// These are the numbers of registers of a thread: in the group of threads that copies, and in a group that
// multiplies. At most two groups multiply.
const registersToCopy, registersToMultiply = 40, 232

var errPipelined = errors.New("the product cannot be computed by groups of threads")

// Pipelined returns the [Launch] of a kernel that computes the products of f, for devices that run pipelined kernels.
// Extents except f.M must be constant. In each block, one group of threads copies tiles of both factors to shared
// memory, and the other groups multiply them. Pipelined returns an error if the kernel cannot compute f.
func Pipelined(name string, f Factors, t Tiles) (Launch, error) {
	p := &pipelined{Factors: f, tile: t}
	fixed, ok := dim.Ints([]dim.Dim{f.Batch, f.N, f.K})
	if !ok || fixed[0] < 1 || fixed[1] < 1 || fixed[2] < 1 {
		return Launch{}, errPipelined
	}
	p.batch, p.n, p.k = fixed[0], fixed[1], fixed[2]
	if rows, ok := f.M.Int(); ok && rows < 1 {
		return Launch{}, errPipelined
	}
	if f.Matrix == ir.Invalid || f.Term != nil || f.DType != ir.F32 || f.Stored[1] == nil || (f.Stored[0] == nil) == (f.Windows == nil) || p.n%8 != 0 {
		return Launch{}, errPipelined
	}
	for i, s := range f.Stored {
		across := []bool{f.ColumnsA, f.RowsB}[i]
		if s != nil && s.Columns*f.Matrix.Size()%16 != 0 || across && f.Matrix == ir.F32 {
			return Launch{}, errPipelined
		}
	}
	p.groups, p.parts = t.M/rowsOfGroup, 1
	if t.Turns {
		p.groups, p.parts = 2, p.groups
	}
	p.terms = bytesOfStep / f.Matrix.Size()
	p.steps = (p.k + p.terms - 1) / p.terms
	if f.Windows != nil {
		if err := f.Windows.check(f); err != nil {
			return Launch{}, err
		}
		p.steps = f.Windows.cells() * p.stepsOfCell()
	}
	p.tilesN, p.blocks = (p.n+t.N-1)/t.N, t.Blocks
	if tiles, ok := f.M.CeilDiv(dim.Const(t.M)).Int(); ok {
		p.most = tiles * p.tilesN * p.batch
		p.blocks = min(p.blocks, p.most)
	}
	return New(name, []dim.Dim{dim.Const(p.blocks)}, []int{kernel.Group * (1 + p.groups)}, func(e *Emitter) {
		p.Emitter = e
		p.build()
	})
}

// A kernel whose blocks have at most stepsOfEarly steps is early, see [kernel.Kernel]: the next kernel may start
// before it ends. A longer kernel loses more by sharing the device than the early start gains. The number was
// measured on an H200.
const stepsOfEarly = 16

const (
	rowsOfGroup  = 64  // of a tile
	bytesOfStep  = 128 // of terms that are copied at a time
	columnsOfBox = 64  // of a box whose rows are terms
)

// pipelined is the state of [Pipelined] while it builds a kernel.
type pipelined struct {
	*Emitter
	Factors
	tile          Tiles
	batch, n, k   int // extents
	groups        int // number of groups that multiply
	parts         int // number of parts of 64 rows of a tile that a group computes
	terms         int // terms per step
	steps         int // steps per sum
	tilesM, tiles *kernel.Value
	tilesN, most  int // most is the number of tiles, or 0 if it is not known
	blocks        int
	a, b          *kernel.Value // arrays of tiles, one for each stage
	mapA, mapB    *kernel.Value
	full, empty   *kernel.Value   // phase barriers of the stages
	turn          *kernel.Value   // phase barriers of the groups that take turns
	chunk         *kernel.Value   // sums that are stored
	sums          []*kernel.Value // of each part
}

func (p *pipelined) build() {
	if p.most > 0 && (p.most+p.blocks-1)/p.blocks*p.steps <= stepsOfEarly {
		p.Early()
	}
	p.tilesM = p.Div(p.Add(p.Dim(p.M), p.Int(p.tile.M-1)), p.Int(p.tile.M))
	p.tiles = p.Mul(p.tilesM, p.Int(p.tilesN*p.batch))
	p.a = p.Shared("a", p.Matrix, p.tile.Stages*p.tile.M*p.terms)
	p.b = p.Shared("b", p.Matrix, p.tile.Stages*p.tile.N*p.terms)
	readers := p.groups
	if p.tile.Turns {
		readers = 1
	}
	p.full, p.empty = p.Phases("full", p.tile.Stages, 1), p.Phases("empty", p.tile.Stages, readers)
	if p.tile.Turns {
		p.turn = p.Phases("turn", p.groups, 1)
	}
	for range p.parts {
		p.sums = append(p.sums, p.Sums("sums", p.tile.N))
	}
	p.chunk = p.Shared("chunk", ir.F32, p.groups*rowsOfGroup*rowOfChunk)
	if p.Windows != nil {
		p.mapA, p.mapB = p.boxesOfWindows(), p.boxesOfCells()
	} else {
		p.mapA, p.mapB = p.boxes("map_a", p.Stored[0], p.ColumnsA, p.tile.M), p.boxes("map_b", p.Stored[1], p.RowsB, p.tile.N)
	}
	p.If(p.Eq(p.Group(), p.Int(0)), func() []*kernel.Value {
		p.Registers(registersToCopy)
		p.Do(p.Eq(p.Thread(0), p.Int(0)), p.copyTiles)
		return nil
	}, func() []*kernel.Value {
		p.Registers(registersToMultiply)
		p.multiply()
		return nil
	})
}

// boxes adds a parameter called name to the kernel: a map, which describes the tensor m.Value. With it the kernel
// copies boxes, parts of the matrices of m. If across is false, a box has `width` rows and p.terms columns. If across
// is true, the rows of the matrices are terms, and a box has p.terms rows and columnsOfBox columns.
func (p *pipelined) boxes(name string, m *Matrices, across bool, width int) *kernel.Value {
	extents, box := []int{m.Rows, m.Columns}, []int{width, p.terms}
	if across {
		box = []int{p.terms, columnsOfBox}
	}
	if m.Batch > 1 {
		extents, box = append([]int{m.Batch}, extents...), append([]int{1}, box...)
	}
	of := &kernel.Map{Extents: extents, Box: box}
	if m.Rows == 0 {
		of.Outer = p.Dim(p.M)
	}
	return p.mapOf(name, m.Value, of)
}

func (p *pipelined) mapOf(name string, v *ir.Value, m *kernel.Map) *kernel.Value {
	p.args = append(p.args, Arg{Read: v})
	return p.Map(name, p.Matrix, m)
}

// stage is a stage of the pipeline: a part of shared memory that holds the tiles of one step of a product, or one
// tile of an attention. index is the index of this part. phase is the parity (0 or 1) of the barrier phase for which
// threads wait before they use it.
type stage struct{ index, phase *kernel.Value }

func (p *pipelined) next(s stage) stage {
	i := p.Add(s.index, p.Int(1))
	last := p.Eq(i, p.Int(p.tile.Stages))
	return stage{p.Select(last, p.Int(0), i), p.Select(last, p.Sub(p.Int(1), s.phase), s.phase)}
}

// skip returns the stage p.steps steps after s.
func (p *pipelined) skip(s stage) stage {
	i := p.Add(s.index, p.Int(p.steps%p.tile.Stages))
	past := p.Ge(i, p.Int(p.tile.Stages))
	same, other := s.phase, p.Sub(p.Int(1), s.phase)
	if p.steps/p.tile.Stages%2 == 1 {
		same, other = other, same
	}
	return stage{p.Select(past, p.Sub(i, p.Int(p.tile.Stages)), i), p.Select(past, other, same)}
}

// eachTile calls `do` for the tiles that the block computes: tiles `first`, first + stride, and so on. `do` gets
// the index of the tile among the tiles of all products, the index of its product in the batch, its first row m and
// column n, and the stage of its first step. This stage is s for the first tile. For each later tile, it is the
// stage that the previous call of `do` returned.
func (p *pipelined) eachTile(first, stride *kernel.Value, s stage, do func(tile, batch, m, n *kernel.Value, s stage) stage) {
	start := []*kernel.Value{s.index, s.phase}
	p.ForUnrolled(1, first, p.tiles, stride, start, func(tile *kernel.Value, carried []*kernel.Value) []*kernel.Value {
		perBatch := p.Mul(p.tilesM, p.Int(p.tilesN))
		batch, rest := p.Div(tile, perBatch), p.Rem(tile, perBatch)
		if p.batch == 1 {
			batch, rest = p.Int(0), tile
		}
		raster := p.tile.Raster
		tilesM, known := p.M.CeilDiv(dim.Const(p.tile.M)).Int()
		if known {
			raster = min(raster, tilesM)
		}
		perRaster := p.Int(raster * p.tilesN)
		first := p.Mul(p.Div(rest, perRaster), p.Int(raster))
		rows := p.Min(p.Sub(p.tilesM, first), p.Int(raster))
		if known && tilesM%raster == 0 {
			rows = p.Int(raster)
		}
		inside := p.Rem(rest, perRaster)
		m := p.Mul(p.Add(first, p.Rem(inside, rows)), p.Int(p.tile.M))
		n := p.Mul(p.Div(inside, rows), p.Int(p.tile.N))
		s := do(tile, batch, m, n, stage{carried[0], carried[1]})
		return []*kernel.Value{s.index, s.phase}
	})
}

// copyTiles emits the program of the group of threads that copies. For each step it copies the tiles of both factors
// to the stage of the step.
func (p *pipelined) copyTiles() {
	bytes := p.Int((p.tile.M + p.tile.N) * bytesOfStep)
	p.eachTile(p.BlockIdx(0), p.Int(p.blocks), stage{p.Int(0), p.Int(1)}, func(_, batch, m, n *kernel.Value, s stage) stage {
		copyStep := p.copySteps(batch, m, n)
		end := p.ForUnrolled(1, p.Int(0), p.Int(p.steps*p.terms), p.Int(p.terms), []*kernel.Value{s.index, s.phase}, func(k *kernel.Value, carried []*kernel.Value) []*kernel.Value {
			s := stage{carried[0], carried[1]}
			p.Await(p.empty, s.index, s.phase)
			p.Arrive(p.full, s.index, bytes)
			copyStep(k, s)
			s = p.next(s)
			return []*kernel.Value{s.index, s.phase}
		})
		return stage{end[0], end[1]}
	})
}

// copySteps returns a function that starts copying the step at term k of both factors of a tile to stage s.
func (p *pipelined) copySteps(batch, m, n *kernel.Value) func(k *kernel.Value, s stage) {
	if p.Windows != nil {
		return p.copyWindows(batch, m, n)
	}
	return func(k *kernel.Value, s stage) {
		p.copyTile(p.a, p.mapA, p.Stored[0], p.ColumnsA, p.tile.M, s, batch, m, k)
		p.copyTile(p.b, p.mapB, p.Stored[1], p.RowsB, p.tile.N, s, batch, n, k)
	}
}

// copyTile starts copying a tile of the factor m from device memory to stage s of the array `to` in shared memory.
// from is the map of m, see [pipelined.boxes]. The tile has `width` rows, beginning with row `first`, and p.terms
// columns, beginning with column k. If across is true, the matrix is stored transposed: k is then its first row, and
// `first` its first column.
func (p *pipelined) copyTile(to, from *kernel.Value, m *Matrices, across bool, width int, s stage, batch, first, k *kernel.Value) {
	at := p.Mul(s.index, p.Int(width*p.terms))
	box := func(i, row, column *kernel.Value) {
		if m.Batch > 1 {
			p.CopyBox(to, i, from, p.full, s.index, batch, row, column)
			return
		}
		p.CopyBox(to, i, from, p.full, s.index, row, column)
	}
	if !across {
		box(at, first, k)
		return
	}
	for j := 0; j < width; j += columnsOfBox {
		box(p.Add(at, p.Int(j*p.terms)), k, p.Add(first, p.Int(j)))
	}
}

// multiply emits the program of the groups of threads that multiply. Each group sums the products for its rows of a
// tile, and stores the sums.
func (p *pipelined) multiply() {
	group := p.Sub(p.Group(), p.Int(1))
	thread := p.Rem(p.Thread(0), p.Int(kernel.Group))
	leads := p.Eq(thread, p.Int(0))
	release := func(cond, index *kernel.Value) { p.Do(cond, func() { p.Arrive(p.empty, index, nil) }) }
	_, _, each, _ := kernel.FactorsOfMatrix(p.Matrix)
	first, stride, begin, row := p.BlockIdx(0), p.blocks, stage{p.Int(0), p.Int(0)}, p.Mul(group, p.Int(rowsOfGroup))
	if p.tile.Turns {
		first, stride, row = p.Add(first, p.Mul(group, p.Int(p.blocks))), 2*p.blocks, p.Int(0)
		second, after := p.Gt(group, p.Int(0)), p.skip(begin)
		begin = stage{p.Select(second, after.index, begin.index), p.Select(second, after.phase, begin.phase)}
	}
	p.eachTile(first, p.Int(stride), begin, func(tile, batch, m, n *kernel.Value, s stage) stage {
		if p.tile.Turns {
			// Phase 1 is complete before the first one, so the first group does not wait for its first turn.
			p.Await(p.turn, group, p.Rem(p.Add(p.Div(tile, p.Int(stride)), p.Sub(p.Int(1), group)), p.Int(2)))
		}
		start := []*kernel.Value{s.index, s.phase, s.index}
		end := p.ForUnrolled(1, p.Int(0), p.Int(p.steps), p.Int(1), start, func(step *kernel.Value, carried []*kernel.Value) []*kernel.Value {
			s := stage{carried[0], carried[1]}
			p.Await(p.full, s.index, s.phase)
			again := p.Gt(step, p.Int(0))
			a := p.Add(p.Mul(s.index, p.Int(p.tile.M*p.terms)), p.Mul(row, p.Int(p.terms)))
			b := p.Mul(s.index, p.Int(p.tile.N*p.terms))
			for k := 0; k < p.terms; k += each {
				y := kernel.Tile{Array: p.b, First: p.Add(b, p.Int(p.within(k, p.RowsB))), Across: p.RowsB}
				keep := p.Bool(true)
				if k == 0 {
					keep = again
				}
				for part, sums := range p.sums {
					at := part*rowsOfGroup*p.terms + p.within(k, p.ColumnsA)
					p.MultiplyTiles(sums, kernel.Tile{Array: p.a, First: p.Add(a, p.Int(at)), Across: p.ColumnsA}, y, keep)
				}
			}
			p.Commit()
			p.Drain(1)
			release(p.And(again, leads), carried[2])
			next := p.next(s)
			return []*kernel.Value{next.index, next.phase, s.index}
		})
		if p.tile.Turns {
			p.Do(leads, func() { p.Arrive(p.turn, p.Sub(p.Int(1), group), nil) })
		}
		p.Drain(0)
		release(leads, end[2])
		for part, sums := range p.sums {
			p.store(sums, batch, p.Add(m, p.Add(row, p.Int(part*rowsOfGroup))), n, group, thread)
		}
		after := stage{end[0], end[1]}
		if p.tile.Turns {
			after = p.skip(after)
		}
		return after
	})
}

// within returns where term k of a step begins in a tile, in elements from the beginning of the tile. across is as in
// [pipelined.boxes].
func (p *pipelined) within(k int, across bool) int {
	if across {
		return k * columnsOfBox
	}
	return k
}
