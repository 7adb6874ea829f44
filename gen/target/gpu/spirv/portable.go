package spirv

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir/kernel"
)

// sometimesThere has the features that some devices lack. A device cannot load a module that needs a feature which
// the device lacks.
var sometimesThere = []string{
	"shaderInt64", "shaderFloat64", "shaderInt8", "shaderInt16", "storageBuffer8BitAccess", "storageBuffer16BitAccess",
	"shaderBufferInt64Atomics", "shaderSharedInt64Atomics",
}

// Portable returns modules of kernels, one after the other. The runtime loads the modules whose features the device
// has. It takes each kernel from the first loaded module that contains the kernel. The modules are the following,
// without empty ones:
//
//  1. the kernels that run on every device
//  2. the kernels that need features, all of which [Options].Words replaces
//  3. the kernels of 2 with [Options].Words, which run on every device
//  4. the kernels that need features which have no replacement, such as shaderFloat64
//
// Portable returns the errors of [Write].
func Portable(kernels ...*kernel.Kernel) ([]byte, error) {
	always, wide, words, others := newModule(), newModule(), newModule(), newModule()
	names := map[string]bool{}
	for _, k := range kernels {
		if names[k.Name] {
			return nil, twoOfName(k)
		}
		names[k.Name] = true
		var err error
		switch {
		case (Options{}).writePortable(always, k):
		case (Options{Words: true}).writePortable(words, k):
			err = Options{}.write(wide, k)
		default:
			err = Options{}.write(others, k)
		}
		if err != nil {
			return nil, err
		}
	}
	var code []byte
	for _, m := range []*module{always, wide, words, others} {
		if len(m.entries) > 0 {
			code = append(code, m.bytes()...)
		}
	}
	return code, nil
}

// writePortable adds a kernel to a module and returns true if every device runs the kernel. Otherwise it leaves the
// module as it is.
func (o Options) writePortable(m *module, k *kernel.Kernel) bool {
	before := m.mark()
	if o.write(m, k) == nil && !slices.ContainsFunc(m.needs(), func(name string) bool { return slices.Contains(sometimesThere, name) }) {
		return true
	}
	m.restore(before)
	return false
}

func twoOfName(k *kernel.Kernel) error {
	return fmt.Errorf("spirv: two kernels have the name %s", k.Name)
}
