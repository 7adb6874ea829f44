package gpu

import (
	"context"
	"errors"
)

// Driver finds and opens the devices of one kind. Its methods are safe for concurrent use.
type Driver interface {
	// Name returns the name of the target, such as "cuda".
	Name() string
	// Devices lists the devices. It returns an error that wraps [ErrNoDevice] if the driver is not
	// installed, is too old, or finds no device.
	Devices() ([]Info, error)
	// Open opens the device with this index in the list of Devices.
	Open(index int) (Opened, error)
}

// Info describes a device.
type Info struct {
	Index      int
	Name       string // as the driver reports it: "NVIDIA H100 80GB HBM3"
	Memory     int64  // bytes of device memory in total
	Capability string // compute capability "9.0", or version of the API "1.3"
	Driver     string // version of the driver
	Subgroup   int    // threads that execute together: a warp, a subgroup
	Software   bool   // the driver computes on the CPU
	// Features lists features that only some devices of the driver have, by the driver's names.
	Features []string
	// Missing lists features that the device lacks and tensors of some types need, by the driver's names.
	Missing []string
}

// Refusing is a driver that may find devices which cannot be used.
type Refusing interface {
	Driver
	// Unfit returns a line for each such device, with the reason.
	Unfit() []string
}

// Errors of devices. Drivers wrap them with details.
var (
	ErrNoDevice = errors.New("no usable GPU")
	ErrMemory   = errors.New("not enough device memory")
	// ErrFeature means that a kernel needs a feature that the device lacks, such as floats of 64 bits. It wraps
	// [errors.ErrUnsupported].
	ErrFeature error = missingFeature{}
	// ErrDeviceLost means that the device cannot be used any more. Usually another device can be opened. NVIDIA's
	// driver is an exception: after an access to memory that does not exist, it fails until the program ends.
	ErrDeviceLost = errors.New("the GPU was lost, or a kernel failed")
)

type missingFeature struct{}

func (missingFeature) Error() string { return "the device lacks a feature" }

func (missingFeature) Unwrap() error { return errors.ErrUnsupported }

// Address is an address of device memory, in bytes. 0 is not a valid address.
type Address uint64

// Opened is an opened device. Its methods are safe for concurrent use.
type Opened interface {
	// Info describes the device.
	Info() Info
	// Alloc returns device memory of this many bytes, aligned to 256. The contents are undefined. It
	// returns an error that wraps [ErrMemory] if there is not enough.
	Alloc(bytes int64) (Address, error)
	// Free frees the device memory at an address that Alloc returned. Queued work must not use it
	// any more. The address 0 is ignored.
	Free(Address)
	// Load makes kernels from code, in the form of the driver: PTX as text, or modules of SPIR-V as
	// little-endian words. It returns an error that wraps [ErrFeature] if a kernel needs a feature that
	// the device lacks.
	Load(code []byte) (Module, error)
	// Queue opens a queue.
	Queue() (Queue, error)
	// Close waits for queued work and frees all resources of the device. Later calls of Alloc, Load and
	// Queue return errors.
	Close() error
}

// Mapping is an [Opened] whose kernels also access memory of the host. For few bytes, this is faster than a copy.
type Mapping interface {
	Opened
	// AllocMapped returns host memory of this many bytes, and the address at which kernels read and write it. The
	// address is a multiple of 256. The host sees what kernels have written when Wait has returned. Free frees the
	// memory.
	AllocMapped(bytes int) ([]byte, Address, error)
}

// Module holds loaded kernels.
type Module interface {
	// Kernel returns a kernel by its name in the code. It returns an error if the code does not have it.
	Kernel(k KernelInfo) (Kernel, error)
	// Close unloads the kernels. Queued work must not use them any more.
	Close()
}

// Compiling is a [Module] that compiles each kernel on its own, when the kernel is first requested.
type Compiling interface {
	Module
	// CompileAll compiles all kernels, several at a time. It returns the error of the first kernel in the code that
	// cannot be compiled.
	CompileAll() error
}

