package vulkan

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/burngen/burngen/runtime/gpu"
)

// recorder is the queue that Record passes to its function. It collects the steps of a graph.
type recorder struct {
	device *device
	// the recording has ended
	done  bool
	steps []step
}

type step struct {
	kernel *kernel // nil for a copy
	grid   [3]int
	args   []uint64

	at     place
	host   []byte // nil for a copy on the device
	upload bool
	// source of a copy on the device
	from  place
	bytes int
}

var (
	errRecording = errors.New("vulkan: not while a graph is recorded")
	errRecorded  = errors.New("vulkan: the recording has ended")
)

func (r *recorder) Upload(to gpu.Address, from []byte) error {
	return r.copy("upload", to, from)
}

func (r *recorder) Download(to []byte, from gpu.Address) error {
	return r.copy("download", from, to)
}

func (r *recorder) copy(what string, at gpu.Address, host []byte) error {
	if r.done {
		return errRecorded
	}
	p, err := r.device.find(what, at, len(host))
	if err != nil || len(host) == 0 {
		return err
	}
	r.steps = append(r.steps, step{host: host, at: p, upload: what == "upload"})
	return nil
}

func (r *recorder) Copy(to, from gpu.Address, bytes int) error {
	if r.done {
		return errRecorded
	}
	target, source, err := r.device.findBoth(to, from, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	r.steps = append(r.steps, step{at: target, from: source, bytes: bytes})
	return nil
}

func (r *recorder) Launch(k gpu.Kernel, grid [3]int, args []uint64) error {
	if r.done {
		return errRecorded
	}
	kernel, err := r.device.launchable(k, grid, len(args))
	if err != nil || grid[0] == 0 || grid[1] == 0 || grid[2] == 0 {
		return err
	}
	r.steps = append(r.steps, step{kernel: kernel, grid: grid, args: append([]uint64(nil), args...)})
	return nil
}

func (r *recorder) Record(func(gpu.Queue) error) (gpu.Graph, error) { return nil, errRecording }
func (r *recorder) Replay(gpu.Graph) error                          { return errRecording }
func (r *recorder) Wait(context.Context) error                      { return errRecording }
func (r *recorder) Close() error                                    { return errRecording }

// graph is a recorded command buffer with its own argument blocks and staging memory.
type graph struct {
	device    *device
	pool      handle
	buffer    uintptr
	arguments piece
	staging   piece
	uploads   []transfer
	downloads []transfer

	mu     sync.Mutex
	closed bool
	done   timeline
	// value of the timeline for the last replay whose results were copied to the host
	read uint64
}

type transfer struct{ host, staged []byte }

func (q *queue) Record(fill func(gpu.Queue) error) (_ gpu.Graph, err error) {
	q.mu.Lock()
	err = q.usable()
	q.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r := &recorder{device: q.device}
	err = fill(r)
	r.done = true
	if err != nil {
		return nil, err
	}
	g, err := adopt(q.device, func() (*graph, error) {
		g := &graph{device: q.device}
		if err := g.record(r.steps); err != nil {
			g.destroy()
			return nil, fmt.Errorf("vulkan: record a graph: %w", err)
		}
		return g, nil
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// record records the command buffer and allocates its memory. The caller must destroy g if the
// method record returns an error.
func (g *graph) record(steps []step) (err error) {
	d := g.device
	if g.done, err = d.newTimeline(); err != nil {
		return err
	}
	if g.pool, err = d.newCommandPool(); err != nil {
		return err
	}
	if g.buffer, err = d.newCommandBuffer(g.pool); err != nil {
		return err
	}
	if err := g.allocate(steps); err != nil {
		return err
	}
	c, err := d.begin(g.buffer, commandBufferSimultaneousUse)
	if err != nil {
		return err
	}
	var argument, staged int64
	for _, s := range steps {
		if s.kernel != nil {
			putArguments(g.arguments.bytes()[argument:], s.args)
			c.launch(s.kernel, s.grid, uint64(g.arguments.at())+uint64(argument))
			argument += int64(8 * len(s.args))
			continue
		}
		if s.host == nil {
			c.copy(s.at, s.from, s.bytes)
			continue
		}
		n := len(s.host)
		t := transfer{s.host, g.staging.bytes()[staged:][:n]}
		if s.upload {
			c.copy(s.at, g.staging.place(staged), n)
			g.uploads = append(g.uploads, t)
		} else {
			c.copy(g.staging.place(staged), s.at, n)
			c.reads = true
			g.downloads = append(g.downloads, t)
		}
		staged += stagedSize(n)
	}
	return c.end()
}

func (g *graph) allocate(steps []step) (err error) {
	var arguments, staging int64
	for _, s := range steps {
		arguments += int64(8 * len(s.args))
		staging += stagedSize(len(s.host))
	}
	if g.arguments, err = g.device.arguments.alloc(arguments); err != nil {
		return err
	}
	g.staging, err = g.device.staging.alloc(staging)
	return err
}

// stagedSize returns the number of bytes of staging memory for a copy of n bytes.
func stagedSize(n int) int64 { return (int64(n) + 15) &^ 15 }

func (q *queue) Replay(which gpu.Graph) (err error) {
	g, ok := which.(*graph)
	if !ok || g == nil {
		return fmt.Errorf("vulkan: replay: %T is not a graph of Vulkan", which)
	}
	if g.device != q.device {
		return errors.New("vulkan: replay: the graph is of another device")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	defer q.device.log.join(&err)
	if err := q.flush(); err != nil {
		return err
	}
	if err := q.makeRoom(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errors.New("vulkan: replay: the graph is closed")
	}
	if len(g.uploads)+len(g.downloads) > 0 {
		if err := g.finish(); err != nil { // the replay before uses the staging memory
			return q.lose("replay", err)
		}
	}
	for _, t := range g.uploads {
		gpu.Copy(t.staged, t.host)
	}
	s := &submission{}
	if err := q.submit(s, g.buffer, &g.done); err != nil {
		return err
	}
	if replay := g.done.last; len(g.downloads) > 0 {
		s.finish = append(s.finish, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.receive(replay)
		})
	}
	return nil
}

// finish waits for the last replay and copies its results to the host. The caller holds mu.
func (g *graph) finish() error {
	if g.done.last == 0 {
		return nil
	}
	if err := g.done.wait(context.Background(), g.done.last); err != nil {
		return err
	}
	g.receive(g.done.last)
	return nil
}

// receive copies the results of replay number `replay` to the host. The replay must have ended.
// receive does nothing if it has copied them before. The caller holds mu.
func (g *graph) receive(replay uint64) {
	if g.read >= replay || g.closed {
		return
	}
	g.read = replay
	for _, t := range g.downloads {
		gpu.Copy(t.host, t.staged)
	}
}

func (g *graph) Close() {
	g.shut()
	g.device.forget(g)
}

func (g *graph) shut() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	err := g.finish()
	g.destroy()
	g.closed = true
	return err
}

// destroy frees the objects that the method record has created, even if this method has failed halfway.
func (g *graph) destroy() {
	d := g.device
	if g.done.handle != 0 {
		g.done.close()
	}
	d.vk.DestroyCommandPool.call(d.handle, uintptr(g.pool), 0)
	if g.arguments.block != nil {
		d.arguments.free(g.arguments.at())
	}
	if g.staging.block != nil {
		d.staging.free(g.staging.at())
	}
}
