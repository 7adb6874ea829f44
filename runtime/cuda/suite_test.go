package cuda_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda"
	"github.com/burngen/burngen/runtime/cuda/fake"
	"github.com/burngen/burngen/runtime/gpu"
)

// suite is what every driver must do. The last test loses the device.
var suite = []struct {
	name string
	run  func(*testing.T, gpu.Driver)
}{
	{"info", testInfo},
	{"copies", testCopies},
	{"add", testAdd},
	{"mapped memory", testMapped},
	{"shared memory", testShared},
	{"graph", testGraph},
	{"graph of graphs", testGraphOfGraphs},
	{"clock", testClock},
	{"cancel", testCancel},
	{"memory", testMemory},
	{"module", testModule},
	{"mistakes", testMistakes},
	{"closed", testClosed},
	{"goroutines", testGoroutines},
	{"failed kernel", testFailedKernel},
	{"failed graph", testFailedGraph},
}

func TestFake(t *testing.T) {
	for _, s := range suite {
		t.Run(s.name, func(t *testing.T) {
			g := fake.New(fake.Options{Machine: machine{}, Memory: 128 << 20, Cache: t.TempDir()})
			s.run(t, g.Driver())
			if live := g.Live(); live != "" {
				t.Errorf("not given back: %s", live)
			}
		})
	}
}

// TestFakeLibrary runs on the fake as a C library.
func TestFakeLibrary(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}, Memory: 128 << 20, Cache: t.TempDir()})
	driver, err := g.DriverC()
	if err != nil {
		t.Skip(err)
	}
	for _, s := range suite {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, driver)
			if live := g.Live(); live != "" {
				t.Errorf("not given back: %s", live)
			}
		})
	}
}

// TestCard runs on the machine's first card.
func TestCard(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // on Linux, code is compiled anew
	infos, err := cuda.Devices()
	if errors.Is(err, gpu.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", infos)
	for _, s := range suite {
		t.Run(s.name, func(t *testing.T) {
			if strings.HasPrefix(s.name, "failed") && os.Getenv(childVariable) == "" {
				runAlone(t)
				return
			}
			start := time.Now()
			s.run(t, cuda.Driver())
			t.Log(time.Since(start))
		})
	}
}

// childVariable is set in a process that runs one test.
const childVariable = "BURNGEN_TEST_ALONE"

// runAlone runs the test in a process of its own: a card whose kernel failed may be lost for the rest of
// the process.
func runAlone(t *testing.T) {
	c := exec.Command(os.Args[0], "-test.run", "^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	c.Env = append(os.Environ(), childVariable+"=1")
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Error(err)
	}
}

// testReopened opens a device whose kernel failed again. NVIDIA's driver may keep the failure until the
// process ends; then the error says that the device is lost.
func testReopened(t *testing.T, driver gpu.Driver) {
	if d, err := driver.Open(0); err == nil {
		d.Close()
	} else if driver == cuda.Driver() && errors.Is(err, gpu.ErrDeviceLost) {
		t.Log(err)
		return
	}
	testAdd(t, driver)
}

// opened is a device with the kernels of the tests and a queue. The test closes the device.
type opened struct {
	*testing.T
	gpu.Opened
	module gpu.Module
	queue  gpu.Queue
}

func open(t *testing.T, driver gpu.Driver) opened {
	t.Helper()
	d, err := driver.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	o := opened{T: t, Opened: d}
	if o.module, err = d.Load([]byte(kernels)); err != nil {
		t.Fatal(err)
	}
	if o.queue, err = d.Queue(); err != nil {
		t.Fatal(err)
	}
	return o
}

// must fails the test on an error.
func (o opened) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

func (o opened) close() {
	o.Helper()
	o.must(o.Close())
	o.must(o.Close()) // the second does nothing
}

func (o opened) alloc(bytes int) gpu.Address {
	o.Helper()
	a, err := o.Alloc(int64(bytes))
	o.must(err)
	if a == 0 || a%256 != 0 {
		o.Fatalf("the address of %d bytes is %#x", bytes, a)
	}
	return a
}

func (o opened) kernel(name string, threads, shared, args int) gpu.Kernel {
	o.Helper()
	k, err := o.module.Kernel(gpu.KernelInfo{Name: name, Block: [3]int{threads, 1, 1}, Shared: shared, Args: args})
	o.must(err)
	return k
}

// forever is the nil context, which Wait takes.
var forever context.Context

func raw(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

func ramp(n int, scale float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = scale * float32(i%1000)
	}
	return x
}

func wantFloats(t *testing.T, got []float32, want func(i int) float32) {
	t.Helper()
	for i := range got {
		if got[i] != want(i) {
			t.Fatalf("element %d of %d is %v, want %v", i, len(got), got[i], want(i))
		}
	}
}

func testInfo(t *testing.T, driver gpu.Driver) {
	infos, err := driver.Devices()
	if err != nil {
		t.Fatal(err)
	}
	if driver.Name() != "cuda" || len(infos) == 0 {
		t.Fatalf("%s: %v", driver.Name(), infos)
	}
	for i, info := range infos {
		if info.Index != i || info.Name == "" || strings.Contains(info.Name, "\x00") || info.Memory < 1<<20 || info.Subgroup != 32 ||
			len(info.Capability) < 3 || !strings.Contains(info.Driver, "CUDA ") {
			t.Errorf("%+v", info)
		}
	}
	for _, index := range []int{-1, len(infos)} {
		if _, err := driver.Open(index); !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("device %d: %v", index, err)
		}
	}
	o := open(t, driver)
	if !reflect.DeepEqual(o.Info(), infos[0]) {
		t.Errorf("%+v, listed was %+v", o.Info(), infos[0])
	}
	o.close()
}

