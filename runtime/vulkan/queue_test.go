package vulkan

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/gpu"
)

func TestDevices(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		info := d.Info()
		t.Logf("%+v", info)
		if info.Name == "" || info.Memory <= 0 || info.Subgroup <= 0 || info.Driver == "" || info.Capability < "1.2" {
			t.Errorf("incomplete: %+v", info)
		}
		for name, f := range map[string]*heap{"memory": d.memory, "staging": d.staging, "arguments": d.arguments} {
			properties := d.adapter.memory.types[f.memory].properties
			t.Logf("%s: type %d, properties %#x", name, f.memory, properties)
		}
	})
}

func TestSoftwareDevicesAreLast(t *testing.T) {
	var list []*adapter
	for _, kind := range []uint32{4, 0, 3, 1, 2, 4, 2} {
		list = append(list, &adapter{properties: properties{deviceType: kind}})
	}
	slices.SortStableFunc(list, func(a, b *adapter) int { return a.rank() - b.rank() })
	var got []uint32
	for _, a := range list {
		got = append(got, a.properties.deviceType)
	}
	if want := []uint32{2, 2, 1, 3, 0, 4, 4}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestAdd(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		random := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{1, 63, 64, 65, 1000, 1<<20 + 7} {
			x, y := make([]float32, n), make([]float32, n)
			for i := range n {
				x[i], y[i] = random.Float32(), random.Float32()
			}
			px, py, pz := allocate(t, d, 4*n), allocate(t, d, 4*n), allocate(t, d, 4*n)
			z := make([]byte, 4*n)
			must(t,
				q.Upload(px, floats(x)), q.Upload(py, floats(y)),
				q.Launch(kernels["add"], [3]int{(n + 63) / 64, 1, 1}, []uint64{uint64(pz), uint64(px), uint64(py), uint64(n)}),
				q.Download(z, pz), q.Wait(forever))
			for i := range n {
				if got := float(z, i); got != x[i]+y[i] {
					t.Fatalf("n %d: element %d is %v, want %v", n, i, got, x[i]+y[i])
				}
			}
			for _, p := range []gpu.Address{px, py, pz} {
				d.Free(p)
			}
		}
	})
}

func TestArguments(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		const rounds = 3000 // more than the ring of arguments has room for
		at := allocate(t, d, 8*rounds)
		random := rand.New(rand.NewPCG(3, 4))
		var want []uint64
		for r := range rounds {
			args := []uint64{uint64(at) + uint64(8*r)}
			var low, high uint32
			for k := 1; k < 20; k++ {
				args = append(args, random.Uint64())
				low += uint32(k) * uint32(args[k])
				high += uint32(k) * uint32(args[k]>>32)
			}
			want = append(want, uint64(high)<<32|uint64(low))
			must(t, q.Launch(kernels["sum20"], [3]int{1, 1, 1}, args))
			clear(args) // the queue has a copy
		}
		got := make([]byte, 8*rounds)
		must(t, q.Launch(kernels["nothing"], [3]int{1, 1, 1}, nil), q.Download(got, at), q.Wait(forever))
		for r, w := range want {
			if g := binary.LittleEndian.Uint64(got[8*r:]); g != w {
				t.Fatalf("launch %d gives %#x, want %#x", r, g, w)
			}
		}
	})
}

// TestTransfers copies more than there is staging memory for, from and to odd places.
func TestTransfers(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		q := openQueue(t, d)
		random := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{0, 1, 3, 4097, chunkSize, chunkSize + 1, 2*stagingSize + 5} {
			at := allocate(t, d, n+7)
			data := make([]byte, n)
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			sent, back := bytes.Clone(data), make([]byte, n)
			must(t, q.Upload(at+3, sent))
			clear(sent) // Upload has taken it
			must(t, q.Download(back, at+3), q.Wait(forever))
			if !bytes.Equal(back, data) {
				t.Errorf("%d bytes come back different", n)
			}
			other := allocate(t, d, n+7)
			clear(back)
			must(t, q.Copy(other+1, at+3, n), q.Download(back, other+1), q.Wait(forever))
			if !bytes.Equal(back, data) {
				t.Errorf("%d bytes copied on the device come back different", n)
			}
			wantError(t, q.Copy(other, at, n+1<<30), "copy")
			wantError(t, q.Copy(other, at, -1), "copy")
			d.Free(other)
			d.Free(at)
		}
	})
}

