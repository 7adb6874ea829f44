package vulkan

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// module is loaded code: one or more SPIR-V modules. A kernel is compiled by CompileAll or when it
// is first requested.
type module struct {
	device *device
	parts  []*part
	// held for reading while the handles are in use
	using sync.RWMutex
	mu    sync.Mutex // guards kernels
	// compiled kernels by name; nil once the module is closed
	kernels map[string]*kernel
}

// part is a SPIR-V module that the device can run.
type part struct {
	shader *shader
	handle handle
}

// part returns the first part that has the kernel called `name`, or nil if no part has it.
func (m *module) part(name string) *part {
	for _, p := range m.parts {
		if _, ok := p.shader.blocks[name]; ok {
			return p
		}
	}
	return nil
}

type kernel struct {
	module *module
	// the description at the first request; before that, Args is argsUnknown
	info     gpu.KernelInfo
	pipeline handle
}

// argsUnknown stands for the number of arguments as long as the kernel has not been requested.
const argsUnknown = -1

const maxArguments = 4096

func (d *device) Load(code []byte) (gpu.Module, error) {
	highest := uint32(5) // of Vulkan 1.2
	if min(d.apiVersion, d.adapter.properties.apiVersion) >= version(1, 3) {
		highest = 6
	}
	all, err := readShaders(code, highest)
	if err != nil {
		return nil, fmt.Errorf("vulkan: load: %w", err)
	}
	usable, err := choose(all, d.adapter.info.Features)
	if err != nil {
		return nil, fmt.Errorf("vulkan: load: %w: %s has %w", gpu.ErrFeature, d.adapter.info.Name, err)
	}
	m, err := adopt(d, func() (*module, error) {
		m := &module{device: d, kernels: map[string]*kernel{}}
		for _, s := range usable {
			s.dropControls(d.adapter.info.Features)
			p := &part{shader: s}
			create := &shaderModuleCreateInfo{sType: typeShaderModuleCreateInfo, size: uintptr(4 * len(s.words)), code: &s.words[0]}
			if err := d.vk.CreateShaderModule.try(d.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&p.handle))); err != nil {
				m.destroyParts()
				return nil, fmt.Errorf("vulkan: load: %w", err)
			}
			m.parts = append(m.parts, p)
		}
		return m, nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// choose returns the modules from which a device takes kernels. A device takes each kernel from the first module
// that has the kernel and whose features the device has. If a kernel has no such module, choose returns an
// error. The error lists the features that the device lacks for the first module with this kernel.
func choose(all []*shader, features []string) ([]*shader, error) {
	var usable []*shader
	taken, missing := map[string]bool{}, map[string][]string{} // by the names of kernels
	for _, s := range all {
		if lacks := s.lacks(features); len(lacks) > 0 {
			for _, name := range s.names {
				if missing[name] == nil {
					missing[name] = lacks
				}
			}
			continue
		}
		before := len(taken)
		for _, name := range s.names {
			taken[name] = true
		}
		if len(taken) > before || len(s.names) == 0 {
			usable = append(usable, s)
		}
	}
	for _, s := range all {
		for _, name := range s.names {
			if !taken[name] {
				return nil, fmt.Errorf("no %s, which the kernel %s needs", strings.Join(missing[name], ", "), name)
			}
		}
	}
	return usable, nil
}

// lacks returns the names of the features, and of the groups of subgroup operations, that the module requires and
// that are not in `features`.
func (s *shader) lacks(features []string) []string {
	var names []string
	for _, c := range s.capabilities {
		if name := missingFeature(features, c); name != "" {
			names = append(names, name)
		}
	}
	return names
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
	if k.info.Args != info.Args {
		return nil, fmt.Errorf("vulkan: kernel %q: it was asked for before with %d arguments, now with %d", info.Name, k.info.Args, info.Args)
	}
	return k, nil
}

// CompileAll implements [gpu.Compiling]. It compiles as many kernels at a time as there are processors. If a kernel
// cannot be compiled, later kernels may be left uncompiled. Close waits for CompileAll.
func (m *module) CompileAll() (err error) {
	m.using.RLock()
	defer m.using.RUnlock()
	if m.isClosed() {
		return errors.New("vulkan: compile: the module is closed")
	}
	defer m.device.log.join(&err)
	var infos []gpu.KernelInfo
	for _, p := range m.parts {
		for _, name := range p.shader.names {
			if m.part(name) == p {
				infos = append(infos, gpu.KernelInfo{Name: name, Block: p.shader.blocks[name]})
			}
		}
	}
	return sideBySide(len(infos), func(i int) error {
		_, err := m.compiled(infos[i])
		return err
	})
}

// compiled returns the kernel called info.Name. The first call compiles it. The caller holds
// m.using for reading.
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

// check returns an error if the module does not have a kernel that matches info, or if the device cannot run the
// kernel.
func (m *module) check(info gpu.KernelInfo) error {
	part := m.part(info.Name)
	limits := &m.device.adapter.properties.limits
	if part == nil {
		return errors.New("the code has no entry point of this name with a LocalSize")
	}
	block := part.shader.blocks[info.Name]
	switch {
	case block != info.Block:
		return fmt.Errorf("its LocalSize is %v, want the block %v", block, info.Block)
	case info.Shared != 0:
		return fmt.Errorf("want %d bytes of shared memory beyond what the code declares, which Vulkan does not have", info.Shared)
	case len(info.Maps) > 0:
		return errors.New("it copies boxes of tensors, which kernels for Vulkan do not")
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

// compile creates the kernel's pipeline. It may be called concurrently. If two goroutines compile the same kernel,
// one of the results is dropped.
func (m *module) compile(info gpu.KernelInfo) (*kernel, error) {
	d := m.device
	k := &kernel{module: m, info: info}
	k.info.Args = argsUnknown
	create := &computePipelineCreateInfo{
		sType: typeComputePipelineCreateInfo,
		stage: pipelineShaderStageCreateInfo{
			sType: typePipelineShaderStageCreateInfo, stage: shaderStageCompute, module: m.part(info.Name).handle, name: cString(info.Name),
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
	m.destroyParts()
	m.kernels = nil
	return nil
}

func (m *module) destroyParts() {
	d := m.device
	for _, p := range m.parts {
		d.vk.DestroyShaderModule.call(d.handle, uintptr(p.handle), 0)
	}
}

// launchable returns k as a kernel of the device. It returns an error if k cannot be launched with
// this grid and number of arguments.
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
