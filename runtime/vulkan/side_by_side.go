package vulkan

import (
	"runtime"
	"sync"
)

// sideBySide calls do for the numbers from 0 to n − 1, as many at a time as there are processors.
// Calls begin in the order of the numbers. After an error no further calls begin. sideBySide
// returns when all calls have returned. It returns the error of the lowest number whose call
// failed, so that the error does not depend on which call was faster.
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
