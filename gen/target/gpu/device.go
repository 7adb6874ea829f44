package gpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/gpu"
)

// Open returns the target with a device of a driver, which [Target.Close] closes. It returns the
// driver's errors.
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
	t.Device = &opened{language: t.Language, device: device, queue: q, kernels: map[string]gpu.Kernel{}}
	return t, nil
}

// Close closes the device that [Target.Open] opened.
func (t Target) Close() error {
	if o, ok := t.Device.(*opened); ok {
		return o.device.Close()
	}
	return nil
}

// opened is a device that a driver has opened.
type opened struct {
	language Language
	device   gpu.Opened

	mu      sync.Mutex
	queue   gpu.Queue
	kernels map[string]gpu.Kernel // by their text
}

// Launch copies the arguments to the device, runs the kernel, and copies the memory that the kernel
// writes back.
func (o *opened) Launch(k *kernel.Kernel, grid [3]int, args []Arg) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	loaded, err := o.load(k)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.Name, err)
	}
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
			if err := o.queue.Upload(at, a.Memory); err != nil {
				return err
			}
			words[i] = uint64(at)
		}
	}
	defer func() { // the memory is freed then
		if waited := o.queue.Wait(context.Background()); err == nil {
			err = waited
		}
	}()
	if grid[0] > 0 && grid[1] > 0 && grid[2] > 0 {
		if err := o.queue.Launch(loaded, grid, words); err != nil {
			return err
		}
	}
	for i, a := range args {
		if len(a.Memory) > 0 && k.Params[i].Written {
			if err := o.queue.Download(a.Memory, gpu.Address(words[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// load returns a kernel of the device. It compiles each kernel once.
func (o *opened) load(k *kernel.Kernel) (gpu.Kernel, error) {
	text := k.String()
	if found, ok := o.kernels[text]; ok {
		return found, nil
	}
	code, err := o.language.Write(k)
	if err != nil {
		return nil, err
	}
	m, err := o.device.Load(code)
	if err != nil {
		return nil, err
	}
	found, err := m.Kernel(gpu.KernelInfo{Name: k.Name, Block: k.Block, Args: len(k.Params)})
	if err == nil {
		o.kernels[text] = found
	}
	return found, err
}
