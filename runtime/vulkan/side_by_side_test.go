package vulkan

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// TestSideBySide makes calls that succeed, that fail in another order than they begin, and that fail early.
func TestSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	if err := sideBySide(0, func(int) error { return fmt.Errorf("called") }); err != nil {
		t.Error(err)
	}
	var mu sync.Mutex
	var called []int
	if err := sideBySide(10, func(i int) error {
		mu.Lock()
		defer mu.Unlock()
		called = append(called, i)
		return nil
	}); err != nil {
		t.Error(err)
	}
	slices.Sort(called)
	if !slices.Equal(called, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("called %v", called)
	}
	// Three calls run at the same time. The first one fails last.
	var running sync.WaitGroup
	running.Add(3)
	failed := make(chan bool, 2)
	err := sideBySide(9, func(i int) error {
		running.Done() // panics if there is a fourth call
		running.Wait()
		if i > 0 {
			failed <- true
		} else {
			<-failed
			<-failed
		}
		return fmt.Errorf("call %d", i)
	})
	if err == nil || err.Error() != "call 0" {
		t.Errorf("error %v, want that of call 0", err)
	}
	// One call after the other.
	runtime.GOMAXPROCS(1)
	called = nil
	err = sideBySide(9, func(i int) error {
		if called = append(called, i); i == 2 {
			return fmt.Errorf("call %d", i)
		}
		return nil
	})
	if err == nil || err.Error() != "call 2" || !slices.Equal(called, []int{0, 1, 2}) {
		t.Errorf("called %v, error %v", called, err)
	}
}
