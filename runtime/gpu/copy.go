package gpu

import (
	"runtime"
	"sync"
)

// Copy copies min(len(to), len(from)) bytes of host memory. It uses several threads for more than a
// megabyte, because one thread is slower than the connection to a device.
func Copy(to, from []byte) {
	const share = 1 << 20
	n := min(len(to), len(from))
	workers := min(n/share, runtime.GOMAXPROCS(0), 8)
	if workers < 2 {
		copy(to, from)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		start, end := n/workers*w, n/workers*(w+1)
		if w == workers-1 {
			end = n
		}
		wg.Go(func() { copy(to[start:end], from[start:end]) })
	}
	wg.Wait()
}
