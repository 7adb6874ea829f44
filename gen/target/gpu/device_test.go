package gpu_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir/kernel"
	runtime "github.com/burngen/burngen/runtime/gpu"
)

// loader is a driver of one device, which counts what is loaded and opened. load is called for each module with its
// code, the name of its kernel.
type loader struct {
	runtime.Driver
	runtime.Opened
	load func(name string) error

	mu     sync.Mutex
	loads  map[string]int
	queues int
}

func (l *loader) Open(int) (runtime.Opened, error) { return l, nil }
func (l *loader) Close() error                     { return nil }

func (l *loader) Load(code []byte) (runtime.Module, error) {
	l.mu.Lock()
	l.loads[string(code)]++
	l.mu.Unlock()
	return loadedModule{}, l.load(string(code))
}

func (l *loader) Queue() (runtime.Queue, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queues++
	return &exclusive{}, nil
}

type loadedModule struct{ runtime.Module }

func (loadedModule) Kernel(k runtime.KernelInfo) (runtime.Kernel, error) { return k.Name, nil }

// exclusive is a queue that one goroutine at a time may use, which the race detector finds out.
type exclusive struct {
	runtime.Queue
	launches int
}

func (q *exclusive) Launch(runtime.Kernel, [3]int, []uint64) error { q.launches++; return nil }
func (q *exclusive) Wait(context.Context) error                    { return nil }

// onLoader returns a target whose kernels are their names, on a device of l.
func onLoader(t *testing.T, l *loader) gpu.Device {
	l.loads = map[string]int{}
	x := gpu.Target{Language: gpu.Language{Write: func(k ...*kernel.Kernel) ([]byte, error) { return []byte(k[0].Name), nil }}}
	opened, err := x.Open(l, 0)
	if err != nil {
		t.Fatal(err)
	}
	return opened.Device
}

// TestLaunchesSideBySide launches two kernels from many goroutines. Each is compiled once, both at the same time.
func TestLaunchesSideBySide(t *testing.T) {
	var both, done sync.WaitGroup
	both.Add(2)
	l := &loader{load: func(string) error {
		both.Done() // panics if there is a third module
		both.Wait()
		return nil
	}}
	device := onLoader(t, l)
	const goroutines = 8
	for i := range goroutines {
		done.Go(func() {
			k := &kernel.Kernel{Name: []string{"first", "second"}[i%2], Block: [3]int{1, 1, 1}, Body: &kernel.Block{}}
			for range 50 {
				if err := device.Launch(k, [3]int{1, 1, 1}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	if l.loads["first"] != 1 || l.loads["second"] != 1 || l.queues > goroutines {
		t.Errorf("loaded %v, %d queues", l.loads, l.queues)
	}
}

// TestLaunchAfterError launches a kernel that cannot be compiled at first.
func TestLaunchAfterError(t *testing.T) {
	wrong := errors.New("wrong")
	l := &loader{load: func(string) error { return wrong }}
	device := onLoader(t, l)
	k := &kernel.Kernel{Name: "k", Block: [3]int{1, 1, 1}, Body: &kernel.Block{}}
	if err := device.Launch(k, [3]int{1, 1, 1}, nil); !errors.Is(err, wrong) {
		t.Errorf("error %v, want %v", err, wrong)
	}
	l.load = func(string) error { return nil }
	for range 2 {
		if err := device.Launch(k, [3]int{1, 1, 1}, nil); err != nil {
			t.Error(err)
		}
	}
	if l.loads["k"] != 2 {
		t.Errorf("loaded %d times, want 2", l.loads["k"])
	}
}
