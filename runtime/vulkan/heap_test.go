package vulkan

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
)

// sizeOf draws a size, more often a small one.
func sizeOf(random *rand.Rand) int64 {
	return random.Int64N(1 << (1 + random.IntN(24)))
}

// checkBlocks fails the test unless the pieces of a heap lie apart, in their blocks, and are those
// that are expected.
func checkBlocks(t *testing.T, h *heap, want map[gpu.Address]int64) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	found := 0
	var last gpu.Address
	for _, b := range h.blocks {
		if b.address < last || b.address%alignment != 0 {
			t.Fatalf("block at %#x, the one before ends at %#x", b.address, last)
		}
		last = b.address + gpu.Address(b.size)
		var end int64
		for _, u := range b.used {
			at := b.address + gpu.Address(u.start)
			if u.start < end || u.start%alignment != 0 || u.start+u.size > b.size {
				t.Fatalf("piece %v overlaps the one before, or ends outside of %d bytes", u, b.size)
			}
			if bytes, ok := want[at]; !ok || bytes > u.size {
				t.Fatalf("piece at %#x has %d bytes, want %d", at, u.size, bytes)
			}
			end = u.start + u.size
			found++
		}
	}
	if found != len(want) {
		t.Fatalf("%d pieces, want %d", found, len(want))
	}
}

func TestAllocAndFree(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		random := rand.New(rand.NewPCG(8, 9))
		pieces := map[gpu.Address]int64{}
		for round := range 4000 {
			if random.IntN(2) == 0 || len(pieces) == 0 {
				n := sizeOf(random)
				at, err := d.Alloc(n)
				must(t, err)
				if at == 0 || at%256 != 0 || pieces[at] != 0 {
					t.Fatalf("address %#x for %d bytes", at, n)
				}
				pieces[at] = n
			} else {
				for at := range pieces {
					d.Free(at)
					delete(pieces, at)
					break
				}
			}
			if round%100 == 0 {
				checkBlocks(t, d.memory, pieces)
			}
			d.Free(0)
			d.Free(1 << 60)
			for at := range pieces {
				d.Free(at + 256*1000*1000*1000) // not an address of a piece
				break
			}
		}
		for at := range pieces {
			d.Free(at)
		}
		checkBlocks(t, d.memory, nil)
		if n := len(d.memory.blocks); n > 1 {
			t.Errorf("%d blocks are left of nothing", n)
		}
		if d.budget.count > 1 {
			t.Errorf("%d allocations are left of nothing", d.budget.count)
		}
	})
}

func TestAllocFromManyGoroutines(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		var wg sync.WaitGroup
		for w := range 16 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(10, uint64(w)))
				for range 200 {
					at, err := d.Alloc(random.Int64N(1 << 20))
					if err != nil {
						t.Error(err)
						return
					}
					d.Free(at)
				}
			})
		}
		wg.Wait()
		checkBlocks(t, d.memory, nil)
	})
}

func TestOutOfMemory(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		for _, n := range []int64{-1, math.MinInt64} {
			_, err := d.Alloc(n)
			wantError(t, err, "negative")
		}
		for _, n := range []int64{d.Info().Memory + 1, 1 << 50, math.MaxInt64} {
			_, err := d.Alloc(n)
			if !errors.Is(err, gpu.ErrMemory) {
				t.Errorf("error %v, want %v", err, gpu.ErrMemory)
			}
			wantError(t, err, fmt.Sprintf("want %d bytes", n))
			wantError(t, err, d.Info().Name)
		}
		if d.adapter.rank() != 4 {
			return // do not fill a card that others use
		}
		var all []gpu.Address
		for {
			at, err := d.Alloc(200 << 20)
			if err != nil {
				if !errors.Is(err, gpu.ErrMemory) {
					t.Errorf("error %v, want %v", err, gpu.ErrMemory)
				}
				wantError(t, err, fmt.Sprintf("want %d bytes of device memory, ", 200<<20))
				wantError(t, err, " are available")
				break
			}
			all = append(all, at)
		}
		t.Logf("%d pieces of 200 MiB", len(all))
		d.Free(all[0])
		at, err := d.Alloc(200 << 20) // there is room again
		must(t, err)
		for _, at := range append(all[1:], at) {
			d.Free(at)
		}
	})
}

// TestManyAllocations pretends that the device takes few allocations.
func TestManyAllocations(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		d.adapter.properties.limits.maxMemoryAllocationCount = 3
		for range 10_000 {
			allocate(t, d, 1000)
		}
		allocate(t, d, 5<<20)
		allocate(t, d, 5<<20)
		_, err := d.Alloc(5 << 20)
		wantError(t, err, "3 allocations are the most")
		if !errors.Is(err, gpu.ErrMemory) {
			t.Errorf("error %v, want %v", err, gpu.ErrMemory)
		}
		allocate(t, d, 1000) // in a block
		d.adapter.properties.limits.maxMemoryAllocationCount = 100
		d.adapter.maxAlloc = 1 << 20
		_, err = d.Alloc(5 << 20)
		wantError(t, err, "one allocation has at most")
	})
}

