package gpu

import (
	"context"
	"errors"
	"sync"
)

// shared is an opened device. All programs of the process share it, so that tensors of one program can
// be arguments of another.
type shared struct {
	Opened
	key   deviceKey
	users int // programs; guarded by devices.mu

	mu     sync.Mutex
	copies Queue // copies of tensors; nil until it is used
}

// deviceKey tells the devices of the process apart.
type deviceKey struct {
	driver Driver
	index  int
}

// devices are the opened devices of the process.
var devices = struct {
	mu     sync.Mutex
	opened map[deviceKey]*shared
}{opened: map[deviceKey]*shared{}}

// openShared opens a device, unless that has been done. The caller closes it with release, or keeps it.
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

// copying calls do with a queue for copies between the host and tensors, and waits for the copies.
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
