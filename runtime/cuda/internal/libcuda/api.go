package libcuda

import "unsafe"

// Handles of the driver.
type (
	// Device is a CUdevice.
	Device int32
	// Context is a CUcontext.
	Context uintptr
	// Address is a CUdeviceptr.
	Address uint64
	// Stream is a CUstream.
	Stream uintptr
	// Event is a CUevent.
	Event uintptr
	// Link is a CUlinkState.
	Link uintptr
	// Module is a CUmodule.
	Module uintptr
	// Function is a CUfunction.
	Function uintptr
	// Graph is a CUgraph.
	Graph uintptr
	// Node is a CUgraphNode.
	Node uintptr
	// Exec is a CUgraphExec.
	Exec uintptr
)

// API holds the functions of the driver. The tag of a field is the name of its function in the
// library. A field whose tag ends in ",optional" may be nil.
type API struct {
	Init             func(flags uint32) Result                                `c:"cuInit"`
	DriverGetVersion func(version *int32) Result                              `c:"cuDriverGetVersion"`
	GetErrorName     func(code Result, name **byte) Result                    `c:"cuGetErrorName"`
	DeviceGetCount   func(count *int32) Result                                `c:"cuDeviceGetCount"`
	DeviceGet        func(device *Device, ordinal int32) Result               `c:"cuDeviceGet"`
	DeviceGetName    func(name *byte, bytes int32, device Device) Result      `c:"cuDeviceGetName"`
	DeviceTotalMem   func(bytes *uintptr, device Device) Result               `c:"cuDeviceTotalMem_v2"`
	DeviceGetAttr    func(value *int32, attr DeviceAttr, dev Device) Result   `c:"cuDeviceGetAttribute"`
	PrimaryRetain    func(context *Context, device Device) Result             `c:"cuDevicePrimaryCtxRetain"`
	PrimaryRelease   func(device Device) Result                               `c:"cuDevicePrimaryCtxRelease_v2"`
	CtxSetCurrent    func(context Context) Result                             `c:"cuCtxSetCurrent"`
	MemGetInfo       func(free, total *uintptr) Result                        `c:"cuMemGetInfo_v2"`
	MemAlloc         func(address *Address, bytes uintptr) Result             `c:"cuMemAlloc_v2"`
	MemFree          func(address Address) Result                             `c:"cuMemFree_v2"`
	MemHostAlloc     func(host **byte, bytes uintptr, flags uint32) Result    `c:"cuMemHostAlloc"`
	MemFreeHost      func(host *byte) Result                                  `c:"cuMemFreeHost"`
	MemcpyHtoDAsync  func(to Address, from *byte, n uintptr, s Stream) Result `c:"cuMemcpyHtoDAsync_v2"`
	MemcpyDtoHAsync  func(to *byte, from Address, n uintptr, s Stream) Result `c:"cuMemcpyDtoHAsync_v2"`
	MemcpyDtoDAsync  func(to, from Address, n uintptr, s Stream) Result       `c:"cuMemcpyDtoDAsync_v2"`

	StreamCreate      func(stream *Stream, flags uint32) Result `c:"cuStreamCreate"`
	StreamDestroy     func(stream Stream) Result                `c:"cuStreamDestroy_v2"`
	StreamQuery       func(stream Stream) Result                `c:"cuStreamQuery"`
	StreamSynchronize func(stream Stream) Result                `c:"cuStreamSynchronize"`
	EventCreate       func(event *Event, flags uint32) Result   `c:"cuEventCreate"`
	EventDestroy      func(event Event) Result                  `c:"cuEventDestroy_v2"`
	EventRecord       func(event Event, stream Stream) Result   `c:"cuEventRecord"`
	EventSynchronize  func(event Event) Result                  `c:"cuEventSynchronize"`
	// ms is the time from one event to another.
	EventElapsedTime func(ms *float32, from, to Event) Result `c:"cuEventElapsedTime"`

	// The values of options are integers, or addresses of memory that stays where it is until LinkDestroy.
	LinkCreate   func(n uint32, options *JITOption, values *uintptr, link *Link) Result                                                     `c:"cuLinkCreate_v2"`
	LinkAddData  func(link Link, input uint32, data *byte, bytes uintptr, name *byte, n uint32, options *JITOption, values *uintptr) Result `c:"cuLinkAddData_v2"`
	LinkComplete func(link Link, code **byte, bytes *uintptr) Result                                                                        `c:"cuLinkComplete"`
	LinkDestroy  func(link Link) Result                                                                                                     `c:"cuLinkDestroy"`

	ModuleLoadData func(module *Module, code *byte) Result `c:"cuModuleLoadData"`
	// The options are like those of LinkCreate, and code is PTX that ends in a 0.
	ModuleLoadDataEx  func(module *Module, code *byte, n uint32, options *JITOption, values *uintptr) Result `c:"cuModuleLoadDataEx"`
	ModuleUnload      func(module Module) Result                                                             `c:"cuModuleUnload"`
	ModuleGetFunction func(function *Function, module Module, name *byte) Result                             `c:"cuModuleGetFunction"`
	FuncGetAttr       func(value *int32, attr FuncAttr, function Function) Result                            `c:"cuFuncGetAttribute"`
	FuncSetAttr       func(function Function, attr FuncAttr, value int32) Result                             `c:"cuFuncSetAttribute"`
	FuncGetParamInfo  func(function Function, index uintptr, at, bytes *uintptr) Result                      `c:"cuFuncGetParamInfo,optional"` // CUDA 12.4

	// params holds the address of each argument.
	LaunchKernel func(f Function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared uint32, s Stream, params, extra *unsafe.Pointer) Result `c:"cuLaunchKernel"`

	// The extents of a tensor, and of a box, begin with the last axis. strides are in bytes, without that of the last axis.
	TensorMapEncode func(m *TensorMap, element ElementType, rank uint32, at Address, extents, strides *uint64, box, steps *uint32, interleave, swizzle, promotion, fill uint32) Result `c:"cuTensorMapEncodeTiled"`
	// lower and upper begin with the last spatial axis.
	TensorMapEncodeIm2col func(m *TensorMap, element ElementType, rank uint32, at Address, extents, strides *uint64, lower, upper *int32, channels, pixels uint32, steps *uint32, interleave, swizzle, promotion, fill uint32) Result `c:"cuTensorMapEncodeIm2col"`

	GraphCreate      func(graph *Graph, flags uint32) Result                                                   `c:"cuGraphCreate"`
	GraphDestroy     func(graph Graph) Result                                                                  `c:"cuGraphDestroy"`
	GraphAddKernel   func(node *Node, g Graph, after *Node, n uintptr, kernel *KernelNode) Result              `c:"cuGraphAddKernelNode_v2"`
	GraphAddNode     func(node *Node, g Graph, after *Node, edges *Edge, n uintptr, params *NodeParams) Result `c:"cuGraphAddNode_v2,optional"` // CUDA 12.3
	GraphAddMemcpy   func(node *Node, g Graph, after *Node, n uintptr, copy *MemcpyNode, c Context) Result     `c:"cuGraphAddMemcpyNode"`
	GraphInstantiate func(exec *Exec, graph Graph, flags uint64) Result                                        `c:"cuGraphInstantiateWithFlags"`
	GraphLaunch      func(exec Exec, stream Stream) Result                                                     `c:"cuGraphLaunch"`
	GraphExecDestroy func(exec Exec) Result                                                                    `c:"cuGraphExecDestroy"`
}

