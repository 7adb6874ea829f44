package vulkan

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// module is a loaded module of SPIR-V. A kernel is compiled by CompileAll, or when it is first requested.
type module struct {
	device *device
	shader *shader
	handle handle
	using  sync.RWMutex // held for reading while the handle is in use
	mu     sync.Mutex   // guards kernels
	// kernels holds the compiled kernels by name. It is nil once the module is closed.
	kernels map[string]*kernel
}

// kernel is a compiled kernel.
type kernel struct {
	module *module
	// info is what the kernel was first requested with. Before that, Args is argsUnknown.
	info     gpu.KernelInfo
	pipeline handle
}

// argsUnknown stands for the number of arguments of a kernel that was not requested yet.
const argsUnknown = -1

// maxArguments is how many arguments a kernel may have.
const maxArguments = 4096

func (d *device) Load(code []byte) (gpu.Module, error) {
	highest := uint32(5) // of Vulkan 1.2
	if min(d.apiVersion, d.adapter.properties.apiVersion) >= version(1, 3) {
		highest = 6
	}
	s, err := readShader(code, highest)
	if err != nil {
		return nil, fmt.Errorf("vulkan: load: %w", err)
	}
	for _, c := range s.capabilities {
		if lacks := missingFeature(d.adapter.info.Features, c); lacks != "" {
			return nil, fmt.Errorf("vulkan: load: %s lacks %s, which the code needs", d.adapter.info.Name, lacks)
		}
	}
	s.dropControls(d.adapter.info.Features)
	m, err := adopt(d, func() (*module, error) {
		m := &module{device: d, shader: s, kernels: map[string]*kernel{}}
		create := &shaderModuleCreateInfo{sType: typeShaderModuleCreateInfo, size: uintptr(4 * len(s.words)), code: &s.words[0]}
		if err := d.vk.CreateShaderModule.try(d.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&m.handle))); err != nil {
			return nil, fmt.Errorf("vulkan: load: %w", err)
		}
		return m, nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (m *module) Kernel(info gpu.KernelInfo) (_ gpu.Kernel, err error) {
	m.using.RLock()
	defer m.using.RUnlock()
	if m.isClosed() {
		return nil, fmt.Errorf("vulkan: kernel %q: the module is closed", info.Name)
	}
	defer m.device.log.join(&err)
	k, err := m.compiled(info)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if k.info.Args == argsUnknown {
		k.info = info
	}
	if k.info != info {
		return nil, fmt.Errorf("vulkan: kernel %q: it was asked for before with %d arguments, now with %d", info.Name, k.info.Args, info.Args)
	}
	return k, nil
}

// CompileAll compiles all kernels, as many at a time as there are processors. It returns the error of the first
// kernel in the code that cannot be compiled; kernels after it may be compiled or not. Close waits for CompileAll.
func (m *module) CompileAll() (err error) {
	m.using.RLock()
	defer m.using.RUnlock()
	if m.isClosed() {
		return errors.New("vulkan: compile: the module is closed")
	}
	defer m.device.log.join(&err)
	names := m.shader.names
	return sideBySide(len(names), func(i int) error {
		_, err := m.compiled(gpu.KernelInfo{Name: names[i], Block: m.shader.blocks[names[i]]})
		return err
	})
}

// compiled returns the kernel of this name, whose module is in use. It compiles the kernel if that has not been done.
func (m *module) compiled(info gpu.KernelInfo) (*kernel, error) {
	err := m.check(info)
	if err == nil {
		m.mu.Lock()
		k := m.kernels[info.Name]
		m.mu.Unlock()
		if k != nil {
			return k, nil
		}
		if k, err = m.compile(info); err == nil {
			return k, nil
		}
	}
	return nil, fmt.Errorf("vulkan: kernel %q: %w", info.Name, err)
}

// check returns an error unless the module has the kernel and the device can run it.
func (m *module) check(info gpu.KernelInfo) error {
	block, ok := m.shader.blocks[info.Name]
	limits := &m.device.adapter.properties.limits
	switch {
	case !ok:
		return errors.New("the code has no entry point of this name with a LocalSize")
	case block != info.Block:
		return fmt.Errorf("its LocalSize is %v, want the block %v", block, info.Block)
	case info.Shared != 0:
		return fmt.Errorf("want %d bytes of shared memory beyond what the code declares, which Vulkan does not have", info.Shared)
	case info.Args < 0 || info.Args > maxArguments:
		return fmt.Errorf("%d arguments: want 0 to %d", info.Args, maxArguments)
	}
	threads := 1
	for i, n := range block {
		if n < 1 || n > int(limits.maxComputeWorkGroupSize[i]) {
			return fmt.Errorf("block %v: the device takes %v at most", block, limits.maxComputeWorkGroupSize)
		}
		threads *= n
	}
	if threads > int(limits.maxComputeWorkGroupInvocations) {
		return fmt.Errorf("block %v has %d threads, the device takes %d at most", block, threads, limits.maxComputeWorkGroupInvocations)
	}
	return nil
}

// compile makes the kernel's pipeline. Several kernels may be compiled at a time. If two goroutines
// compile the same kernel, one result is thrown away.
func (m *module) compile(info gpu.KernelInfo) (*kernel, error) {
	d := m.device
	k := &kernel{module: m, info: info}
	k.info.Args = argsUnknown
	create := &computePipelineCreateInfo{
		sType: typeComputePipelineCreateInfo,
		stage: pipelineShaderStageCreateInfo{
			sType: typePipelineShaderStageCreateInfo, stage: shaderStageCompute, module: m.handle, name: cString(info.Name),
		},
		layout:    d.layout,
		baseIndex: -1,
	}
	if err := d.vk.CreateComputePipelines.try(d.handle, uintptr(d.cache.handle), 1, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&k.pipeline))); err != nil {
		return nil, err
	}
	d.cache.grown.Store(true)
	m.mu.Lock()
	defer m.mu.Unlock()
	if other := m.kernels[info.Name]; other != nil {
		d.vk.DestroyPipeline.call(d.handle, uintptr(k.pipeline), 0)
		return other, nil
	}
	m.kernels[info.Name] = k
	return k, nil
}

