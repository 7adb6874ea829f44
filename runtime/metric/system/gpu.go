package system

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/metric/system/internal/nvml"
)

// cards returns the sensors of NVIDIA's cards, and a function that closes the library. There are no
// sensors if the library or the driver is missing, or if there is no card.
func cards(load func() (*nvml.API, error)) (sensors []sensor, release func()) {
	api, err := load()
	if err != nil || api.Init() != nvml.Success {
		return nil, func() {}
	}
	var count uint32
	if api.DeviceGetCount(&count) != nvml.Success {
		count = 0
	}
	for i := range count {
		name := "gpu"
		if count > 1 {
			name = fmt.Sprintf("gpu %d", i)
		}
		var device nvml.Device
		if api.DeviceGetHandle(i, &device) == nvml.Success {
			sensors = append(sensors, card(api, device, name)...)
		}
	}
	return sensors, func() { api.Shutdown() }
}

func card(api *nvml.API, device nvml.Device, name string) []sensor {
	return slices.Concat(
		gauge(name, "%", func() (float64, error) {
			var use nvml.Utilization
			err := failure(api.DeviceGetUtilization(device, &use))
			return float64(use.GPU), err
		}),
		gauge(name+" memory", "MB", func() (float64, error) {
			var memory nvml.Memory
			err := failure(api.DeviceGetMemory(device, &memory))
			return megabytes(memory.Used), err
		}),
		gauge(name+" temperature", "°C", func() (float64, error) {
			var celsius uint32
			err := failure(api.DeviceGetTemperature(device, nvml.Core, &celsius))
			return float64(celsius), err
		}),
		gauge(name+" power", "W", func() (float64, error) {
			var milliwatts uint32
			err := failure(api.DeviceGetPower(device, &milliwatts))
			return float64(milliwatts) / 1e3, err
		}),
	)
}

func failure(r nvml.Result) error {
	if r == nvml.Success {
		return nil
	}
	return fmt.Errorf("NVML: error %d", r)
}
