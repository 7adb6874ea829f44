package kernel

import "fmt"

// access records the accesses of one kind to a cell of memory. An epoch is the time between two barriers. It is
// enough to record the first thread of an epoch, because a thread runs from barrier to barrier without
// interruption: after the accesses of the first thread, all other accesses of the epoch are by other threads.
type access struct {
	epoch  uint32 // epoch of the last accesses, or 0 without any
	thread uint16 // first thread that accessed the cell in the epoch
	others bool   // whether blocks before the one of the epoch accessed it too
}

type cell struct{ read, write, atomic access }

func (m *machine) note(a *access, t *thread) {
	if epoch := m.epochs[t.group()]; a.epoch != epoch {
		a.others = a.others || a.epoch != 0 && a.epoch < m.first
		a.epoch, a.thread = epoch, t.number
	}
}

// conflict panics, as [fail] does, if thread t's access to element i may happen at the same time as an access that
// `past` records. Such an access is one by another thread since the last barrier, or one by another block to global
// memory. verb says in the error what `past` did.
func (a *array) conflict(m *machine, t *thread, i int, past access, verb string) {
	var who string
	switch {
	case past.epoch == 0:
		return
	case past.thread != t.number && past.epoch >= m.since(int(past.thread), t):
		who = fmt.Sprintf("thread %s has", place(m.threads[past.thread].index))
	case !a.shared && (past.others || past.epoch < m.first):
		who = "another block has"
	default:
		return
	}
	fail("a race: %s %s element %d", who, verb, i)
}

// since returns the epoch that began with the last barrier at which thread t and thread `number` met. An access by
// thread `number` in this epoch, or a later one, may happen at the same time as an access by t.
func (m *machine) since(number int, t *thread) uint32 {
	if g := t.group(); number/Group == g {
		return m.epochs[g]
	}
	return m.epoch
}

func (a *array) cells(i, n int, do func(i int, c *cell)) {
	for j := i; j < i+n && a.history != nil; j++ {
		at := (a.offset + j*a.size) / a.unit
		for k := range a.size / a.unit {
			do(j, &a.history[at+k])
		}
	}
}

// reads records that thread t reads elements [i, i+n). It panics, as [fail] does, on a race. It also panics if the
// array is in shared memory and the block has not stored all of these elements.
func (a *array) reads(m *machine, t *thread, i, n int) {
	a.written(m, i, n)
	a.cells(i, n, func(i int, c *cell) {
		a.conflict(m, t, i, c.write, "stored")
		a.conflict(m, t, i, c.atomic, "updated")
		m.note(&c.read, t)
	})
}

// writes records that thread t writes elements [i, i+n). It panics, as [fail] does, on a race.
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

// updates records that thread t updates element i atomically. It panics, as [fail] does, on a race. It also panics
// if the array is in shared memory and the block has not stored the element.
func (a *array) updates(m *machine, t *thread, i int) {
	a.written(m, i, 1)
	a.cells(i, 1, func(i int, c *cell) {
		a.conflict(m, t, i, c.read, "loaded")
		a.conflict(m, t, i, c.write, "stored")
		m.note(&c.atomic, t)
	})
}

// written panics, as [fail] does, if the array is in shared memory and the block has not yet stored all of the
// elements [i, i+n).
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