func TestOrder(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		const n, rounds = 1000, 500
		at := allocate(t, d, 4*n)
		must(t, q.Upload(at, make([]byte, 4*n)))
		snapshots := make([][]byte, 0, rounds)
		for range rounds {
			s := make([]byte, 4*n)
			must(t, q.Launch(kernels["count"], [3]int{(n + 63) / 64, 1, 1}, []uint64{uint64(at), n}), q.Download(s, at))
			snapshots = append(snapshots, s)
		}
		must(t, q.Wait(context.Background()))
		for r, s := range snapshots {
			for i := range n {
				if got := word(s, i); got != uint32(r+1) {
					t.Fatalf("after %d launches element %d is %d", r+1, i, got)
				}
			}
		}
	})
}

func TestGraph(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		const n, replays = 300, 1000
		x, counts, before := allocate(t, d, 4*n), allocate(t, d, 4*n), allocate(t, d, 4*n)
		in, out, counted, first := make([]byte, 4*n), make([]byte, 4*n), make([]byte, 4*n), make([]byte, 4*n)
		must(t, q.Upload(counts, make([]byte, 4*n)))
		g, err := q.Record(func(r gpu.Queue) error {
			args := []uint64{uint64(counts), n}
			grid := [3]int{(n + 63) / 64, 1, 1}
			err := errors.Join(
				r.Upload(x, in),
				r.Copy(before, x, 4*n),
				r.Copy(before, x, 0),
				r.Launch(kernels["count"], grid, []uint64{uint64(x), n}),
				r.Launch(kernels["count"], grid, args),
				r.Launch(kernels["count"], [3]int{0, 1, 1}, args),
				r.Launch(kernels["count"], grid, args),
				r.Download(out, x), r.Download(counted, counts), r.Download(first, before))
			clear(args)
			return err
		})
		must(t, err)
		for i := range replays {
			binary.LittleEndian.PutUint32(in[4*7:], uint32(i))
			must(t, q.Replay(g))
			if i%3 == 0 || i == replays-1 {
				must(t, q.Wait(forever))
				if got := word(out, 7); got != uint32(i+1) {
					t.Fatalf("replay %d gives %d, want %d", i, got, i+1)
				}
				if got := word(first, 7); got != uint32(i) {
					t.Fatalf("replay %d has copied %d, want %d", i, got, i)
				}
				if got := word(counted, n-1); got != uint32(2*(i+1)) {
					t.Fatalf("replay %d has counted to %d, want %d", i, got, 2*(i+1))
				}
			}
		}
		g.Close()
		g.Close()
		wantError(t, q.Replay(g), "closed")
	})
}

// TestGraphWithoutTransfers replays a graph many times at once.
func TestGraphWithoutTransfers(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		const n, replays = 64, 1000
		at := allocate(t, d, 4*n)
		got := make([]byte, 4*n)
		must(t, q.Upload(at, got))
		g, err := q.Record(func(r gpu.Queue) error {
			return r.Launch(kernels["count"], [3]int{1, 1, 1}, []uint64{uint64(at), n})
		})
		must(t, err)
		for range replays {
			must(t, q.Replay(g))
		}
		must(t, q.Download(got, at), q.Wait(forever))
		if word(got, 5) != replays {
			t.Errorf("counted to %d, want %d", word(got, 5), replays)
		}
		empty, err := q.Record(func(gpu.Queue) error { return nil })
		must(t, err, q.Replay(empty), q.Wait(forever))
	})
}

// TestClosedGraph closes a graph before Wait: its results are there all the same.
func TestClosedGraph(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		at := allocate(t, d, 256)
		must(t, q.Upload(at, make([]byte, 256)))
		got := make([]byte, 256)
		g, err := q.Record(func(r gpu.Queue) error {
			return errors.Join(r.Launch(kernels["count"], [3]int{1, 1, 1}, []uint64{uint64(at), 64}), r.Download(got, at))
		})
		must(t, err, q.Replay(g))
		g.Close()
		must(t, q.Wait(forever))
		if word(got, 63) != 1 {
			t.Errorf("element is %d, want 1", word(got, 63))
		}
	})
}

func TestRecorder(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		var kept gpu.Queue
		g, err := q.Record(func(r gpu.Queue) error {
			kept = r
			_, err := r.Record(func(gpu.Queue) error { return nil })
			wantError(t, err, "recorded")
			wantError(t, r.Replay(nil), "recorded")
			wantError(t, r.Wait(forever), "recorded")
			wantError(t, r.Close(), "recorded")
			wantError(t, r.Upload(12345, make([]byte, 1)), "not allocated")
			wantError(t, r.Launch(kernels["count"], [3]int{1, 1, 1}, nil), "0 arguments, want 2")
			return nil
		})
		must(t, err)
		g.Close()
		wantError(t, kept.Launch(kernels["nothing"], [3]int{1, 1, 1}, nil), "has ended")
		wantError(t, kept.Download(make([]byte, 1), 0), "has ended")
		failed := errors.New("a bad graph")
		if _, err := q.Record(func(gpu.Queue) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("error %v, want %v", err, failed)
		}
	})
}

