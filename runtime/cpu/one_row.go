package cpu

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// oneRow is the product of one row and panels of 16 columns, with an epilogue.
type oneRow struct {
	a        unsafe.Pointer // depth elements
	b        unsafe.Pointer // panels of kind
	c        unsafe.Pointer // the result, 16 elements for each panel
	bias     unsafe.Pointer // as many, or nil
	residual unsafe.Pointer // as many, or nil

	depth  int
	panels int // 0 or more
	panelB int // bytes of a panel
	far    int // 1 where the panels are in no near cache, else 0
	clamp  int // 1 to clamp to lo…hi, else 0
	lo, hi float32

	kind weightKind
}

// weightKind is how the elements of panels are stored.
type weightKind int

const (
	weightF32 weightKind = iota
	weightF16
	weightBF16
)

// kindOf is the kind of W.
func kindOf[W Weight]() weightKind {
	switch any(W(0)).(type) {
	case rt.Float16:
		return weightF16
	case rt.BFloat16:
		return weightBF16
	}
	return weightF32
}

// size is the number of bytes of an element.
func (k weightKind) size() int {
	if k == weightF32 {
		return 4
	}
	return 2
}

// widen makes float32 of the elements at b.
func (k weightKind) widen(dst []float32, b unsafe.Pointer) {
	if k == weightF16 {
		Cast(dst, unsafe.Slice((*rt.Float16)(b), len(dst)))
	} else {
		Cast(dst, unsafe.Slice((*rt.BFloat16)(b), len(dst)))
	}
}

// epilogue sets what is done to the sums apart from what is added.
func (t *oneRow) epilogue(ep *Epilogue) {
	if ep.Clamp {
		t.clamp, t.lo, t.hi = 1, ep.Lo, ep.Hi
	}
}

// callBytes bounds what a call of a kernel reads from memory.
const callBytes = 8 << 20

// run computes so many columns. Those of a last panel that is not whole are computed
// aside.
func (t *oneRow) run(columns int) {
	whole, rest := columns/16, columns%16
	for most := max(4, callBytes/max(1, t.panelB)&^3); whole > 0; whole -= t.panels {
		t.panels = min(whole, most)
		runOneRow(t)
		if t.panels < whole || rest > 0 { // no pointer may be to what follows the memory
			t.move(t.panels)
		}
	}
	if rest == 0 {
		return
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

// move goes so many panels on.
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
