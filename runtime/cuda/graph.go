package cuda

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

// graph is a [gpu.Graph]. It is a chain of nodes, which is launched as a whole.
type graph struct {
	device *device
	steps  []step
	exec   libcuda.Exec // 0 if there are no steps
	// pinned memory for the copies, or nil
	memory []byte
	event  libcuda.Event
	// from memory of the caller to pinned memory
	uploads   []fill
	downloads []fill
	kernels   names
	modules   []*module

	// held during each replay
	mu     sync.Mutex
	closed bool
}

type step struct {
	// nil for a copy
	kernel *kernel
	grid   [3]int
	args   []uint64

	device gpu.Address
	host   []byte // nil for a copy on the device
	upload bool
	// source of a copy on the device
	from  gpu.Address
	bytes int
}

// recorder is the [gpu.Queue] that Record passes to its function. It only collects steps. The
// driver is called after the function has returned.
type recorder struct {
	queue *queue
	steps []step
	done  bool
}

var (
	errRecordingOver = errors.New("cuda: the recording is over")
	errRecording     = errors.New("cuda: a queue cannot wait or be closed while it records")
)

func (r *recorder) open() error {
	if r.done {
		return errRecordingOver
	}
	return nil
}

func (r *recorder) Upload(to gpu.Address, from []byte) error { return r.addCopy(to, from, true) }

func (r *recorder) Download(to []byte, from gpu.Address) error { return r.addCopy(from, to, false) }

func (r *recorder) addCopy(device gpu.Address, host []byte, upload bool) error {
	if err := cmp.Or(r.open(), checkAddress(device, len(host))); err != nil {
		return err
	}
	if len(host) > 0 {
		r.steps = append(r.steps, step{host: host, device: device, upload: upload})
	}
	return nil
}

func (r *recorder) Copy(to, from gpu.Address, bytes int) error {
	if err := cmp.Or(r.open(), checkCopy(to, from, bytes)); err != nil {
		return err
	}
	if bytes > 0 {
		r.steps = append(r.steps, step{device: to, from: from, bytes: bytes})
	}
	return nil
}

func (r *recorder) Launch(k gpu.Kernel, grid [3]int, args []uint64) error {
	if err := r.open(); err != nil {
		return err
	}
	launched, err := r.queue.device.checkLaunch(k, grid, args)
	if launched != nil {
		r.steps = append(r.steps, step{kernel: launched, grid: grid, args: slices.Clone(args)})
	}
	return err
}

func (r *recorder) Record(fill func(gpu.Queue) error) (gpu.Graph, error) { return r.queue.Record(fill) }

// Replay implements [gpu.Queue]. It records the steps of another graph.
func (r *recorder) Replay(g gpu.Graph) error {
	if err := r.open(); err != nil {
		return err
	}
	replayed, err := r.queue.device.checkGraph(g)
	if err == nil {
		r.steps = append(r.steps, replayed.steps...)
	}
	return err
}

func (r *recorder) Wait(context.Context) error { return cmp.Or(r.open(), errRecording) }

func (r *recorder) Close() error { return cmp.Or(r.open(), errRecording) }

func (q *queue) Record(fill func(gpu.Queue) error) (gpu.Graph, error) {
	r := &recorder{queue: q}
	err := fill(r)
	r.done = true
	if err != nil {
		return nil, err
	}
	if err := q.enter(); err != nil {
		return nil, err
	}
	defer q.leave()
	g := &graph{device: q.device, steps: r.steps}
	if err := g.build(); err != nil {
		g.release()
		return nil, err
	}
	keep(q.device, q.device.graphs, g)
	return g, nil
}

// build makes an executable graph with a node for each step. Each node depends on the node before
// it. A kernel with Early set may start while the node before it runs, if that node is a kernel.
// The caller must release the graph even if the method build returns an error.
func (g *graph) build() error {
	if len(g.steps) == 0 {
		return nil
	}
	d := g.device
	if err := g.stage(); err != nil {
		return err
	}
	var nodes libcuda.Graph
	if r := d.api.GraphCreate(&nodes, 0); r != libcuda.Success {
		return d.failed(r, "recording")
	}
	defer d.api.GraphDestroy(nodes) // the executable graph does not need it
	var last *libcuda.Node
	staged, afterKernel := 0, false
	for _, s := range g.steps {
		node, n := new(libcuda.Node), uintptr(0)
		if last != nil {
			n = 1
		}
		var r libcuda.Result
		what := "a copy"
		if s.kernel != nil {
			what = "kernel " + s.kernel.Name
			kernel, err := s.kernelNode()
			if err != nil {
				return err
			}
			if s.kernel.Early && afterKernel && d.api.GraphAddNode != nil {
				edge := &libcuda.Edge{From: libcuda.PortProgrammatic, Type: libcuda.EdgeProgrammatic}
				r = d.api.GraphAddNode(node, nodes, last, edge, n, &libcuda.NodeParams{Kernel: *kernel})
			} else {
				r = d.api.GraphAddKernel(node, nodes, last, n, kernel)
			}
		} else {
			r = d.api.GraphAddMemcpy(node, nodes, last, n, s.memcpyNode(g.memory[staged:]), d.context)
			staged += stagedBytes(s.host)
		}
		if r != libcuda.Success {
			return d.failed(r, "recording %s", what)
		}
		last, afterKernel = node, s.kernel != nil
	}
	switch r := d.api.GraphInstantiate(&g.exec, nodes, 0); r {
	case libcuda.Success:
		return nil
	case libcuda.OutOfMemory:
		return d.noMemory("a graph is wanted")
	default:
		return d.failed(r, "recording")
	}
}