// testCopies sends data of many sizes to the device and back. Some go around the ring of pinned memory.
func testCopies(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	const most = 17<<20 + 5
	a := o.alloc(most)
	data := make([]byte, most)
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	for _, n := range []int{0, 1, 63, 64, 4096, 1<<20 - 1, 1 << 20, 1<<20 + 1, 4 << 20, 4<<20 + 3, 9 << 20, most} {
		sent := bytes.Clone(data[:n])
		o.must(o.queue.Upload(a, sent))
		clear(sent) // it may be changed
		back := make([]byte, n)
		o.must(o.queue.Download(back, a))
		o.must(o.queue.Wait(forever))
		if !bytes.Equal(back, data[:n]) {
			t.Fatalf("%d bytes differ", n)
		}
	}
	// Copies on the device.
	b := o.alloc(most)
	for _, n := range []int{0, 1, 63, 4096, most} {
		o.must(o.queue.Upload(a, data[:n]))
		o.must(o.queue.Copy(b, a, n))
		back := make([]byte, n)
		o.must(o.queue.Download(back, b))
		o.must(o.queue.Wait(forever))
		if !bytes.Equal(back, data[:n]) {
			t.Fatalf("%d bytes copied on the device differ", n)
		}
	}
	for _, err := range []error{o.queue.Copy(0, a, 4), o.queue.Copy(b, 0, 4), o.queue.Copy(b, a, -1)} {
		if err == nil {
			t.Error("no error for a copy without addresses or size")
		}
	}
	// Many small copies fill slots as well. Downloads and uploads are in order.
	const pieces, piece = 2200, 7919
	back := make([]byte, pieces*piece)
	for i := range pieces {
		part := data[i*piece:][:piece]
		o.must(o.queue.Upload(a, part))
		o.must(o.queue.Download(back[i*piece:][:piece], a))
	}
	o.must(o.queue.Wait(context.Background()))
	if !bytes.Equal(back, data[:pieces*piece]) {
		t.Fatal("small pieces differ")
	}
	o.close()
}

