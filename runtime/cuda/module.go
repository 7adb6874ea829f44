package cuda

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

type module struct {
	device *device
	handle libcuda.Module
	log    string
	mu     sync.Mutex // held while kernels are made
	closed atomic.Bool
}

type kernel struct {
	gpu.KernelInfo
	module   *module
	function libcuda.Function
}

func (d *device) Load(code []byte) (gpu.Module, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	m := &module{device: d}
	if err := m.load(code); err != nil {
		return nil, err
	}
	keep(d, d.modules, m)
	return m, nil
}

// load loads the module from the cache. If its code is not cached, or if the driver rejects the
// cached code, load compiles it. Code with setmaxnreg is not cached by this package; see loadText.
func (m *module) load(code []byte) (err error) {
	d := m.device
	d.driver.assembling.Lock()
	defer d.driver.assembling.Unlock()
	if bytes.Contains(code, []byte("\tsetmaxnreg.")) {
		m.handle, m.log, err = d.loadText(code)
		return err
	}
	cached := d.driver.cache.entry(d.info.Driver, d.info.Name, d.info.Capability, string(code))
	if binary, log, ok := cached.read(); ok && d.api.ModuleLoadData(&m.handle, &binary[0]) == libcuda.Success {
		m.log = log
		return nil
	}
	binary, log, err := d.assemble(code)
	if err != nil {
		return err
	}
	switch r := d.api.ModuleLoadData(&m.handle, &binary[0]); r {
	case libcuda.Success:
	case libcuda.OutOfMemory:
		return d.noMemory(fmt.Sprintf("a module of %d bytes is wanted", len(binary)))
	default:
		return d.failed(r, "loading a module")
	}
	m.log = log
	cached.write(binary, log)
	return nil
}

// Log returns the compiler's messages about the code.
func (m *module) Log() string { return m.log }

func (m *module) Kernel(k gpu.KernelInfo) (gpu.Kernel, error) {
	d := m.device
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed.Load() {
		return nil, errModuleClosed
	}
	made := &kernel{KernelInfo: k, module: m}
	name := append([]byte(k.Name), 0)
	switch r := d.api.ModuleGetFunction(&made.function, m.handle, &name[0]); {
	case r == libcuda.NotFound || strings.IndexByte(k.Name, 0) >= 0:
		return nil, fmt.Errorf("cuda: the code has no kernel %q", k.Name)
	case r != libcuda.Success:
		return nil, d.failed(r, "kernel %s", k.Name)
	}
	for _, check := range []func() error{made.checkBlock, made.checkArgs, made.allowShared, made.allowCluster} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (k *kernel) attr(attr libcuda.FuncAttr) (int, error) {
	var value int32
	if r := k.module.device.api.FuncGetAttr(&value, attr, k.function); r != libcuda.Success {
		return 0, k.module.device.failed(r, "kernel %s: attribute %d", k.Name, attr)
	}
	return int(value), nil
}

func (k *kernel) setAttr(attr libcuda.FuncAttr, value int) error {
	if r := k.module.device.api.FuncSetAttr(k.function, attr, int32(value)); r != libcuda.Success {
		return k.module.device.failed(r, "kernel %s: attribute %d = %d", k.Name, attr, value)
	}
	return nil
}

func (k *kernel) checkBlock() error {
	limit, err := k.attr(libcuda.MaxThreadsPerBlock)
	if err != nil {
		return err
	}
	threads := 1
	for _, n := range k.Block {
		if n < 1 || n > limit {
			return fmt.Errorf("cuda: kernel %s: blocks of %v threads, at most %d are possible", k.Name, k.Block, limit)
		}
		threads *= n
	}
	if threads > limit {
		return fmt.Errorf("cuda: kernel %s: blocks of %v = %d threads, at most %d are possible", k.Name, k.Block, threads, limit)
	}
	return nil
}

// checkArgs returns an error unless the code has k.Args parameters. A parameter may have at most 8
// bytes, or 128 bytes for a map. Otherwise the driver would read memory beyond the arguments.
// checkArgs returns nil for drivers before CUDA 12.4, which cannot report parameters.
func (k *kernel) checkArgs() error {
	api := k.module.device.api
	if api.FuncGetParamInfo == nil {
		return nil
	}
	n := 0
	for ; ; n++ {
		var at, bytes uintptr
		switch r := api.FuncGetParamInfo(k.function, uintptr(n), &at, &bytes); {
		case r == libcuda.InvalidValue:
			if n != k.Args {
				return fmt.Errorf("cuda: kernel %s has %d parameters, want %d", k.Name, n, k.Args)
			}
			return nil
		case r != libcuda.Success:
			return k.module.device.failed(r, "kernel %s: parameter %d", k.Name, n)
		case k.isMap(n) && bytes == mapBytes:
		case bytes > 8:
			return fmt.Errorf("cuda: kernel %s: parameter %d has %d bytes, want at most 8", k.Name, n, bytes)
		}
	}
}

// allowShared raises the function's limit of dynamic shared memory to k.Shared bytes. It returns an
// error if a block cannot have so much shared memory.
func (k *kernel) allowShared() error {
	d := k.module.device
	declared, err := k.attr(libcuda.SharedSize)
	if err != nil {
		return err
	}
	var limit int32
	if r := d.api.DeviceGetAttr(&limit, libcuda.MaxSharedMemoryOptin, d.handle); r != libcuda.Success {
		return d.failed(r, "shared memory of %s", d.info.Name)
	}
	if k.Shared < 0 || k.Shared > int(limit)-declared {
		return fmt.Errorf("cuda: kernel %s: %d bytes of shared memory beyond the %d declared, a block can have %d in all", k.Name, k.Shared, declared, limit)
	}
	allowed, err := k.attr(libcuda.MaxDynamicShared)
	if err != nil || k.Shared <= allowed {
		return err
	}
	return k.setAttr(libcuda.MaxDynamicShared, k.Shared)
}

// allowCluster allows clusters of more than 8 blocks, if the code needs such clusters.
func (k *kernel) allowCluster() error {
	blocks := 1
	for _, attr := range []libcuda.FuncAttr{libcuda.ClusterWidth, libcuda.ClusterHeight, libcuda.ClusterDepth} {
		n, err := k.attr(attr)
		if err != nil {
			return err
		}
		blocks *= max(n, 1)
	}
	if blocks <= 8 {
		return nil
	}
	return k.setAttr(libcuda.NonPortableCluster, 1)
}

func (m *module) Close() {
	if m.closed.Swap(true) || m.device.enter() != nil {
		return
	}
	defer m.device.leave()
	m.device.eachQueue(func(*queue) {}) // launches that began before are done
	m.mu.Lock()
	defer m.mu.Unlock()
	if !forget(m.device, m.device.modules, m) {
		return
	}
	if r := m.device.api.ModuleUnload(m.handle); r != libcuda.Success {
		m.device.failed(r, "unloading a module") // a loss is remembered for the next call
	}
}