// MinVersion is the oldest supported version of CUDA, as 1000·major + 10·minor. Drivers of this
// version have all functions that are not optional.
const MinVersion = 12000

// Flags of functions.
const (
	HostPortable       = 1 // pinned memory of all contexts
	HostMapped         = 2 // pinned memory that kernels access
	StreamNonBlocking  = 1 // no order between the stream and the default stream
	EventDefault       = 0
	EventDisableTiming = 2
	InputPTX           = 1 // LinkAddData
)

// DeviceAttr is a CUdevice_attribute.
type DeviceAttr int32

// Attributes of devices.
const (
	WarpSize             DeviceAttr = 10
	CapabilityMajor      DeviceAttr = 75
	CapabilityMinor      DeviceAttr = 76
	MaxSharedMemoryOptin DeviceAttr = 97 // of a block, if the function asks for it
)

// FuncAttr is a CUfunction_attribute.
type FuncAttr int32

// Attributes of functions.
const (
	MaxThreadsPerBlock FuncAttr = 0
	SharedSize         FuncAttr = 1 // bytes that the code declares
	MaxDynamicShared   FuncAttr = 8
	ClusterWidth       FuncAttr = 11
	ClusterHeight      FuncAttr = 12
	ClusterDepth       FuncAttr = 13
	NonPortableCluster FuncAttr = 14 // allows clusters of more than 8 blocks
)

// JITOption is a CUjit_option.
type JITOption uint32

// Options of LinkCreate.
const (
	InfoLog      JITOption = 3
	InfoLogSize  JITOption = 4
	ErrorLog     JITOption = 5
	ErrorLogSize JITOption = 6
	LogVerbose   JITOption = 12
)

// TensorMap is a CUtensorMap. Its address is a multiple of 64.
type TensorMap [128]byte

// ElementType is a CUtensorMapDataType.
type ElementType uint32

// Types of elements.
const (
	Float16  ElementType = 6
	BFloat16 ElementType = 9
	TFloat32 ElementType = 11
)

// Settings of TensorMapEncode.
const (
	Swizzle128   = 3
	Promotion128 = 2 // lines of 128 bytes in the second cache
)

// KernelNode is CUDA_KERNEL_NODE_PARAMS_v2.
type KernelNode struct {
	Function               Function
	GridX, GridY, GridZ    uint32
	BlockX, BlockY, BlockZ uint32
	Shared                 uint32
	Params, Extra          *unsafe.Pointer
	Kernel                 uintptr // in place of Function
	Context                Context // 0: the current one
}

// Edge is CUgraphEdgeData.
type Edge struct {
	From, To uint8 // ports of the nodes
	Type     uint8
	_        [5]uint8
}

// An edge from port PortProgrammatic of a kernel, with type EdgeProgrammatic, lets the next kernel
// start early: when the first kernel allows it, before the first kernel ends.
const (
	PortProgrammatic = 1
	EdgeProgrammatic = 1
)

// NodeParams is CUgraphNodeParams of a kernel.
type NodeParams struct {
	Type   uint32 // 0: a kernel
	_      [3]uint32
	Kernel KernelNode
	_      [256 - 16 - unsafe.Sizeof(KernelNode{})]byte
}

// MemcpyNode is CUDA_MEMCPY3D.
type MemcpyNode struct {
	From                 MemcpyEnd
	To                   MemcpyEnd
	Width, Height, Depth uintptr // in bytes, rows and slices
}

// MemcpyEnd is the source or the destination of a copy.
type MemcpyEnd struct {
	X, Y, Z, LOD  uintptr
	Type          MemoryType
	Host          *byte
	Device        Address
	Array         uintptr
	_             uintptr
	Pitch, Height uintptr
}

// MemoryType is a CUmemorytype.
type MemoryType uint32

// Types of memory.
const (
	MemoryHost   MemoryType = 1
	MemoryDevice MemoryType = 2
)