func testAdd(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	add, scale := o.kernel("sum", 256, 0, 4), o.kernel("scale", 128, 0, 3)
	for _, n := range []int{1, 255, 256, 257, 300_000} {
		x, y, out := ramp(n, 1), ramp(n, 0.5), make([]float32, n)
		a, b, c := o.alloc(4*n), o.alloc(4*n), o.alloc(4*n)
		o.must(o.queue.Upload(a, raw(x)))
		o.must(o.queue.Upload(b, raw(y)))
		o.must(o.queue.Launch(add, [3]int{(n + 255) / 256, 1, 1}, []uint64{uint64(a), uint64(b), uint64(c), uint64(n)}))
		o.must(o.queue.Launch(scale, [3]int{(n + 127) / 128, 1, 1}, []uint64{uint64(c), uint64(math.Float32bits(3)), uint64(n)}))
		o.must(o.queue.Launch(scale, [3]int{0, 1, 1}, []uint64{uint64(c), uint64(math.Float32bits(5)), uint64(n)}))
		o.must(o.queue.Download(raw(out), c))
		o.must(o.queue.Wait(forever))
		wantFloats(t, out, func(i int) float32 { return 3 * (x[i] + y[i]) })
		o.Free(a)
		o.Free(b)
		o.Free(c)
		o.Free(c)
		o.Free(0)
	}
	o.must(o.queue.Close())
	o.close()
}

// testMapped launches kernels that read and write memory of the host, alone and in a graph.
func testMapped(t *testing.T, driver gpu.Driver) {
	const n = 300
	o := open(t, driver)
	add := o.kernel("sum", 256, 0, 4)
	d, ok := o.Opened.(gpu.Mapping)
	if !ok {
		t.Fatal("the device does not map memory")
	}
	if _, _, err := d.AllocMapped(0); err == nil {
		t.Error("no bytes were mapped")
	}
	memory, at, err := d.AllocMapped(8 * n)
	o.must(err)
	if len(memory) != 8*n || at == 0 || at%256 != 0 {
		t.Fatalf("%d bytes at %#x", len(memory), at)
	}
	_, kept, err := d.AllocMapped(4) // Close frees it
	o.must(err)
	b := o.alloc(4 * n)
	y := ramp(n, 2)
	o.must(o.queue.Upload(b, raw(y)))
	launch := func(q gpu.Queue) error {
		return q.Launch(add, [3]int{2, 1, 1}, []uint64{uint64(at), uint64(b), uint64(at) + 4*n, n})
	}
	g, err := o.queue.Record(launch)
	o.must(err)
	for i, do := range []func() error{func() error { return launch(o.queue) }, func() error { return o.queue.Replay(g) }, func() error { return o.queue.Replay(g) }} {
		x := ramp(n, float32(i))
		copy(memory, raw(x))
		o.must(do())
		o.must(o.queue.Wait(forever))
		out := make([]float32, n)
		copy(raw(out), memory[4*n:])
		wantFloats(t, out, func(i int) float32 { return x[i] + y[i] })
	}
	o.Free(at)
	o.Free(at)
	o.must(o.queue.Close())
	o.close()
	o.Free(kept)
	if _, _, err := d.AllocMapped(4); err == nil {
		t.Error("memory of a closed device was mapped")
	}
}

// testShared wants more shared memory than kernels have without asking, and then less for the same code.
func testShared(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	const threads = 512
	a := o.alloc(4 * threads)
	large, small := o.kernel("reverse", threads, 96<<10, 2), o.kernel("reverse", threads, 4*threads, 2)
	for _, k := range []struct {
		gpu.Kernel
		shared uint64
	}{{large, 96 << 10}, {small, 4 * threads}, {large, 96 << 10}} {
		back := make([]byte, 4*threads)
		o.must(o.queue.Upload(a, back))
		o.must(o.queue.Launch(k.Kernel, [3]int{1, 1, 1}, []uint64{uint64(a), k.shared}))
		o.must(o.queue.Download(back, a))
		o.must(o.queue.Wait(forever))
		for i := range threads {
			if got := int(back[4*i]) + int(back[4*i+1])<<8; got != threads-1-i {
				t.Fatalf("element %d is %d", i, got)
			}
		}
	}
	o.close()
}