// stagedBytes returns the number of bytes of a graph's pinned memory that a copy from or to host
// takes.
func stagedBytes(host []byte) int { return (len(host) + 255) &^ 255 }

// stage assigns pinned memory to each copy from or to the host. It also collects the names and the
// modules of the kernels.
func (g *graph) stage() error {
	bytes := 0
	for _, s := range g.steps {
		bytes += stagedBytes(s.host)
	}
	if bytes > 0 {
		memory, err := g.device.pin(bytes, 0)
		if err != nil {
			return err
		}
		g.memory = memory
		if r := g.device.api.EventCreate(&g.event, libcuda.EventDisableTiming); r != libcuda.Success {
			return g.device.failed(r, "recording")
		}
	}
	at := 0
	for _, s := range g.steps {
		staged := g.memory[at:]
		switch {
		case s.kernel != nil:
			g.kernels.add(s.kernel.Name)
			if !slices.Contains(g.modules, s.kernel.module) {
				g.modules = append(g.modules, s.kernel.module)
			}
		case s.host == nil:
		case s.upload:
			g.uploads = append(g.uploads, fill{to: staged[:len(s.host)], from: s.host})
		default:
			g.downloads = append(g.downloads, fill{to: s.host, from: staged[:len(s.host)], graph: g})
		}
		at += stagedBytes(s.host)
	}
	return nil
}

func (s *step) kernelNode() (*libcuda.KernelNode, error) {
	params := make([]unsafe.Pointer, len(s.args))
	if err := s.kernel.setParams(params, s.args); err != nil {
		return nil, err
	}
	n := &libcuda.KernelNode{Function: s.kernel.function, Shared: uint32(s.kernel.Shared), Params: unsafe.SliceData(params)}
	n.GridX, n.GridY, n.GridZ = dimensions(s.grid)
	n.BlockX, n.BlockY, n.BlockZ = dimensions(s.kernel.Block)
	return n, nil
}

// memcpyNode returns the node of a copy. If the copy is from or to the host, it uses the beginning
// of staged, which is pinned memory.
func (s *step) memcpyNode(staged []byte) *libcuda.MemcpyNode {
	onDevice := func(a gpu.Address) libcuda.MemcpyEnd {
		return libcuda.MemcpyEnd{Type: libcuda.MemoryDevice, Device: libcuda.Address(a)}
	}
	n := &libcuda.MemcpyNode{Height: 1, Depth: 1}
	if s.host == nil {
		n.From, n.To, n.Width = onDevice(s.from), onDevice(s.device), uintptr(s.bytes)
		return n
	}
	host := libcuda.MemcpyEnd{Type: libcuda.MemoryHost, Host: &staged[0]}
	n.From, n.To, n.Width = onDevice(s.device), host, uintptr(len(s.host))
	if s.upload {
		n.From, n.To = n.To, n.From
	}
	return n
}

// checkGraph returns g as a graph of package cuda. It returns an error if g belongs to another
// device or driver.
func (d *device) checkGraph(g gpu.Graph) (*graph, error) {
	checked, ok := g.(*graph)
	if !ok || checked == nil {
		return nil, errors.New("cuda: the graph is not of this driver")
	}
	if checked.device != d {
		return nil, errors.New("cuda: the graph is of another device")
	}
	return checked, nil
}

// replay launches the graph. q must be entered.
func (g *graph) replay(q *queue) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errGraphClosed
	}
	for _, m := range g.modules {
		if m.closed.Load() {
			return errModuleClosed
		}
	}
	if g.exec == 0 {
		return nil
	}
	api := g.device.api
	if len(g.uploads) > 0 {
		// The replay before may still read the pinned memory.
		if r := api.EventSynchronize(g.event); r != libcuda.Success {
			return q.failed(r, "replaying")
		}
		for _, f := range g.uploads {
			if err := g.device.copy(f.to, f.from); err != nil {
				return err
			}
		}
	}
	q.started.addAll(&g.kernels)
	if r := api.GraphLaunch(g.exec, q.stream); r != libcuda.Success {
		return q.failed(r, "replaying")
	}
	if g.memory != nil {
		if r := api.EventRecord(g.event, q.stream); r != libcuda.Success {
			return q.failed(r, "replaying")
		}
	}
	q.fills = append(q.fills, g.downloads...)
	return nil
}

func (g *graph) Close() {
	g.mu.Lock()
	closed := g.closed
	g.closed = true
	g.mu.Unlock()
	if closed || g.device.enter() != nil {
		return // else the device gives it back
	}
	defer g.device.leave()
	g.device.eachQueue(func(*queue) {}) // replays that began before are started
	if g.event != 0 {
		if r := g.device.api.EventSynchronize(g.event); r != libcuda.Success {
			g.device.failed(r, "closing a graph") // a loss is remembered for the next call
			return
		}
	}
	g.device.eachQueue(func(q *queue) { q.fillFrom(g) })
	forget(g.device, g.device.graphs, g)
	g.release()
}

// fillFrom performs the queue's pending copies from the pinned memory of graph g. It is called
// before this memory is freed.
func (q *queue) fillFrom(g *graph) {
	for i := range q.fills {
		if f := &q.fills[i]; f.graph == g {
			copy(f.to, f.from)
			*f = fill{} // remains, as copies are counted
		}
	}
}

// release frees the objects and the pinned memory of the graph. The graph cannot be replayed
// afterwards.
func (g *graph) release() {
	if g.exec != 0 {
		g.device.api.GraphExecDestroy(g.exec)
	}
	if g.event != 0 {
		g.device.api.EventDestroy(g.event)
	}
	if g.memory != nil {
		g.device.unpin(g.memory)
	}
	g.exec, g.event, g.memory = 0, 0, nil
}
