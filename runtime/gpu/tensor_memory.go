package gpu

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"unsafe"
)

// tensorMemory is the memory of a tensor. It includes a host slice, the counterpart, because
// schedules identify device memory by host slices. Only nodes that the host computes access the
// elements of the counterpart.
type tensorMemory struct {
	device *shared
	// the device that allocated the memory and counts it
	from        Opened
	buffer      buffer
	counterpart []byte

	mu      sync.Mutex
	readers int
	writing bool
	closed  bool

	// held while the elements are copied to the counterpart
	fetch sync.Mutex
	// the counterpart has the current elements
	fetched bool
}

// newTensorMemory returns zeroed memory of `bytes` bytes.
func newTensorMemory(i *Instance, bytes int) (*tensorMemory, error) {
	from, err := i.Open()
	if err != nil {
		return nil, err
	}
	m := &tensorMemory{device: i.loaded.device, from: from}
	if bytes == 0 {
		return m, nil
	}
	if err := m.buffer.grow(from, int64(bytes)); err != nil {
		return nil, err
	}
	words := make([]uint64, (bytes+7)/8) // aligned for all elements
	m.counterpart = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), bytes)
	if err := m.device.copying(func(q Queue) error { return q.Upload(m.buffer.at, m.counterpart) }); err != nil {
		m.buffer.free(from)
		return nil, err
	}
	tensors.add(m)
	return m, nil
}

func (m *tensorMemory) bytes() int { return len(m.counterpart) }

func (m *tensorMemory) start() uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(m.counterpart)))
}

// enter begins to read the tensor, or to write it if kind is isWritten. leave ends the access.
// enter returns [ErrTensorClosed] if the tensor is closed. It returns [ErrTensorBusy] if a call is
// writing the tensor. If kind is isWritten, it also returns ErrTensorBusy if a call is reading the
// tensor.
func (m *tensorMemory) enter(kind argKind) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return ErrTensorClosed
	case m.writing, kind == isWritten && m.readers > 0:
		return ErrTensorBusy
	case kind == isWritten:
		m.writing, m.fetched = true, false
	default:
		m.readers++
	}
	return nil
}

func (m *tensorMemory) leave(kind argKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kind == isWritten {
		m.writing = false
	} else {
		m.readers--
	}
	m.freeIfUnused()
}

func (m *tensorMemory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.freeIfUnused()
}

// freeIfUnused frees the memory of a closed tensor that is not in use. The caller holds m.mu.
func (m *tensorMemory) freeIfUnused() {
	if m.closed && !m.writing && m.readers == 0 && m.buffer.bytes > 0 {
		tensors.remove(m)
		m.buffer.free(m.from)
		m.counterpart = nil
	}
}

// toHost copies the elements to the counterpart, unless the counterpart has the current elements.
func (m *tensorMemory) toHost(ctx context.Context, q Queue) error {
	m.fetch.Lock()
	defer m.fetch.Unlock()
	if m.fetched {
		return nil
	}
	if err := q.Download(m.counterpart, m.buffer.at); err != nil {
		return err
	}
	if err := q.Wait(ctx); err != nil {
		if ctx != nil {
			q.Wait(context.Background()) // the copy must not go on
		}
		return err
	}
	m.fetched = true
	return nil
}

// tensors holds the tensors of the process.
var tensors tensorTable

// tensorTable is a list of tensors, sorted by the start of their counterparts.
type tensorTable struct {
	mu   sync.RWMutex
	list []*tensorMemory
}

func (t *tensorTable) index(start uintptr) (int, bool) {
	return slices.BinarySearchFunc(t.list, start, func(m *tensorMemory, start uintptr) int { return cmp.Compare(m.start(), start) })
}

func (t *tensorTable) add(m *tensorMemory) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, _ := t.index(m.start())
	t.list = slices.Insert(t.list, i, m)
}

func (t *tensorTable) remove(m *tensorMemory) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok := t.index(m.start()); ok {
		t.list = slices.Delete(t.list, i, i+1)
	}
}

// find returns the tensor whose counterpart begins where a's memory begins, or nil.
func (t *tensorTable) find(a Arg) *tensorMemory {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if i, ok := t.index(uintptr(a.memory)); ok && a.bytes <= t.list[i].bytes() {
		return t.list[i]
	}
	return nil
}
