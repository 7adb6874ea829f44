package vulkan_test

import (
	"errors"
	"testing"

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
