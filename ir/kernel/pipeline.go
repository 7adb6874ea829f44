package kernel

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// Group is the number of threads of a group, which multiply tiles together, see [MultiplyTiles].
const Group = 128

// Limits of pipelined kernels.
const (
	maxPhases    = 64  // phase barriers of an array
	maxColumns   = 256 // of sums
	maxRegisters = 256 // of a thread
	maxInFlight  = 7   // groups of products
)

// Sizes of tiles in shared memory.
const (
	rowsOfTile = 64   // of a and of the sums of [MultiplyTiles], and of b's rows between columns 64 apart
	rowBytes   = 128  // of a row of a box
	swizzled   = 1024 // bytes after which the places of elements repeat
)

// IsPipelined reports whether a kernel has phase barriers, maps or sums. Only some devices run such kernels.
func (k *Kernel) IsPipelined() bool {
	return len(k.Sums) > 0 || slices.ContainsFunc(k.Shared, func(v *Value) bool { return v.Type.Space == Phases }) ||
		slices.ContainsFunc(k.Params, func(v *Value) bool { return v.Type.Space == Mapped })
}

// Layout returns the offset of each value of k.Shared in shared memory, and the total size of these values, all in
// bytes.
func (k *Kernel) Layout() (offsets []int, bytes int) {
	pipelined := k.IsPipelined()
	for _, v := range k.Shared {
		align := 16
		if pipelined && v.Type.Space == Shared {
			align = swizzled
		}
		bytes = (bytes + align - 1) / align * align
		offsets = append(offsets, bytes)
		if v.Type.Space == Phases {
			bytes += 8 * v.Len
		} else {
			bytes += v.Len * v.Type.DType.Size()
		}
	}
	return offsets, bytes
}

// pipelined reports whether an operation has an effect and occurs only in pipelined kernels, see
// [Kernel.IsPipelined].
func pipelined(o Op) bool {
	switch o {
	case GroupBarrier, Registers, Arrive, Await, CopyBox, MultiplyTiles, MultiplyHeld, SetSum, Commit, Drain:
		return true
	}
	return false
}

// byGroups reports whether all threads of a group execute an operation together.
func byGroups(o Op) bool {
	switch o {
	case GroupBarrier, Registers, MultiplyTiles, MultiplyHeld, Commit, Drain:
		return true
	}
	return false
}

// Phases adds an array of n phase barriers to the kernel. A phase of a barrier is complete after `arrivals`
// arrivals, when all bytes that these arrivals expect have been copied.
func (b *Builder) Phases(name string, n, arrivals int) *Value {
	v := &Value{Name: name, Type: Type{Space: Phases}, Len: n, Arrivals: arrivals}
	b.k.Shared = append(b.k.Shared, v)
	return v
}

// Sums adds sums to the kernel: a matrix of 64 rows and `columns` columns for each group, see [MultiplyTiles].
func (b *Builder) Sums(name string, columns int) *Value {
	v := &Value{Name: name, Type: Type{ir.F32, Sums}, Len: columns}
	b.k.Sums = append(b.k.Sums, v)
	return v
}

// Group returns the index of the thread's group in its block.
func (b *Builder) Group() *Value { return b.pure(&Instr{Op: GroupIdx}, ir.I32) }

// GroupBarrier makes each thread wait until all [Group] threads of its group have reached it.
func (b *Builder) GroupBarrier() { b.pipeline(&Instr{Op: GroupBarrier}) }

// Registers is a hint for the group of threads that executes it: from here on, each of them needs at most n
// registers. See the operation [Registers].
func (b *Builder) Registers(n int) { b.pipeline(&Instr{Op: Registers, Count: n}) }

// Arrive arrives at phase barrier i of the array p; see the operation [Arrive]. The phase also expects `bytes`
// bytes to be copied; a nil bytes is 0.
func (b *Builder) Arrive(p, i, bytes *Value) {
	in := &Instr{Op: Arrive, Args: []*Value{p, i}}
	if bytes != nil {
		in.Args = append(in.Args, bytes)
	}
	b.pipeline(in)
}

// Await waits until a phase of barrier i of the array p is complete. `phase` is the number of the phase, 0 or 1;
// see the operation [Await].
func (b *Builder) Await(p, i, phase *Value) {
	b.pipeline(&Instr{Op: Await, Args: []*Value{p, i, phase}})
}

// CopyBox copies a box of the map `from` to the array p, from element i on. `at` holds the indices of the box, see
// the operation [CopyBox]. The bytes belong to the phase of barrier j of the array barrier.
func (b *Builder) CopyBox(p, i, from, barrier, j *Value, at ...*Value) {
	p.Written = true
	b.pipeline(&Instr{Op: CopyBox, Args: append([]*Value{p, i, from, barrier, j}, at...)})
}

// Tile is an operand of [Builder.MultiplyTiles]: an array in shared memory, and the index of the tile's first
// element in it.
type Tile struct {
	Array, First *Value
	// Across says that consecutive terms of a sum are in different rows. Otherwise they are adjacent in a row.
	Across bool
}

