package gpu

import (
	"fmt"

	"github.com/burngen/burngen/runtime/gpu/update"
)

// ports are the arguments and results of a call, and their device memory. This memory holds the arguments and then
// the results, each at a multiple of [granularity]. Tensors are not in it, because they have device memory of their
// own.
//
// The arguments and results of a small call are also in mapped memory, in the same order. The recording of such a
// call begins with a launch that copies the arguments from mapped memory, and ends with a launch that copies the
// results to mapped memory. So the host queues nothing but the recording.
type ports struct {
	list []region // sorted by their start
	room buffer
	// bytes of the arguments and of the results in room
	arguments, results int64

	mapped mapped
	// The call is small: the mapped memory has room for it.
	small bool
	// The arguments are not on the device yet.
	waiting bool
	// A recording has put the results into the mapped memory.
	replayed bool
}

// mapped is memory that [Mapping] allocates: `host` for the host, and its address `at` for kernels. host is nil until
// a small call is replayed for the first time.
type mapped struct {
	host []byte
	at   Address
}

// mappedBytes is the size of mapped memory. If the arguments and results take more bytes, the driver copies them,
// which is then faster.
const mappedBytes = 64 << 10

// set stores list, the arguments and results of a call. It returns sizes, to which it appends the size in bytes and
// the device address of each element of list. The address is 0 for elements that are not tensors. A recording is
// replayed only for calls with equal sizes.
func (p *ports) set(list []Arg, sizes []int) []int {
	p.list, p.arguments, p.results = p.list[:0], 0, 0
	p.waiting, p.replayed = true, false
	for _, a := range list {
		r := regionOf(a, 0)
		switch t := tensors.find(a); {
		case t != nil:
			r.at, r.tensor, r.onHost = t.buffer.at, t, false
		case r.result:
			p.results += rounded(a.bytes)
		default:
			p.arguments += rounded(a.bytes)
		}
		sizes = append(sizes, a.bytes, int(r.at), int(r.at>>32))
		if a.bytes > 0 {
			p.list = append(p.list, r)
		}
	}
	return sizes
}

// place gives each argument and result, except tensors, a device address in p.room. p.room must be
// large enough.
func (p *ports) place() {
	argument, result := p.room.at, p.room.at+Address(p.arguments)
	for i := range p.list {
		r := &p.list[i]
		at := &argument
		if r.result {
			at = &result
		}
		if r.tensor == nil {
			r.at = *at
			*at += Address(rounded(r.bytes))
		}
	}
	sortRegions(p.list)
}

// each calls do for the results, or for the arguments if results is false. It skips tensors.
func (p *ports) each(results bool, do func(r *region) error) error {
	for i := range p.list {
		if r := &p.list[i]; r.tensor == nil && r.result == results {
			if err := do(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// inMapped returns the memory of r in the mapped memory.
func (p *ports) inMapped(r *region) []byte { return p.mapped.host[r.at-p.room.at:][:r.bytes] }

// openPorts gets device memory for the arguments and results.
func (r *Run) openPorts() error {
	p := &r.ports
	total := p.arguments + p.results
	if err := r.grow(&p.room, total); err != nil {
		return err
	}
	p.place()
	_, ok := r.mapping()
	p.small = ok && total > 0 && total <= mappedBytes
	return nil
}

// mapping returns the device if it has mapped memory.
func (r *Run) mapping() (d Mapping, ok bool) {
	d, ok = r.program.loaded.device.Opened.(Mapping)
	return d, ok
}

// upload copies the arguments to the device, unless they are there.
func (r *Run) upload() error {
	if !r.ports.waiting {
		return nil
	}
	r.ports.waiting = false
	return r.ports.each(false, func(a *region) error { return r.queue.Upload(a.at, a.host) })
}

// forget drops the slices and tensors of the caller.
func (p *ports) forget() {
	clear(p.list)
	p.list = p.list[:0]
}

// goesOn copies the arguments to the device, unless they are there. It returns false if the call has failed, now or
// earlier.
func (r *Run) goesOn() bool {
	if r.err == nil {
		r.err = r.upload()
	}
	return r.err == nil
}

// download queues copies of the results to the host. The copies have ended when the next wait returns. It does
// nothing after the replay of a small call, because [Run.unmap] copies the results.
func (r *Run) download() error {
	if r.ports.replayed {
		return nil
	}
	return r.ports.each(true, func(a *region) error { return r.queue.Download(a.host, a.at) })
}

// unmap copies the results from mapped memory to the caller's slices. It does nothing if no recording has put them
// into mapped memory.
func (r *Run) unmap() {
	if r.ports.replayed {
		r.ports.each(true, func(a *region) error { copy(a.host, r.ports.inMapped(a)); return nil })
	}
}

// replay queues a recording. The first time, it makes a graph of the recorded steps.
func (r *Run) replay(c *recording) error {
	p := &r.ports
	if p.small {
		if err := r.openMapped(); err != nil {
			return err
		}
		p.each(false, func(a *region) error { copy(p.inMapped(a), a.host); return nil })
		p.waiting, p.replayed = false, true
	} else if err := r.upload(); err != nil {
		return err
	}
	if c.graph == nil {
		steps := c.steps
		if p.small {
			results := Address(p.arguments)
			first, err := r.copying(p.room.at, p.mapped.at, p.arguments)
			if err != nil {
				return err
			}
			last, err := r.copying(p.mapped.at+results, p.room.at+results, p.results)
			if err != nil {
				return err
			}
			steps = append(append(first, steps...), last...)
		}
		g, err := r.queue.Record(func(q Queue) error {
			for i := range steps {
				if err := steps[i].put(q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		c.graph, c.steps = g, nil
	}
	return r.queue.Replay(c.graph)
}

// openMapped gets the mapped memory when it is first needed.
func (r *Run) openMapped() (err error) {
	p := &r.ports
	if d, ok := r.mapping(); ok && p.mapped.host == nil {
		p.mapped.host, p.mapped.at, err = d.AllocMapped(mappedBytes)
	}
	return err
}

// copying returns the launch that copies `bytes` bytes from one address to another, or nil if bytes is 0.
func (r *Run) copying(to, from Address, bytes int64) ([]queued, error) {
	if bytes == 0 {
		return nil, nil
	}
	k, err := r.program.update("copy", 4)
	if err != nil {
		return nil, fmt.Errorf("kernel copy: %w", err)
	}
	groups := int(bytes / 16)
	blocks := (groups + update.Threads - 1) / update.Threads
	words := []uint64{uint64(groups), uint64(blocks * update.Threads), uint64(to), uint64(from)}
	return []queued{{kernel: k, grid: [3]int{blocks, 1, 1}, words: words}}, nil
}
