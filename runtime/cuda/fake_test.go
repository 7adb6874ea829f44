package cuda_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/cuda/fake"
	"github.com/burngen/burngen/runtime/gpu"
)

func TestNoDevice(t *testing.T) {
	result := func(function string, r int32) func(*fake.GPU) {
		return func(g *fake.GPU) {
			g.OnCall(func(f string) int32 {
				if f == function {
					return r
				}
				return 0
			})
		}
	}
	for _, c := range []struct {
		options fake.Options
		prepare func(*fake.GPU)
		want    string
	}{
		{fake.Options{Cards: -1}, nil, "starting the driver: CUDA_ERROR_NO_DEVICE"},
		{fake.Options{Version: 11080}, nil, "the driver supports CUDA 11.8, want CUDA 12.0 or newer"},
		{fake.Options{}, result("cuDeviceGetCount", 100), "counting devices: CUDA_ERROR_NO_DEVICE"},
		{fake.Options{}, result("cuInit", 803), "starting the driver: CUDA error 803"},
		{fake.Options{}, result("cuDriverGetVersion", 1), "the version of the driver: CUDA_ERROR_INVALID_VALUE"},
	} {
		g := fake.New(c.options)
		if c.prepare != nil {
			c.prepare(g)
		}
		_, devices := g.Driver().Devices()
		_, open := g.Driver().Open(0)
		for _, err := range []error{devices, open} {
			if want := "cuda: no usable GPU: " + c.want; !errors.Is(err, gpu.ErrNoDevice) || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	// A machine without the library says so; one that has it lists its cards.
	if infos, err := cuda.Devices(); (err == nil) != (len(infos) > 0) || err != nil && !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("%v, %v", infos, err)
	}
}

func TestCards(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Cards: 3, Memory: 1 << 20})
	infos, err := g.Driver().Devices()
	if err != nil || len(infos) != 3 {
		t.Fatal(infos, err)
	}
	if want := (gpu.Info{Index: 2, Name: "Fake GPU 2", Memory: 1 << 20, Capability: "9.0", Driver: "CUDA 13.0", Subgroup: 32}); !reflect.DeepEqual(infos[2], want) {
		t.Errorf("%+v, want %+v", infos[2], want)
	}
	// Devices of two cards, and two of one card, which share a context.
	var open []gpu.Opened
	for _, index := range []int{0, 2, 2} {
		d, err := g.Driver().Open(index)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, d)
	}
	for _, d := range open {
		if _, err := d.Alloc(400 << 10); err != nil {
			t.Error(err)
		}
	}
	_, err = open[2].Alloc(400 << 10)
	if want := "cuda: not enough device memory: 409600 bytes are wanted, 229376 bytes of 1048576 are free"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := open[1].Close(); err != nil {
		t.Error(err)
	}
	if _, err := open[2].Alloc(400 << 10); err != nil {
		t.Errorf("after the other device of the card gave its memory back: %v", err)
	}
	for _, d := range open {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if live := g.Live(); live != "" {
		t.Errorf("not given back: %s", live)
	}
}

