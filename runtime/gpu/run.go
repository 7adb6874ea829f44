package gpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// Run runs the calls of a session on the device, one at a time. It holds the session's device memory and its queue. A
// schedule passes slices of host memory to kernels, which work on the corresponding device memory. The arena, the
// arguments, the results and the weights have such memory during the whole call. Any other slice is copied to the
// device before each kernel that uses it, and back after each kernel that writes it.
type Run struct {
	program *Instance
	*held

	arena   region
	weights []region
	owner   any // has the weights. It must not be collected while kernels read them

	ctx context.Context
	err error // the first error of the call
	key callKey
	// structs caches the slices in the weights and changes of training.
	structs []slicesIn
	log     *recording // of the call; nil if it is not recorded
	words   []uint64
}

// Open opens the device of a program, and a queue on it, for the calls of a session. It returns the
// errors of [Instance.Open] and of the queue.
func (r *Run) Open(p *Instance) error {
	d, err := p.Open()
	if err != nil {
		return err
	}
	q, err := d.Queue()
	if err != nil {
		return err
	}
	if p.watch != nil {
		q = watchedQueue{q, p.watch}
	}
	r.program, r.held = p, &held{device: d, queue: q}
	runtime.AddCleanup(r, (*held).free, r.held)
	return nil
}

// Instance returns the instance that Open was called with.
func (r *Run) Instance() *Instance { return r.program }

// held holds the resources of a run on a device.
type held struct {
	device Opened
	queue  Queue
	memory buffer // of the arena
	ports  ports
	// device memory of arguments that are in no region
	spare buffer

	faults  faults    // that kernels of the call may find
	vectors []*vector // sorted by their start
	// the most recently used comes first
	recordings []*recording
}

// free frees all memory and closes the queue and the recordings.
func (h *held) free() {
	h.forget()
	h.queue.Close()
	for _, v := range h.vectors {
		v.memory.free(h.device)
	}
	h.vectors = nil
	for _, b := range []*buffer{&h.memory, &h.ports.room, &h.spare, &h.faults.memory} {
		b.free(h.device)
	}
	h.device.Free(h.ports.mapped.at)
	h.ports.mapped = mapped{}
}

// Begin begins a call with the buffers in arena and the weights in the slices of w. ports are the
// arguments and results. The call copies the arguments to the device, except tensors of [Views]. Begin
// copies the weights when it first sees w. ctx may be nil.
func Begin[W any](r *Run, ctx context.Context, arena []byte, w *W, ports ...Arg) error {
	if err := r.begin(ctx, arena, ports); err != nil {
		return err
	}
	t, err := tableOf(r.program, r.queue, w)
	if err != nil {
		return err
	}
	r.weights, r.owner, r.key.weights = t.regions, w, t
	return nil
}

