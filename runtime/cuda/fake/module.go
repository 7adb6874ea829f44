package fake

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// link is a linker that has been started.
type link struct {
	card           *card
	info, failures []byte // logs
	image          []byte
}

type module struct {
	card    *card
	program Program
}

type function struct {
	module  *module
	name    string
	kernel  Kernel
	dynamic int // bytes of shared memory that launches may ask for
}

func (g *GPU) linkCreate(n uint32, options *libcuda.JITOption, values *uintptr, out *libcuda.Link) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, r := g.here()
	if r != libcuda.Success {
		return r
	}
	l := &link{card: c}
	kinds, given := unsafe.Slice(options, n), unsafe.Slice(values, n)
	for i, kind := range kinds[:max(int(n)-1, 0)] {
		log := map[libcuda.JITOption]*[]byte{libcuda.InfoLog: &l.info, libcuda.ErrorLog: &l.failures}[kind]
		if log == nil {
			continue
		}
		if kinds[i+1] != kind+1 { // the size
			return libcuda.InvalidValue
		}
		*log = unsafe.Slice(*(**byte)(unsafe.Pointer(&given[i])), given[i+1])
	}
	*out = libcuda.Link(g.handle())
	g.links[*out] = l
	return libcuda.Success
}

// imageMagic is the beginning of the fake's compiled code. The rest of the code is the length of
// the PTX, the SHA-256 of the PTX, and the PTX.
const imageMagic = "fakecode"

const imageHeader = len(imageMagic) + 8 + sha256.Size

func (g *GPU) linkAddData(handle libcuda.Link, input uint32, data *byte, bytes uintptr, _ *byte, _ uint32, _ *libcuda.JITOption, _ *uintptr) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, r := g.here(); r != libcuda.Success {
		return r
	}
	l := g.links[handle]
	if l == nil {
		return libcuda.InvalidHandle
	}
	source := unsafe.Slice(data, bytes)
	if input != libcuda.InputPTX || len(source) == 0 || source[len(source)-1] != 0 {
		return libcuda.InvalidValue
	}
	text := string(source[:len(source)-1])
	program, err := g.options.Machine.Load(text)
	if err != nil {
		logTo(l.failures, err.Error()+"\n")
		return libcuda.InvalidPTX
	}
	if p, ok := program.(interface{ Log() string }); ok {
		logTo(l.info, p.Log())
	}
	sum := sha256.Sum256([]byte(text))
	l.image = binary.LittleEndian.AppendUint64([]byte(imageMagic), uint64(len(text)))
	l.image = append(append(l.image, sum[:]...), text...)
	return libcuda.Success
}

func logTo(log []byte, text string) {
	if len(log) > 0 {
		log[copy(log[:len(log)-1], text)] = 0
	}
}

func (g *GPU) linkComplete(handle libcuda.Link, code **byte, bytes *uintptr) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, r := g.here(); r != libcuda.Success {
		return r
	}
	l := g.links[handle]
	if l == nil || l.image == nil {
		return libcuda.InvalidHandle
	}
	*code, *bytes = &l.image[0], uintptr(len(l.image))
	return libcuda.Success
}

func (g *GPU) linkDestroy(handle libcuda.Link) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.links[handle]
	if l == nil {
		return libcuda.InvalidHandle
	}
	clear(l.image) // its owner was the linker
	delete(g.links, handle)
	return libcuda.Success
}

func (g *GPU) moduleLoadData(out *libcuda.Module, code *byte) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, r := g.here()
	if r != libcuda.Success {
		return r
	}
	if string(unsafe.Slice(code, len(imageMagic))) != imageMagic {
		return libcuda.InvalidImage
	}
	header := unsafe.Slice(code, imageHeader)
	length := int(binary.LittleEndian.Uint64(header[len(imageMagic):]))
	text := unsafe.Slice(code, imageHeader+length)[imageHeader:]
	if sum := sha256.Sum256(text); !slices.Equal(sum[:], header[imageHeader-sha256.Size:]) {
		return libcuda.InvalidImage
	}
	program, err := g.options.Machine.Load(string(text))
	if err != nil {
		return libcuda.InvalidImage
	}
	*out = libcuda.Module(g.handle())
	g.modules[*out] = &module{card: c, program: program}
	return libcuda.Success
}

func (g *GPU) moduleLoadDataEx(out *libcuda.Module, code *byte, n uint32, options *libcuda.JITOption, values *uintptr) libcuda.Result {
	var handle libcuda.Link
	if r := g.linkCreate(n, options, values, &handle); r != libcuda.Success {
		return r
	}
	defer g.linkDestroy(handle)
	text := libcuda.Text(code)
	if r := g.linkAddData(handle, libcuda.InputPTX, code, uintptr(len(text)+1), nil, 0, nil, nil); r != libcuda.Success {
		return r
	}
	var image *byte
	var size uintptr
	if r := g.linkComplete(handle, &image, &size); r != libcuda.Success {
		return r
	}
	return g.moduleLoadData(out, image)
}

func (g *GPU) moduleUnload(handle libcuda.Module) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, r := g.here(); r != libcuda.Success {
		return r
	}
	m := g.modules[handle]
	if m == nil {
		return libcuda.InvalidHandle
	}
	delete(g.modules, handle)
	dropOf(g.functions, func(f *function) bool { return f.module == m })
	return libcuda.Success
}

