package spirv

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir/kernel"
)

// sometimesThere are the features that some devices lack. A device cannot load a module that needs what it lacks.
var sometimesThere = []string{
	"shaderInt64", "shaderFloat64", "shaderInt8", "shaderInt16", "storageBuffer8BitAccess", "storageBuffer16BitAccess",
	"shaderBufferInt64Atomics", "shaderSharedInt64Atomics",
}

// Portable returns modules of kernels, one after the other. A device loads the modules for which it has the
// features, and takes each kernel from the first module that has it. The modules are, if they have kernels:
//
//  1. the kernels that run on every device
//  2. the kernels that need features, and run on every device in words, see [Options]
//  3. the kernels of 2, in words
//  4. the kernels that need features which have no replacement, such as shaderFloat64
//
// Portable returns the errors of [Write].
func Portable(kernels ...*kernel.Kernel) ([]byte, error) {
	var always, wide, others []*kernel.Kernel
	names := map[string]bool{}
	for _, k := range kernels {
		if names[k.Name] {
			return nil, twoOfName(k)
		}
		names[k.Name] = true
		switch {
		case (Options{}).isPortable(k):
			always = append(always, k)
		case (Options{Words: true}).isPortable(k):
			wide = append(wide, k)
		default:
			others = append(others, k)
		}
	}
	var code []byte
	for _, part := range []struct {
		Options
		kernels []*kernel.Kernel
	}{{Options{}, always}, {Options{}, wide}, {Options{Words: true}, wide}, {Options{}, others}} {
		if len(part.kernels) == 0 {
			continue
		}
		module, err := part.Write(part.kernels...)
		if err != nil {
			return nil, err
		}
		code = append(code, module...)
	}
	return code, nil
}

// isPortable reports whether every device runs a kernel that is written with the options.
func (o Options) isPortable(k *kernel.Kernel) bool {
	m := newModule()
	if o.write(m, k) != nil {
		return false
	}
	return !slices.ContainsFunc(m.needs(), func(name string) bool { return slices.Contains(sometimesThere, name) })
}

func twoOfName(k *kernel.Kernel) error {
	return fmt.Errorf("spirv: two kernels have the name %s", k.Name)
}