// everything does what programs do with a device. It returns the first error.
func everything(driver gpu.Driver) (err error) {
	if _, err := driver.Devices(); err != nil {
		return err
	}
	d, err := driver.Open(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	const n = 1000
	var at [3]gpu.Address
	for i := range at {
		if at[i], err = d.Alloc(2 << 20); err != nil {
			return err
		}
	}
	m, err := d.Load([]byte(kernels))
	if err != nil {
		return err
	}
	add, err := m.Kernel(gpu.KernelInfo{Name: "sum", Block: [3]int{128, 1, 1}, Args: 4})
	if err != nil {
		return err
	}
	if _, err := m.Kernel(gpu.KernelInfo{Name: "reverse", Block: [3]int{128, 1, 1}, Shared: 64 << 10, Args: 2}); err != nil {
		return err
	}
	q, err := d.Queue()
	if err != nil {
		return err
	}
	x, out, large := ramp(n, 1), make([]float32, n), make([]byte, 5<<18)
	for range 2 {
		// Around the ring, with downloads.
		if err := errors.Join(q.Upload(at[2], large), q.Download(large, at[2])); err != nil {
			return err
		}
	}
	once := func(q gpu.Queue) error {
		return errors.Join(q.Upload(at[0], raw(x)), q.Upload(at[1], raw(x)),
			q.Launch(add, [3]int{8, 1, 1}, []uint64{uint64(at[0]), uint64(at[1]), uint64(at[2]), n}), q.Download(raw(out), at[2]))
	}
	g, err := q.Record(once)
	if err != nil {
		return err
	}
	if err := errors.Join(once(q), q.Wait(forever), q.Replay(g), q.Replay(g), q.Wait(forever)); err != nil {
		return err
	}
	for i := range out {
		if out[i] != 2*x[i] {
			return fmt.Errorf("element %d is %v", i, out[i])
		}
	}
	g.Close()
	d.Free(at[0])
	m.Close()
	return q.Close()
}

// TestEveryFailure makes calls of the driver fail, one in each run: of each function the first ten and the
// last. The program must get an error, except where nothing is lost, and everything must be given back.
func TestEveryFailure(t *testing.T) {
	folder := t.TempDir()
	made := func() *fake.GPU { return fake.New(fake.Options{Machine: machine{}, Memory: 64 << 20, Cache: folder}) }
	if err := everything(made().Driver()); err != nil { // fills the folder
		t.Fatal(err)
	}
	g, counts := made(), map[string]int{}
	g.OnCall(func(f string) int32 { counts[f]++; return 0 })
	if err := everything(g.Driver()); err != nil {
		t.Fatal(err)
	}
	if len(counts) < 30 {
		t.Fatalf("only %d functions are called", len(counts))
	}
	first := 10
	if testing.Short() {
		first = 2
	}
	for f, count := range counts {
		for _, result := range []int32{1, 2, 719} {
			for i := range count {
				if (i < first || i == count-1) && (result != 2 || strings.Contains(f, "Alloc")) {
					g := made()
					err := failOnce(g, f, i, result)
					if what := checkFailure(g, f, result, err); what != "" {
						t.Errorf("%s = %d, the %dth time: %s", f, result, i, what)
					}
				}
			}
		}
	}
}

// errNotReached says that a function was not called as often: Wait polls more or less often.
var errNotReached = errors.New("cuda: not reached")

func failOnce(g *fake.GPU, function string, time int, result int32) error {
	n, reached := 0, false
	g.OnCall(func(f string) int32 {
		if f != function {
			return 0
		}
		if n++; n-1 != time {
			return 0
		}
		reached = true
		return result
	})
	if err := everything(g.Driver()); err != nil || reached {
		return err
	}
	return errNotReached
}

// checkFailure says what is wrong with the end of a program in which a function failed.
func checkFailure(g *fake.GPU, f string, result int32, err error) string {
	contains := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(f, w) })
	}
	// If these fail, the fake's count of what there is stays.
	gives := contains("Destroy", "Free", "Unload", "Release")
	// Free and the Close methods without a result cannot say that these failed.
	silent := gives || contains("cuCtxSetCurrent", "cuEventSynchronize") ||
		f == "cuFuncGetParamInfo" && result == 1 // there are no more parameters
	if err == nil {
		// Cached code that is refused is compiled.
		if !silent && f != "cuModuleLoadData" {
			return "no error"
		}
	} else {
		switch text := err.Error(); {
		case !strings.HasPrefix(text, "cuda: "), strings.Contains(text, "%!"):
			return "the error is " + text
		case result == 2 && contains("cuMemAlloc") && !errors.Is(err, gpu.ErrMemory):
			return "the error is not ErrMemory: " + text
		case result == 719 && !contains("cuInit", "cuDevice", "cuDriver") && !errors.Is(err, gpu.ErrDeviceLost) && err != errNotReached:
			return "the error is not ErrDeviceLost: " + text
		}
	}
	if live := g.Live(); live != "" && !gives && result != 719 {
		return "not given back: " + live
	}
	return ""
}

