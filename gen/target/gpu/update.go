package gpu

import (
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/templates/kernels"
)

// Updates returns the code of the kernels for package runtime/gpu/update, in the language l. It returns an error if a
// kernel cannot be built or written.
func (l Language) Updates() ([]byte, error) {
	var all []*kernel.Kernel
	for _, u := range kernels.Updates {
		k, err := u.Build()
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	squares, err := kernels.Squares()
	if err != nil {
		return nil, err
	}
	return l.Write(append(all, squares)...)
}
