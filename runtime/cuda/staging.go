package cuda

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// maxSlots is the maximum number of slots of a queue. While the host fills one slot, the device can
// copy the others.
const maxSlots = 4

// maxSpareSlots is the largest number of slots of closed queues that a device keeps for later
// queues. Slots are kept because pinning memory takes longer than a call of a small model.
const maxSpareSlots = 8

// staging is a ring of slots of pinned memory, through which bytes are copied between host and
// device. A slot is allocated when it is first needed, and kept. A full slot is used again after
// its copies are done.
type staging struct {
	slots []slot
	// index of the current slot
	at int
	// number of fills that have been performed
	filled int
}

type slot struct {
	memory []byte
	used   int
	event  libcuda.Event // of the last copy
	fills  int           // how many fills of the queue must be done before the slot is used again
}

// reserve returns n bytes of pinned memory. n must be at most the size of a slot. reserve may have
// to wait for earlier work.
func (q *queue) reserve(n int) ([]byte, error) {
	api := q.device.api
	if len(q.slots) > 0 {
		s := &q.slots[q.at]
		if s.used+n <= len(s.memory) {
			return s.take(n), nil
		}
		s.fills = q.filled + len(q.fills)
		if r := api.EventRecord(s.event, q.stream); r != libcuda.Success {
			return nil, q.failed(r, "staging")
		}
	}
	next := q.at + 1
	if len(q.slots) == 0 {
		next = 0
	}
	if next == len(q.slots) && next < maxSlots {
		s, err := q.newSlot()
		if err != nil {
			return nil, err
		}
		q.slots = append(q.slots, s)
		q.at = next
		return q.slots[next].take(n), nil
	}
	q.at = next % len(q.slots)
	s := &q.slots[q.at]
	if r := api.EventSynchronize(s.event); r != libcuda.Success {
		return nil, q.failed(r, "staging")
	}
	// The queue is in order: the downloads before those of this slot have arrived as well.
	if err := q.fill(max(s.fills-q.filled, 0)); err != nil {
		return nil, err
	}
	s.used = 0
	return s.take(n), nil
}

// take returns the next n bytes of the slot. It then skips bytes up to the next cache line, where
// the next call begins.
func (s *slot) take(n int) []byte {
	memory := s.memory[s.used : s.used+n : s.used+n]
	s.used = min((s.used+n+63)&^63, len(s.memory))
	return memory
}

// newSlot returns a slot. It takes one that a closed queue has left, or makes a new one.
func (q *queue) newSlot() (slot, error) {
	d := q.device
	d.tables.Lock()
	if n := len(d.spare); n > 0 {
		s := d.spare[n-1]
		d.spare = d.spare[:n-1]
		d.tables.Unlock()
		return s, nil
	}
	d.tables.Unlock()
	memory, err := d.pin(d.driver.slot, 0)
	if err != nil {
		return slot{}, err
	}
	s := slot{memory: memory}
	if r := d.api.EventCreate(&s.event, libcuda.EventDisableTiming); r != libcuda.Success {
		d.unpin(memory)
		return slot{}, q.failed(r, "staging")
	}
	return s, nil
}

// rewind marks all slots as empty. No copy may be in flight.
func (s *staging) rewind() {
	for i := range s.slots {
		s.slots[i].used = 0
	}
	s.at = 0
}

// release ends the use of the slots. If `keep` is true, it leaves slots to later queues of the
// device, until the device has maxSpareSlots of them. It frees the other slots. If `keep` is true,
// no copy may be in flight in a slot.
func (s *staging) release(d *device, keep bool) {
	d.tables.Lock()
	kept := 0
	if keep {
		kept = min(len(s.slots), maxSpareSlots-len(d.spare))
	}
	for _, slot := range s.slots[:kept] {
		d.spare = append(d.spare, slot.emptied())
	}
	d.tables.Unlock()
	for _, slot := range s.slots[kept:] {
		slot.free(d)
	}
	s.slots = nil
}

// emptied returns the slot with all its memory unused.
func (s slot) emptied() slot { return slot{memory: s.memory, event: s.event} }

func (s slot) free(d *device) {
	d.api.EventDestroy(s.event)
	d.unpin(s.memory)
}

// pin allocates page-locked host memory, which the device can copy asynchronously. Flags besides [libcuda.HostPortable]
// add to what it can do.
func (d *device) pin(bytes int, flags uint32) ([]byte, error) {
	var host *byte
	if r := d.api.MemHostAlloc(&host, uintptr(bytes), libcuda.HostPortable|flags); r != libcuda.Success {
		return nil, d.failed(r, "pinning %d bytes of host memory", bytes)
	}
	return unsafe.Slice(host, bytes), nil
}

func (d *device) unpin(memory []byte) { d.api.MemFreeHost(&memory[0]) }