// BeginTraining is like [Begin] for weights that change between calls. The call also writes the
// slices in changes. The weights and the changes stay on the device after the call, see [Run.ToHost].
func BeginTraining[W, C any](r *Run, ctx context.Context, arena []byte, w *W, changes *C, ports ...Arg) error {
	if err := r.begin(ctx, arena, ports); err != nil {
		return err
	}
	r.key.weights, r.key.changes = w, changes
	for _, list := range [][]Arg{r.slices(w, isRead), r.slices(changes, isWritten)} {
		for _, a := range list {
			if err := r.ready(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// slices returns the slices in the struct *ptr as arguments. It caches the list under ptr, so the struct must keep
// these slices. kind says whether kernels read or write them.
func (r *Run) slices(ptr any, kind argKind) []Arg {
	for _, s := range r.structs {
		if s.ptr == ptr {
			return s.slices
		}
	}
	r.structs = append(r.structs, slicesIn{ptr, slicesOf(ptr, kind)})
	return r.structs[len(r.structs)-1].slices
}

type slicesIn struct {
	ptr    any // points to the struct
	slices []Arg
}

// Prepare begins a call of the function that computes a program's weights. arena holds the buffers
// of the call, and results are the weights. [Run.Close] ends the call.
func Prepare(p *Instance, arena []byte, results ...Arg) (*Run, error) {
	r := &Run{}
	if err := r.Open(p); err != nil {
		return nil, err
	}
	return r, r.begin(context.Background(), arena, results)
}

// Close ends a call that [Prepare] began, and frees its memory. It returns the call's error.
func (r *Run) Close() error {
	var err error
	r.end(&err)
	r.free()
	return err
}

// begin begins a call: it grows the buffers to the sizes of arena and ports.
func (r *Run) begin(ctx context.Context, arena []byte, ports []Arg) error {
	r.ctx, r.err, r.log, r.faults.failed = ctx, nil, nil, r.faults.failed[:0]
	r.key = callKey{sizes: r.ports.set(ports, r.key.sizes[:0])}
	if err := r.grow(&r.memory, int64(len(arena))); err != nil {
		return err
	}
	r.arena = regionOf(Out(arena), r.memory.at)
	return r.openPorts()
}

// errUnfinished is the error of a call whose schedule panicked. The caller does not see it, because
// the panic goes on.
var errUnfinished = errors.New("gpu: the schedule did not reach its end")

// End ends a call: it copies the results to the host and waits for them. It sets *err to an error of the call if *err
// is nil. A call defers End. If the schedule panics, for example in [rt.EndIfDone], End waits for the queued work,
// drops the recording of the call, and lets the panic go on.
func (r *Run) End(err *error) {
	if p := recover(); p != nil {
		unfinished := errUnfinished
		r.end(&unfinished)
		panic(p)
	}
	r.end(err)
}

// end is [Run.End] without repanicking.
func (r *Run) end(err *error) {
	if *err == nil {
		*err = r.err
	}
	if *err == nil {
		*err = r.download()
	}
	if *err == nil {
		*err = r.faults.download(r.queue)
	}
	ctx := r.ctx
	if *err != nil { // queued work uses memory of the session
		ctx = nil
	}
	if failed := r.queue.Wait(ctx); *err == nil {
		*err = failed
	}
	if r.ctx != nil && *err != nil {
		r.queue.Wait(context.Background())
	}
	if *err == nil {
		if r.log != nil {
			r.log.failed = slices.Clone(r.faults.failed)
		}
		if *err = r.findFault(); *err == nil {
			r.unmap()
			r.keep(r.log)
		}
	}
	r.ports.forget()
	r.ctx, r.weights, r.owner, r.log = nil, nil, nil, nil
}

// grow makes buffer b at least `bytes` bytes long. If it has to grow, all recordings are closed,
// because they may use its old memory.
func (h *held) grow(b *buffer, bytes int64) error {
	if bytes > b.bytes {
		h.forget()
	}
	return b.grow(h.device, bytes)
}

// Launch starts a kernel with a grid of x × y × z blocks and the given arguments. It does nothing
// after an error, or if there are 0 blocks.
func (r *Run) Launch(k *KernelInfo, x, y, z int, args ...Arg) {
	if !r.goesOn() || x == 0 || y == 0 || z == 0 {
		return
	}
	if err := r.launch(k, [3]int{x, y, z}, args); err != nil {
		r.err = fmt.Errorf("kernel %s: %w", k.Name, err)
	}
}

func (r *Run) launch(k *KernelInfo, grid [3]int, args []Arg) error {
	kernel, err := r.program.kernel(k)
	if err != nil {
		return err
	}
	for _, a := range args {
		if err := a.check(); err != nil {
			return err
		}
	}
	if err := r.makeRoom(k.Vectors, args); err != nil {
		return err
	}
	r.words = r.words[:0]
	at := r.spare.at
	for _, a := range args {
		word := a.number
		switch {
		case a.kind < isRead:
		case a.bytes == 0:
			word = 0
		default:
			found, address := r.place(a)
			if found != nil && a.kind == isWritten {
				found.change()
			}
			if found != nil && !moves(k.Vectors, address) {
				word = uint64(address)
				break
			}
			r.log = nil
			if found != nil {
				err = r.queue.Copy(at, address, a.bytes)
			} else {
				err = r.queue.Upload(at, a.host())
			}
			if err != nil {
				return err
			}
			word = uint64(at)
			at += Address(rounded(a.bytes))
		}
		r.words = append(r.words, word)
	}
	launch := &queued{kernel: kernel, grid: grid, words: r.words[:k.Args]}
	if faster, ok, err := r.program.faster(k, args, r.words); err != nil {
		return err
	} else if ok {
		launch = faster
	}
	if err := r.put(launch); err != nil {
		return err
	}
	return r.takeBack(k.Vectors, args)
}

// moves reports whether an argument at address `at` must be copied to another address before the kernel runs. vectors
// says that the kernel needs addresses that are multiples of 16 bytes.
func moves(vectors bool, at Address) bool { return vectors && at%16 != 0 }

// place returns the region that contains argument a, and the address of a on the device. It returns nil if no region
// contains a.
func (r *Run) place(a Arg) (*region, Address) {
	found := r.find(a)
	if found == nil {
		return nil, 0
	}
	at, _ := found.address(a)
	return found, at
}

// makeRoom grows the spare buffer so that it can hold two kinds of arguments: arguments without device memory, and
// arguments whose device address the kernel does not accept, see moves. vectors is [KernelInfo.Vectors] of the
// kernel.
func (r *Run) makeRoom(vectors bool, args []Arg) error {
	total := int64(0)
	for _, a := range args {
		if !a.isMemory() {
			continue
		}
		if found, at := r.place(a); found == nil || moves(vectors, at) {
			total += rounded(a.bytes)
		}
	}
	if total > r.spare.bytes {
		if err := r.queue.Wait(context.Background()); err != nil {
			return err
		}
	}
	return r.grow(&r.spare, total)
}

// takeBack copies the arguments that a kernel has written in the spare buffer to their own memory. vectors is
// [KernelInfo.Vectors] of the kernel. An argument in a region is copied within the device. Any other argument is
// copied to the host, and takeBack waits for these copies.
func (r *Run) takeBack(vectors bool, args []Arg) error {
	at, any := r.spare.at, false
	for _, a := range args {
		if !a.isMemory() {
			continue
		}
		found, address := r.place(a)
		switch {
		case found != nil && !moves(vectors, address):
			continue
		case a.kind == isWritten && found != nil:
			if err := r.queue.Copy(address, at, a.bytes); err != nil {
				return err
			}
		case a.kind == isWritten:
			any = true
			if err := r.queue.Download(a.host(), at); err != nil {
				return err
			}
		}
		at += Address(rounded(a.bytes))
	}
	if !any {
		return nil
	}
	return r.queue.Wait(r.ctx)
}

// find returns the region that contains argument a, or nil.
func (r *Run) find(a Arg) *region {
	if _, ok := r.arena.address(a); ok {
		return &r.arena
	}
	if found := find(r.ports.list, a); found != nil {
		return found
	}
	if found := find(r.weights, a); found != nil {
		return found
	}
	if v := r.vector(a); v != nil {
		return &v.region
	}
	return nil
}

// Fetch copies the memory in list from the device to the host, and waits for the copies. It skips memory whose host
// copy is valid. It returns the call's error if there is one.
func (r *Run) Fetch(list ...Arg) error {
	if !r.goesOn() {
		return r.err
	}
	r.log = nil
	any := false
	for _, a := range list {
		found := r.find(a)
		if a.bytes == 0 || found == nil || found.onHost {
			continue
		}
		if found.tensor != nil {
			if err := found.tensor.toHost(r.ctx, r.queue); err != nil {
				return err
			}
			continue
		}
		at, _ := found.address(a)
		if err := r.queue.Download(a.host(), at); err != nil {
			return err
		}
		any = true
	}
	if !any {
		return nil
	}
	return r.queue.Wait(r.ctx)
}

// Send copies the memory in list, which the host has written, to the device. After an error it copies
// nothing.
func (r *Run) Send(list ...Arg) {
	r.log = nil
	for _, a := range list {
		found := r.find(a)
		if a.bytes == 0 || found == nil || !r.goesOn() {
			continue
		}
		at, _ := found.address(a)
		r.err = r.queue.Upload(at, a.host())
	}
}

// Copy copies src to dst. They must have the same size and must not overlap. dst and src are in device memory, or in
// host memory if the call has no device memory for them. After an error of the call, Copy does nothing.
func (r *Run) Copy(dst, src Arg) {
	if !r.goesOn() || dst.bytes == 0 {
		return
	}
	target, source := r.find(dst), r.find(src)
	if target == nil || source == nil {
		r.log = nil
	} else {
		target.change()
	}
	switch {
	case target == nil && source == nil:
		copy(dst.host(), src.host())
	case target == nil:
		at, _ := source.address(src)
		if r.err = r.queue.Download(dst.host(), at); r.err == nil {
			r.err = r.queue.Wait(r.ctx)
		}
	case source == nil:
		at, _ := target.address(dst)
		r.err = r.queue.Upload(at, src.host())
	default:
		at, _ := target.address(dst)
		with, _ := source.address(src)
		r.err = r.put(&queued{to: at, from: with, bytes: dst.bytes})
	}
}
