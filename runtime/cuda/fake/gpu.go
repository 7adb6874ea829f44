package fake

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

// Options configure the fake machine.
type Options struct {
	Machine Machine
	Cards   int    // 0 is 1; -1 is none
	Memory  int64  // bytes of a card; 0 is 1 GiB
	Version int32  // of the driver; 0 is 13000
	Cache   string // the folder for compiled code; "" keeps none
	// Capability is the compute capability of the cards, major and minor; 0 is 9.0.
	Capability [2]int32
}

// GPU is a machine with cards and a driver. Its methods are safe for concurrent use.
type GPU struct {
	options Options
	api     *libcuda.API
	hook    atomic.Pointer[func(function string) int32]
	gate    sync.RWMutex // read-locked by work while it runs

	mu        sync.Mutex // guards the fields below, and the objects of the handles
	calls     map[string]int
	fault     error
	cards     []*card
	current   map[int]*card // the card whose context is current, for each thread
	handles   uintptr       // number of handles given out
	address   uint64        // address of the next allocation
	pinned    map[*byte]pinned
	streams   map[libcuda.Stream]*stream
	events    map[libcuda.Event]*event
	links     map[libcuda.Link]*link
	modules   map[libcuda.Module]*module
	functions map[libcuda.Function]*function
	graphs    map[libcuda.Graph]*graph
	execs     map[libcuda.Exec]*exec
}

// New returns a fake machine.
func New(o Options) *GPU {
	if o.Cards == 0 {
		o.Cards = 1
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if o.Version == 0 {
		o.Version = 13000
	}
	if o.Capability == [2]int32{} {
		o.Capability = [2]int32{9, 0}
	}
	g := &GPU{
		options:   o,
		calls:     map[string]int{},
		current:   map[int]*card{},
		address:   1 << 40,
		pinned:    map[*byte]pinned{},
		streams:   map[libcuda.Stream]*stream{},
		events:    map[libcuda.Event]*event{},
		links:     map[libcuda.Link]*link{},
		modules:   map[libcuda.Module]*module{},
		functions: map[libcuda.Function]*function{},
		graphs:    map[libcuda.Graph]*graph{},
		execs:     map[libcuda.Exec]*exec{},
	}
	for i := range max(o.Cards, 0) {
		g.cards = append(g.cards, &card{gpu: g, index: i, memory: map[uint64][]byte{}})
	}
	g.api = g.watched(&libcuda.API{
		Init: g.init, DriverGetVersion: g.driverGetVersion, GetErrorName: getErrorName,
		DeviceGetCount: g.deviceGetCount, DeviceGet: g.deviceGet, DeviceGetName: g.deviceGetName,
		DeviceTotalMem: g.deviceTotalMem, DeviceGetAttr: g.deviceGetAttr,
		PrimaryRetain: g.primaryRetain, PrimaryRelease: g.primaryRelease, CtxSetCurrent: g.ctxSetCurrent,
		MemGetInfo: g.memGetInfo, MemAlloc: g.memAlloc, MemFree: g.memFree,
		MemHostAlloc: g.memHostAlloc, MemFreeHost: g.memFreeHost,
		MemcpyHtoDAsync: g.memcpyHtoDAsync, MemcpyDtoHAsync: g.memcpyDtoHAsync, MemcpyDtoDAsync: g.memcpyDtoDAsync,
		StreamCreate: g.streamCreate, StreamDestroy: g.streamDestroy,
		StreamQuery: g.streamQuery, StreamSynchronize: g.streamSynchronize,
		EventCreate: g.eventCreate, EventDestroy: g.eventDestroy, EventRecord: g.eventRecord, EventSynchronize: g.eventSynchronize, EventElapsedTime: g.eventElapsedTime,
		LinkCreate: g.linkCreate, LinkAddData: g.linkAddData, LinkComplete: g.linkComplete, LinkDestroy: g.linkDestroy,
		ModuleLoadData: g.moduleLoadData, ModuleUnload: g.moduleUnload, ModuleGetFunction: g.moduleGetFunction, ModuleLoadDataEx: g.moduleLoadDataEx,
		FuncGetAttr: g.funcGetAttr, FuncSetAttr: g.funcSetAttr, FuncGetParamInfo: g.funcGetParamInfo,
		LaunchKernel: g.launchKernel, TensorMapEncode: tensorMapEncode, TensorMapEncodeIm2col: tensorMapEncodeIm2col,
		GraphCreate: g.graphCreate, GraphDestroy: g.graphDestroy, GraphAddKernel: g.graphAddKernel, GraphAddNode: g.graphAddNode, GraphAddMemcpy: g.graphAddMemcpy,
		GraphInstantiate: g.graphInstantiate, GraphLaunch: g.graphLaunch, GraphExecDestroy: g.graphExecDestroy,
	})
	if o.Version < 12040 {
		g.api.FuncGetParamInfo = nil
	}
	if o.Version < 12030 {
		g.api.GraphAddNode = nil
	}
	return g
}

// Driver returns a driver that calls the fake directly.
func (g *GPU) Driver() gpu.Driver { return cuda.Over(g.api, g.options.Cache) }

// DriverC returns a driver that calls the fake's functions through C's calling convention, as the
// usual driver calls the library. DriverC returns an error on platforms other than Linux on amd64
// and arm64. A program can make about 40 such drivers.
func (g *GPU) DriverC() (gpu.Driver, error) {
	api, err := throughC(g.api)
	if err != nil {
		return nil, err
	}
	return cuda.Over(api, g.options.Cache), nil
}

// OnCall sets a hook, which runs before each function of the driver. If the hook returns a CUresult
// other than 0, the function returns it and does nothing. A nil hook removes the hook.
func (g *GPU) OnCall(hook func(function string) int32) {
	if hook == nil {
		g.hook.Store(nil)
		return
	}
	g.hook.Store(&hook)
}

// Calls returns how often a function of the driver was called. An example of a function is
// "cuGraphLaunch".
func (g *GPU) Calls(function string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[function]
}

// Pause stops all streams before their next copy or kernel, until Resume is called. It waits for
// copies and kernels that are running.
func (g *GPU) Pause() { g.gate.Lock() }

// Resume ends a Pause.
func (g *GPU) Resume() { g.gate.Unlock() }

// Fault returns the first error of a kernel or a copy, or nil.
func (g *GPU) Fault() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fault
}

