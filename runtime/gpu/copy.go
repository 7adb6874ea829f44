package gpu

import (
	"runtime"
	"sync"
)

// Copy copies min(len(dst), len(src)) bytes of host memory from src to dst. It uses several threads
// for two mebibytes or more, because one thread is slower than the connection to a device.
func Copy(dst, src []byte) {
	const share = 1 << 20
	n := min(len(dst), len(src))
	workers := min(n/share, runtime.GOMAXPROCS(0), 8)
	if workers < 2 {
		copy(dst, src)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		start, end := n/workers*w, n/workers*(w+1)
		if w == workers-1 {
			end = n
		}
		wg.Go(func() { copy(dst[start:end], src[start:end]) })
	}
	wg.Wait()
}
