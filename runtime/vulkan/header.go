package vulkan

import (
	"fmt"
	"unsafe"
)

// The part of Vulkan's header that is used here. Structs have C's layout on 64-bit machines, which
// TestLayout asserts. Pointers in them are of type unsafe.Pointer, so that the garbage collector sees
// them.

type structureType uint32

const (
	typeApplicationInfo               structureType = 0
	typeInstanceCreateInfo            structureType = 1
	typeDeviceQueueCreateInfo         structureType = 2
	typeDeviceCreateInfo              structureType = 3
	typeSubmitInfo                    structureType = 4
	typeMemoryAllocateInfo            structureType = 5
	typeSemaphoreCreateInfo           structureType = 9
	typeQueryPoolCreateInfo           structureType = 11
	typeBufferCreateInfo              structureType = 12
	typeShaderModuleCreateInfo        structureType = 16
	typePipelineCacheCreateInfo       structureType = 17
	typePipelineShaderStageCreateInfo structureType = 18
	typeComputePipelineCreateInfo     structureType = 29
	typePipelineLayoutCreateInfo      structureType = 30
	typeCommandPoolCreateInfo         structureType = 39
	typeCommandBufferAllocateInfo     structureType = 40
	typeCommandBufferBeginInfo        structureType = 42
	typeMemoryBarrier                 structureType = 46
	typeVulkan11Features              structureType = 49
	typeVulkan11Properties            structureType = 50
	typeVulkan12Features              structureType = 51
	typeFeatures2                     structureType = 1000059000
	typeProperties2                   structureType = 1000059001
	typeMemoryProperties2             structureType = 1000059006
	typeMemoryAllocateFlagsInfo       structureType = 1000060000
	typeDebugMessengerCreateInfo      structureType = 1000128004
	typeBfloat16Features              structureType = 1000141000
	typeDriverProperties              structureType = 1000196000
	typeFloatControlsProperties       structureType = 1000197000
	typeSemaphoreTypeCreateInfo       structureType = 1000207002
	typeTimelineSemaphoreSubmitInfo   structureType = 1000207003
	typeMemoryBudgetProperties        structureType = 1000237000
	typeBufferDeviceAddressInfo       structureType = 1000244001
	typeCooperativeMatrixFeatures     structureType = 1000506000
)

// Flags, named as in vulkan_core.h.
const (
	instanceEnumeratePortability = 1

	queueCompute = 2

	memoryDeviceLocal  = 1
	memoryHostVisible  = 2
	memoryHostCoherent = 4
	memoryHostCached   = 8

	memoryAllocateDeviceAddress = 2

	bufferUsageTransferSource      = 1
	bufferUsageTransferDestination = 2
	bufferUsageStorage             = 0x20
	bufferUsageDeviceAddress       = 0x20000

	commandPoolResetCommandBuffer = 2
	commandBufferOneTimeSubmit    = 1
	commandBufferSimultaneousUse  = 4

	stageComputeShader = 0x800
	stageTransfer      = 0x1000
	stageBottomOfPipe  = 0x2000
	stageHost          = 0x4000

	accessShaderRead    = 0x20
	accessShaderWrite   = 0x40
	accessTransferRead  = 0x800
	accessTransferWrite = 0x1000
	accessHostRead      = 0x2000

	shaderStageCompute = 0x20
	bindPointCompute   = 1
	semaphoreTimeline  = 1
	queryTimestamp     = 2
	queryResult64      = 1
	queryResultWait    = 2

	debugWarning    = 0x100
	debugError      = 0x1000
	debugValidation = 2
)

// handle is a non-dispatchable handle.
type handle uint64

type applicationInfo struct {
	sType       structureType
	_           unsafe.Pointer // next
	application unsafe.Pointer
	_           uint32         // applicationVersion
	_           unsafe.Pointer // engine
	_           uint32         // engineVersion
	apiVersion  uint32
}

