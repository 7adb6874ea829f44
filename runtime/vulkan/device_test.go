package vulkan

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// TestLayout compares structs with the sizes and offsets that a C compiler gives those of the header.
func TestLayout(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("structs have C's layout on 64-bit machines only")
	}
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"VkApplicationInfo", unsafe.Sizeof(applicationInfo{}), 48},
		{"VkInstanceCreateInfo", unsafe.Sizeof(instanceCreateInfo{}), 64},
		{"VkDebugUtilsMessengerCreateInfoEXT", unsafe.Sizeof(debugMessengerCreateInfo{}), 48},
		{"VkDebugUtilsMessengerCallbackDataEXT.pMessage", unsafe.Offsetof(debugMessage{}.text), 40},
		{"VkExtensionProperties", unsafe.Sizeof(extensionProperties{}), 260},
		{"VkPhysicalDeviceLimits", unsafe.Sizeof(limits{}), 504},
		{"VkPhysicalDeviceLimits.maxMemoryAllocationCount", unsafe.Offsetof(limits{}.maxMemoryAllocationCount), 36},
		{"VkPhysicalDeviceLimits.maxComputeSharedMemorySize", unsafe.Offsetof(limits{}.maxComputeSharedMemorySize), 216},
		{"VkPhysicalDeviceLimits.maxComputeWorkGroupCount", unsafe.Offsetof(limits{}.maxComputeWorkGroupCount), 220},
		{"VkPhysicalDeviceLimits.maxComputeWorkGroupInvocations", unsafe.Offsetof(limits{}.maxComputeWorkGroupInvocations), 232},
		{"VkPhysicalDeviceLimits.maxComputeWorkGroupSize", unsafe.Offsetof(limits{}.maxComputeWorkGroupSize), 236},
		{"VkPhysicalDeviceLimits.timestampPeriod", unsafe.Offsetof(limits{}.timestampPeriod), 424},
		{"VkPhysicalDeviceProperties", unsafe.Sizeof(properties{}), 824},
		{"VkPhysicalDeviceProperties.deviceName", unsafe.Offsetof(properties{}.name), 20},
		{"VkPhysicalDeviceProperties.pipelineCacheUUID", unsafe.Offsetof(properties{}.pipelineCacheUUID), 276},
		{"VkPhysicalDeviceProperties.limits", unsafe.Offsetof(properties{}.limits), 296},
		{"VkPhysicalDeviceProperties2", unsafe.Sizeof(properties2{}), 840},
		{"VkPhysicalDeviceVulkan11Properties", unsafe.Sizeof(vulkan11Properties{}), 112},
		{"VkPhysicalDeviceVulkan11Properties.subgroupSize", unsafe.Offsetof(vulkan11Properties{}.subgroupSize), 64},
		{"VkPhysicalDeviceVulkan11Properties.maxMemoryAllocationSize", unsafe.Offsetof(vulkan11Properties{}.maxAllocationSize), 104},
		{"VkPhysicalDeviceDriverProperties", unsafe.Sizeof(driverProperties{}), 536},
		{"VkPhysicalDeviceDriverProperties.driverInfo", unsafe.Offsetof(driverProperties{}.info), 276},
		{"VkPhysicalDeviceFloatControlsProperties", unsafe.Sizeof(floatControlsProperties{}), 88},
		{"VkPhysicalDeviceFloatControlsProperties.shaderDenormPreserveFloat16", unsafe.Offsetof(floatControlsProperties{}.denormPreserve), 36},
		{"VkPhysicalDeviceFloatControlsProperties.shaderRoundingModeRTEFloat16", unsafe.Offsetof(floatControlsProperties{}.roundingModeRTE), 60},
		{"VkPhysicalDeviceMemoryProperties2", unsafe.Sizeof(memoryProperties2{}), 536},
		{"VkPhysicalDeviceMemoryBudgetPropertiesEXT", unsafe.Sizeof(memoryBudgetProperties{}), 272},
		{"VkPhysicalDeviceMemoryBudgetPropertiesEXT.heapUsage", unsafe.Offsetof(memoryBudgetProperties{}.usage), 144},
		{"VkQueueFamilyProperties", unsafe.Sizeof(queueFamilyProperties{}), 24},
		{"VkQueueFamilyProperties.timestampValidBits", unsafe.Offsetof(queueFamilyProperties{}.timestampBits), 8},
		{"VkQueryPoolCreateInfo", unsafe.Sizeof(queryPoolCreateInfo{}), 32},
		{"VkQueryPoolCreateInfo.queryCount", unsafe.Offsetof(queryPoolCreateInfo{}.count), 24},
		{"VkPhysicalDeviceFeatures2", unsafe.Sizeof(featureSet{}), 240},
		{"VkDeviceQueueCreateInfo", unsafe.Sizeof(deviceQueueCreateInfo{}), 40},
		{"VkDeviceCreateInfo", unsafe.Sizeof(deviceCreateInfo{}), 72},
		{"VkBufferCreateInfo", unsafe.Sizeof(bufferCreateInfo{}), 56},
		{"VkMemoryRequirements", unsafe.Sizeof(memoryRequirements{}), 24},
		{"VkMemoryAllocateInfo", unsafe.Sizeof(memoryAllocateInfo{}), 32},
		{"VkMemoryAllocateFlagsInfo", unsafe.Sizeof(memoryAllocateFlagsInfo{}), 24},
		{"VkBufferDeviceAddressInfo", unsafe.Sizeof(bufferDeviceAddressInfo{}), 24},
		{"VkBufferCopy", unsafe.Sizeof(bufferCopy{}), 24},
		{"VkShaderModuleCreateInfo", unsafe.Sizeof(shaderModuleCreateInfo{}), 40},
		{"VkPushConstantRange", unsafe.Sizeof(pushConstantRange{}), 12},
		{"VkPipelineLayoutCreateInfo", unsafe.Sizeof(pipelineLayoutCreateInfo{}), 48},
		{"VkPipelineCacheCreateInfo", unsafe.Sizeof(pipelineCacheCreateInfo{}), 40},
		{"VkPipelineShaderStageCreateInfo", unsafe.Sizeof(pipelineShaderStageCreateInfo{}), 48},
		{"VkComputePipelineCreateInfo", unsafe.Sizeof(computePipelineCreateInfo{}), 96},
		{"VkCommandPoolCreateInfo", unsafe.Sizeof(commandPoolCreateInfo{}), 24},
		{"VkCommandBufferAllocateInfo", unsafe.Sizeof(commandBufferAllocateInfo{}), 32},
		{"VkCommandBufferBeginInfo", unsafe.Sizeof(commandBufferBeginInfo{}), 32},
		{"VkMemoryBarrier", unsafe.Sizeof(memoryBarrier{}), 24},
		{"VkSemaphoreTypeCreateInfo", unsafe.Sizeof(semaphoreTypeCreateInfo{}), 32},
		{"VkSemaphoreCreateInfo", unsafe.Sizeof(semaphoreCreateInfo{}), 24},
		{"VkTimelineSemaphoreSubmitInfo", unsafe.Sizeof(timelineSemaphoreSubmitInfo{}), 48},
		{"VkSubmitInfo", unsafe.Sizeof(submitInfo{}), 72},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		result result
		want   string
		is     error
	}{
		{errorDeviceLost, "the GPU was lost, or a kernel failed: vkDo returns VK_ERROR_DEVICE_LOST", gpu.ErrDeviceLost},
		{errorOutOfDeviceMemory, "not enough device memory: vkDo returns VK_ERROR_OUT_OF_DEVICE_MEMORY", gpu.ErrMemory},
		{-3, "vkDo returns VK_ERROR_INITIALIZATION_FAILED", nil},
		{-77, "vkDo returns VkResult -77", nil},
	} {
		err := command{name: "vkDo"}.failed(c.result)
		if err.Error() != c.want || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("error %q, want %q", err, c.want)
		}
	}
	if err := (command{}).failed(success); err != nil {
		t.Errorf("success is the error %v", err)
	}
}

