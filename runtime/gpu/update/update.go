// Package update holds the kernels of training that are the same for all models: steps of optimizers, and sums
// and factors of gradients. It has the code for each driver.
package update

import _ "embed"

//go:generate go run ../../../gen/target/gpu/internal/update

// Threads is the number of threads of a block.
const Threads = 256

// SquaresPerBlock is the number of elements whose squares a block of the kernel squares adds.
const SquaresPerBlock = 4096

var (
	//go:embed update.ptx
	ptx []byte
	//go:embed update.spv
	spirv []byte
)

// Code returns the kernels in the form of a driver, by the driver's name. It returns nil if there are none
// for the driver.
func Code(driver string) []byte {
	switch driver {
	case "cuda":
		return ptx
	case "vulkan":
		return spirv
	}
	return nil
}