// testGraph replays with other contents of the same host memory. Replays are queued behind each other.
func testGraph(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	add, scale := o.kernel("sum", 256, 0, 4), o.kernel("scale", 128, 0, 3)
	for _, n := range []int{5, 1000, 700_000} {
		x, y, out, kept := make([]float32, n), ramp(n, 2), make([]float32, n), make([]float32, n)
		a, b, c, d := o.alloc(4*n), o.alloc(4*n), o.alloc(4*n), o.alloc(4*n)
		args := []uint64{uint64(a), uint64(b), uint64(c), uint64(n)}
		g, err := o.queue.Record(func(q gpu.Queue) error {
			o.must(q.Upload(a, raw(x)))
			o.must(q.Upload(a, nil))
			o.must(q.Launch(add, [3]int{(n + 255) / 256, 1, 1}, args))
			o.must(q.Copy(d, c, 4*n))
			o.must(q.Copy(d, c, 0))
			o.must(q.Launch(scale, [3]int{(n + 127) / 128, 1, 1}, []uint64{uint64(c), uint64(math.Float32bits(0.5)), uint64(n)}))
			o.must(q.Launch(scale, [3]int{1, 0, 1}, []uint64{uint64(c), 0, uint64(n)}))
			o.must(q.Download(raw(kept), d))
			return q.Download(raw(out), c)
		})
		o.must(err)
		clear(args) // the graph has a copy
		o.must(o.queue.Upload(b, raw(y)))
		for round := range 4 {
			for i := range x {
				x[i] = float32(round + i%3)
			}
			o.must(o.queue.Replay(g))
			if round%2 == 0 { // the graph has read x, though nothing was waited for
				for i := range x {
					x[i] = -1
				}
			}
			if round == 0 {
				continue // the replay that follows is queued behind it
			}
			o.must(o.queue.Wait(forever))
			wantFloats(t, out, func(i int) float32 { return 0.5 * (float32(round+i%3) + y[i]) })
			wantFloats(t, kept, func(i int) float32 { return float32(round+i%3) + y[i] })
		}
		o.must(o.queue.Replay(g))
		g.Close() // waits; the download is done
		g.Close()
		if err := o.queue.Replay(g); err == nil {
			t.Error("a closed graph is replayed")
		}
		o.must(o.queue.Wait(forever))
	}
	o.close()
}

func testGraphOfGraphs(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	scale := o.kernel("scale", 32, 0, 3)
	a := o.alloc(4)
	x := []float32{1}
	double, err := o.queue.Record(func(q gpu.Queue) error {
		return q.Launch(scale, [3]int{1, 1, 1}, []uint64{uint64(a), uint64(math.Float32bits(2)), 1})
	})
	o.must(err)
	var outer, empty gpu.Graph
	var leaked gpu.Queue
	outer, err = o.queue.Record(func(q gpu.Queue) error {
		leaked = q
		if err := q.Wait(forever); err == nil {
			t.Error("a recording waits")
		}
		if err := q.Close(); err == nil {
			t.Error("a recording is closed")
		}
		empty, err = q.Record(func(gpu.Queue) error { return nil })
		o.must(err)
		o.must(q.Replay(double))
		o.must(q.Replay(empty))
		return q.Replay(double)
	})
	o.must(err)
	for name, err := range map[string]error{
		"upload": leaked.Upload(a, raw(x)), "download": leaked.Download(raw(x), a), "replay": leaked.Replay(double),
		"launch": leaked.Launch(scale, [3]int{1, 1, 1}, make([]uint64, 3)), "wait": leaked.Wait(forever), "close": leaked.Close(),
	} {
		if err == nil || !strings.Contains(err.Error(), "the recording is over") {
			t.Errorf("%s after the recording: %v", name, err)
		}
	}
	o.must(o.queue.Upload(a, raw(x)))
	o.must(o.queue.Replay(outer))
	o.must(o.queue.Replay(empty))
	double.Close()
	o.must(o.queue.Replay(outer)) // has the launches of the closed graph
	o.must(o.queue.Download(raw(x), a))
	o.must(o.queue.Wait(forever))
	wantFloats(t, x, func(int) float32 { return 16 })
	want := errors.New("no graph")
	if _, err := o.queue.Record(func(gpu.Queue) error { return want }); err != want {
		t.Errorf("a recording that fails: %v", err)
	}
	o.must(o.queue.Close())
	outer.Close()
	o.close()
}

