package gpu

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// Program is the code of a generated package. The device is opened, and the code loaded, when it is
// first used. Its methods are safe for concurrent use.
type Program struct {
	// Driver returns the driver of the package's target.
	Driver func() Driver
	// Code holds the kernels of the package, in the form of the driver. It is empty if there are none.
	Code *string

	mu      sync.Mutex
	device  Device
	module  Module
	kernels map[*KernelInfo]Kernel
	weights map[any]*table // by the weak pointer to the struct of the slices

	updateModule Module // of package update; nil until a kernel of it is used
	updates      map[string]Kernel
}

// deviceVariable is the environment variable that chooses a device by its index.
const deviceVariable = "BURNGEN_DEVICE"

// chosen returns the index of the device to use.
func chosen() (int, error) {
	text := os.Getenv(deviceVariable)
	if text == "" {
		return 0, nil
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 {
		return 0, fmt.Errorf("%s=%q: the index of a device expected", deviceVariable, text)
	}
	return i, nil
}

// Open opens the device, loads the code, and returns the device. It returns an error that wraps
// [ErrNoDevice] if there is no device, and the driver's errors. After an error, a later call tries
// again.
func (p *Program) Open() (Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open()
}

func (p *Program) open() (Device, error) {
	if p.device != nil {
		return p.device, nil
	}
	i, err := chosen()
	if err != nil {
		return nil, err
	}
	d, err := p.Driver().Open(i)
	if err != nil {
		return nil, err
	}
	var m Module
	if *p.Code != "" {
		if m, err = d.Load([]byte(*p.Code)); err != nil {
			d.Close()
			return nil, err
		}
	}
	p.device, p.module, p.kernels, p.weights = d, m, map[*KernelInfo]Kernel{}, map[any]*table{}
	return d, nil
}

// kernel returns a kernel of the code.
func (p *Program) kernel(k *KernelInfo) (Kernel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, ok := p.kernels[k]; ok {
		return found, nil
	}
	found, err := p.module.Kernel(*k)
	if err == nil {
		p.kernels[k] = found
	}
	return found, err
}
