package vulkan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// adapter is a physical device, with its properties and the features to enable.
type adapter struct {
	handle     uintptr
	properties properties
	// largest size in bytes of one allocation
	maxAlloc int64
	memory   memoryProperties2
	// index of a queue family with compute
	family uint32
	// number of queues in that family
	queues uint32
	// number of valid bits of a timestamp, or 0 without timestamps
	clockBits uint32
	// the extensions to enable
	extensions []string
	// the features to enable
	features *[featureSets]featureSet
	info     gpu.Info
}

// optionalExtensions lists the extensions that are enabled if the device has them.
// VK_KHR_portability_subset must be enabled on devices that have it.
var optionalExtensions = []string{
	"VK_EXT_memory_budget", "VK_KHR_portability_subset", extensionCooperativeMatrix, extensionBfloat16,
}

// adapters returns the usable physical devices, in the order of Devices. It returns an error if no
// device is usable.
func adapters() (in *instance, list []*adapter, err error) {
	in, list, unfit, err := examine()
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("vulkan: %w: %s", gpu.ErrNoDevice, strings.Join(unfit, "; "))
	}
	return in, list, err
}

// survey is the result of examining the physical devices of an instance.
type survey struct {
	// usable devices, in the order of Devices
	list []*adapter
	// for each other device, a line with the reason
	unfit []string
}

// examine returns the usable physical devices in the order of [Devices]. unfit has a line for each
// other device, with the reason. It caches the result, because each loaded model calls it.
func examine() (in *instance, list []*adapter, unfit []string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("vulkan: %w: %w", gpu.ErrNoDevice, err)
		} else {
			in.log.join(&err)
		}
	}()
	if in, err = connect(); err != nil {
		return nil, nil, nil, err
	}
	in.examined.Lock()
	defer in.examined.Unlock()
	if in.found == nil {
		if in.found, err = in.survey(); err != nil {
			return nil, nil, nil, err
		}
	}
	return in, in.found.list, in.found.unfit, nil
}

func (in *instance) survey() (*survey, error) {
	var count uint32
	if err := in.vk.EnumeratePhysicalDevices.try(in.handle, uintptr(unsafe.Pointer(&count)), 0); err != nil {
		return nil, err
	}
	if count == 0 {
		return nil, errNoDriver
	}
	handles := make([]uintptr, count)
	if err := in.vk.EnumeratePhysicalDevices.try(in.handle, uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&handles[0]))); err != nil {
		return nil, err
	}
	s := &survey{}
	for _, h := range handles[:count] {
		a := &adapter{handle: h}
		if err := a.read(in); err != nil {
			s.unfit = append(s.unfit, fmt.Sprintf("%s: %v", goString(&a.properties.name[0]), err))
			continue
		}
		s.list = append(s.list, a)
	}
	slices.SortStableFunc(s.list, func(a, b *adapter) int { return cmp.Compare(a.rank(), b.rank()) })
	for i, a := range s.list {
		a.info.Index = i
	}
	return s, nil
}

// software is the rank of devices that compute on the CPU.
const software = 4

// rank returns the place of the device's type in the order of devices: discrete, integrated,
// virtual, other, and last devices that compute on the CPU.
func (a *adapter) rank() int {
	const other, integrated, discrete, virtual = 0, 1, 2, 3
	switch a.properties.deviceType {
	case discrete:
		return 0
	case integrated:
		return 1
	case virtual:
		return 2
	case other:
		return 3
	}
	return software
}

// maxAllocation returns the largest size in bytes of an allocation. limit is the driver's limit. On
// some devices, kernels access arrays as 32-bit words and index the words by an i32. The size is
// then at most 8 GiB.
func maxAllocation(limit uint64, enabled *[featureSets]featureSet) int64 {
	if usesWords(enabled) {
		limit = min(limit, 4<<31)
	}
	return int64(min(limit, 1<<62))
}

