package vulkan

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/gpu"
)

type driver struct{}

// Driver returns the driver of Vulkan devices.
func Driver() gpu.Driver { return driver{} }

// Devices lists the devices that have what [Driver] needs: Vulkan 1.2 with buffer device addresses and
// timeline semaphores, device-local memory, and a queue that computes. Devices that compute on the CPU
// come last. Devices returns an error that wraps [gpu.ErrNoDevice] if there is no such device or no
// driver.
func Devices() ([]gpu.Info, error) { return driver{}.Devices() }

func (driver) Name() string { return "vulkan" }

func (driver) Devices() ([]gpu.Info, error) {
	_, all, err := adapters()
	if err != nil {
		return nil, err
	}
	list := make([]gpu.Info, len(all))
	for i, a := range all {
		list[i] = a.info
		list[i].Features, list[i].Missing = slices.Clone(a.info.Features), slices.Clone(a.info.Missing)
	}
	return list, nil
}

// Unfit implements [gpu.Refusing]. It returns nil if the devices cannot be listed.
func (driver) Unfit() []string {
	_, _, unfit, _ := examine()
	return unfit
}

func (driver) Open(index int) (gpu.Opened, error) {
	in, all, err := adapters()
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(all) {
		return nil, fmt.Errorf("vulkan: %w: there is no device %d, there are %d", gpu.ErrNoDevice, index, len(all))
	}
	own := *all[index]
	d, err := openDevice(in, &own)
	if err != nil {
		return nil, fmt.Errorf("vulkan: open %s: %w", all[index].info.Name, err)
	}
	return d, nil
}
