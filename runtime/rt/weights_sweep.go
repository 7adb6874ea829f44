package rt

import (
	"fmt"
	"runtime"
	"sync"
)

// sweptBytes is the largest number of bytes of computed tensors that a sweep holds at a time. If a
// single tensor is larger, the sweep holds only this tensor.
var sweptBytes int64 = 256 << 20

// sweep calls `do` with the bytes of all tensors, in parts, from several goroutines. `part` starts
// at byte `at` of list[i]. sweep returns the tensors' [Checksums]. Tensors that have to be computed
// are not cached. If several tensors have an error, sweep returns the error of the first one in
// list.
func sweep(list []*tensor, do func(i int, at int64, part []byte) error) (map[*tensor][]uint32, error) {
	s := &sweeping{do: do, sums: map[*tensor][]uint32{}}
	s.more.L = &s.mu
	for i, x := range list {
		s.sums[x] = make([]uint32, (x.Bytes+checked-1)/checked)
		if x.lazy != nil || x.Bytes == 0 {
			s.shares = append(s.shares, swept{x, i, 0, x.Bytes})
			continue
		}
		for at := int64(0); at < x.Bytes; at += sweptShare {
			s.shares = append(s.shares, swept{x, i, at, min(at+sweptShare, x.Bytes)})
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(s.shares)) - 1 {
		wait.Go(s.work)
	}
	s.work()
	wait.Wait()
	if s.err != nil {
		return nil, fmt.Errorf("%.100q: %w", list[s.failed].Name, s.err)
	}
	return s.sums, nil
}

// Checksums returns the [Checksums] of the bytes of tensors, keyed by name. It returns an error if
// a tensor does not exist or cannot be read.
func (w *Weights) Checksums(names ...string) (map[string][]uint32, error) {
	sums := map[string][]uint32{}
	list := make([]*tensor, len(names))
	for i, name := range names {
		if list[i] = w.find(name); list[i] == nil {
			return nil, fmt.Errorf("weights: %.100q: no such tensor", name)
		}
	}
	_, err := w.written(func() (int64, error) {
		of, err := sweep(list, func(int, int64, []byte) error { return nil })
		for i, name := range names {
			sums[name] = of[list[i]]
		}
		return 0, err
	})
	return sums, err
}

// sweptShare is the number of bytes of a tensor in memory that one goroutine processes at a time.
const sweptShare = 4 * checked

// swept is a share of a sweep: the bytes [from, end) of x, which is tensor i of the list.
type swept struct {
	x         *tensor
	i         int
	from, end int64
}

type sweeping struct {
	do   func(i int, at int64, part []byte) error
	sums map[*tensor][]uint32

	mu     sync.Mutex
	more   sync.Cond // signals that there is more room
	shares []swept   // shares that no goroutine has taken
	making int64     // bytes of tensors being computed
	rooms  [][]byte  // unused buffers
	err    error     // error of list[failed]
	failed int
}

func (s *sweeping) work() {
	for {
		share, room, ok := s.take()
		if !ok {
			return
		}
		room, err := s.sweep(share, room)
		s.give(share, room, err)
	}
}

// take takes the next share, a piece of the bytes of a tensor. If the bytes have to be computed, it
// first waits until the limit sweptBytes allows that, and returns a buffer for them. ok is false if
// no share is left.
func (s *sweeping) take() (share swept, room []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.shares) > 0 && s.shares[0].x.lazy != nil && s.making > 0 && s.making+s.shares[0].x.Bytes > sweptBytes {
		s.more.Wait()
	}
	if len(s.shares) == 0 {
		return share, nil, false
	}
	share, s.shares = s.shares[0], s.shares[1:]
	if share.x.lazy == nil {
		return share, nil, true
	}
	s.making += share.x.Bytes
	if n := len(s.rooms); n > 0 {
		room, s.rooms = s.rooms[n-1], s.rooms[:n-1]
	}
	return share, room, true
}

// give marks a share as done, and takes back its buffer. After an error, take returns no more
// shares. Shares are taken in order, so all shares before the failed one are done when the sweep
// ends.
func (s *sweeping) give(share swept, room []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if share.x.lazy != nil {
		s.making -= share.x.Bytes
		s.rooms = append(s.rooms, room)
	}
	if err != nil {
		s.shares = nil
		if s.err == nil || share.i < s.failed {
			s.err, s.failed = err, share.i
		}
	}
	s.more.Broadcast()
}

// sweep processes a share. Bytes that have to be computed may be stored in room or, if its capacity
// is too small, in a new buffer. sweep returns room or this buffer, which the next share may reuse.
func (s *sweeping) sweep(share swept, room []byte) (_ []byte, err error) {
	defer Recover("weights", &err)
	x := share.x
	if x.lazy != nil && x.lazy.fill && int64(cap(room)) < x.Bytes {
		room = alignedBytes(int(x.Bytes))
	}
	raw, err := x.once(room)
	if err != nil {
		return room, err
	}
	for at := share.from; at < share.end; at += checked {
		s.sums[x][at/checked] = checksum(raw[at:min(at+checked, share.end)])
	}
	return room, s.do(share.i, share.from, raw[share.from:share.end])
}