func TestValidationMessagesAreErrors(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		if d.log == nil {
			t.Skip("without the validation layer")
		}
		var b handle
		if _, err := d.newBuffer(0, &b); err == nil {
			d.vk.DestroyBuffer.call(d.handle, uintptr(b), 0)
		}
		_, err := d.Alloc(1)
		wantError(t, err, "validation: ")
		wantError(t, err, "VkBufferCreateInfo")
		_, err = d.Alloc(1)
		must(t, err)
	})
}

func TestAfterClose(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		m, err := d.Load(testModule())
		must(t, err)
		closed, err := d.Load(testModule())
		must(t, err)
		nothing, err := closed.Kernel(gpu.KernelInfo{Name: "nothing", Block: [3]int{64, 1, 1}})
		must(t, err)
		closed.Close()
		wantError(t, q.Launch(nothing, [3]int{1, 1, 1}, nil), "its module is closed")
		at := allocate(t, d, 256)
		g, err := q.Record(func(r gpu.Queue) error { return r.Upload(at, make([]byte, 256)) })
		must(t, err, q.Replay(g))
		late := openQueue(t, d)
		must(t, late.Close(), late.Close())

		must(t, d.Close(), d.Close())
		if d.Info().Name == "" {
			t.Error("a closed device has no name")
		}
		d.Free(at)
		_, err = d.Alloc(1)
		wantError(t, err, "closed")
		_, err = d.Load(testModule())
		wantError(t, err, "closed")
		_, err = d.Queue()
		wantError(t, err, "closed")
		_, err = m.Kernel(gpu.KernelInfo{Name: "nothing", Block: [3]int{64, 1, 1}})
		wantError(t, err, "closed")
		for _, q := range []gpu.Queue{q, late} {
			_, err = q.Record(func(gpu.Queue) error { return nil })
			for _, err := range []error{
				err, q.Upload(at, make([]byte, 1)), q.Download(make([]byte, 1), at), q.Replay(g), q.Wait(forever),
				q.Launch(kernels["nothing"], [3]int{1, 1, 1}, nil),
			} {
				wantError(t, err, "closed")
			}
			must(t, q.Close())
		}
		g.Close()
		m.Close()
	})
}

