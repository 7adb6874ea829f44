package fake

import (
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// graph is a list of actions. Each action comes after the actions that it depends on.
type graph struct {
	card    *card
	nodes   []libcuda.Node
	actions []action
}

// exec is an executable graph. Two launches of it do not run at the same time.
type exec struct {
	card    *card
	mu      sync.Mutex
	actions []action
}

func (g *GPU) graphCreate(out *libcuda.Graph, _ uint32) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, r := g.here()
	if r == libcuda.Success {
		*out = libcuda.Graph(g.handle())
		g.graphs[*out] = &graph{card: c}
	}
	return r
}

func (g *GPU) graphDestroy(handle libcuda.Graph) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.graphs[handle] == nil {
		return libcuda.InvalidHandle
	}
	delete(g.graphs, handle)
	return libcuda.Success
}

// graph returns the graph of a handle. `before` points to n nodes, which must be in the graph. The
// result is not Success if there is no such graph, or if one of the nodes is not in it. The caller
// holds g.mu.
func (g *GPU) graph(handle libcuda.Graph, before *libcuda.Node, n uintptr) (*graph, libcuda.Result) {
	if _, r := g.here(); r != libcuda.Success {
		return nil, r
	}
	gr := g.graphs[handle]
	if gr == nil {
		return nil, libcuda.InvalidHandle
	}
	for _, node := range unsafe.Slice(before, n) {
		if !slices.Contains(gr.nodes, node) {
			return nil, libcuda.InvalidValue
		}
	}
	return gr, libcuda.Success
}

// add appends work to a graph as a node, and stores the handle of the node in *out. The caller
// holds g.mu.
func (g *GPU) add(to *graph, work action, out *libcuda.Node) {
	*out = libcuda.Node(g.handle())
	to.nodes = append(to.nodes, *out)
	to.actions = append(to.actions, work)
}

func (g *GPU) graphAddKernel(out *libcuda.Node, handle libcuda.Graph, before *libcuda.Node, n uintptr, kernel *libcuda.KernelNode) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	gr, r := g.graph(handle, before, n)
	if r != libcuda.Success {
		return r
	}
	do, r := g.launchAction(kernel)
	if r == libcuda.Success {
		g.add(gr, do, out)
	}
	return r
}

// graphAddNode adds a kernel node. The node depends on one other kernel node, by a programmatic
// edge.
func (g *GPU) graphAddNode(out *libcuda.Node, handle libcuda.Graph, before *libcuda.Node, edges *libcuda.Edge, n uintptr, params *libcuda.NodeParams) libcuda.Result {
	if n != 1 || params.Type != 0 || *edges != (libcuda.Edge{From: libcuda.PortProgrammatic, Type: libcuda.EdgeProgrammatic}) {
		return libcuda.InvalidValue
	}
	return g.graphAddKernel(out, handle, before, n, &params.Kernel)
}

func (g *GPU) graphAddMemcpy(out *libcuda.Node, handle libcuda.Graph, before *libcuda.Node, n uintptr, m *libcuda.MemcpyNode, context libcuda.Context) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	gr, r := g.graph(handle, before, n)
	if r != libcuda.Success {
		return r
	}
	if context != libcuda.Context(gr.card.index)+1 || m.Height != 1 || m.Depth != 1 {
		return libcuda.InvalidValue
	}
	var do action
	var err error
	switch [2]libcuda.MemoryType{m.To.Type, m.From.Type} {
	case [2]libcuda.MemoryType{libcuda.MemoryDevice, libcuda.MemoryDevice}:
		do, err = gr.card.moveAction(m.To.Device, m.From.Device, m.Width)
	case [2]libcuda.MemoryType{libcuda.MemoryDevice, libcuda.MemoryHost}:
		do, err = gr.card.copyAction(m.To.Device, m.From.Host, m.Width, true)
	case [2]libcuda.MemoryType{libcuda.MemoryHost, libcuda.MemoryDevice}:
		do, err = gr.card.copyAction(m.From.Device, m.To.Host, m.Width, false)
	default:
		return libcuda.InvalidValue
	}
	if err != nil {
		return libcuda.InvalidValue
	}
	g.add(gr, do, out)
	return libcuda.Success
}

func (g *GPU) graphInstantiate(out *libcuda.Exec, handle libcuda.Graph, _ uint64) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	gr, r := g.graph(handle, nil, 0)
	if r == libcuda.Success {
		*out = libcuda.Exec(g.handle())
		g.execs[*out] = &exec{card: gr.card, actions: gr.actions}
	}
	return r
}

func (g *GPU) graphLaunch(handle libcuda.Exec, on libcuda.Stream) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, r := g.streamLocked(on)
	if r != libcuda.Success {
		return r
	}
	e := g.execs[handle]
	if e == nil {
		return libcuda.InvalidHandle
	}
	s.start(func() (total time.Duration, err error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, do := range e.actions {
			took, err := do()
			if total += took; err != nil {
				return total, err
			}
		}
		return total, nil
	})
	return libcuda.Success
}

func (g *GPU) graphExecDestroy(handle libcuda.Exec) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, r := g.here(); r != libcuda.Success {
		return r
	}
	if g.execs[handle] == nil {
		return libcuda.InvalidHandle
	}
	delete(g.execs, handle)
	return libcuda.Success
}
