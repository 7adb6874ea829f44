// Package gputest opens devices for tests. Each buffer has bands of bytes before and after its memory. A kernel that
// writes outside of its operands changes a band. A changed band is an error.
package gputest

import (
	"errors"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir/kernel"
	runtime "github.com/burngen/burngen/runtime/gpu"
)

// Open returns the target with the first device of a driver. The end of the test closes the device. Open skips
// the test if there is no device. A launch returns an error if its kernel writes next to one of its buffers.
func Open(t testing.TB, x gpu.Target, driver runtime.Driver) gpu.Target {
	t.Helper()
	g := &guard{Driver: driver}
	opened, err := x.Open(g, 0)
	if errors.Is(err, runtime.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	device := opened.Device
	t.Cleanup(func() {
		opened.Device = device
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	opened.Device = checked{device, g}
	return opened
}

// checked is a device whose launches return an error if guard found that the kernel wrote next to a buffer.
type checked struct {
	gpu.Device
	guard *guard
}

func (c checked) Pipelines() bool { return gpu.Pipelines(c.Device) }

func (c checked) Launch(k *kernel.Kernel, grid [3]int, args []gpu.Arg) error {
	return errors.Join(c.Device.Launch(k, grid, args), c.guard.take())
}