// TestKeptBlocks frees blocks of a heap that keeps some, and allocates again.
func TestKeptBlocks(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		const size = 8 << 20 // has a block of its own
		alloc := func(bytes int64) gpu.Address {
			t.Helper()
			p, err := d.staging.alloc(bytes)
			must(t, err)
			return p.at()
		}
		first := alloc(size)
		d.staging.free(first)
		if count := d.budget.count; len(d.staging.kept) != 1 || len(d.staging.blocks) != 0 {
			t.Errorf("%d allocations, %d kept and %d in use, want 1 and 0", count, len(d.staging.kept), len(d.staging.blocks))
		}
		if at := alloc(size); at != first {
			t.Errorf("the kept block is not used: %#x, then %#x", first, at)
		}
		other := alloc(size + alignment)
		d.staging.free(other)
		if at := alloc(size); at == other {
			t.Error("a kept block of another size is used")
		}
		checkBlocks(t, d.staging, map[gpu.Address]int64{first: size, d.staging.blocks[len(d.staging.blocks)-1].address: size, d.staging.blocks[0].address: size})
		// The device takes no further allocation unless the kept one is given back.
		d.adapter.properties.limits.maxMemoryAllocationCount = d.budget.count
		alloc(2 * size)
		if len(d.staging.kept) != 0 {
			t.Errorf("%d blocks are kept", len(d.staging.kept))
		}
		d.adapter.properties.limits.maxMemoryAllocationCount = 4096
		var all []gpu.Address
		for range 2 * keptStaging {
			all = append(all, alloc(size))
		}
		for _, at := range all {
			d.staging.free(at)
		}
		if len(d.staging.kept) != keptStaging {
			t.Errorf("%d blocks are kept, want %d", len(d.staging.kept), keptStaging)
		}
	})
}

func TestAddressesAreChecked(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		q := openQueue(t, d)
		at := allocate(t, d, 1000)
		data := make([]byte, 1024)
		must(t, q.Upload(at, data), q.Upload(at+1000, data[:24]), q.Wait(forever)) // pieces are multiples of 256
		for _, bad := range []error{
			q.Upload(at, make([]byte, 1025)), q.Download(make([]byte, 1025), at), q.Upload(at+1023, data[:2]),
			q.Upload(0, data), q.Download(data, 1<<63), q.Upload(at-1, data[:2]), q.Upload(at+1024, data[:1]),
		} {
			wantError(t, bad, "address 0x")
		}
		d.Free(at)
		wantError(t, q.Upload(at, data), "not allocated")
		must(t, q.Upload(0, nil), q.Download(nil, 0), q.Wait(forever))
	})
}

// resident returns the bytes of memory that the process has, or skips the test.
func resident(t *testing.T) int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("the memory of the process is not known here")
	}
	runtime.GC()
	var total, pages int64
	fmt.Fscan(strings.NewReader(string(data)), &total, &pages)
	return pages * int64(os.Getpagesize())
}

// TestNothingLeaks opens and closes everything again and again. The validation layer reports what a
// device that is closed still has.
func TestNothingLeaks(t *testing.T) {
	list, err := Devices()
	if err != nil {
		t.Skip("there is no device: ", err)
	}
	for _, info := range list {
		round := func() {
			d, err := Driver().Open(info.Index)
			must(t, err)
			kernels := loaded(t, d)
			for range 3 {
				must(t, countTo(d, kernels["count"], 3))
			}
			q := openQueue(t, d) // left open, with work
			at := allocate(t, d, 1<<20)
			must(t, q.Upload(at, make([]byte, 1<<20)))
			_, err = q.Record(func(r gpu.Queue) error { return r.Download(make([]byte, 1<<20), at) })
			must(t, err, d.Close(), d.Close())
		}
		rounds := 100
		if info.Index != len(list)-1 || testing.Short() {
			rounds = 10
		}
		for range 5 {
			round()
		}
		before := resident(t)
		for range rounds {
			round()
		}
		grown := resident(t) - before
		t.Logf("%s: %d rounds take %d bytes", info.Name, rounds, grown)
		if grown > 64<<20 {
			t.Error("memory is not given back")
		}
	}
}

// TestQueuesLeak opens thousands of queues, modules and graphs on one device.
func TestQueuesLeak(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		count := loaded(t, d)["count"]
		children, allocations := len(d.children), uint32(0)
		for i := range 1000 {
			must(t, countTo(d, count, 1))
			m, err := d.Load(testModule())
			must(t, err)
			m.Close()
			m.Close()
			if i == 0 {
				allocations = d.budget.count
			}
		}
		if len(d.children) != children || d.budget.count != allocations {
			t.Errorf("%d children and %d allocations, want %d and %d", len(d.children), d.budget.count, children, allocations)
		}
		for _, h := range []*heap{d.memory, d.staging, d.arguments} {
			checkBlocks(t, h, nil)
		}
	})
}
