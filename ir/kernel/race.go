package kernel

import "fmt"

// access is what is known of accesses of one kind to a cell of memory. The first thread of an epoch
// is enough: a thread runs from barrier to barrier at a stretch, so that those before it are others.
type access struct {
	epoch  uint32 // of the last ones, 0 if there were none
	thread uint16 // the first one of the epoch
	others bool   // blocks before the block of epoch made some too
}

// cell is the history of a few bytes of memory.
type cell struct{ read, write, atomic access }

// note adds an access by a thread now.
func (m *machine) note(a *access, t *thread) {
	if a.epoch != m.epoch {
		a.others = a.others || a.epoch != 0 && a.epoch < m.first
		a.epoch, a.thread = m.epoch, t.number
	}
}

// conflict fails if accesses may happen at the same time as an access by a thread now: another thread
// made one since the last barrier, or another block did at any time.
func (a *array) conflict(m *machine, t *thread, i int, past access, verb string) {
	var who string
	switch {
	case past.epoch == 0:
		return
	case past.epoch == m.epoch && past.thread != t.number:
		who = fmt.Sprintf("thread %s has", place(m.threads[past.thread].index))
	case !a.shared && (past.others || past.epoch < m.first):
		who = "another block has"
	default:
		return
	}
	fail("a race: %s %s element %d", who, verb, i)
}

// cells calls do for the cells of n elements, with the element of each.
func (a *array) cells(i, n int, do func(i int, c *cell)) {
	for j := i; j < i+n && a.history != nil; j++ {
		at := (a.offset + j*a.size) / a.unit
		for k := range a.size / a.unit {
			do(j, &a.history[at+k])
		}
	}
}

// reads notes that a thread reads n elements, which must have been written if they are shared.
func (a *array) reads(m *machine, t *thread, i, n int) {
	a.written(m, i, n)
	a.cells(i, n, func(i int, c *cell) {
		a.conflict(m, t, i, c.write, "stored")
		a.conflict(m, t, i, c.atomic, "updated")
		m.note(&c.read, t)
	})
}

// writes notes that a thread writes n elements.
func (a *array) writes(m *machine, t *thread, i, n int) {
	if a.shared {
		for j := range n {
			a.ready[i+j] = m.first
		}
	}
	a.cells(i, n, func(i int, c *cell) {
		a.conflict(m, t, i, c.read, "loaded")
		a.conflict(m, t, i, c.write, "stored")
		a.conflict(m, t, i, c.atomic, "updated")
		m.note(&c.write, t)
	})
}

// updates notes that a thread reads and writes an element atomically.
func (a *array) updates(m *machine, t *thread, i int) {
	a.written(m, i, 1)
	a.cells(i, 1, func(i int, c *cell) {
		a.conflict(m, t, i, c.read, "loaded")
		a.conflict(m, t, i, c.write, "stored")
		m.note(&c.atomic, t)
	})
}

// written checks that the block wrote elements if they are shared.
func (a *array) written(m *machine, i, n int) {
	if !a.shared {
		return
	}
	for j := i; j < i+n; j++ {
		if a.ready[j] != m.first {
			fail("element %d was not written", j)
		}
	}
}
