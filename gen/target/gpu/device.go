package gpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/gpu"
)

// Open opens a device of a driver, and returns the target with this device. index is the index of the device.
// [Target.Close] closes the device. Open returns the driver's errors.
func (t Target) Open(d gpu.Driver, index int) (Target, error) {
	device, err := d.Open(index)
	if err != nil {
		return t, err
	}
	q, err := device.Queue()
	if err != nil {
		device.Close()
		return t, err
	}
	t.Device = &opened{language: t.Language, device: device, idle: []gpu.Queue{q}, kernels: map[string]*compiled{}}
	return t, nil
}

// Close closes the device that [Target.Open] opened.
func (t Target) Close() error {
	if o, ok := t.Device.(*opened); ok {
		return o.device.Close()
	}
	return nil
}

// opened is a device that a driver has opened. Launches of several goroutines run side by side.
type opened struct {
	language Language
	device   gpu.Opened

	mu      sync.Mutex
	idle    []gpu.Queue          // that no launch uses
	kernels map[string]*compiled // by their text
}

// compiled is a kernel of the device. The first goroutine that launches the kernel compiles it. Other goroutines wait
// until it is compiled.
type compiled struct {
	once   sync.Once
	kernel gpu.Kernel
	err    error
}

// Pipelines implements [Pipelining]. It reports whether the device has the capability that pipelined kernels need.
func (o *opened) Pipelines() bool {
	return o.language.Pipelined != nil && o.device.Info().Capability == o.language.Pipelined.Capability
}

// Launch implements [Device]. It copies the arguments to the device, runs the kernel, and copies back the
// arguments that the kernel writes. The kernel does not run if the grid has no blocks.
func (o *opened) Launch(k *kernel.Kernel, grid [3]int, args []Arg) (err error) {
	loaded, err := o.load(k)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	queue, err := o.take()
	if err != nil {
		return err
	}
	defer o.putBack(queue)
	words := make([]uint64, len(args))
	for i, a := range args {
		switch {
		case a.Memory == nil:
			words[i] = uint64(a.Number)
		case len(a.Memory) > 0:
			at, err := o.device.Alloc(int64(len(a.Memory)))
			if err != nil {
				return err
			}
			defer o.device.Free(at)
			if err := queue.Upload(at, a.Memory); err != nil {
				return err
			}
			words[i] = uint64(at)
		}
	}
	defer func() { // the memory is freed then
		if waited := queue.Wait(context.Background()); err == nil {
			err = waited
		}
	}()
	if grid[0] > 0 && grid[1] > 0 && grid[2] > 0 {
		if err := queue.Launch(loaded, grid, words); err != nil {
			return err
		}
	}
	for i, a := range args {
		if len(a.Memory) > 0 && k.Params[i].Written {
			if err := queue.Download(a.Memory, gpu.Address(words[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *opened) take() (gpu.Queue, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.idle); n > 0 {
		q := o.idle[n-1]
		o.idle = o.idle[:n-1]
		return q, nil
	}
	return o.device.Queue()
}

func (o *opened) putBack(q gpu.Queue) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.idle = append(o.idle, q)
}

// load returns a kernel of the device. It compiles each kernel once, and again after an error.
func (o *opened) load(k *kernel.Kernel) (gpu.Kernel, error) {
	text := k.String()
	o.mu.Lock()
	c := o.kernels[text]
	if c == nil {
		c = &compiled{}
		o.kernels[text] = c
	}
	o.mu.Unlock()
	c.once.Do(func() {
		if c.kernel, c.err = o.compile(k); c.err != nil {
			o.mu.Lock()
			delete(o.kernels, text)
			o.mu.Unlock()
		}
	})
	return c.kernel, c.err
}

func (o *opened) compile(k *kernel.Kernel) (gpu.Kernel, error) {
	code, err := o.language.Write(k)
	if err != nil {
		return nil, err
	}
	m, err := o.device.Load(code)
	if err != nil {
		return nil, err
	}
	made, err := m.Kernel(o.language.info(k))
	if err != nil {
		m.Close()
	}
	return made, err
}
