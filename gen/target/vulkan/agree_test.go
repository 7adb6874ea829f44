package vulkan_test

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/gputest"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/gen/target/vulkan"
	runtime "github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/kerneltest"
	driver "github.com/burngen/burngen/runtime/vulkan"
)

// TestAgreeOnDevice compares kernels on the first device, which may be a processor, with the definitions of
// the operators. Kernels must not write outside of their operands.
func TestAgreeOnDevice(t *testing.T) {
	target := gputest.Open(t, vulkan.Target(), driver.Driver())
	targettest.Fewer(t, 2) // each kernel is compiled
	targettest.AgreeSideBySide(t, target)
}

// TestKernels runs the tests that the kernels of all targets have to pass on the first device.
func TestKernels(t *testing.T) {
	target := gputest.Open(t, vulkan.Target(), driver.Driver())
	devices, err := driver.Devices()
	if err != nil {
		t.Fatal(err)
	}
	targettest.Kernels(t, target, accuracy(devices[0]))
}

// accuracy returns what a device promises about f32, by section "Precision and Operation of SPIR-V Instructions" of
// Vulkan's specification. A quotient has an error of 2.5 units in the last place for divisors of 2⁻¹²⁶ to 2¹²⁶. A
// square root is 1/inversesqrt, of which the inverse root has an error of 2 units. These are up to 4 units of the
// quotient, whose own 2.5 are added.
func accuracy(device runtime.Info) kerneltest.Accuracy {
	return kerneltest.Accuracy{
		Division: 2.5 - 0.5,
		Root:     4 + 2.5 - 0.5,
		Flushes:  !slices.Contains(device.Features, "shaderDenormPreserveFloat32"),
	}
}

// TestAgreeOnDeviceInPrecisions is [TestAgreeOnDevice] for products in each precision below f32.
func TestAgreeOnDeviceInPrecisions(t *testing.T) {
	gputest.InPrecisions(t, vulkan.Target(), func(t *testing.T, target gpu.Target) {
		targettest.Fewer(t, 2)
		targettest.AgreeOn(t, gputest.Open(t, target, driver.Driver()), targettest.Products...)
	})
}