// TestCancelledAtRandom lets 64 goroutines wait with contexts that end at any time. Every result that a
// Wait does deliver is right.
func TestCancelledAtRandom(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 64 << 20})
	o := open(t, g.Driver())
	add, spin := o.kernel("sum", 64, 0, 4), o.kernel("spin", 1, 0, 1)
	var cancelled, arrived atomic.Int64
	var group sync.WaitGroup
	for id := range 64 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(id)))
			q, err := o.Queue()
			if err != nil {
				t.Error(err)
				return
			}
			const n = 500
			a, c := o.alloc(4*n), o.alloc(4*n)
			x, out := make([]float32, n), make([]float32, n)
			for round := range 20 {
				for i := range x {
					x[i] = float32(id + round)
				}
				err := errors.Join(q.Upload(a, raw(x)),
					q.Launch(spin, [3]int{1, 1, 1}, []uint64{uint64(random.IntN(400_000))}),
					q.Launch(add, [3]int{n/64 + 1, 1, 1}, []uint64{uint64(a), uint64(a), uint64(c), n}), q.Download(raw(out), c))
				if err != nil {
					t.Error(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(2_000_000)))
				switch err := q.Wait(ctx); {
				case err == nil:
					arrived.Add(1)
					wantFloats(t, out, func(int) float32 { return 2 * float32(id+round) })
				case errors.Is(err, context.DeadlineExceeded):
					cancelled.Add(1)
				default:
					t.Error(err)
				}
				cancel()
			}
			if err := q.Wait(forever); err != nil {
				t.Error(err)
			}
			wantFloats(t, out, func(int) float32 { return 2 * float32(id+19) })
			if random.IntN(2) == 0 {
				if err := q.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if cancelled.Load() == 0 || arrived.Load() == 0 {
		t.Errorf("%d waits were cancelled, %d were not", cancelled.Load(), arrived.Load())
	}
	o.close()
	if live := g.Live(); live != "" {
		t.Errorf("not given back: %s", live)
	}
}