type instanceCreateInfo struct {
	sType          structureType
	next           unsafe.Pointer
	flags          uint32
	application    *applicationInfo
	layerCount     uint32
	layers         unsafe.Pointer
	extensionCount uint32
	extensions     unsafe.Pointer
}

type debugMessengerCreateInfo struct {
	sType      structureType
	next       unsafe.Pointer
	flags      uint32
	severities uint32
	types      uint32
	callback   uintptr
	user       unsafe.Pointer
}

// debugMessage is the beginning of VkDebugUtilsMessengerCallbackDataEXT.
type debugMessage struct {
	_    [40]byte
	text *byte
}

type extensionProperties struct {
	name    [256]byte
	version uint32
}

type limits struct {
	_                              [36]byte
	maxMemoryAllocationCount       uint32
	_                              [176]byte
	maxComputeSharedMemorySize     uint32
	maxComputeWorkGroupCount       [3]uint32
	maxComputeWorkGroupInvocations uint32
	maxComputeWorkGroupSize        [3]uint32
	_                              [176]byte
	timestampPeriod                float32 // nanoseconds
	_                              [76]byte
}

type properties struct {
	apiVersion        uint32
	driverVersion     uint32
	vendor            uint32
	device            uint32
	deviceType        uint32
	name              [256]byte
	pipelineCacheUUID [16]byte
	_                 uint32 // limits has integers of 64 bits
	limits            limits
	_                 [6]uint32
}

type properties2 struct {
	sType structureType
	next  unsafe.Pointer
	properties
}

type vulkan11Properties struct {
	sType              structureType
	next               unsafe.Pointer
	_                  [48]byte
	subgroupSize       uint32
	subgroupStages     uint32
	subgroupOperations uint32
	_                  [28]byte
	maxAllocationSize  uint64
}

type driverProperties struct {
	sType       structureType
	next        unsafe.Pointer
	id          uint32
	name        [256]byte
	info        [256]byte
	conformance uint32
}

// floatControlsProperties is VkPhysicalDeviceFloatControlsProperties. Its arrays are indexed by
// width: 16, 32 and 64 bits.
type floatControlsProperties struct {
	sType                    structureType
	next                     unsafe.Pointer
	denormIndependence       uint32
	roundingIndependence     uint32
	signedZeroInfNanPreserve [3]uint32
	denormPreserve           [3]uint32
	_                        [3]uint32 // denormFlushToZero
	roundingModeRTE          [3]uint32
	_                        [3]uint32 // roundingModeRTZ
}

type memoryType struct {
	properties uint32
	heap       uint32
}

type memoryHeap struct {
	size  uint64
	flags uint32
}

type memoryProperties2 struct {
	sType     structureType
	next      unsafe.Pointer
	typeCount uint32
	types     [32]memoryType
	heapCount uint32
	heaps     [16]memoryHeap
}

type memoryBudgetProperties struct {
	sType  structureType
	next   unsafe.Pointer
	budget [16]uint64
	usage  [16]uint64
}

type queueFamilyProperties struct {
	flags         uint32
	count         uint32
	timestampBits uint32
	_             [3]uint32
}

// featureSet holds one of Vulkan's structs of features. sType selects the struct; drivers access only
// the fields of that struct.
type featureSet struct {
	sType    structureType
	next     unsafe.Pointer
	switches [56]uint32
}

type deviceQueueCreateInfo struct {
	sType      structureType
	_          unsafe.Pointer // next
	_          uint32         // flags
	family     uint32
	count      uint32
	priorities unsafe.Pointer
}

type deviceCreateInfo struct {
	sType          structureType
	next           unsafe.Pointer
	flags          uint32
	queueCount     uint32
	queues         *deviceQueueCreateInfo
	layerCount     uint32
	layers         unsafe.Pointer
	extensionCount uint32
	extensions     unsafe.Pointer
	features       unsafe.Pointer
}

type queryPoolCreateInfo struct {
	sType structureType
	_     unsafe.Pointer // next
	_     uint32         // flags
	kind  uint32
	count uint32
	_     uint32 // pipelineStatistics
}

