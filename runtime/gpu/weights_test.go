package gpu

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
)

// counted is a device that counts its memory. It computes nothing.
type counted struct {
	Opened
	mu   sync.Mutex // memory is also freed by cleanups, in goroutines of their own
	live map[Address]bool
	last Address
}

func (d *counted) Alloc(int64) (Address, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last += granularity
	d.live[d.last] = true
	return d.last, nil
}

func (d *counted) Free(a Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.live, a)
}

// pieces returns the number of allocations that are not given back.
func (d *counted) pieces() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.live)
}

// idle is a queue that does nothing.
type idle struct{ Queue }

func (idle) Upload(Address, []byte) error { return nil }
func (idle) Wait(context.Context) error   { return nil }

type weightsOfTest struct{ a, b []float32 }

// TestWeightsOfTheNextStruct makes structs whose addresses are used again as soon as they are collected.
// Each has a table of its own, and no table outlives its struct.
func TestWeightsOfTheNextStruct(t *testing.T) {
	d := &counted{live: map[Address]bool{}}
	p := &Instance{device: d, weights: map[any]*table{}}
	for i := range 2000 {
		w := &weightsOfTest{a: make([]float32, 1+i%7), b: make([]float32, 3)}
		found, err := tableOf(p, idle{}, w)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := tableOf(p, idle{}, w); err != nil || again != found {
			t.Fatalf("the same struct has another table: %v", err)
		}
		for _, f := range slicesOf(w, isRead) {
			if find(found.regions, f) == nil {
				t.Fatalf("struct %d: the table is that of another struct", i)
			}
		}
		if i%100 == 0 {
			runtime.GC()
		}
	}
	for range 100 {
		runtime.GC()
		time.Sleep(time.Millisecond)
		p.mu.Lock()
		tables, live := len(p.weights), d.pieces()
		p.mu.Unlock()
		if tables == 0 && live == 0 {
			return
		}
	}
	t.Error("tables outlive their structs")
}