// TestCloseWhileInUse closes a device that goroutines work on. They get errors.
func TestCloseWhileInUse(t *testing.T) {
	onDevices(t, func(t *testing.T, first *device) {
		for range 10 {
			d := open(t, first.Info().Index)
			count := loaded(t, d)["count"]
			var wg sync.WaitGroup
			started := make(chan struct{}, 8)
			for range 8 {
				wg.Go(func() {
					started <- struct{}{}
					for {
						if err := countTo(d, count, 2); err != nil {
							if !strings.Contains(err.Error(), "closed") {
								t.Error(err)
							}
							return
						}
					}
				})
			}
			for range 8 {
				<-started
			}
			must(t, d.Close())
			wg.Wait()
		}
	})
}

// TestCompileAll compiles the kernels of a module before they are requested.
func TestCompileAll(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		m, err := d.Load(testModule())
		must(t, err)
		must(t, m.(gpu.Compiling).CompileAll())
		compiled := maps.Clone(m.(*module).kernels)
		if len(compiled) != len(testKernels) {
			t.Errorf("%d kernels are compiled, want %d", len(compiled), len(testKernels))
		}
		must(t, m.(gpu.Compiling).CompileAll())
		for name, args := range testKernels {
			info := gpu.KernelInfo{Name: name, Block: m.(*module).parts[0].shader.blocks[name], Args: args}
			k, err := m.Kernel(info)
			must(t, err)
			if k != compiled[name] {
				t.Errorf("kernel %s is compiled twice", name)
			}
			info.Args++
			_, err = m.Kernel(info)
			wantError(t, err, "arguments, now with")
		}
		m.Close()
		wantError(t, m.(gpu.Compiling).CompileAll(), "the module is closed")

		// Two kernels have blocks that the device does not take. The first of them is reported.
		limit := d.adapter.properties.limits.maxComputeWorkGroupSize[0]
		large := newAssembler()
		for _, size := range []uint32{64, limit + 2, limit + 1} {
			large.kernel(fmt.Sprint("block", size), [3]uint32{size, 1, 1}, func(*kernelText) {})
		}
		all, err := readShaders(large.code(), 5)
		must(t, err)
		s := all[0]
		s.names = s.names[1:]                                                                       // the module has no code to compile
		oversized := &module{device: d, parts: []*part{{shader: s}}, kernels: map[string]*kernel{}} // the validation layer would not load it
		wantError(t, oversized.CompileAll(), fmt.Sprintf("kernel \"block%d\"", limit+2))
	})
}

