package fake

import "errors"

// Machine runs PTX.
type Machine interface {
	// Load reads the text of a module. Its error becomes the compiler's error log.
	Load(ptx string) (Program, error)
}

// Program is a loaded module. Its methods are safe for concurrent use. If it also has a method
// Log() string, the fake returns the method's result as the compiler's log.
type Program interface {
	// Kernel describes a kernel. It returns false if the module has no kernel of this name.
	Kernel(name string) (Kernel, bool)
	// Launch runs all threads of a kernel. grid and block are the number of blocks and threads in each
	// dimension, shared is the number of bytes of dynamic shared memory, and params are the values of
	// the parameters, little-endian. An error that wraps [ErrAddress] becomes
	// CUDA_ERROR_ILLEGAL_ADDRESS, any other error CUDA_ERROR_LAUNCH_FAILED.
	Launch(kernel string, grid, block [3]int, shared int, params [][]byte, memory Memory) error
}

// Kernel describes a kernel.
type Kernel struct {
	Params  []int  // bytes of each parameter
	Threads int    // the most threads of a block; 0 is 1024
	Shared  int    // bytes of shared memory that the code declares
	Cluster [3]int // blocks of a cluster in each dimension; 0 is 1
}

// Memory is the device memory.
type Memory interface {
	// At returns n bytes of memory for reading and writing. It returns an error that wraps
	// [ErrAddress] if they are not within one allocation.
	At(address uint64, n int) ([]byte, error)
	// Allocation returns the allocation that an address is in: the address of its first byte, and all its
	// bytes. It returns an error that wraps [ErrAddress] if there is none.
	Allocation(address uint64) (first uint64, data []byte, err error)
}

// ErrAddress is wrapped by errors about accesses outside of all allocations.
var ErrAddress = errors.New("illegal address")
