// Package gpu tests a package for a GPU beside the same model's package for the CPU.
package gpu

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"
	driver "github.com/burngen/burngen/runtime/vulkan"

	"program/model"
	device "program/model/vulkan"
)

var (
	goroutines = flag.Int("goroutines", 8, "calls a model from `N` goroutines with contexts that end")
	calls      = flag.Int("calls", 4, "makes `N` calls in each of these goroutines")
	loads      = flag.Int("loads", 40, "loads a model `N` times")
	within     = flag.Duration("within", time.Hour, "ends these loads after this `TIME`")
)

// images draws images.
func images(n int, seed uint32) []device.Image {
	x := make([]device.Image, n)
	rt.Uniform(rt.Flat[float32](x), 0, 1, seed)
	return x
}

func load(t *testing.T) *device.Model {
	t.Helper()
	m, err := device.Load()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// agree compares with the CPU.
func agree(got []device.Logits, x []device.Image) error {
	m, err := model.Load()
	if err != nil {
		return err
	}
	y := make([]model.Image, len(x))
	copy(rt.Flat[float32](y), rt.Flat[float32](x))
	want, err := m.Forward(y)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return errors.New("the number of results differs")
	}
	for i := range want {
		for k, w := range want[i] {
			if d := math.Abs(float64(got[i][k] - w)); !(d <= 1e-4*(1+math.Abs(float64(w)))) {
				return errors.New("a result differs by more than 1e-4")
			}
		}
	}
	return nil
}