// TestOpensAndCloses opens thousands of devices, and leaves different things to Close each time.
func TestOpensAndCloses(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 32 << 10, Cache: t.TempDir()})
	driver := g.Driver()
	round := func(i int) {
		d, err := driver.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		a, err := d.Alloc(20 << 10)
		if err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 {
			m, err := d.Load([]byte(kernels))
			if err != nil {
				t.Fatal(err)
			}
			q, err := d.Queue()
			if err != nil {
				t.Fatal(err)
			}
			out := make([]byte, 100)
			graph, err := q.Record(func(q gpu.Queue) error { return q.Download(out, a) })
			if err := errors.Join(err, q.Upload(a, make([]byte, 100)), q.Replay(graph)); err != nil {
				t.Fatal(err)
			}
			switch i / 50 % 4 {
			case 0:
				graph.Close()
			case 1:
				m.Close()
			case 2:
				q.Close()
			}
		}
		if i%3 == 0 {
			d.Free(a)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	measure := func() (heap uint64, goroutines int) {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	for i := range 100 {
		round(i)
	}
	before, routines := measure()
	for i := range 3000 {
		round(i)
	}
	after, now := measure()
	if live := g.Live(); live != "" {
		t.Errorf("not given back: %s", live)
	}
	if after > before+1<<20 || now > routines+5 {
		t.Errorf("%d bytes and %d goroutines before, %d and %d after", before, routines, after, now)
	}
}

// TestSpareSlots opens and closes queues that copy. Later queues use the pinned memory of earlier ones.
func TestSpareSlots(t *testing.T) {
	g := fake.New(fake.Options{})
	d, err := g.Driver().Open(0)
	if err != nil {
		t.Fatal(err)
	}
	at, err := d.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 1<<20)
	round := func(queues int) {
		t.Helper()
		var opened []gpu.Queue
		for range queues {
			q, err := d.Queue()
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(want))
			want[queues]++
			if err := errors.Join(q.Upload(at, want), q.Download(got, at), q.Wait(context.Background())); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("the copies are wrong")
			}
			opened = append(opened, q)
		}
		for _, q := range opened {
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	round(1)
	pinned := g.Calls("cuMemHostAlloc")
	for range 10 {
		round(1)
	}
	if again := g.Calls("cuMemHostAlloc"); again != pinned || g.Calls("cuMemFreeHost") != 0 {
		t.Errorf("%d blocks were pinned for one queue, and %d for all", pinned, again)
	}
	round(20)
	if left := g.Calls("cuMemHostAlloc") - g.Calls("cuMemFreeHost"); left != 8 {
		t.Errorf("%d blocks are kept, want 8", left)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if live := g.Live(); live != "" {
		t.Errorf("not given back: %s", live)
	}
}

// TestCloseWhileUsed closes a device under goroutines that use it. They get results or errors.
func TestCloseWhileUsed(t *testing.T) {
	for seed := range 20 {
		g := fake.New(fake.Options{Machine: machine{}, Memory: 64 << 20})
		o := open(t, g.Driver())
		add := o.kernel("sum", 256, 0, 4)
		var group sync.WaitGroup
		for id := range 16 {
			group.Go(func() {
				for {
					if err := addRounds(o, add, float32(id)); err != nil {
						if !strings.Contains(err.Error(), "the device is closed") {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(seed) * time.Millisecond)
		o.close()
		group.Wait()
		if live := g.Live(); live != "" {
			t.Errorf("not given back: %s", live)
		}
		if err := g.Fault(); err != nil {
			t.Errorf("memory was used after it was given back: %v", err)
		}
	}
}

// TestGraphClosedInFlight closes a graph whose replay has not begun. The download arrives nevertheless.
func TestGraphClosedInFlight(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 1 << 20})
	o := open(t, g.Driver())
	a := o.alloc(4)
	x, out := []float32{3}, []float32{0}
	graph, err := o.queue.Record(func(q gpu.Queue) error { return errors.Join(q.Upload(a, raw(x)), q.Download(raw(out), a)) })
	o.must(err)
	g.Pause()
	o.must(o.queue.Replay(graph))
	closed := make(chan bool)
	go func() { graph.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("the graph was closed while it ran")
	case <-time.After(20 * time.Millisecond):
	}
	if out[0] != 0 {
		t.Error("the download has arrived")
	}
	g.Resume()
	<-closed
	o.must(o.queue.Wait(forever))
	wantFloats(t, out, func(int) float32 { return 3 })
	o.close()
	if err := g.Fault(); err != nil {
		t.Error(err)
	}
}

// TestClusters allows the clusters of 16 blocks that code may ask for, and refuses large parameters.
func TestClusters(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 1 << 20})
	o := open(t, g.Driver())
	m, err := o.Load([]byte(".version 8.0\n.entry wide(.param .b8 map[128])\n.entry cluster(.param .u32 n)"))
	o.must(err)
	before := g.Calls("cuFuncSetAttribute")
	_, err = m.Kernel(gpu.KernelInfo{Name: "cluster", Block: [3]int{1, 1, 1}, Args: 1})
	o.must(err)
	if g.Calls("cuFuncSetAttribute") != before+1 {
		t.Error("the cluster was not allowed")
	}
	if _, err := m.Kernel(gpu.KernelInfo{Name: "wide", Block: [3]int{32, 1, 1}, Args: 1}); err == nil || !strings.Contains(err.Error(), "parameter 0 has 128 bytes") {
		t.Error(err)
	}
	if _, err := m.Kernel(gpu.KernelInfo{Name: "wide", Block: [3]int{33, 1, 1}, Args: 1}); err == nil || !strings.Contains(err.Error(), "at most 32") {
		t.Error(err)
	}
	o.close()
}

// TestMaps launches a kernel that gets the map of a tensor, alone and in a graph. Maps of other addresses than multiples of 16
// are errors.
func TestMaps(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 1 << 20})
	o := open(t, g.Driver())
	m, err := o.Load([]byte(".version 8.0\n.entry tile(.param .b8 map[128], .param .u64 out) {\n\tsetmaxnreg.dec.sync.aligned.u32 40;\n}"))
	o.must(err)
	info := gpu.KernelInfo{Name: "tile", Block: [3]int{1, 1, 1}, Args: 2, Maps: []gpu.Map{{Arg: 0, Type: "f16", Extents: []int{4, 128}, Box: []int{2, 64}}}}
	k, err := m.Kernel(info)
	o.must(err)
	info.Maps = nil
	if _, err := m.Kernel(info); err == nil || !strings.Contains(err.Error(), "parameter 0 has 128 bytes") {
		t.Error(err)
	}
	q, err := o.Queue()
	o.must(err)
	from, err := o.Alloc(4 * 128 * 2)
	o.must(err)
	to, err := o.Alloc(2 * 64 * 2)
	o.must(err)
	data := make([]byte, 4*128*2)
	for i := range data {
		data[i] = byte(i % 251)
	}
	o.must(q.Upload(from, data))
	launch := func(q gpu.Queue) error { return q.Launch(k, [3]int{1, 1, 1}, []uint64{uint64(from), uint64(to)}) }
	graph, err := q.Record(launch)
	o.must(err)
	for name, do := range map[string]func() error{"alone": func() error { return launch(q) }, "in a graph": func() error { return q.Replay(graph) }} {
		got := make([]byte, 2*64*2)
		o.must(q.Upload(to, got))
		o.must(do())
		o.must(q.Download(got, to))
		o.must(q.Wait(context.Background()))
		if want := append(slices.Clone(data[:128]), data[256:256+128]...); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if err := q.Launch(k, [3]int{1, 1, 1}, []uint64{uint64(from) + 8, uint64(to)}); err == nil || !strings.Contains(err.Error(), "the map of argument 0") {
		t.Error(err)
	}
	graph.Close()
	o.must(q.Close())
	o.Free(from)
	o.Free(to)
	o.close()
}

// TestWindows launches a kernel that gets the map of windows, on images whose number is an argument. Windows whose corners
// are too far from the images are refused.
func TestWindows(t *testing.T) {
	o := open(t, fake.New(fake.Options{Machine: machine{}, Memory: 1 << 20}).Driver())
	m, err := o.Load([]byte(".version 8.0\n.entry corners()"))
	o.must(err)
	windows := gpu.Map{Arg: 0, Type: "bf16", Extents: []int{0, 9, 11, 64}, Outer: 2, Box: []int{128, 64}, First: []int{-1, -2}, Last: []int{7, 9}, Step: []int{2, 1}}
	info := gpu.KernelInfo{Name: "corners", Block: [3]int{1, 1, 1}, Args: 3, Maps: []gpu.Map{windows}}
	k, err := m.Kernel(info)
	o.must(err)
	from, to, got := o.alloc(3*9*11*64*2), o.alloc(4*12), make([]float32, 12)
	o.must(o.queue.Launch(k, [3]int{1, 1, 1}, []uint64{uint64(from), uint64(to), 3}))
	o.must(o.queue.Download(raw(got), to))
	o.must(o.queue.Wait(forever))
	if want := []float32{64, 11, 9, 3, 64, 128, -2, -1, -1, -1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("the map is %v, want %v", got, want)
	}
	windows.First = []int{-1, -200}
	info.Maps = []gpu.Map{windows}
	k, err = m.Kernel(info)
	o.must(err)
	if err := o.queue.Launch(k, [3]int{1, 1, 1}, []uint64{uint64(from), uint64(to), 3}); err == nil || !strings.Contains(err.Error(), "the map of argument 0") {
		t.Error(err)
	}
	o.Free(from)
	o.Free(to)
	o.must(o.queue.Close())
	o.close()
}

// TestEarly records early kernels after other kernels and after copies, with drivers that know such dependencies of graphs
// and with older ones.
func TestEarly(t *testing.T) {
	for version, want := range map[int32]int{12020: 0, 13000: 2} {
		g := fake.New(fake.Options{Machine: machine{}, Memory: 1 << 20, Version: version})
		o := open(t, g.Driver())
		m, err := o.Load([]byte(kernels))
		o.must(err)
		early, err := m.Kernel(gpu.KernelInfo{Name: "scale", Block: [3]int{128, 1, 1}, Args: 3, Early: true})
		o.must(err)
		x, out, a := ramp(100, 1), make([]float32, 100), o.alloc(400)
		graph, err := o.queue.Record(func(q gpu.Queue) error {
			scale := func() error {
				return q.Launch(early, [3]int{1, 1, 1}, []uint64{uint64(a), uint64(math.Float32bits(3)), 100})
			}
			return errors.Join(scale(), q.Upload(a, raw(x)), scale(), scale(), scale(), q.Download(raw(out), a))
		})
		o.must(err)
		o.must(o.queue.Replay(graph))
		o.must(o.queue.Wait(forever))
		wantFloats(t, out, func(i int) float32 { return 27 * x[i] })
		if n := g.Calls("cuGraphAddNode_v2"); n != want {
			t.Errorf("CUDA %d: %d early kernels, want %d", version, n, want)
		}
		graph.Close()
		o.Free(a)
		o.must(o.queue.Close())
		o.close()
	}
}

// TestCompiledCode is about the folder of compiled code: what is in it is not compiled, and what is
// wrong with it does not matter.
func TestCompiledCode(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	compiles := func(o fake.Options, prepare func(*fake.GPU)) int {
		t.Helper()
		o.Machine, o.Memory = machine{}, 1<<20
		g := fake.New(o)
		if prepare != nil {
			prepare(g)
		}
		d := open(t, g.Driver())
		d.kernel("sum", 32, 0, 4)
		d.close()
		return g.Calls("cuLinkComplete")
	}
	kept := fake.Options{Cache: folder}
	if n := compiles(kept, nil); n != 1 {
		t.Errorf("compiled %d times at first", n)
	}
	if n := compiles(kept, nil); n != 0 {
		t.Errorf("compiled %d times with a cache", n)
	}
	if n := compiles(fake.Options{}, nil); n != 1 {
		t.Errorf("compiled %d times without a folder", n)
	}
	if n := compiles(fake.Options{Cache: folder, Version: 12040}, nil); n != 1 {
		t.Errorf("compiled %d times for another driver", n)
	}
	refused := func(g *fake.GPU) { // the first load, which is of the cached code
		first := true
		g.OnCall(func(f string) int32 {
			if f == "cuModuleLoadData" && first {
				first = false
				return 200
			}
			return 0
		})
	}
	if n := compiles(kept, refused); n != 1 {
		t.Errorf("compiled %d times when the driver refuses the cached code", n)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	for name, damage := range map[string]func(data []byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"cut":       func(d []byte) []byte { return d[:len(d)-1] },
		"header":    func(d []byte) []byte { return d[:20] },
		"long":      func(d []byte) []byte { return append(d, 0) },
		"one bit":   func(d []byte) []byte { d[len(d)/2] ^= 4; return d },
		"other":     func(d []byte) []byte { return []byte(strings.Repeat("not this ", 100)) },
		"first bit": func(d []byte) []byte { d[0] ^= 1; return d },
	} {
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, damage(data), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if n := compiles(kept, nil); n != 1 {
			t.Errorf("%s: compiled %d times", name, n)
		}
		if n := compiles(kept, nil); n != 0 {
			t.Errorf("%s: compiled %d times after it was replaced", name, n)
		}
		compiles(fake.Options{Cache: folder, Version: 12040}, nil)
	}
	// A folder that cannot be one.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := compiles(fake.Options{Cache: filepath.Join(file, "below")}, nil); n != 1 {
		t.Errorf("compiled %d times with a file as folder", n)
	}
	// Many goroutines that load the same code compile it once.
	g := fake.New(fake.Options{Machine: machine{}, Memory: 1 << 20, Cache: t.TempDir()})
	d := open(t, g.Driver())
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			if _, err := d.Load([]byte(kernels + "// another text")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	d.close()
	if n := g.Calls("cuLinkComplete"); n != 2 {
		t.Errorf("two texts were compiled %d times", n)
	}
}

// TestCompilerErrors are what the compiler may say.
func TestCompilerErrors(t *testing.T) {
	for _, c := range []struct {
		function string
		result   int32
		want     string
	}{
		{"cuLinkAddData_v2", 222, "cuda: compiling: CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the driver (CUDA 13.0) is too old for this code"},
		{"cuLinkComplete", 209, "cuda: compiling: CUDA_ERROR_NO_BINARY_FOR_GPU: the code is not for capability 9.0"},
		{"cuLinkComplete", 1, "cuda: compiling: CUDA_ERROR_INVALID_VALUE"},
		{"", 0, "cuda: compiling: kernels.ptx, line 1; fatal   : Missing .version directive; ptxas fatal   : Ptx assembly aborted: CUDA_ERROR_INVALID_PTX"},
	} {
		g := fake.New(fake.Options{Machine: machine{}, Memory: 1 << 20})
		d := open(t, g.Driver())
		g.OnCall(func(f string) int32 {
			if f == c.function {
				return c.result
			}
			return 0
		})
		code := kernels
		if c.function == "" {
			code = "no PTX"
		}
		if _, err := d.Load([]byte(code)); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		g.OnCall(nil)
		d.close()
		if live := g.Live(); live != "" {
			t.Errorf("not given back: %s", live)
		}
	}
}

// TestLostByAnotherQueue meets the failure on a queue that started no kernel.
func TestLostByAnotherQueue(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 16 << 20})
	o := open(t, g.Driver())
	poke := o.kernel("poke", 1, 0, 1)
	q, err := o.Queue()
	o.must(err)
	o.must(q.Launch(poke, [3]int{1, 1, 1}, []uint64{wild}))
	var met error
	for met == nil {
		met = o.queue.Wait(forever)
	}
	if want := "cuda: a kernel of another queue: CUDA_ERROR_ILLEGAL_ADDRESS: "; !errors.Is(met, gpu.ErrDeviceLost) || !strings.HasPrefix(met.Error(), want) {
		t.Errorf("%v, want %s…", met, want)
	}
	// The context is shared with a second device until both are closed.
	if _, err := g.Driver().Open(0); !errors.Is(err, gpu.ErrDeviceLost) {
		t.Errorf("a second device in the lost context: %v", err)
	}
	if err := g.Fault(); !errors.Is(err, fake.ErrAddress) {
		t.Errorf("the fake says %v", err)
	}
	o.close()
	testAdd(t, g.Driver())
	if live := g.Live(); live != "" {
		t.Errorf("not given back: %s", live)
	}
}

// TestManyKernels names only some kernels of those that may have failed.
func TestManyKernels(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 1 << 20})
	o := open(t, g.Driver())
	a := o.alloc(4)
	g.Pause()
	o.must(o.queue.Launch(o.kernel("scale", 1, 0, 3), [3]int{1, 1, 1}, []uint64{uint64(a), uint64(math.Float32bits(1)), 1}))
	o.must(o.queue.Launch(o.kernel("spin", 1, 0, 1), [3]int{1, 1, 1}, []uint64{1}))
	o.must(o.queue.Launch(o.kernel("spin", 1, 0, 1), [3]int{1, 1, 1}, []uint64{1}))
	o.must(o.queue.Launch(o.kernel("poke", 1, 0, 1), [3]int{1, 1, 1}, []uint64{wild}))
	o.must(o.queue.Launch(o.kernel("sum", 1, 0, 4), [3]int{1, 1, 1}, make([]uint64, 4)))
	g.Resume()
	if err := o.queue.Wait(forever); err == nil || !strings.HasPrefix(err.Error(), "cuda: one of the kernels scale, spin, poke, …: CUDA_ERROR_ILLEGAL_ADDRESS: ") {
		t.Error(err)
	}
	o.close()
}

// TestOldDriver runs on a driver that cannot say what parameters a kernel has.
func TestOldDriver(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 16 << 20, Version: 12030})
	testAdd(t, g.Driver())
	if g.Calls("cuFuncGetParamInfo") > 0 {
		t.Error("a function was called that the driver does not have")
	}
}
