package spirv

import (
	"fmt"

	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/narrow"
)

// Options say which features modules must not use.
type Options struct {
	// Words computes in words of 32 bits, for devices that do not have shaderInt64, shaderInt8, shaderInt16,
	// storageBuffer8BitAccess or storageBuffer16BitAccess. Elements of 8 and 16 bits are accessed as parts of
	// words, so memory is accessed in words whose addresses are multiples of 4. An element of a shared array
	// takes a word. Integers of 64 bits become two words, see package narrow, whose errors Write returns.
	Words bool
	// Loose lets the device change −0, infinities, NaN and subnormals, and round up or down: modules
	// declare no float controls. Without it, they need the properties shaderDenormPreserveFloat32,
	// shaderRoundingModeRTEFloat32, shaderSignedZeroInfNanPreserveFloat32 and
	// shaderSignedZeroInfNanPreserveFloat64. Package vulkan of the runtime leaves out the controls that a
	// device lacks.
	Loose bool
}

// Write returns a module of kernels as little-endian words: SPIR-V 1.5 for Vulkan 1.2. The entry point of a kernel
// has its name. The kernels must be valid, and their names different.
//
// A kernel has one push constant of 8 bytes: the address of its arguments. The arguments are 8 bytes each, and in the
// order of the parameters. An argument is an address, an integer, or a float in the low bytes. If a kernel accesses n
// elements of a memory at a time, the caller aligns this memory to n elements. Other memory is aligned to one
// element.
//
// A module needs integers of 64 bits only if a kernel has i64 or u64 values. Addresses do not need them: an address
// is loaded as two words and becomes a pointer to an array, whose elements are found by their indices.
func Write(kernels ...*kernel.Kernel) ([]byte, error) { return Options{}.Write(kernels...) }

// Needs returns the names of the device features that a kernel needs. A name is a member of a feature structure of
// Vulkan 1.2, or of its structure for float controls. Needs returns nil if [Write] returns an error.
func Needs(k *kernel.Kernel) []string { return Options{}.Needs(k) }

// Write is the function [Write] with options.
func (o Options) Write(kernels ...*kernel.Kernel) ([]byte, error) {
	m := newModule()
	names := map[string]bool{}
	for _, k := range kernels {
		if names[k.Name] {
			return nil, twoOfName(k)
		}
		names[k.Name] = true
		if err := o.write(m, k); err != nil {
			return nil, err
		}
	}
	return m.bytes(), nil
}

// Needs is the function [Needs] with options.
func (o Options) Needs(k *kernel.Kernel) []string {
	m := newModule()
	if o.write(m, k) != nil {
		return nil
	}
	return m.needs()
}

type mistake struct{ error }

func fail(format string, args ...any) { panic(mistake{fmt.Errorf(format, args...)}) }

func (o Options) write(m *module, k *kernel.Kernel) (err error) {
	defer func() {
		if r := recover(); r != nil {
			mistake, ok := r.(mistake)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("spirv: kernel %s: %w", k.Name, mistake.error)
		}
	}()
	if o.Words {
		if k, err = narrow.Kernel(k); err != nil {
			return fmt.Errorf("spirv: %w", err)
		}
	}
	newFunction(m, k, o).write()
	return nil
}