// MultiplyTiles adds the product of the tiles x and y to the sums of the group, or replaces the sums if keep is
// false; see the operation [MultiplyTiles].
func (b *Builder) MultiplyTiles(sums *Value, x, y Tile, keep *Value) {
	b.pipeline(&Instr{Op: MultiplyTiles, Args: []*Value{x.Array, x.First, y.Array, y.First, sums, keep}, AcrossA: x.Across, AcrossB: y.Across})
}

// Commit makes a group of the products since the last Commit.
func (b *Builder) Commit() { b.pipeline(&Instr{Op: Commit}) }

// Drain waits until at most n groups of products are not done.
func (b *Builder) Drain(n int) { b.pipeline(&Instr{Op: Drain, Count: n}) }

// Sum returns sum i of the sums that the thread holds, see [MultiplyTiles].
func (b *Builder) Sum(sums *Value, i int) *Value {
	in := &Instr{Op: Sum, Args: []*Value{sums}, Count: i}
	in.Results = []*Value{{Type: Type{DType: ir.F32}, Def: in}}
	b.pipeline(in)
	return in.Results[0]
}

func (b *Builder) pipeline(in *Instr) {
	signature(in)
	b.add(in)
}

// pipelineSignature is [signature] for the operations of pipelined kernels.
func pipelineSignature(in *Instr) {
	switch in.Op {
	case Registers:
		counts(in, 0, 0, 0)
		if in.Count < 24 || in.Count > maxRegisters || in.Count%8 != 0 {
			fail("%d registers, want a multiple of 8", in.Count)
		}
	case Arrive, Await:
		args := max(len(in.Args), 2)
		if in.Op == Await || args > 3 {
			args = 3
		}
		counts(in, args, 0, 0)
		phaseBarrier(in.Args[0], in.Args[1])
		typed(ir.I32, in.Args[2:]...)
	case CopyBox:
		if len(in.Args) < 3 || in.Args[2].Map == nil {
			fail("it copies from no map")
		}
		m := in.Args[2]
		counts(in, 5+m.Map.indices(), 0, 0)
		if p := in.Args[0]; p.Type != (Type{m.Type.DType, Shared}) || !p.Written {
			fail("a box of %s is copied to %s%s", m.Type.DType, p.Type, written(p))
		}
		phaseBarrier(in.Args[3], in.Args[4])
		typed(ir.I32, in.Args[1])
		typed(ir.I32, in.Args[5:]...)
	case MultiplyTiles:
		counts(in, 6, 0, 0)
		x, y, s := in.Args[0], in.Args[2], in.Args[4]
		d := x.Type.DType
		_, _, _, ok := FactorsOfMatrix(d)
		if !ok || x.Type.Space != Shared || y.Type != x.Type || s.Type.Space != Sums {
			fail("it multiplies %s by %s and adds to %s", x.Type, y.Type, s.Type)
		}
		if d == ir.F32 && (in.AcrossA || in.AcrossB) {
			fail("terms of %s must be adjacent", d)
		}
		if in.AcrossB && s.Len%rowsOfTile != 0 {
			fail("%d columns, want a multiple of %d", s.Len, rowsOfTile)
		}
		typed(ir.I32, in.Args[1], in.Args[3])
		typed(ir.Bool, in.Args[5])
	case MultiplyHeld:
		heldSignature(in)
	case GroupBarrier, Commit:
		counts(in, 0, 0, 0)
	case Drain:
		counts(in, 0, 0, 0)
		if in.Count < 0 || in.Count > maxInFlight {
			fail("%d groups, want 0 to %d", in.Count, maxInFlight)
		}
	case Sum:
		counts(in, 1, 1, 0)
		typed(ir.F32, in.Results...)
		heldSum(in)
	case SetSum:
		counts(in, 2, 0, 0)
		typed(ir.F32, in.Args[1])
		heldSum(in)
	}
}

func phaseBarrier(p, i *Value) {
	if p.Type.Space != Phases {
		fail("%s is of type %s, want phases", p, p.Type)
	}
	typed(ir.I32, i)
}

// checkBoxed panics, as [fail] does, if an instruction other than a copy or a product accesses an array that boxes
// are copied to.
func (k *Kernel) checkBoxed() {
	boxed, accessed := map[*Value]bool{}, map[*Value]*Instr{}
	var walk func(b *Block)
	walk = func(b *Block) {
		for _, in := range b.Instrs {
			switch {
			case in.Op == CopyBox:
				boxed[in.Args[0]] = true
			case accesses(in.Op) && in.Op != MultiplyTiles && in.Op != MultiplyHeld:
				accessed[in.Args[0]] = in
			}
			for _, inner := range in.Blocks {
				walk(inner)
			}
		}
	}
	walk(k.Body)
	for _, p := range k.Shared {
		if in := accessed[p]; in != nil && boxed[p] {
			fail("%s: boxes are copied to %s", in, p)
		}
	}
}
