package vulkan_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/gputest"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/gen/target/vulkan"
	driver "github.com/burngen/burngen/runtime/vulkan"
)

// TestAgreeOnDevice compares kernels on the first device, which may be a processor, with the definitions of
// the operators. Kernels must not write outside of their operands.
func TestAgreeOnDevice(t *testing.T) {
	target := gputest.Open(t, vulkan.Target(), driver.Driver())
	targettest.Fewer(t, 2) // each kernel is compiled
	targettest.Agree(t, target)
}

// TestKernels runs the tests that the kernels of all targets have to pass on the first device.
func TestKernels(t *testing.T) {
	targettest.Kernels(t, gputest.Open(t, vulkan.Target(), driver.Driver()))
}

// TestPrecisionsOnDevice is [TestAgreeOnDevice] with products in other precisions than f32.
func TestPrecisionsOnDevice(t *testing.T) {
	for _, p := range []gpu.Precision{gpu.TF32, gpu.F16, gpu.BF16} {
		t.Run(p.String(), func(t *testing.T) {
			target := vulkan.Target()
			target.Precision = p
			targettest.Fewer(t, 2)
			targettest.AgreeOn(t, gputest.Open(t, target, driver.Driver()), targettest.Products...)
		})
	}
}
