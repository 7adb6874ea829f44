//go:build linux && !android && (amd64 || arm64)

package nvml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/metric/system/internal/nvml"
	"github.com/burngen/burngen/runtime/metric/system/internal/nvml/fake"
)

// TestBind asserts that arguments and results pass through C's calling convention.
func TestBind(t *testing.T) {
	library := new(fake.Library)
	library.SetCards(fake.Card{}, fake.Card{Percent: 97, Used: 5 << 32, Celsius: 61, Milliwatts: 123456})
	api, err := fake.ThroughC(library.API())
	if err != nil {
		t.Fatal(err)
	}
	var count uint32
	if r := api.DeviceGetCount(&count); r != nvml.Uninitialized {
		t.Errorf("before Init: %d", r)
	}
	var device, other nvml.Device
	var use nvml.Utilization
	var memory nvml.Memory
	var celsius, milliwatts uint32
	for _, c := range []struct {
		name string
		call func() nvml.Result
	}{
		{"Init", api.Init},
		{"count", func() nvml.Result { return api.DeviceGetCount(&count) }},
		{"handle", func() nvml.Result { return api.DeviceGetHandle(1, &device) }},
		{"utilization", func() nvml.Result { return api.DeviceGetUtilization(device, &use) }},
		{"memory", func() nvml.Result { return api.DeviceGetMemory(device, &memory) }},
		{"temperature", func() nvml.Result { return api.DeviceGetTemperature(device, nvml.Core, &celsius) }},
		{"power", func() nvml.Result { return api.DeviceGetPower(device, &milliwatts) }},
	} {
		if r := c.call(); r != nvml.Success {
			t.Errorf("%s: %d", c.name, r)
		}
	}
	if count != 2 || use.GPU != 97 || memory.Used != 5<<32 || memory.Total != 80<<30 || celsius != 61 || milliwatts != 123456 {
		t.Error(count, use, memory, celsius, milliwatts)
	}
	if r := api.DeviceGetHandle(2, &other); r != nvml.InvalidArgument {
		t.Errorf("handle of a card that is not there: %d", r)
	}
	if r := api.DeviceGetTemperature(device, 1, &celsius); r != nvml.InvalidArgument {
		t.Errorf("another sensor: %d", r)
	}
	if r := api.Shutdown(); r != nvml.Success || library.Opens() != 0 {
		t.Errorf("Shutdown: %d, open: %d", r, library.Opens())
	}
}

// TestBindNeedsAll removes one function after the other from the library.
func TestBindNeedsAll(t *testing.T) {
	for _, missing := range new(nvml.API).Functions() {
		_, err := nvml.Bind(func(name string) (uintptr, error) {
			if name == missing.Name {
				return 0, errors.New("undefined symbol")
			}
			return 4096, nil // is not called
		})
		if err == nil || !strings.Contains(err.Error(), "has no function "+missing.Name+": the driver is too old") {
			t.Errorf("without %s: %v", missing.Name, err)
		}
	}
}
