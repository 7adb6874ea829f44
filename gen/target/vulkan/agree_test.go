package vulkan_test

import (
	"errors"
	"testing"

	target "github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/gen/target/vulkan"
	"github.com/burngen/burngen/runtime/gpu"
	driver "github.com/burngen/burngen/runtime/vulkan"
)

// TestAgreeOnDevice compares kernels on the first device, which may be a processor, with the definitions of
// the operators.
func TestAgreeOnDevice(t *testing.T) {
	target, err := vulkan.Target().Open(driver.Driver(), 0)
	if errors.Is(err, gpu.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	targettest.Fewer(t, 2) // each kernel is compiled
	targettest.Agree(t, target)
}

// TestPrecisionsOnDevice is [TestAgreeOnDevice] with products in other precisions than f32.
func TestPrecisionsOnDevice(t *testing.T) {
	for _, p := range []target.Precision{target.TF32, target.F16, target.BF16} {
		t.Run(p.String(), func(t *testing.T) {
			in := vulkan.Target()
			in.Precision = p
			target, err := in.Open(driver.Driver(), 0)
			if errors.Is(err, gpu.ErrNoDevice) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			targettest.Fewer(t, 2)
			targettest.AgreeOn(t, target, targettest.Products...)
		})
	}
}