func TestKernelErrors(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		code := testModule()
		load := func(change func(code []byte) []byte, want string) {
			t.Helper()
			_, err := d.Load(change(bytes.Clone(code)))
			wantError(t, err, want)
		}
		load(func([]byte) []byte { return nil }, "0 bytes are not a module")
		load(func(c []byte) []byte { return c[:len(c)-1] }, "are not a module")
		load(func(c []byte) []byte { return c[:len(c)-4] }, "cut off") // before the end of a function
		load(func(c []byte) []byte { return c[:24] }, "cut off")       // in an instruction
		load(func(c []byte) []byte { c[0] = 0; return c }, "SPIR-V with 0x07230203")
		load(func(c []byte) []byte { c[5] = 0; c[6] = 2; return c }, "SPIR-V 2.0")
		load(func(c []byte) []byte { c[5] = 9; return c }, "SPIR-V 1.9")
		load(func(c []byte) []byte { c[22] = 0; return c }, "cut off") // the first instruction has no words

		lacking := d.adapter.info.Features
		d.adapter.info.Features = nil
		half := newAssembler(9, 61)
		half.kernel("nothing", testBlock, func(*kernelText) {})
		_, err := d.Load(half.code())
		if !errors.Is(err, gpu.ErrFeature) {
			t.Errorf("error %v, want %v", err, gpu.ErrFeature)
		}
		wantError(t, err, "has no shaderFloat16, subgroup basic, which the kernel nothing needs")
		d.adapter.info.Features = []string{"shaderFloat16"}
		_, err = d.Load(half.code())
		wantError(t, err, "has no subgroup basic, which the kernel nothing needs")
		d.adapter.info.Features = lacking

		m, err := d.Load(code)
		must(t, err)
		info := gpu.KernelInfo{Name: "count", Block: [3]int{64, 1, 1}, Args: 2}
		bad := func(change func(*gpu.KernelInfo), want string) {
			t.Helper()
			i := info
			change(&i)
			_, err := m.Kernel(i)
			wantError(t, err, want)
		}
		bad(func(i *gpu.KernelInfo) { i.Name = "counts" }, `kernel "counts": the code has no entry point`)
		bad(func(i *gpu.KernelInfo) { i.Block[1] = 2 }, "its LocalSize is [64 1 1], want the block [64 2 1]")
		bad(func(i *gpu.KernelInfo) { i.Shared = 16 }, "shared memory")
		bad(func(i *gpu.KernelInfo) { i.Args = 5000 }, "5000 arguments")
		bad(func(i *gpu.KernelInfo) { i.Args = -1 }, "-1 arguments")
		k, err := m.Kernel(info)
		must(t, err)
		again, err := m.Kernel(info)
		must(t, err)
		if k != again {
			t.Error("a kernel is compiled twice")
		}
		bad(func(i *gpu.KernelInfo) { i.Args = 3 }, "with 2 arguments, now with 3")

		limit := d.adapter.properties.limits
		large := newAssembler()
		large.kernel("wide", [3]uint32{limit.maxComputeWorkGroupSize[0] + 1, 1, 1}, func(*kernelText) {})
		large.kernel("many", [3]uint32{limit.maxComputeWorkGroupInvocations / 2, 3, 1}, func(*kernelText) {})
		all, err := readShaders(large.code(), 5)
		must(t, err)
		s := all[0]
		oversized := &module{device: d, parts: []*part{{shader: s}}} // the validation layer would not load it
		wantError(t, oversized.check(gpu.KernelInfo{Name: "wide", Block: s.blocks["wide"]}), "the device takes [")
		wantError(t, oversized.check(gpu.KernelInfo{Name: "many", Block: s.blocks["many"]}), "threads, the device takes")

		q := openQueue(t, d)
		wantError(t, q.Launch(nil, [3]int{1, 1, 1}, nil), "<nil> is not a kernel of Vulkan")
		wantError(t, q.Launch(7, [3]int{1, 1, 1}, nil), "int is not a kernel of Vulkan")
		wantError(t, q.Launch((*kernel)(nil), [3]int{1, 1, 1}, nil), "is not a kernel of Vulkan")
		wantError(t, q.Launch(k, [3]int{1, 1, 1}, []uint64{1}), "launch count: 1 arguments, want 2")
		wantError(t, q.Launch(k, [3]int{1, -1, 1}, []uint64{1, 2}), "negative")
		for i := range 3 {
			grid := [3]int{1, 1, 1}
			grid[i] = int(limit.maxComputeWorkGroupCount[i]) + 1
			wantError(t, q.Launch(k, grid, []uint64{1, 2}), "is too large")
		}
		must(t, q.Launch(k, [3]int{1, 0, 1}, []uint64{1, 2}), q.Wait(forever))
		wantError(t, q.Replay(nil), "<nil> is not a graph of Vulkan")

		other := open(t, d.Info().Index)
		stranger := openQueue(t, other)
		wantError(t, stranger.Launch(k, [3]int{1, 1, 1}, []uint64{1, 2}), "of another device")
		g, err := q.Record(func(gpu.Queue) error { return nil })
		must(t, err)
		wantError(t, stranger.Replay(g), "of another device")
	})
}

