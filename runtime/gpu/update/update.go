// Package update holds the kernels of training that are the same for all models. Some perform the steps
// of optimizers; others sum or scale gradients. The package has their code for each driver.
package update

import _ "embed"

//go:generate go run ../../../gen/target/gpu/internal/update

// Threads is the number of threads of a block, for all kernels.
const Threads = 256

// SquaresPerBlock is the number of elements whose squares a block of the kernel "squares" sums.
const SquaresPerBlock = 4096

var (
	//go:embed update.ptx
	ptx []byte
	//go:embed update.spv
	spirv []byte
)

// Code returns the kernels for a driver, "cuda" or "vulkan", in the form that the driver loads. It
// returns nil for other drivers.
func Code(driver string) []byte {
	switch driver {
	case "cuda":
		return ptx
	case "vulkan":
		return spirv
	}
	return nil
}
