// Package heap measures the memory of the program's objects.
package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Bytes returns the bytes of all objects that are not freed yet.
func Bytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// garbage is the GC percentage during [Growth]. With the default of 100, up to half of the heap would be dead
// objects. The share of dead objects would vary with the load of the machine.
const garbage = 25

// Growth runs f in a separate goroutine. It returns the largest growth of the heap meanwhile, in
// bytes, measured every 2 ms. Garbage is collected when it is a quarter of the live memory. Growth
// also returns the value that f panicked with, or nil.
func Growth(f func()) (bytes uint64, panicked any) {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	runtime.GC()
	before := Bytes()
	peak := before
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case panicked := <-done:
			return max(peak, Bytes()) - before, panicked
		case <-tick.C:
			peak = max(peak, Bytes())
		}
	}
}
