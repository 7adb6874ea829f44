package gpu

import (
	"context"
	"slices"
	"testing"
	"unsafe"
)

var double = &KernelInfo{Name: "double", Block: [3]int{1, 1, 1}, Args: 3}

// nothing are weights that no kernel reads.
type nothing struct{ _ int }

// doubled calls a schedule of two launches through the arena. It returns 4 x, and whether the schedule was
// left out.
func doubled(t *testing.T, r *Run, arena []byte, w *nothing, x []float32) (y []float32, replayed bool) {
	t.Helper()
	y = make([]float32, len(x))
	call := func() (err error) {
		if err := Begin(r, context.Background(), arena, w, In(x), Out(y)); err != nil {
			return err
		}
		defer r.End(&err)
		if replayed = r.Replays("doubled", len(x)); replayed {
			return nil
		}
		middle := unsafe.Slice((*float32)(unsafe.Pointer(&arena[0])), len(x))
		r.Launch(double, 1, 1, 1, Int(len(x)), In(x), Out(middle))
		r.Launch(double, 1, 1, 1, Int(len(x)), In(middle), Out(y))
		return nil
	}
	if err := call(); err != nil {
		t.Fatal(err)
	}
	return y, replayed
}

// TestReplays computes with several batches, whose recordings are told apart.
func TestReplays(t *testing.T) {
	f, r := opened(t)
	arena, w := make([]byte, 256), &nothing{}
	seen := map[int]bool{}
	for k, n := range []int{3, 3, 5, 3, 5, 5, 3, 0, 0} {
		x, want := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(k + i)
			want[i] = 4 * x[i]
		}
		launched, copied := f.counts["launch"], f.counts["upload"]+f.counts["download"]
		y, replayed := doubled(t, r, arena, w, x)
		if !slices.Equal(y, want) {
			t.Errorf("call %d: %v, want %v", k, y, want)
		}
		if replayed != seen[n] {
			t.Errorf("call %d: replayed: %v", k, replayed)
		}
		if now := f.counts["launch"]; replayed && now != launched {
			t.Errorf("call %d: %d launches beside the graph", k, now-launched)
		}
		if copies := f.counts["upload"] + f.counts["download"] - copied; replayed && copies != 0 {
			t.Errorf("call %d: %d copies beside the graph", k, copies)
		}
		seen[n] = true
	}
	// A larger arena has another place on the device.
	if _, replayed := doubled(t, r, make([]byte, 512), w, make([]float32, 3)); replayed || f.counts["closed graph"] == 0 {
		t.Error("a recording outlives the memory that it uses")
	}
	// Other weights have other places.
	doubled(t, r, arena, w, make([]float32, 3))
	if _, replayed := doubled(t, r, arena, &nothing{}, make([]float32, 3)); replayed {
		t.Error("a recording is replayed for other weights")
	}
	r.free()
	r.program.forgetAll()
	if f.pieces() > 0 {
		t.Errorf("%d allocations are not given back", f.pieces())
	}
}

// TestLargeCallsAreCopied replays a call that does not fit into the mapped memory. The driver copies its arguments and
// results.
func TestLargeCallsAreCopied(t *testing.T) {
	f, r := opened(t)
	n := mappedBytes / 4 / 2
	for _, n := range []int{n, n + 1, 3, n} {
		arena, w := make([]byte, 4*(n+1)), &nothing{}
		x, want := make([]float32, n), make([]float32, n)
		for range 3 {
			for i := range x {
				x[i]++
				want[i] = 4 * x[i]
			}
			copied := f.counts["upload"] + f.counts["download"]
			y, replayed := doubled(t, r, arena, w, x)
			if !slices.Equal(y, want) {
				t.Errorf("%d numbers: %v, want %v", n, y, want)
			}
			small := 8*n <= mappedBytes
			if copies := f.counts["upload"] + f.counts["download"] - copied; replayed && (copies == 0) != small {
				t.Errorf("%d numbers: %d copies beside the graph", n, copies)
			}
		}
	}
	if f.counts["mapped"] != 1 {
		t.Errorf("memory was mapped %d times", f.counts["mapped"])
	}
	r.free()
	r.program.forgetAll()
	if f.pieces() > 0 {
		t.Errorf("%d allocations are not given back", f.pieces())
	}
}

// TestUnfinishedCalls panics between two launches, as the end of a context does. The call is not recorded, the panic
// goes on, and the next calls compute everything.
func TestUnfinishedCalls(t *testing.T) {
	_, r := opened(t)
	arena, w := make([]byte, 256), &nothing{}
	x := []float32{1, 2, 3}
	for _, ctx := range []context.Context{nil, context.Background()} {
		y := make([]float32, len(x))
		panicked := func() (p any) {
			var err error
			defer func() { p = recover() }()
			if err = Begin(r, ctx, arena, w, In(x), Out(y)); err != nil {
				t.Fatal(err)
			}
			defer r.End(&err)
			if r.Replays("doubled", len(x)) {
				t.Error("replayed")
			}
			r.Launch(double, 1, 1, 1, Int(len(x)), In(x), Out(unsafe.Slice((*float32)(unsafe.Pointer(&arena[0])), len(x))))
			panic("ended")
		}()
		if panicked != "ended" {
			t.Errorf("the panic is %v", panicked)
		}
	}
	for k := range 2 {
		y, replayed := doubled(t, r, arena, w, x)
		if want := []float32{4, 8, 12}; !slices.Equal(y, want) || replayed != (k > 0) {
			t.Errorf("call %d: %v, replayed: %t, want %v", k, y, replayed, want)
		}
	}
}

// TestRecordingsAreFew keeps the recordings that were used last.
func TestRecordingsAreFew(t *testing.T) {
	f, r := opened(t)
	arena, w := make([]byte, 4096), &nothing{}
	for n := range 3 * maxRecordings {
		doubled(t, r, arena, w, make([]float32, n+1))
		doubled(t, r, arena, w, make([]float32, 3*maxRecordings)) // is used again and again
	}
	if len(r.recordings) != maxRecordings || f.counts["launch"] > 2*(3*maxRecordings+2) {
		t.Errorf("%d recordings after %d launches", len(r.recordings), f.counts["launch"])
	}
}

// TestHostEndsRecording does not record a call that the host takes part in.
func TestHostEndsRecording(t *testing.T) {
	_, r := opened(t)
	x, w := []float32{1, 2}, &nothing{}
	outside := make([]float32, 2)
	for name, part := range map[string]func(){
		"fetch":   func() { r.Fetch(In(x)) },
		"send":    func() { r.Send(Out(x)) },
		"outside": func() { r.Launch(double, 1, 1, 1, Int(2), In(x), Out(outside)) },
		"copy":    func() { r.Copy(Out(outside), In(x)) },
	} {
		for range 3 {
			call := func() (err error) {
				if err := Begin(r, nil, nil, w, In(x)); err != nil {
					return err
				}
				defer r.End(&err)
				if r.Replays(name) {
					t.Errorf("%s: replayed", name)
				}
				part()
				return nil
			}
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
