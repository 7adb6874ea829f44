package kernel

import (
	"fmt"
	"strings"

	"github.com/burngen/burngen/ir"
)

// Map describes a tensor in global memory, in row-major order. [CopyBox] copies boxes of the tensor.
//
// A box in shared memory is in row-major order, in rows of 128 bytes. The 8 units of 16 bytes of a row are
// swizzled: unit u of row r is stored as unit u XOR (r mod 8) of this row. Elements outside of the tensor are 0.
// f32 are rounded to 11 significant bits.
type Map struct {
	// Extents has the 2 to 5 extents of the tensor. The first one is 0 if Outer holds it.
	Extents []int
	// Outer is a parameter before that of the map, an i32 of at least 1. It is nil if the first extent is constant.
	Outer *Value
	// Box has the extents of a box on the same axes, or two numbers if Windows is set.
	Box []int
	// Windows is nil for boxes of adjacent elements.
	Windows *Windows
}

// Windows describes windows that move over images. The tensor has the 3 to 5 axes [N,spatial…,C]. The place of a
// window is the index of its first cell, and may lie outside of the image. On a spatial axis, the places are First,
// First+Step, First+2·Step and so on, up to Last. The windows are ordered by image and then by place, where the last
// spatial axis varies fastest.
//
// The two numbers of [Map.Box] are a number of windows and a number of channels. A box has a row for each of this
// many consecutive windows. The row holds adjacent channels of one cell of the window. The offset of this cell from
// the window's place is the same in all rows. A row is 0 if the index of its window's image is N or more.
type Windows struct {
	First, Last, Step []int // of each spatial axis
}

// Limits of maps.
const (
	maxBox  = 256 // number of a box
	maxRank = 5   // of a tensor
	maxStep = 8   // of windows
)

// placeBits returns how many bits hold a window's place on one spatial axis, as a signed integer, for a tensor of
// this rank. As many bits hold the offset of a cell, as an unsigned integer.
func placeBits(rank int) int { return []int{16, 8, 5}[rank-3] }

// String returns the text form of the map, beginning with a blank. It returns "" for a nil Map.
func (m *Map) String() string {
	if m == nil {
		return ""
	}
	list := func(n []int) string {
		return "[" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(n)), ", "), "[]") + "]"
	}
	extents := list(m.Extents)
	if m.Outer != nil {
		extents = "[" + m.Outer.String() + ", " + list(m.Extents[1:])[1:]
	}
	text := " " + extents + " box " + list(m.Box)
	if w := m.Windows; w != nil {
		text += " windows " + list(w.First) + " to " + list(w.Last) + " by " + list(w.Step)
	}
	return text
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
	if m == nil || len(m.Extents) < 2 || len(m.Extents) > maxRank || m.Windows == nil && len(m.Box) != len(m.Extents) {
		fail("the map of a tensor has 2 to %d extents, and as many of a box", maxRank)
	}
	if _, _, _, ok := FactorsOfMatrix(d); !ok {
		fail("boxes of %s cannot be copied", d)
	}
	for i, n := range m.Extents {
		if n < 1 && (i > 0 || m.Outer == nil) || n > 1<<31-1 || i == 0 && m.Outer != nil && n != 0 {
			fail("boxes from an extent of %d", n)
		}
	}
	for _, n := range m.Box {
		if n < 1 || n > maxBox {
			fail("a box with an extent of %d, want 1 to %d", n, maxBox)
		}
	}
	if m.Windows != nil {
		m.Windows.check(m)
	}
	box, extent := m.Box[len(m.Box)-1], m.Extents[len(m.Extents)-1]
	if box*d.Size() != rowBytes || extent*d.Size()%16 != 0 {
		fail("rows of %d %s from rows of %d, want %d bytes from a multiple of 16", box, d, extent, rowBytes)
	}
}