// Live returns a text that lists the objects that were not freed, such as "2 streams, 1 graphs". It
// returns "" if everything was freed.
func (g *GPU) Live() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []string
	for _, kind := range []struct {
		name string
		n    int
	}{
		{"pinned blocks", len(g.pinned)}, {"streams", len(g.streams)}, {"events", len(g.events)}, {"links", len(g.links)},
		{"modules", len(g.modules)}, {"graphs", len(g.graphs)}, {"executable graphs", len(g.execs)},
	} {
		if kind.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", kind.n, kind.name))
		}
	}
	for _, c := range g.cards {
		if len(c.memory) > 0 {
			list = append(list, fmt.Sprintf("%d blocks of memory", len(c.memory)))
		}
		if c.retained > 0 {
			list = append(list, fmt.Sprintf("a context retained %d times", c.retained))
		}
	}
	return strings.Join(list, ", ")
}

// watched returns functions that replace the functions of api. Each counts the call, runs the hook,
// and then calls the function of api. If the hook returns a result other than 0, the function
// returns this result instead.
func (g *GPU) watched(api *libcuda.API) *libcuda.API {
	out := new(libcuda.API)
	from, to := reflect.ValueOf(api).Elem(), reflect.ValueOf(out).Elem()
	for i := range from.NumField() {
		f := from.Field(i)
		name, _, _ := strings.Cut(from.Type().Field(i).Tag.Get("c"), ",")
		to.Field(i).Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
			g.mu.Lock()
			g.calls[name]++
			g.mu.Unlock()
			if hook := g.hook.Load(); hook != nil {
				if r := (*hook)(name); r != 0 {
					return []reflect.Value{reflect.ValueOf(libcuda.Result(r))}
				}
			}
			return f.Call(args)
		}))
	}
	return out
}

// handle returns a new handle. The caller holds g.mu.
func (g *GPU) handle() uintptr {
	g.handles++
	return g.handles * 16
}

// here returns the card whose context is current on the calling thread. The result is not Success
// if no context is current or the context is lost. The caller holds g.mu.
func (g *GPU) here() (*card, libcuda.Result) {
	c := g.current[thread()]
	if c == nil || c.retained == 0 {
		return nil, libcuda.InvalidContext
	}
	return c, c.lost
}

var errorNames = map[libcuda.Result]string{
	libcuda.InvalidValue: "INVALID_VALUE", libcuda.OutOfMemory: "OUT_OF_MEMORY", libcuda.NotInitialized: "NOT_INITIALIZED",
	libcuda.NoDevice: "NO_DEVICE", libcuda.InvalidDevice: "INVALID_DEVICE", libcuda.InvalidImage: "INVALID_IMAGE",
	libcuda.InvalidContext: "INVALID_CONTEXT", libcuda.NoBinaryForGPU: "NO_BINARY_FOR_GPU", libcuda.InvalidPTX: "INVALID_PTX",
	libcuda.UnsupportedPTX: "UNSUPPORTED_PTX_VERSION", libcuda.InvalidHandle: "INVALID_HANDLE", libcuda.NotFound: "NOT_FOUND",
	libcuda.NotReady: "NOT_READY", libcuda.IllegalAddress: "ILLEGAL_ADDRESS", libcuda.OutOfResources: "LAUNCH_OUT_OF_RESOURCES",
	libcuda.LaunchFailed: "LAUNCH_FAILED", libcuda.ECCUncorrectable: "ECC_UNCORRECTABLE",
}

// getErrorName stores the name of error r in *name. It knows only the errors that occur in tests.
func getErrorName(r libcuda.Result, name **byte) libcuda.Result {
	s, ok := errorNames[r]
	if !ok {
		return libcuda.InvalidValue
	}
	*name = cString("CUDA_ERROR_" + s)
	return libcuda.Success
}

func cString(s string) *byte { return &append(slices.Clip([]byte(s)), 0)[0] }