func TestManyQueues(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels := loaded(t, d)
		var wg sync.WaitGroup
		for w := range 64 {
			wg.Go(func() {
				if err := countTo(d, kernels["count"], 20+w); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

// countTo counts in a queue of its own, by launches and by a graph.
func countTo(d gpu.Opened, count gpu.Kernel, rounds int) error {
	q, err := d.Queue()
	if err != nil {
		return err
	}
	const n = 500
	at, err := d.Alloc(4 * n)
	if err != nil {
		return err
	}
	got := make([]byte, 4*n)
	launch := func(q gpu.Queue) error {
		return q.Launch(count, [3]int{(n + 63) / 64, 1, 1}, []uint64{uint64(at), n})
	}
	if err := q.Upload(at, got); err != nil {
		return err
	}
	g, err := q.Record(func(r gpu.Queue) error { return errors.Join(launch(r), r.Download(got, at)) })
	if err != nil {
		return err
	}
	for r := range rounds {
		if err := errors.Join(launch(q), q.Replay(g), q.Wait(forever)); err != nil {
			return err
		}
		if word(got, r) != uint32(2*(r+1)) {
			return fmt.Errorf("counted to %d, want %d", word(got, r), 2*(r+1))
		}
	}
	g.Close()
	err = q.Close()
	d.Free(at)
	return err
}

// TestOneGraphOnManyQueues replays one graph from several goroutines.
func TestOneGraphOnManyQueues(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		at := allocate(t, d, 256)
		g, err := q.Record(func(r gpu.Queue) error { return r.Launch(kernels["count"], [3]int{1, 1, 1}, []uint64{uint64(at), 64}) })
		must(t, err)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				q, err := d.Queue()
				if err != nil {
					t.Error(err)
					return
				}
				for range 50 {
					if err := errors.Join(q.Replay(g), q.Wait(forever)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestContext(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels, q := loaded(t, d), openQueue(t, d)
		const spins, launches = 60_000, 100 // llvmpipe ends every loop after 65536 rounds
		at := allocate(t, d, 256)
		must(t, q.Upload(at, make([]byte, 256)))
		launch := func(n int) {
			must(t, q.Launch(kernels["spin"], [3]int{1, 1, 1}, []uint64{uint64(at), uint64(n)}))
		}
		launch(1) // compiles
		must(t, q.Wait(forever))

		for range launches {
			launch(spins)
		}
		got := make([]byte, 256)
		must(t, q.Download(got, at))
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		if err := q.Wait(ctx); !errors.Is(err, cause) {
			t.Errorf("error %v, want %v", err, cause)
		}
		short, stop := context.WithTimeout(context.Background(), time.Millisecond)
		defer stop()
		if err := q.Wait(short); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		must(t, q.Wait(context.Background())) // the work has gone on
		if want := spun(0, 1+launches*spins); word(got, 9) != want {
			t.Errorf("element is %d, want %d", word(got, 9), want)
		}
		if err := q.Wait(ctx); err != nil {
			t.Errorf("nothing runs, but Wait returns %v", err)
		}
	})
}

// TestRandomContexts cancels waits at random: the next one still gets all results.
func TestRandomContexts(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		kernels := loaded(t, d)
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(w)))
				q, err := d.Queue()
				if err != nil {
					t.Error(err)
					return
				}
				at, err := d.Alloc(256)
				if err != nil {
					t.Error(err)
					return
				}
				got := make([]byte, 256)
				if err := q.Upload(at, got); err != nil {
					t.Error(err)
				}
				total := 0
				for range 40 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(1500))*time.Microsecond)
					n := random.IntN(50_000)
					total += n
					err := errors.Join(q.Launch(kernels["spin"], [3]int{1, 1, 1}, []uint64{uint64(at), uint64(n)}), q.Download(got, at))
					if err != nil {
						t.Error(err)
					}
					if err := q.Wait(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					cancel()
				}
				if err := q.Wait(forever); err != nil {
					t.Error(err)
				}
				if want := spun(0, total); word(got, 3) != want {
					t.Errorf("element is %d, want %d", word(got, 3), want)
				}
				if err := q.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}
