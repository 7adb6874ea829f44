package cpu

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// oneRow describes the product of one row and a matrix in panels of 16 columns, with an epilogue.
type oneRow struct {
	a        unsafe.Pointer // depth elements
	b        unsafe.Pointer // panels of kind
	c        unsafe.Pointer // the result, 16 elements for each panel
	bias     unsafe.Pointer // one element per column, or nil
	residual unsafe.Pointer // one element per column, or nil

	depth  int
	panels int // 0 or more
	panelB int // bytes of a panel
	far    int // 1 if the panels are not in a near cache, else 0
	clamp  int // 1 to clamp to lo…hi, else 0
	lo, hi float32

	kind weightKind
}

// weightKind is the element type of panels.
type weightKind struct {
	format weightFormat
	// widen converts narrow elements to float32. Only programs that have some link it.
	widen func(dst []float32, b unsafe.Pointer)
}

type weightFormat int

const (
	weightF32 weightFormat = iota
	weightF16
	weightBF16
)

func narrowKind[W rt.Float16 | rt.BFloat16]() weightKind {
	if _, half := any(W(0)).(rt.Float16); half {
		return weightKind{weightF16, widenF16}
	}
	return weightKind{weightBF16, widenBF16}
}

func widenF16(dst []float32, b unsafe.Pointer) { Cast(dst, unsafe.Slice((*rt.Float16)(b), len(dst))) }

func widenBF16(dst []float32, b unsafe.Pointer) {
	Cast(dst, unsafe.Slice((*rt.BFloat16)(b), len(dst)))
}

func (k weightKind) size() int {
	if k.format == weightF32 {
		return 4
	}
	return 2
}

// epilogue sets the limits to which results are clamped. It does not set the bias and the residual.
func (t *oneRow) epilogue(ep *Epilogue) {
	if lo, hi, ok := ep.limits(); ok {
		t.clamp, t.lo, t.hi = 1, lo, hi
	}
}

// callBytes is the maximum number of bytes of panels that one call of a kernel reads. A call may
// always read four panels, even if they have more bytes.
const callBytes = 8 << 20

// run computes the given number of columns, at least one. The columns of an incomplete last panel
// are computed in a separate buffer. The pointers of t always stay inside of their objects, because
// the garbage collector rejects pointers to unallocated memory.
func (t *oneRow) run(columns int) {
	whole, rest := columns/16, columns%16
	for most := max(4, callBytes/max(1, t.panelB)&^3); whole > 0; whole -= t.panels {
		t.panels = min(whole, most)
		runOneRow(t)
		if t.panels == whole && rest == 0 {
			return
		}
		t.move(t.panels)
	}
	var aside [16]float32
	c := t.c
	t.c, t.panels = unsafe.Pointer(unseen(&aside)), 1
	if t.residual != nil {
		copy(aside[:], unsafe.Slice((*float32)(t.residual), rest))
		t.residual = t.c
	}
	runOneRow(t)
	copy(unsafe.Slice((*float32)(c), rest), aside[:])
}

func (t *oneRow) move(panels int) {
	t.b = unsafe.Add(t.b, panels*t.panelB)
	t.c = unsafe.Add(t.c, 64*panels)
	if t.bias != nil {
		t.bias = unsafe.Add(t.bias, 64*panels)
	}
	if t.residual != nil {
		t.residual = unsafe.Add(t.residual, 64*panels)
	}
}
