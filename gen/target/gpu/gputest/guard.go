package gputest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/burngen/burngen/runtime/gpu"
)

// band is the number of bytes before and after the memory of each allocation. It is a multiple of 256,
// because addresses must be aligned to 256 bytes.
const band = 1024

// stamp is the byte that fills the bands, and new memory. Floats made of it are small and negative, and
// indices made of it are out of range.
const stamp = 0xA5

// guard is a driver whose devices put a band before and after the memory that Alloc returns. If a kernel has written to
// a band, Free stores an error in damaged.
type guard struct {
	gpu.Driver

	mu      sync.Mutex
	damaged error
}

func (g *guard) take() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.damaged
	g.damaged = nil
	return err
}

func (g *guard) report(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.damaged = errors.Join(g.damaged, err)
}

func (g *guard) Open(index int) (gpu.Opened, error) {
	d, err := g.Driver.Open(index)
	if err != nil {
		return nil, err
	}
	q, err := d.Queue()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &guarded{Opened: d, guard: g, queue: q, sizes: map[gpu.Address]int64{}}, nil
}

// guarded is a device that allocates memory with bands around it, see [guard].
type guarded struct {
	gpu.Opened
	guard *guard

	mu    sync.Mutex
	queue gpu.Queue
	sizes map[gpu.Address]int64
}

func (d *guarded) Alloc(size int64) (gpu.Address, error) {
	at, err := d.Opened.Alloc(size + 2*band)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err = d.queue.Upload(at, bytes.Repeat([]byte{stamp}, int(size+2*band)))
	if err := errors.Join(err, d.queue.Wait(context.Background())); err != nil {
		d.Opened.Free(at)
		return 0, err
	}
	d.sizes[at+band] = size
	return at + band, nil
}

func (d *guarded) Free(at gpu.Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	size, ok := d.sizes[at]
	if !ok {
		d.Opened.Free(at)
		return
	}
	delete(d.sizes, at)
	var before, after [band]byte
	err := errors.Join(d.queue.Download(before[:], at-band), d.queue.Download(after[:], at+gpu.Address(size)))
	if err := errors.Join(err, d.queue.Wait(context.Background())); err != nil {
		d.guard.report(err)
	} else {
		for i := range band {
			if before[i] != stamp {
				d.guard.report(fmt.Errorf("a kernel wrote %d bytes before a buffer of %d bytes", band-i, size))
				break
			}
		}
		for i := range band {
			if after[i] != stamp {
				d.guard.report(fmt.Errorf("a kernel wrote %d bytes after a buffer of %d bytes", i, size))
				break
			}
		}
	}
	d.Opened.Free(at - band)
}
