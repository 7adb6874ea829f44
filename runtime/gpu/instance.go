package gpu

import (
	"fmt"
	"sync"
)

// Instance is a program that runs for one model on one device. It allocates the device memory of the
// model's weights, sessions and trainers. Its methods are safe for concurrent use.
type Instance struct {
	program *Program
	options []Option

	mu      sync.Mutex
	loaded  *loaded        // nil until the device is opened
	device  Opened         // hands out the memory
	weights map[any]*table // by the weak pointer to the struct of the slices
	watch   *Watch         // measures the calls of sessions, or nil
}

// Open opens the device, loads the code, and returns the device. If it has done so before, it only
// returns the device. It returns an error that wraps [ErrNoDevice] if there is no driver or no device.
// It also returns the errors of the driver, and an error for options that cannot be met. After an error,
// a later call tries again.
func (i *Instance) Open() (Opened, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.loaded != nil {
		return i.device, nil
	}
	s, err := chosen(i.program.Driver(), i.options)
	if err != nil {
		return nil, err
	}
	l, err := i.program.load(s.index)
	if err != nil {
		return nil, err
	}
	i.loaded, i.device, i.watch = l, l.device.Opened, s.watch
	if s.limit > 0 {
		i.device = &limited{Opened: l.device.Opened, limit: s.limit, taken: map[Address]int64{}}
	}
	return i.device, nil
}

// Find returns the index of the device that options choose, without opening it. It returns an error that
// wraps [ErrNoDevice] if there is no driver or no device, and an error for options that cannot be met.
func Find(d Driver, options ...Option) (index int, err error) {
	s, err := chosen(d, options)
	return s.index, err
}

// chosen returns the settings from options and the environment. It returns an error if an option is
// invalid or the driver lacks the chosen device.
func chosen(d Driver, options []Option) (settings, error) {
	s, err := settingsOf(options)
	if err != nil {
		return s, err
	}
	if err := s.check(d); err != nil {
		return s, fmt.Errorf("%s%w", s.from, err)
	}
	return s, nil
}

// check returns an error if the driver does not have the device that the settings choose. It also
// returns an error if s.hardware is true and the device is emulated.
func (s *settings) check(d Driver) error {
	list, err := d.Devices()
	switch {
	case err != nil:
		return err
	case s.index >= len(list) && len(list) == 1:
		return fmt.Errorf("%s: device %d: there is only device 0", d.Name(), s.index)
	case s.index >= len(list):
		return fmt.Errorf("%s: device %d: there are %d", d.Name(), s.index, len(list))
	case s.hardware && list[s.index].Software:
		return fmt.Errorf("%s: %w: %s computes on the CPU", d.Name(), ErrNoDevice, list[s.index].Name)
	}
	return nil
}

func (i *Instance) kernel(k *KernelInfo) (Kernel, error) {
	found, err := i.loaded.kernel(k)
	if err != nil {
		return nil, err
	}
	return i.named(found, k.Name), nil
}

// named returns k. If the instance has a [Watch], it returns a kernel that also carries its name, for
// the measurements.
func (i *Instance) named(k Kernel, name string) Kernel {
	if i.watch == nil {
		return k
	}
	return namedKernel{k, name}
}

// On returns the function that maps r to prepare(i, r). prepare computes weights on the device of i.
func On[R, W any](i *Instance, prepare func(*Instance, R) (W, error)) func(R) (W, error) {
	return func(raw R) (W, error) { return prepare(i, raw) }
}