// read queries the properties of the device. If the device is not usable, it returns an error with
// the reason, such as a missing feature.
func (a *adapter) read(in *instance) error {
	in.vk.GetPhysicalDeviceProperties.call(a.handle, uintptr(unsafe.Pointer(&a.properties)))
	if have := a.properties.apiVersion; have < version(1, 2) {
		return fmt.Errorf("has Vulkan %s, want 1.2", versionText(have))
	}
	all, err := in.extensions(in.vk.EnumerateDeviceExtensionProperties, a.handle)
	if err != nil {
		return err
	}
	for _, e := range optionalExtensions {
		if slices.Contains(all, e) {
			a.extensions = append(a.extensions, e)
		}
	}

	floats := &floatControlsProperties{sType: typeFloatControlsProperties}
	driver := &driverProperties{sType: typeDriverProperties, next: unsafe.Pointer(floats)}
	vulkan11 := &vulkan11Properties{sType: typeVulkan11Properties, next: unsafe.Pointer(driver)}
	properties := &properties2{sType: typeProperties2, next: unsafe.Pointer(vulkan11)}
	in.vk.GetPhysicalDeviceProperties2.call(a.handle, uintptr(unsafe.Pointer(properties)))

	a.memory.sType = typeMemoryProperties2
	in.vk.GetPhysicalDeviceMemoryProperties2.call(a.handle, uintptr(unsafe.Pointer(&a.memory)))
	t, ok := a.memoryType(^uint32(0), memoryDeviceLocal)
	if !ok {
		return errors.New("has no memory of its own")
	}
	if err := a.findFamily(in); err != nil {
		return err
	}

	have := newFeatureSets(a.extensions)
	in.vk.GetPhysicalDeviceFeatures2.call(a.handle, uintptr(unsafe.Pointer(&have[0])))
	if a.features, err = enable(have, a.extensions); err != nil {
		return err
	}
	a.maxAlloc = maxAllocation(vulkan11.maxAllocationSize, a.features)
	a.info = gpu.Info{
		Name:       goString(&a.properties.name[0]),
		Memory:     int64(a.memory.heaps[a.memory.types[t].heap].size),
		Capability: versionText(a.properties.apiVersion),
		Driver:     strings.TrimSpace(goString(&driver.name[0]) + " " + goString(&driver.info[0])),
		Subgroup:   int(vulkan11.subgroupSize),
		Software:   a.rank() == software,
		Features:   append(featureNames(a.features, vulkan11), floatControlNames(floats)...),
		Missing:    missingFeatures(a.features),
	}
	return nil
}

// findFamily chooses the first queue family with compute. It returns an error if the device does
// not have such a family.
func (a *adapter) findFamily(in *instance) error {
	var count uint32
	in.vk.GetPhysicalDeviceQueueFamilyProperties.call(a.handle, uintptr(unsafe.Pointer(&count)), 0)
	families := make([]queueFamilyProperties, count+1) // one more, so that there is a first
	in.vk.GetPhysicalDeviceQueueFamilyProperties.call(a.handle, uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&families[0])))
	for i, f := range families[:count] {
		if f.flags&queueCompute != 0 {
			a.family, a.queues, a.clockBits = uint32(i), f.count, f.timestampBits
			return nil
		}
	}
	return errors.New("does not compute")
}

// memoryType returns the memory type with the largest heap. It considers the types in mask, a bit
// set, that have all of the given properties. On a tie it returns the first type, because drivers
// list faster types first. ok is false if there is no such type.
func (a *adapter) memoryType(mask, properties uint32) (best uint32, ok bool) {
	for i, t := range a.memory.types[:a.memory.typeCount] {
		if mask>>i&1 == 0 || t.properties&properties != properties {
			continue
		}
		if !ok || a.memory.heaps[t.heap].size > a.memory.heaps[a.memory.types[best].heap].size {
			best, ok = uint32(i), true
		}
	}
	return best, ok
}