// testCancel ends waits by their contexts. The work goes on, and the next Wait gets it.
func testCancel(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	spin := o.kernel("spin", 1, 0, 1)
	a := o.alloc(4)
	o.must(o.queue.Upload(a, raw([]float32{7})))
	o.must(o.queue.Launch(spin, [3]int{1, 1, 1}, []uint64{uint64(300 * time.Millisecond)}))
	x := []float32{0}
	o.must(o.queue.Download(raw(x), a))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := o.queue.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("with a context that is done: %v", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if err := o.queue.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("with a deadline: %v", err)
	}
	if x[0] != 0 {
		t.Fatal("the download arrived before the wait ended")
	}
	o.must(o.queue.Wait(context.Background()))
	wantFloats(t, x, func(int) float32 { return 7 })
	o.close()
}

func testMemory(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	const huge = int64(1 << 45)
	_, err := o.Alloc(huge)
	if !errors.Is(err, gpu.ErrMemory) || !strings.Contains(err.Error(), fmt.Sprint(huge)) || !strings.Contains(err.Error(), "are free") {
		t.Errorf("32 TiB: %v", err)
	}
	if _, err := o.Alloc(-1); !errors.Is(err, gpu.ErrMemory) {
		t.Errorf("-1 bytes: %v", err)
	}
	seen := map[gpu.Address]bool{}
	for _, n := range []int{0, 0, 1, 255, 256, 257, 1 << 20} {
		a := o.alloc(n)
		if seen[a] {
			t.Errorf("%d bytes have an address of others", n)
		}
		seen[a] = true
	}
	// What is freed can be allocated again.
	size := o.Info().Memory / 4 * 3
	for range 5 {
		a, err := o.Alloc(size)
		o.must(err)
		o.Free(a)
	}
	o.close()
}

func testModule(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	log := o.module.(interface{ Log() string }).Log()
	if !strings.Contains(log, "ptxas info") || strings.Contains(log, "serialized") {
		t.Errorf("the log says %q", log)
	}
	// The second time, the code is in the cache, and so is the log.
	again, err := o.Load([]byte(kernels))
	o.must(err)
	if got := again.(interface{ Log() string }).Log(); got != log {
		t.Errorf("the log of the cached module says %q", got)
	}
	k, err := again.Kernel(gpu.KernelInfo{Name: "scale", Block: [3]int{32, 1, 1}, Args: 3})
	o.must(err)
	a := o.alloc(4)
	launch := func(q gpu.Queue) error {
		return q.Launch(k, [3]int{1, 1, 1}, []uint64{uint64(a), uint64(math.Float32bits(2)), 1})
	}
	o.must(launch(o.queue))
	g, err := o.queue.Record(launch)
	o.must(err)
	o.must(o.queue.Wait(forever))
	again.Close()
	again.Close()
	if err := launch(o.queue); err == nil {
		t.Error("a kernel of a closed module is launched")
	}
	if err := o.queue.Replay(g); err == nil {
		t.Error("a graph with a kernel of a closed module is replayed")
	}
	if _, err := again.Kernel(gpu.KernelInfo{Name: "scale", Block: [3]int{32, 1, 1}, Args: 3}); err == nil {
		t.Error("a closed module has a kernel")
	}
	for _, code := range []string{"", "nonsense", kernels[:len(kernels)/2]} {
		if code == kernels[:len(kernels)/2] && strings.HasPrefix(o.Info().Name, "Fake") {
			continue // the machine of the tests reads no bodies
		}
		if _, err := o.Load([]byte(code)); err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "cuda: compiling: ") {
			t.Errorf("loading %.10q: %v", code, err)
		}
	}
	o.close()
}

// other is a kernel or a graph of no driver.
type other struct{}

func (other) Close() {}