// KernelInfo describes a kernel to the driver.
type KernelInfo struct {
	Name   string
	Block  [3]int // threads of a block in each dimension
	Shared int    // bytes of shared memory beyond what the code declares
	Args   int    // number of arguments
	// Early says that the kernel may start while the previous launch still runs. The kernel then waits for that
	// launch itself. Drivers may ignore Early.
	Early bool
	// Vectors says that the addresses among the arguments have to be multiples of 16 bytes. [Run.Launch] copies
	// memory that is at another address.
	Vectors bool
	// Maps are the arguments whose tensors the kernel copies box by box. Only some drivers support such kernels.
	Maps []Map
	// Faster is a kernel that computes the same, for devices for which the program has faster code. It is nil if
	// there is none.
	Faster *Faster
}

// Map describes an argument of a kernel: the address of a tensor in row-major order. The address is a multiple of 16.
// The kernel copies boxes, rectangular parts of the tensor. The last axis of a box has 128 bytes.
type Map struct {
	Arg     int    // its index
	Type    string // of the elements: "f16", "bf16" or "f32"; numbers of f32 are rounded to 11 significant bits
	Extents []int  // of the tensor, 2 to 5
	// Outer is the index of an argument, an i32, that holds the first extent, if Extents[0] is 0.
	Outer int
	// Box has the extents of a box on the same axes, or a number of windows and a number of channels if there are windows.
	Box []int
	// First, Last and Step describe windows that move over images. The axes of the tensor are the images, the spatial axes
	// and the channels. For each spatial axis, First is the place of the first window, which may be outside of the image,
	// Last the place of the last window, and Step the distance between windows. All three are nil for boxes of adjacent
	// elements.
	First, Last, Step []int
}

// Faster is a kernel of [Program.Faster] for launches with the same arguments.
type Faster struct {
	KernelInfo
	Grid [3]int // blocks in each dimension
	// From[i] is the index of the argument of the launch that becomes argument i. It may exceed the number of arguments
	// of the slower kernel. Addresses have to be multiples of 16.
	From []int
}

// Kernel is a kernel of a [Module], in the form of the driver.
type Kernel interface{}

// Queue executes copies and kernels one after the other. A queue is used by one goroutine at a time.
type Queue interface {
	// Upload copies host memory to device memory at dst. src may be changed when Upload returns.
	Upload(dst Address, src []byte) error
	// Download copies device memory at src to host memory. dst is filled when the next Wait returns
	// nil.
	Download(dst []byte, src Address) error
	// Copy copies bytes of device memory from src to dst. The two places must not overlap.
	Copy(dst, src Address, bytes int) error
	// Launch starts a kernel. grid is the number of blocks in each dimension; a grid with a 0 does
	// nothing. Each argument is 8 bytes: an address, an integer, or the bits of a float in the low
	// bytes.
	Launch(k Kernel, grid [3]int, args []uint64) error
	// Record calls fill with a queue that keeps launches and copies instead of starting them. It returns these
	// launches and copies as a graph. The queue need not support Record, Replay, Wait and Close. Record returns the
	// error of fill, or the driver's error.
	Record(fill func(Queue) error) (Graph, error)
	// Replay starts the launches of a graph of this device. Uploads and downloads in it copy from and
	// to the same host memory again.
	Replay(Graph) error
	// Wait waits until all work of the queue is done. If ctx is done before, Wait returns an error that
	// wraps the error or the cause of ctx; the work then goes on. ctx may be nil. Wait returns an error
	// that wraps [ErrDeviceLost] if a kernel failed.
	Wait(ctx context.Context) error
	// Close waits for the work of the queue and closes it.
	Close() error
}

// Graph is a recorded list of launches and copies, in the form of the driver.
type Graph interface {
	Close()
}