func (m *module) Close() {
	m.shut()
	m.device.forget(m)
}

func (m *module) shut() error {
	m.using.Lock()
	defer m.using.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kernels == nil {
		return nil
	}
	d := m.device
	for _, k := range m.kernels {
		d.vk.DestroyPipeline.call(d.handle, uintptr(k.pipeline), 0)
	}
	d.vk.DestroyShaderModule.call(d.handle, uintptr(m.handle), 0)
	m.kernels = nil
	return nil
}

// launchable returns k as a kernel of the device. It returns an error if k cannot be launched with
// this grid and this number of arguments.
func (d *device) launchable(k gpu.Kernel, grid [3]int, args int) (*kernel, error) {
	kernel, ok := k.(*kernel)
	if !ok || kernel == nil {
		return nil, fmt.Errorf("vulkan: launch: %T is not a kernel of Vulkan", k)
	}
	limit := d.adapter.properties.limits.maxComputeWorkGroupCount
	switch info := &kernel.info; {
	case kernel.module.device != d:
		return nil, fmt.Errorf("vulkan: launch %s: the kernel is of another device", info.Name)
	case kernel.module.isClosed():
		return nil, fmt.Errorf("vulkan: launch %s: its module is closed", info.Name)
	case args != info.Args:
		return nil, fmt.Errorf("vulkan: launch %s: %d arguments, want %d", info.Name, args, info.Args)
	case min(grid[0], grid[1], grid[2]) < 0:
		return nil, fmt.Errorf("vulkan: launch %s: grid %v is negative", info.Name, grid)
	case uint64(grid[0]) > uint64(limit[0]) || uint64(grid[1]) > uint64(limit[1]) || uint64(grid[2]) > uint64(limit[2]):
		return nil, fmt.Errorf("vulkan: launch %s: grid %v is too large, %s takes %v at most", info.Name, grid, d.adapter.info.Name, limit)
	}
	return kernel, nil
}

func (m *module) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kernels == nil
}