type bufferCreateInfo struct {
	sType       structureType
	next        unsafe.Pointer
	flags       uint32
	size        uint64
	usage       uint32
	sharing     uint32
	familyCount uint32
	families    unsafe.Pointer
}

type memoryRequirements struct {
	size      uint64
	alignment uint64
	types     uint32
}

type memoryAllocateInfo struct {
	sType structureType
	next  *memoryAllocateFlagsInfo
	size  uint64
	index uint32
}

type memoryAllocateFlagsInfo struct {
	sType structureType
	_     unsafe.Pointer // next
	flags uint32
	_     uint32 // deviceMask
}

type bufferDeviceAddressInfo struct {
	sType  structureType
	next   unsafe.Pointer
	buffer handle
}

type bufferCopy struct {
	from, to, size uint64
}

type shaderModuleCreateInfo struct {
	sType structureType
	next  unsafe.Pointer
	flags uint32
	size  uintptr
	code  *uint32
}

type pushConstantRange struct {
	stages, _, size uint32
}

type pipelineLayoutCreateInfo struct {
	sType      structureType
	next       unsafe.Pointer
	flags      uint32
	setCount   uint32
	sets       unsafe.Pointer
	rangeCount uint32
	ranges     *pushConstantRange
}

type pipelineCacheCreateInfo struct {
	sType structureType
	next  unsafe.Pointer
	flags uint32
	size  uintptr
	data  *byte
}

type pipelineShaderStageCreateInfo struct {
	sType          structureType
	next           unsafe.Pointer
	flags          uint32
	stage          uint32
	module         handle
	name           *byte
	specialization unsafe.Pointer
}

type computePipelineCreateInfo struct {
	sType     structureType
	next      unsafe.Pointer
	flags     uint32
	stage     pipelineShaderStageCreateInfo
	layout    handle
	base      handle
	baseIndex int32
}

type commandPoolCreateInfo struct {
	sType  structureType
	next   unsafe.Pointer
	flags  uint32
	family uint32
}

type commandBufferAllocateInfo struct {
	sType structureType
	next  unsafe.Pointer
	pool  handle
	level uint32
	count uint32
}

type commandBufferBeginInfo struct {
	sType       structureType
	next        unsafe.Pointer
	flags       uint32
	inheritance unsafe.Pointer
}

type memoryBarrier struct {
	sType       structureType
	next        unsafe.Pointer
	source      uint32
	destination uint32
}

type semaphoreTypeCreateInfo struct {
	sType structureType
	_     unsafe.Pointer // next
	kind  uint32
	_     uint64 // initial
}

type semaphoreCreateInfo struct {
	sType structureType
	next  *semaphoreTypeCreateInfo
	flags uint32
}

type timelineSemaphoreSubmitInfo struct {
	sType       structureType
	_           unsafe.Pointer // next
	_           uint32         // waitCount
	_           unsafe.Pointer // waits
	signalCount uint32
	signals     *uint64
}

type submitInfo struct {
	sType        structureType
	next         *timelineSemaphoreSubmitInfo
	waitCount    uint32
	waits        unsafe.Pointer
	waitStages   unsafe.Pointer
	commandCount uint32
	commands     *uintptr
	signalCount  uint32
	signals      *handle
}

// version returns major.minor as Vulkan encodes it.
func version(major, minor uint32) uint32 { return major<<22 | minor<<12 }

func versionText(v uint32) string { return fmt.Sprintf("%d.%d", v>>22&0x7f, v>>12&0x3ff) }

// cString returns a copy of s with a terminating zero byte.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }

// cStrings returns an array of C strings, or nil for an empty list.
func cStrings(list []string) unsafe.Pointer {
	if len(list) == 0 {
		return nil
	}
	array := make([]*byte, len(list))
	for i, s := range list {
		array[i] = cString(s)
	}
	return unsafe.Pointer(&array[0])
}

// goString converts a C string. It returns "" for nil.
func goString(s *byte) string {
	if s == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}