func TestKernelsFromManyGoroutines(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		m, err := d.Load(testModule())
		must(t, err)
		kernels := make([]gpu.Kernel, 8)
		var wg sync.WaitGroup
		for i := range kernels {
			wg.Go(func() {
				var err error
				if kernels[i], err = m.Kernel(gpu.KernelInfo{Name: "spin", Block: [3]int{64, 1, 1}, Args: 2}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, k := range kernels {
			if k != kernels[0] {
				t.Error("one name has several kernels")
			}
		}
		wg.Go(m.Close)
		wg.Go(m.Close)
		wg.Wait()
	})
}

// TestPipelineCache asserts that the cache is written, read again, and ignored when it is broken.
func TestPipelineCache(t *testing.T) {
	onDevices(t, func(t *testing.T, first *device) {
		index, name := first.Info().Index, first.cache.file
		run := func() {
			t.Helper()
			d, err := Driver().Open(index)
			must(t, err)
			must(t, countTo(d, loaded(t, d)["count"], 2), d.Close())
		}
		user, err := os.UserCacheDir()
		must(t, err)
		path := filepath.Join(user, "burngen", name)
		must(t, os.RemoveAll(filepath.Dir(path)))
		run()
		if len(gpu.ReadCache(name)) == 0 {
			t.Fatal("nothing is kept")
		}
		before, err := os.Stat(path)
		must(t, err)
		kept := gpu.ReadCache(name)
		run()
		isSame := bytes.Equal(gpu.ReadCache(name), kept) // SwiftShader gives other bytes each time
		if after, err := os.Stat(path); err != nil || isSame && !after.ModTime().Equal(before.ModTime()) {
			t.Errorf("the file is written again, though nothing is new (%v)", err)
		}
		data := gpu.ReadCache(name)
		for _, bad := range [][]byte{{}, {1, 2, 3}, data[:len(data)/2], bytes.Repeat([]byte{0xff}, 1000)} {
			must(t, os.WriteFile(path, bad, 0o600))
			run()
			must(t, gpu.WriteCache(name, bad)) // whole, but not of the driver
			run()
		}
		must(t, os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600)) // no folder
		run()
		must(t, os.Remove(filepath.Dir(path)))
	})
}

// TestPipelineCacheIsSavedRarely compiles kernels right after the cache was saved. They are saved when the device is
// closed, or when some time has passed.
func TestPipelineCacheIsSavedRarely(t *testing.T) {
	onDevices(t, func(t *testing.T, first *device) {
		for _, wait := range []bool{false, true} {
			user, err := os.UserCacheDir()
			must(t, err, os.RemoveAll(filepath.Join(user, "burngen")))
			d := open(t, first.Info().Index)
			gone := func() bool { return len(gpu.ReadCache(d.cache.file)) == 0 }
			must(t, countTo(d, loaded(t, d)["count"], 2))
			if gone() {
				t.Fatal("the cache is not saved")
			}
			must(t, os.RemoveAll(filepath.Join(user, "burngen")))
			d.cache.saved = [32]byte{} // the driver's data may be the same
			d.cache.next = time.Now().Add(time.Hour)
			kernel := loaded(t, d)["count"]
			must(t, countTo(d, kernel, 2))
			if !gone() {
				t.Error("the cache is saved again at once")
			}
			if wait {
				d.cache.next = time.Now()
				must(t, countTo(d, kernel, 2))
			} else {
				must(t, d.Close())
			}
			if gone() {
				t.Errorf("the cache is not saved later (%t)", wait)
			}
		}
	})
}

// TestSurveyIsKept asks for the devices twice, and changes what the first call returned.
func TestSurveyIsKept(t *testing.T) {
	onDevices(t, func(t *testing.T, first *device) {
		_, before, _, err := examine()
		must(t, err)
		list, err := Devices()
		must(t, err)
		list[0].Features[0], list[0].Name = "none", "nothing"
		first.adapter.info.Name = "nothing"
		_, after, _, err := examine()
		must(t, err)
		for i := range before {
			if before[i] != after[i] || after[i].info.Name == "nothing" || after[i].info.Features[0] == "none" {
				t.Errorf("device %d: %+v", i, after[i].info)
			}
		}
	})
}

// TestLeaksAreReported leaves a buffer. Closing the device is an error then, which the other tests
// rely on.
func TestLeaksAreReported(t *testing.T) {
	onDevices(t, func(t *testing.T, first *device) {
		d := open(t, first.Info().Index)
		if d.log == nil {
			t.Skip("without the validation layer")
		}
		var b handle
		_, err := d.newBuffer(256, &b)
		must(t, err)
		wantError(t, d.Close(), "has not been destroyed")
	})
}

// TestLostDevice replaces functions of the driver by ones that say that the device is lost.
func TestLostDevice(t *testing.T) {
	lost := callback(func(a, b, c, d uintptr) uintptr { return uintptr(uint32(0xffff_fffc)) })
	onDevices(t, func(t *testing.T, first *device) {
		for name, replace := range map[string]func(*deviceCommands) *command{
			"submit": func(vk *deviceCommands) *command { return &vk.QueueSubmit },
			"wait":   func(vk *deviceCommands) *command { return &vk.GetSemaphoreCounterValue },
		} {
			d := open(t, first.Info().Index)
			kernels, q := loaded(t, d), openQueue(t, d)
			at := allocate(t, d, 256)
			got := make([]byte, 256)
			g, err := q.Record(func(r gpu.Queue) error { return r.Download(got, at) })
			must(t, err)
			must(t, q.Launch(kernels["nothing"], [3]int{1, 1, 1}, nil), q.Wait(forever))
			before := *replace(&d.vk)
			replace(&d.vk).address = lost
			must(t, q.Launch(kernels["nothing"], [3]int{1, 1, 1}, nil))
			errs := []error{q.Wait(forever), q.Wait(forever), q.Upload(at, got), q.Replay(g)}
			*replace(&d.vk) = before // the device is not lost: let it finish
			for _, err := range append(errs, q.Close()) {
				wantError(t, err, name+": the GPU was lost, or a kernel failed: "+before.name+" returns VK_ERROR_DEVICE_LOST")
				if !errors.Is(err, gpu.ErrDeviceLost) {
					t.Errorf("error %v, want %v", err, gpu.ErrDeviceLost)
				}
			}
		}
	})
}