func testMistakes(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	for want, k := range map[string]gpu.KernelInfo{
		`has no kernel "nothing"`:   {Name: "nothing", Block: [3]int{1, 1, 1}},
		`has no kernel "sum\x00"`:   {Name: "sum\x00", Block: [3]int{1, 1, 1}, Args: 4},
		"blocks of [0 1 1] threads": {Name: "sum", Block: [3]int{0, 1, 1}, Args: 4},
		"blocks of [2048 1 1]":      {Name: "sum", Block: [3]int{2048, 1, 1}, Args: 4},
		"= 2048 threads":            {Name: "sum", Block: [3]int{64, 32, 1}, Args: 4},
		"has 4 parameters, want 3":  {Name: "sum", Block: [3]int{1, 1, 1}, Args: 3},
		"has 4 parameters, want 5":  {Name: "sum", Block: [3]int{1, 1, 1}, Args: 5},
		"1048576 bytes of shared":   {Name: "reverse", Block: [3]int{1, 1, 1}, Shared: 1 << 20, Args: 2},
		"-1 bytes of shared":        {Name: "reverse", Block: [3]int{1, 1, 1}, Shared: -1, Args: 2},
	} {
		if _, err := o.module.Kernel(k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", k, err, want)
		}
	}
	second := open(t, driver)
	add, foreign := o.kernel("sum", 32, 0, 4), second.kernel("sum", 32, 0, 4)
	theirs, err := second.queue.Record(func(gpu.Queue) error { return nil })
	o.must(err)
	args := make([]uint64, 4)
	mistakes := func(q gpu.Queue) map[string]error {
		return map[string]error{
			"3 arguments, want 4":            q.Launch(add, [3]int{1, 1, 1}, args[:3]),
			"a grid of [1 65536 1]":          q.Launch(add, [3]int{1, 65536, 1}, args),
			"a grid of [-1 1 1]":             q.Launch(add, [3]int{-1, 1, 1}, args),
			"other is not a kernel":          q.Launch(other{}, [3]int{1, 1, 1}, args),
			"<nil> is not a kernel":          q.Launch(nil, [3]int{1, 1, 1}, args),
			"is of another device":           q.Launch(foreign, [3]int{1, 1, 1}, args),
			"the graph is of another device": q.Replay(theirs),
			"the graph is not of this":       q.Replay(other{}),
			"copying 4 bytes: the address":   q.Upload(0, make([]byte, 4)),
			"copying 5 bytes: the address":   q.Download(make([]byte, 5), 0),
		}
	}
	check := func(q gpu.Queue) error {
		for want, err := range mistakes(q) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		return nil
	}
	check(o.queue)
	g, err := o.queue.Record(check)
	o.must(err)
	o.must(o.queue.Replay(g))     // has no steps
	o.must(o.queue.Wait(forever)) // nothing was broken
	second.close()
	o.close()
}

func testClosed(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	scale := o.kernel("scale", 32, 0, 3)
	a := o.alloc(4)
	g, err := o.queue.Record(func(q gpu.Queue) error { return q.Upload(a, make([]byte, 4)) })
	o.must(err)
	q, err := o.Queue()
	o.must(err)
	o.must(q.Close())
	o.must(q.Close())
	uses := func(q gpu.Queue) map[string]error {
		_, recording := q.Record(func(gpu.Queue) error { return nil })
		return map[string]error{
			"upload": q.Upload(a, make([]byte, 4)), "download": q.Download(make([]byte, 4), a), "replay": q.Replay(g),
			"launch": q.Launch(scale, [3]int{1, 1, 1}, make([]uint64, 3)), "record": recording, "wait": q.Wait(forever),
		}
	}
	for name, err := range uses(q) {
		if err == nil || err.Error() != "cuda: the queue is closed" {
			t.Errorf("%s on a closed queue: %v", name, err)
		}
	}
	module, queue := o.module, o.queue
	o.close()
	closed := uses(queue)
	_, closed["alloc"] = o.Alloc(1)
	_, closed["load"] = o.Load([]byte(kernels))
	_, closed["queue"] = o.Queue()
	_, closed["kernel"] = module.Kernel(gpu.KernelInfo{Name: "sum", Block: [3]int{1, 1, 1}, Args: 4})
	for name, err := range closed {
		if err == nil || err.Error() != "cuda: the device is closed" {
			t.Errorf("%s on a closed device: %v", name, err)
		}
	}
	o.must(queue.Close())
	module.Close()
	g.Close()
	o.Free(a)
}

// testGoroutines lets 64 goroutines use one device, each with a queue.
func testGoroutines(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	add := o.kernel("sum", 256, 0, 4)
	var group sync.WaitGroup
	for id := range 64 {
		group.Go(func() {
			if err := addRounds(o, add, float32(id)); err != nil {
				t.Errorf("goroutine %d: %v", id, err)
			}
		})
	}
	group.Wait()
	o.close()
}

