package vulkan

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

type command struct {
	name    string // "vkCreateBuffer"
	address uintptr
}

// call calls the function. A pointer p is passed as uintptr(unsafe.Pointer(p)).
//
//go:uintptrescapes
func (c command) call(args ...uintptr) uintptr { return call(c.address, args...) }

// try calls the function, which must return a VkResult. It returns an error for any result other
// than VK_SUCCESS.
//
//go:uintptrescapes
func (c command) try(args ...uintptr) error {
	return c.failed(result(int32(call(c.address, args...))))
}

func (c command) failed(r result) error {
	if r == success {
		return nil
	}
	return &commandError{c.name, r}
}

// findCommands sets the fields of *commands, a struct of functions, to functions of Vulkan. The
// field CreateBuffer becomes vkCreateBuffer, and so on. The addresses come from lookup(handle,
// name). findCommands returns an error if a function is missing.
func findCommands(commands any, lookup, handle uintptr) error {
	v := reflect.ValueOf(commands).Elem()
	for i := range v.NumField() {
		c := command{name: "vk" + v.Type().Field(i).Name}
		if c.address = call(lookup, handle, uintptr(unsafe.Pointer(cString(c.name)))); c.address == 0 {
			return fmt.Errorf("the driver has no %s", c.name)
		}
		v.Field(i).Set(reflect.ValueOf(c))
	}
	return nil
}

// loaderCommands are functions of Vulkan that are available before an instance has been created.
type loaderCommands struct {
	EnumerateInstanceVersion, EnumerateInstanceExtensionProperties, CreateInstance command
}

type instanceCommands struct {
	EnumeratePhysicalDevices, EnumerateDeviceExtensionProperties,
	GetPhysicalDeviceProperties, GetPhysicalDeviceProperties2, GetPhysicalDeviceFeatures2,
	GetPhysicalDeviceMemoryProperties2, GetPhysicalDeviceQueueFamilyProperties,
	CreateDevice, GetDeviceProcAddr command
}

// debugCommands are the functions of VK_EXT_debug_utils.
type debugCommands struct {
	CreateDebugUtilsMessengerEXT command
}

// deviceCommands are the functions of a device, called without the loader.
type deviceCommands struct {
	DestroyDevice, GetDeviceQueue,
	CreateBuffer, DestroyBuffer, GetBufferMemoryRequirements, GetBufferDeviceAddress,
	AllocateMemory, FreeMemory, BindBufferMemory, MapMemory,
	CreateShaderModule, DestroyShaderModule,
	CreatePipelineLayout, DestroyPipelineLayout,
	CreatePipelineCache, DestroyPipelineCache, GetPipelineCacheData,
	CreateComputePipelines, DestroyPipeline,
	CreateCommandPool, DestroyCommandPool, AllocateCommandBuffers,
	BeginCommandBuffer, EndCommandBuffer,
	CmdBindPipeline, CmdPushConstants, CmdDispatch, CmdCopyBuffer, CmdPipelineBarrier,
	CreateQueryPool, DestroyQueryPool, GetQueryPoolResults, CmdResetQueryPool, CmdWriteTimestamp,
	CreateSemaphore, DestroySemaphore, GetSemaphoreCounterValue,
	QueueSubmit command
}

type result int32

const (
	success                result = 0
	errorOutOfHostMemory   result = -1
	errorOutOfDeviceMemory result = -2
	errorDeviceLost        result = -4
	errorMemoryMap         result = -5
	errorLayerNotPresent   result = -6
	errorNoDriver          result = -9
	errorTooManyObjects    result = -10
)

var resultNames = map[result]string{
	errorOutOfHostMemory:   "VK_ERROR_OUT_OF_HOST_MEMORY",
	errorOutOfDeviceMemory: "VK_ERROR_OUT_OF_DEVICE_MEMORY",
	-3:                     "VK_ERROR_INITIALIZATION_FAILED",
	errorDeviceLost:        "VK_ERROR_DEVICE_LOST",
	errorMemoryMap:         "VK_ERROR_MEMORY_MAP_FAILED",
	errorLayerNotPresent:   "VK_ERROR_LAYER_NOT_PRESENT",
	-7:                     "VK_ERROR_EXTENSION_NOT_PRESENT",
	-8:                     "VK_ERROR_FEATURE_NOT_PRESENT",
	errorNoDriver:          "VK_ERROR_INCOMPATIBLE_DRIVER",
	errorTooManyObjects:    "VK_ERROR_TOO_MANY_OBJECTS",
	-13:                    "VK_ERROR_UNKNOWN",
	-1000012000:            "VK_ERROR_INVALID_SHADER_NV",
}

// String returns the result's name in Vulkan's header, such as "VK_ERROR_DEVICE_LOST".
func (r result) String() string {
	if name, ok := resultNames[r]; ok {
		return name
	}
	return fmt.Sprintf("VkResult %d", int32(r))
}

type commandError struct {
	command string
	result  result
}

// Error returns a text such as "vkQueueSubmit returns VK_ERROR_DEVICE_LOST". If there is an
// explanation, the text includes it.
func (e *commandError) Error() string {
	text := fmt.Sprintf("%s returns %v", e.command, e.result)
	if meaning := e.Unwrap(); meaning != nil {
		return fmt.Sprintf("%v: %s", meaning, text)
	}
	return text
}

// Unwrap returns the error of package gpu that corresponds to the result, or nil.
func (e *commandError) Unwrap() error {
	switch e.result {
	case errorDeviceLost:
		return gpu.ErrDeviceLost
	case errorOutOfDeviceMemory, errorOutOfHostMemory, errorTooManyObjects, errorMemoryMap:
		return gpu.ErrMemory
	}
	return nil
}