func (w *Windows) check(m *Map) {
	rank := len(m.Extents)
	spatial := rank - 2
	if rank < 3 || len(m.Box) != 2 || len(w.First) != spatial || len(w.Last) != spatial || len(w.Step) != spatial {
		fail("windows on a tensor with %d extents, in boxes with %d", rank, len(m.Box))
	}
	limit := 1 << (placeBits(rank) - 1)
	for i, first := range w.First {
		last, step, end := w.Last[i], w.Step[i], w.Last[i]-(m.Extents[1+i]-1)
		if step < 1 || step > maxStep || last < first || (last-first)%step != 0 || first < -limit || first >= limit || end < -limit || end >= limit {
			fail("windows from %d to %d by %d on an extent of %d", first, last, step, m.Extents[1+i])
		}
	}
}

// indices returns the number of indices that give the place of a box.
func (m *Map) indices() int {
	if m.Windows != nil {
		return len(m.Extents) + len(m.Windows.First)
	}
	return len(m.Extents)
}

// elements returns the number of elements of the tensor. numbers maps the scalar parameters of the kernel, such as
// m.Outer, to their arguments. elements panics, as [fail] does, if the argument for m.Outer is below 1.
func (m *Map) elements(numbers map[*Value]uint64) int {
	if m.Outer == nil {
		return dimProduct(m.Extents)
	}
	n := int(int32(numbers[m.Outer]))
	if n < 1 {
		fail("the first extent of a map is %d", n)
	}
	return n * dimProduct(m.Extents[1:])
}

// sources returns the index in the tensor of each element of a box, or −1 for an element outside of the tensor. place
// holds the indices of the box, see [CopyBox]. The tensor has n elements.
func (m *Map) sources(place []int, n int) []int {
	sources := make([]int, 0, m.Elems())
	outer := n / dimProduct(m.Extents[1:])
	index := func(at []int) int {
		source := 0
		for k, i := range at {
			extent := m.Extents[k]
			if k == 0 {
				extent = outer
			}
			if i < 0 || i >= extent {
				return -1
			}
			source = source*extent + i
		}
		return source
	}
	rank := len(m.Extents)
	at := make([]int, rank)
	if m.Windows == nil {
		for e := range m.Elems() {
			for k, rest := rank-1, e; k >= 0; k-- {
				at[k] = place[k] + rest%m.Box[k]
				rest /= m.Box[k]
			}
			sources = append(sources, index(at))
		}
		return sources
	}
	w, window, offset := m.Windows, append([]int{}, place[:rank-1]...), place[rank:]
	w.start(window, offset)
	for range m.Box[0] {
		at[0] = window[0]
		for i, o := range offset {
			at[1+i] = window[1+i] + o
		}
		for c := range m.Box[1] {
			at[rank-1] = place[rank-1] + c
			sources = append(sources, index(at))
		}
		w.advance(window)
	}
	return sources
}

// start panics, as [fail] does, if w has no window at this place, or if an offset does not fit the bits of
// [placeBits]. window holds the index of the image, and then the place on each spatial axis. offset is the distance
// from this place to a cell of the window.
func (w *Windows) start(window, offset []int) {
	for i, o := range offset {
		if p := window[1+i]; p < w.First[i] || p > w.Last[i] || (p-w.First[i])%w.Step[i] != 0 {
			fail("a window at %d, from %d to %d by %d", p, w.First[i], w.Last[i], w.Step[i])
		}
		if o < 0 || o >= 1<<placeBits(len(offset)+2) {
			fail("a cell at offset %d of a window", o)
		}
	}
	if window[0] < 0 {
		fail("a window on image %d", window[0])
	}
}

// advance changes window to the next one.
func (w *Windows) advance(window []int) {
	for i := len(w.First) - 1; i >= 0; i-- {
		if window[1+i] += w.Step[i]; window[1+i] <= w.Last[i] {
			return
		}
		window[1+i] = w.First[i]
	}
	window[0]++
}

// Map adds a parameter to the kernel: a tensor of type d, from which [CopyBox] copies boxes as m says.
func (b *Builder) Map(name string, d ir.DType, m *Map) *Value {
	v := &Value{Name: name, Type: Type{d, Mapped}, Map: m}
	b.k.Params = append(b.k.Params, v)
	return v
}
