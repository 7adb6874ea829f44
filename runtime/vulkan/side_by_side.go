package vulkan

import (
	"runtime"
	"sync"
)

// sideBySide calls do(0), …, do(n−1), concurrently on all processors, and waits for all calls.
// Calls begin in order. After an error no more calls begin. It returns the error of the lowest i
// that failed, which does not depend on timing.
func sideBySide(n int, do func(i int) error) error {
	var (
		mu    sync.Mutex
		next  int
		first = n // the lowest number that failed
		err   error
		wg    sync.WaitGroup
	)
	begin := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		i = next
		next++
		return i, i < n && err == nil
	}
	fail := func(i int, e error) {
		mu.Lock()
		defer mu.Unlock()
		if e != nil && i < first {
			first, err = i, e
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i, ok := begin(); ok; i, ok = begin() {
				fail(i, do(i))
			}
		})
	}
	wg.Wait()
	return err
}
