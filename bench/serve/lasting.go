package main

import (
	"fmt"
	"net/http"
	"syscall"
	"time"
)

// swapping is what [swap] measured.
type swapping struct {
	Swaps, Requests, Failed int
	Failure                 string
	// time from SIGTERM to the end of the process
	Drained time.Duration
}

// swap makes a server reload its weights n times while requests run on `conns` connections, and then sends it
// SIGTERM. The requests stop when the server closes its connections.
func swap(v *server, request []byte, conns, n int) (*swapping, error) {
	out := &swapping{Swaps: n}
	stop := make(chan struct{})
	done := make(chan *load)
	go func() { done <- run(v.address, request, conns, stop) }()
	client := &http.Client{Timeout: time.Minute}
	for range n {
		r, err := client.Post("http://"+v.address+"/v2/repository/models/digits/load", "application/json", nil)
		if err != nil {
			return nil, err
		}
		r.Body.Close()
		if r.StatusCode != 200 {
			return nil, fmt.Errorf("load: status %d", r.StatusCode)
		}
	}
	client.CloseIdleConnections()
	begun := time.Now()
	v.process.Process.Signal(syscall.SIGTERM)
	err := <-v.ended
	out.Drained = time.Since(begun)
	if err != nil {
		return nil, fmt.Errorf("after SIGTERM: %w\n%s", err, &v.stderr)
	}
	close(stop)
	l := <-done
	out.Requests, out.Failed, out.Failure = len(l.latencies)+l.failed, l.failed, l.failure
	return out, nil
}

// soaking has measurements of a server during a long load: Early near the beginning, and Late at the end.
type soaking struct {
	Took             time.Duration
	Requests, Failed int
	Early, Late      held
}

// held is what a server holds: bytes of live objects, bytes of heap spans in use, goroutines, and resident bytes.
type held struct{ Live, Heap, Goroutines, Resident float64 }

func (v *server) held() (held, error) {
	m, err := v.metrics()
	return held{m["go_memstats_alloc_bytes"], m["go_memstats_heap_inuse_bytes"], m["go_goroutines"], m["process_resident_memory_bytes"]}, err
}

// soak sends requests on `conns` connections for time d. Early has the largest values measured in the second sixth of
// d. Late has the largest values measured in the last sixth.
func soak(v *server, request []byte, conns int, d time.Duration) (*soaking, error) {
	out := &soaking{Took: d}
	done := make(chan *load)
	go func() { done <- runFor(v.address, request, conns, d) }()
	begun := time.Now()
	for time.Since(begun) < d-d/60 {
		time.Sleep(d / 60)
		part := 6 * time.Since(begun) / d
		var most *held
		switch part {
		case 1:
			most = &out.Early
		case 5:
			most = &out.Late
		default:
			continue
		}
		h, err := v.held()
		if err != nil {
			return nil, err
		}
		*most = held{max(most.Live, h.Live), max(most.Heap, h.Heap), max(most.Goroutines, h.Goroutines), max(most.Resident, h.Resident)}
	}
	l := <-done
	out.Requests, out.Failed = len(l.latencies)+l.failed, l.failed
	return out, nil
}
