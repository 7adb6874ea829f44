package vulkan_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/gputest"
	"github.com/burngen/burngen/gen/target/gpu/spirv"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/gen/target/vulkan"
	"github.com/burngen/burngen/ir/kernel"
	runtime "github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/kerneltest"
	driver "github.com/burngen/burngen/runtime/vulkan"
)

// lenient is a target on a device that may lack features which tensors of some types need. It counts the trials that
// the device refuses for this reason, and for no other.
type lenient struct {
	gpu.Target
	missing []string // the features
	refused *atomic.Int64
}

// Refuses reports whether an error names only features that the device may lack.
func (l lenient) Refuses(err error) bool {
	if !errors.Is(err, runtime.ErrFeature) {
		return false
	}
	for _, name := range l.missing {
		if strings.Contains(err.Error(), " "+name+",") {
			l.refused.Add(1)
			return true
		}
	}
	return false
}

// open returns a target on the first device. The end of the test says how many trials the device refused.
func open(t *testing.T, x gpu.Target) lenient {
	l := lenient{gputest.Open(t, x, driver.Driver()), nil, new(atomic.Int64)}
	list, err := driver.Devices()
	if err != nil {
		t.Fatal(err)
	}
	l.missing = list[0].Missing
	t.Cleanup(func() {
		if n := l.refused.Load(); n > 0 {
			t.Logf("%s refused %d trials: it lacks %s", list[0].Name, n, strings.Join(l.missing, ", "))
		}
	})
	return l
}

// TestAgreeOnDevice compares kernels on the first device, which may be a processor, with the definitions of
// the operators. Kernels must not write outside of their operands.
func TestAgreeOnDevice(t *testing.T) {
	target := open(t, vulkan.Target())
	targettest.Fewer(t, 2) // each kernel is compiled
	targettest.AgreeSideBySide(t, target)
}

// TestWordsOnDevice is [TestAgreeOnDevice] with the kernels of devices that do not have integers of 64 bits, or
// integers or memory of 8 or 16 bits.
func TestWordsOnDevice(t *testing.T) {
	x := vulkan.Target()
	x.Write = func(all ...*kernel.Kernel) ([]byte, error) {
		code, err := spirv.Options{Words: true}.Write(all...)
		if err != nil { // floats of 64 bits that are made of the bits of an integer
			return spirv.Write(all...)
		}
		return code, nil
	}
	target := open(t, x)
	targettest.Fewer(t, 2)
	targettest.Agree(t, target)
}

// TestKernels runs the tests that the kernels of all targets have to pass on the first device.
func TestKernels(t *testing.T) {
	target := open(t, vulkan.Target())
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
		targettest.AgreeOn(t, open(t, target), targettest.Products...)
	})
}