func (g *GPU) moduleGetFunction(out *libcuda.Function, handle libcuda.Module, name *byte) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, r := g.here(); r != libcuda.Success {
		return r
	}
	m := g.modules[handle]
	if m == nil {
		return libcuda.InvalidHandle
	}
	wanted := libcuda.Text(name)
	for known, f := range g.functions {
		if f.module == m && f.name == wanted {
			*out = known
			return libcuda.Success
		}
	}
	k, ok := m.program.Kernel(wanted)
	if !ok {
		return libcuda.NotFound
	}
	*out = libcuda.Function(g.handle())
	g.functions[*out] = &function{module: m, name: wanted, kernel: k, dynamic: 48<<10 - k.Shared}
	return libcuda.Success
}

// function returns the function of a handle. The result is not Success if there is no such
// function. The caller holds g.mu.
func (g *GPU) function(handle libcuda.Function) (*function, libcuda.Result) {
	if _, r := g.here(); r != libcuda.Success {
		return nil, r
	}
	f := g.functions[handle]
	if f == nil {
		return nil, libcuda.InvalidHandle
	}
	return f, libcuda.Success
}

func (f *function) threads() int {
	if f.kernel.Threads > 0 {
		return f.kernel.Threads
	}
	return 1024
}

func (g *GPU) funcGetAttr(value *int32, attr libcuda.FuncAttr, handle libcuda.Function) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, r := g.function(handle)
	if r != libcuda.Success {
		return r
	}
	values := map[libcuda.FuncAttr]int{
		libcuda.MaxThreadsPerBlock: f.threads(), libcuda.SharedSize: f.kernel.Shared, libcuda.MaxDynamicShared: f.dynamic,
		libcuda.ClusterWidth: f.kernel.Cluster[0], libcuda.ClusterHeight: f.kernel.Cluster[1], libcuda.ClusterDepth: f.kernel.Cluster[2],
	}
	v, ok := values[attr]
	if !ok {
		return libcuda.InvalidValue
	}
	*value = int32(v)
	return libcuda.Success
}

func (g *GPU) funcSetAttr(handle libcuda.Function, attr libcuda.FuncAttr, value int32) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, r := g.function(handle)
	switch {
	case r != libcuda.Success:
		return r
	case attr == libcuda.NonPortableCluster:
	case attr == libcuda.MaxDynamicShared && int(value) <= optinShared-f.kernel.Shared:
		f.dynamic = int(value)
	default:
		return libcuda.InvalidValue
	}
	return libcuda.Success
}

func (g *GPU) funcGetParamInfo(handle libcuda.Function, index uintptr, at, bytes *uintptr) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, r := g.function(handle)
	if r != libcuda.Success {
		return r
	}
	if index >= uintptr(len(f.kernel.Params)) {
		return libcuda.InvalidValue
	}
	*at, *bytes = 8*index, uintptr(f.kernel.Params[index])
	return libcuda.Success
}

func (g *GPU) launchKernel(handle libcuda.Function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared uint32, on libcuda.Stream, params, extra *unsafe.Pointer) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, r := g.streamLocked(on)
	if r != libcuda.Success {
		return r
	}
	do, r := g.launchAction(&libcuda.KernelNode{
		Function: handle, GridX: gridX, GridY: gridY, GridZ: gridZ, BlockX: blockX, BlockY: blockY, BlockZ: blockZ,
		Shared: shared, Params: params, Extra: extra,
	})
	if r == libcuda.Success {
		s.start(do)
	}
	return r
}

// launchAction returns an action that launches a kernel. The action has a copy of the kernel's
// parameters. The result is not Success if the launch is invalid. The caller holds g.mu.
func (g *GPU) launchAction(n *libcuda.KernelNode) (action, libcuda.Result) {
	f, r := g.function(n.Function)
	if r != libcuda.Success {
		return nil, r
	}
	grid := [3]int{int(n.GridX), int(n.GridY), int(n.GridZ)}
	block := [3]int{int(n.BlockX), int(n.BlockY), int(n.BlockZ)}
	switch threads := block[0] * block[1] * block[2]; {
	case slices.Contains(grid[:], 0) || grid[1] > 65535 || grid[2] > 65535 || threads == 0, n.Extra != nil, int(n.Shared) > f.dynamic:
		return nil, libcuda.InvalidValue
	case threads > f.threads():
		return nil, libcuda.OutOfResources
	}
	params := make([][]byte, len(f.kernel.Params))
	for i, p := range unsafe.Slice(n.Params, len(params)) {
		params[i] = slices.Clone(unsafe.Slice((*byte)(p), f.kernel.Params[i]))
	}
	m := f.module
	return func() (time.Duration, error) {
		if !g.isLoaded(m) {
			return 0, fmt.Errorf("%w: kernel %s was unloaded", ErrAddress, f.name)
		}
		return stepTime, m.program.Launch(f.name, grid, block, int(n.Shared), params, m.card)
	}, libcuda.Success
}

func (g *GPU) isLoaded(m *module) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, loaded := range g.modules {
		if loaded == m {
			return true
		}
	}
	return false
}