// TestGoroutines calls one model from many goroutines, with batches of several sizes.
func TestGoroutines(t *testing.T) {
	m := load(t)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 4 {
				x := images(1+(g+i)%5, uint32(16*g+i))
				got, err := m.Forward(x)
				if err == nil {
					err = agree(got, x)
				}
				if err != nil {
					t.Errorf("goroutine %d, call %d: %v", g, i, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestSameBits calls a session again.
func TestSameBits(t *testing.T) {
	m := load(t)
	x := images(3, 7)
	first, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := m.Forward(x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if first[i] != again[i] {
				t.Fatalf("image %d: %v, and then %v", i, first[i], again[i])
			}
		}
	}
}

// TestContext ends the context before a call and during calls. Calls after that are right.
func TestContext(t *testing.T) {
	m := load(t)
	x := images(4, 3)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.ForwardContext(ended, x); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v, want %v", err, context.Canceled)
	}
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		got, err := m.ForwardContext(ctx, x)
		if err == nil {
			err = agree(got, x)
		} else if errors.Is(err, context.Canceled) {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err = m.Forward(x); err == nil {
			err = agree(got, x)
		}
		if err != nil {
			t.Fatalf("after a context that ended: %v", err)
		}
	}
}

// TestRandomContexts calls a model from many goroutines, whose contexts end at random times. Every result that
// is delivered is right, and calls after that are right.
func TestRandomContexts(t *testing.T) {
	m := load(t)
	x := images(4, 17)
	begin := time.Now()
	want, err := m.Forward(x)
	if err == nil {
		err = agree(want, x)
	}
	if err != nil {
		t.Fatal(err)
	}
	once := time.Since(begin)
	begin = time.Now()
	if _, err := m.Forward(x); err != nil { // does not compile the kernels
		t.Fatal(err)
	}
	once = min(once, time.Since(begin))
	call := func(ctx context.Context) error {
		got, err := m.ForwardContext(ctx, x)
		if err != nil {
			return err
		}
		for i := range want {
			if got[i] != want[i] {
				return fmt.Errorf("image %d: %v, want %v", i, got[i], want[i])
			}
		}
		return nil
	}
	var wg sync.WaitGroup
	var arrived, ended atomic.Int64
	for g := range *goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range *calls {
				wait := time.Duration(random.Int64N(int64(once)*int64(2**goroutines) + 1))
				ctx, cancel := context.WithTimeout(context.Background(), wait)
				switch err := call(ctx); {
				case err == nil:
					arrived.Add(1)
				case errors.Is(err, context.DeadlineExceeded):
					ended.Add(1)
				default:
					t.Errorf("goroutine %d: %v", g, err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	t.Logf("%d calls delivered a result, %d were ended", arrived.Load(), ended.Load())
	if err := call(context.Background()); err != nil {
		t.Errorf("after contexts that ended: %v", err)
	}
}

// TestLoads loads a model again and again, calls it, and forgets it. Neither the device's memory nor the
// program's grows.
func TestLoads(t *testing.T) {
	x := images(3, 19)
	round := func() {
		m := load(t)
		if _, err := m.Forward(x); err != nil {
			t.Fatal(err)
		}
	}
	end := time.Now().Add(*within)
	// rounds makes rounds until n are made, or until the time ends. It says from time to time what it saw.
	rounds := func(n int) (made int) {
		begin, said := time.Now(), time.Now()
		for made < n && time.Now().Before(end) {
			round()
			made++
			if made%20 == 0 {
				runtime.GC()
			}
			if time.Since(said) > 10*time.Second {
				heap, host, card := memory(t)
				t.Logf("%d of %d loads, %v each: %d bytes of Go, %d MB of the process, %d MB of the device",
					made, n, time.Since(begin)/time.Duration(made), heap, host>>20, card)
				said = time.Now()
			}
		}
		return made
	}
	rounds(*loads / 10)
	heap, host, card := memory(t)
	begin := time.Now()
	made := rounds(*loads)
	each := time.Since(begin) / time.Duration(max(made, 1))
	heapAfter, hostAfter, cardAfter := memory(t)
	t.Logf("before %d loads of %v: %d bytes of Go, %d MB of the process, %d MB of the device; after: %d, %d, %d",
		made, each, heap, host>>20, card, heapAfter, hostAfter>>20, cardAfter)
	if heapAfter > heap+4<<20 || hostAfter > host+128<<20 || cardAfter > card+64 {
		t.Error("memory grows")
	}
	if made < *loads {
		t.Logf("%v ended before %d loads were made", *within, *loads)
	}
}

// memory collects garbage and returns how many bytes the Go heap and the process take, and how many megabytes
// of device memory are taken. The last two are 0 where they are not known.
func memory(t *testing.T) (heap, process, card int64) {
	t.Helper()
	for range 5 { // finalizers free memory of the device
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		var total int64
		fmt.Sscan(string(data), &total, &process)
		process *= int64(os.Getpagesize())
	}
	if out, err := exec.Command("nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits").Output(); err == nil {
		fmt.Sscan(string(out), &card)
	}
	return int64(m.HeapAlloc), process, card
}

// TestEmptyBatch passes no images, and then some.
func TestEmptyBatch(t *testing.T) {
	m := load(t)
	x := images(2, 5)
	if _, err := m.Forward(nil); err != nil {
		t.Errorf("no images: %v", err)
	}
	got, err := m.Forward(x)
	if err == nil {
		err = agree(got, x)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDevices loads the model on devices by their index, twice on the same one.
func TestDevices(t *testing.T) {
	list, err := driver.Devices()
	if err != nil {
		t.Fatal(err)
	}
	x := images(2, 9)
	for _, info := range list {
		m, err := device.Load(gpu.Device(info.Index))
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		other, err := m.On(gpu.Device(0))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*device.Model{m, other, m} {
			got, err := m.Forward(x)
			if err == nil {
				err = agree(got, x)
			}
			if err != nil {
				t.Errorf("%s: %v", info.Name, err)
			}
		}
	}
	if _, err := device.Load(gpu.Device(len(list))); err == nil || errors.Is(err, gpu.ErrNoDevice) ||
		!strings.Contains(err.Error(), fmt.Sprintf(": device %d: there", len(list))) {
		t.Errorf("a device that is not there: %v", err)
	}
	t.Setenv("BURNGEN_DEVICE", "99")
	if _, err := device.Load(); err == nil || !strings.HasPrefix(err.Error(), "BURNGEN_DEVICE=99: ") || !strings.Contains(err.Error(), ": device 99: there") {
		t.Errorf("the environment names a device that is not there: %v", err)
	}
	if _, err := device.Load(gpu.Device(0)); err != nil {
		t.Errorf("an option counts more than the environment: %v", err)
	}
}

// TestMemory limits the memory of a model. Small batches fit, large ones return an error, and small ones
// then fit again. Another model has a limit of its own.
func TestMemory(t *testing.T) {
	m, err := device.Load(gpu.Memory(6 << 20))
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	small, large := images(2, 11), images(2000, 12)
	for range 3 {
		got := make([]device.Logits, len(small))
		if err := s.Forward(got, small); err != nil {
			t.Fatal(err)
		}
		if err := agree(got, small); err != nil {
			t.Fatal(err)
		}
		if err := s.Forward(make([]device.Logits, len(large)), large); !errors.Is(err, gpu.ErrMemory) {
			t.Fatalf("a batch that does not fit: %v, want %v", err, gpu.ErrMemory)
		}
	}
	other, err := m.On()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Forward(large); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	if m, err = device.Load(gpu.Memory(1)); err == nil {
		_, err = m.Forward(small)
	}
	if !errors.Is(err, gpu.ErrMemory) {
		t.Errorf("a limit below the weights: %v, want %v", err, gpu.ErrMemory)
	}
}

// TestOtherWeights puts other weights on a device.
func TestOtherWeights(t *testing.T) {
	path := t.TempDir() + "/weights.safetensors"
	if err := load(t).Save(path); err != nil {
		t.Fatal(err)
	}
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	m, err := device.LoadFrom(w)
	if err == nil {
		m, err = m.On(gpu.Memory(64 << 20))
	}
	if err != nil {
		t.Fatal(err)
	}
	x := images(2, 13)
	got, err := m.Forward(x)
	if err == nil {
		err = agree(got, x)
	}
	if err != nil {
		t.Error(err)
	}
}
