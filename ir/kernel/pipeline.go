package kernel

import (
	"fmt"
	"slices"
	"strings"

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
	maxBox       = 256 // extent of a box
	maxRank      = 5   // of a tensor that boxes are copied from
)

// Sizes of tiles in shared memory.
const (
	rowsOfTile = 64   // of a and of the sums of [MultiplyTiles], and of b's rows between columns 64 apart
	rowBytes   = 128  // of a row of a box
	swizzled   = 1024 // bytes after which the places of elements repeat
)

// Map describes a tensor in global memory, in row-major order. [CopyBox] copies boxes of the tensor.
//
// A box in shared memory is in row-major order, in rows of 128 bytes. The 8 units of 16 bytes of a row are
// swizzled: unit u of row r is stored as unit u XOR (r mod 8) of this row. Elements outside of the tensor are 0.
// f32 are rounded to 11 significant bits.
type Map struct {
	Extents []int // of the tensor, 2 to 5
	Box     []int // extents of a box on the same axes
}

// String returns the text form of the extents and the box, beginning with a blank. It returns "" for a nil Map.
func (m *Map) String() string {
	if m == nil {
		return ""
	}
	list := func(n []int) string {
		return "[" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(n)), ", "), "[]") + "]"
	}
	return " " + list(m.Extents) + " box " + list(m.Box)
}

// Elems returns the number of elements of a box.
func (m *Map) Elems() int { return dimProduct(m.Box) }

func dimProduct(extents []int) int {
	n := 1
	for _, d := range extents {
		n *= d
	}
	return n
}

// check panics, as [fail] does, if boxes of a tensor of type d cannot be copied as m says.
func (m *Map) check(d ir.DType) {
	if m == nil || len(m.Extents) < 2 || len(m.Extents) > maxRank || len(m.Box) != len(m.Extents) {
		fail("the map of a tensor has 2 to %d extents, and as many of a box", maxRank)
	}
	if _, _, _, ok := FactorsOfMatrix(d); !ok {
		fail("boxes of %s cannot be copied", d)
	}
	last := len(m.Box) - 1
	for i, n := range m.Extents {
		if n < 1 || n > 1<<31-1 || m.Box[i] < 1 || m.Box[i] > maxBox {
			fail("boxes of %d from an extent of %d", m.Box[i], n)
		}
	}
	if m.Box[last]*d.Size() != rowBytes || m.Extents[last]*d.Size()%16 != 0 {
		fail("rows of %d %s from rows of %d, want %d bytes from a multiple of 16", m.Box[last], d, m.Extents[last], rowBytes)
	}
}

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

// Map adds a parameter to the kernel: a tensor of type d with the given extents, from which [CopyBox] copies boxes.
func (b *Builder) Map(name string, d ir.DType, extents, box []int) *Value {
	v := &Value{Name: name, Type: Type{d, Mapped}, Map: &Map{Extents: extents, Box: box}}
	b.k.Params = append(b.k.Params, v)
	return v
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

// GroupBarrier makes each thread wait until all threads of its group have reached it.
func (b *Builder) GroupBarrier() { b.pipeline(&Instr{Op: GroupBarrier}) }

// Registers says that a thread of the group needs at most n registers from here on; see the operation [Registers].
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

// CopyBox copies a box of the map `from` to the array p, from element i on. The box begins at the indices `at` in
// the tensor, one for each axis. The bytes belong to the phase of barrier j of the array barrier; see the operation
// [CopyBox].
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
		counts(in, 5+len(m.Map.Extents), 0, 0)
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
