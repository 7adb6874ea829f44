package gpu

import (
	"context"
	"errors"
	"sync"
)

// shared is an open device. All programs of the process share it, so that tensors of one program
// can be arguments of another.
type shared struct {
	Opened
	key deviceKey
	// number of programs; guarded by devices.mu
	users int

	mu sync.Mutex
	// for copies of tensors; nil until it is used
	copies Queue
}

// deviceKey identifies a device in the process.
type deviceKey struct {
	driver Driver
	index  int
}

// devices holds the open devices of the process.
var devices = struct {
	mu     sync.Mutex
	opened map[deviceKey]*shared
}{opened: map[deviceKey]*shared{}}

// openShared opens a device, or returns the open one. Each call must be matched by release.
func openShared(d Driver, index int) (*shared, error) {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	key := deviceKey{d, index}
	s := devices.opened[key]
	if s == nil {
		o, err := d.Open(index)
		if err != nil {
			return nil, err
		}
		s = &shared{Opened: o, key: key}
		devices.opened[key] = s
	}
	s.users++
	return s, nil
}

// release closes the device if no other program uses it.
func (s *shared) release() {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(devices.opened, s.key)
		s.Close()
	}
}

// copying calls do with a queue for copies between the host and tensors. It then waits for the
// copies.
func (s *shared) copying(do func(Queue) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.copies == nil {
		q, err := s.Queue()
		if err != nil {
			return err
		}
		s.copies = q
	}
	err := do(s.copies)
	return errors.Join(err, s.copies.Wait(context.Background()))
}