// addRounds adds on a queue of its own: by launches, then by a graph.
func addRounds(o opened, add gpu.Kernel, seed float32) (err error) {
	q, err := o.Queue()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	const n = 3000
	x, y, out := make([]float32, n), ramp(n, seed), make([]float32, n)
	var at [3]gpu.Address
	for i := range at {
		if at[i], err = o.Alloc(4 * n); err != nil {
			return err
		}
		defer o.Free(at[i])
	}
	once := func(q gpu.Queue) error {
		return errors.Join(q.Upload(at[0], raw(x)), q.Upload(at[1], raw(y)),
			q.Launch(add, [3]int{(n + 255) / 256, 1, 1}, []uint64{uint64(at[0]), uint64(at[1]), uint64(at[2]), n}),
			q.Download(raw(out), at[2]))
	}
	g, err := q.Record(once)
	if err != nil {
		return err
	}
	defer g.Close()
	for round := range 10 {
		for i := range x {
			x[i] = seed + float32(round)
		}
		do := once
		if round%2 == 0 {
			do = func(q gpu.Queue) error { return q.Replay(g) }
		}
		if err := errors.Join(do(q), q.Wait(context.Background())); err != nil {
			return err
		}
		for i := range out {
			if out[i] != x[i]+y[i] {
				return fmt.Errorf("element %d is %v, want %v", i, out[i], x[i]+y[i])
			}
		}
	}
	return nil
}

const wild = 1 << 20 // no address of the device

// testFailedKernel loses the device by a kernel that writes where there is no memory. Another open works.
func testFailedKernel(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	poke, scale := o.kernel("poke", 1, 0, 1), o.kernel("scale", 32, 0, 3)
	a := o.alloc(4)
	args := []uint64{uint64(a), uint64(math.Float32bits(2)), 1}
	g, err := o.queue.Record(func(q gpu.Queue) error { return q.Launch(scale, [3]int{1, 1, 1}, args) })
	o.must(err)
	o.must(o.queue.Launch(scale, [3]int{1, 1, 1}, args))
	o.must(o.queue.Wait(forever))
	o.must(o.queue.Launch(poke, [3]int{1, 1, 1}, []uint64{wild}))
	lost := o.queue.Wait(forever)
	if want := "cuda: kernel poke: CUDA_ERROR_ILLEGAL_ADDRESS: " + gpu.ErrDeviceLost.Error(); !errors.Is(lost, gpu.ErrDeviceLost) || lost.Error() != want {
		t.Fatalf("%v, want %s", lost, want)
	}
	later := map[string]error{
		"wait": o.queue.Wait(context.Background()), "upload": o.queue.Upload(a, make([]byte, 4)),
		"launch": o.queue.Launch(scale, [3]int{1, 1, 1}, args), "replay": o.queue.Replay(g),
	}
	_, later["alloc"] = o.Alloc(4)
	_, later["load"] = o.Load([]byte(kernels))
	_, later["queue"] = o.Queue()
	for name, err := range later {
		if err == nil || err.Error() != lost.Error() {
			t.Errorf("%s on a lost device: %v", name, err)
		}
	}
	o.Free(a)
	g.Close()
	o.module.Close()
	o.must(o.queue.Close()) // the failure was reported
	o.close()
	testReopened(t, driver)
}

func testFailedGraph(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	poke, scale := o.kernel("poke", 1, 0, 1), o.kernel("scale", 32, 0, 3)
	a := o.alloc(4)
	g, err := o.queue.Record(func(q gpu.Queue) error {
		return errors.Join(q.Launch(scale, [3]int{1, 1, 1}, []uint64{uint64(a), 0, 1}), q.Launch(poke, [3]int{1, 1, 1}, []uint64{wild}))
	})
	o.must(err)
	o.must(o.queue.Replay(g))
	lost := o.queue.Close() // waits, and says how it went
	if want := "one of the kernels scale, poke: CUDA_ERROR_ILLEGAL_ADDRESS"; !errors.Is(lost, gpu.ErrDeviceLost) || !strings.Contains(lost.Error(), want) {
		t.Errorf("%v, want %s", lost, want)
	}
	o.close()
	testReopened(t, driver)
}
