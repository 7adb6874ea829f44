package cuda_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/cuda/fake"
	"github.com/burngen/burngen/runtime/gpu"
)

// stamped puts launches of a kernel on a queue, with readings of the clock before, between and after them.
func stamped(o opened, k gpu.Kernel, arg uint64, launches int) []time.Duration {
	q := o.queue.(gpu.Timed)
	o.must(q.Stamp())
	for range launches {
		o.must(q.Launch(k, [3]int{1, 1, 1}, []uint64{arg}))
		o.must(q.Stamp())
	}
	readings, err := q.Stamps()
	o.must(err)
	return readings
}

// testClock reads the clock around kernels, with more readings than before, fewer, and none.
func testClock(t *testing.T, driver gpu.Driver) {
	o := open(t, driver)
	defer o.close()
	spin := o.kernel("spin", 1, 0, 1)
	for _, launches := range []int{2, 5, 0, 3} {
		readings := stamped(o, spin, uint64(2*time.Millisecond), launches)
		if len(readings) != launches+1 || readings[0] != 0 {
			t.Fatalf("%d launches: readings %v", launches, readings)
		}
		for i := range launches {
			took := readings[i+1] - readings[i]
			if took <= 0 || o.Info().Name != fakeName && took < 2*time.Millisecond {
				t.Errorf("launch %d took %v", i, took)
			}
		}
	}
	if readings, err := o.queue.(gpu.Timed).Stamps(); err != nil || len(readings) != 0 {
		t.Errorf("readings %v without a stamp, error %v", readings, err)
	}
}

// fakeName is the name of the fake's first card.
const fakeName = "Fake GPU 0"

// TestFakeClock reads the clock of the fake, which depends on nothing but the work.
func TestFakeClock(t *testing.T) {
	g := fake.New(fake.Options{Machine: machine{}})
	o := open(t, g.Driver())
	defer o.close()
	a, b := o.alloc(1<<20), o.alloc(1<<20)
	scale := o.kernel("scale", 32, 0, 3)
	graph, err := o.queue.Record(func(q gpu.Queue) error {
		return errors.Join(q.Launch(scale, [3]int{1, 1, 1}, []uint64{uint64(a), 0, 1}), q.Copy(b, a, 1600))
	})
	o.must(err)
	q := o.queue.(gpu.Timed)
	o.must(q.Stamp())
	for _, work := range []func() error{
		func() error { return q.Launch(scale, [3]int{1, 1, 1}, []uint64{uint64(a), 0, 1}) },
		func() error { return q.Upload(a, make([]byte, 160)) },
		func() error { return q.Copy(b, a, 1<<20) },
		func() error { return q.Download(make([]byte, 16), b) },
		func() error { return q.Replay(graph) },
		func() error { return nil },
	} {
		o.must(work())
		o.must(q.Stamp())
	}
	readings, err := q.Stamps()
	o.must(err)
	var took []time.Duration
	for i := range readings[1:] {
		took = append(took, readings[i+1]-readings[i])
	}
	want := []time.Duration{1000, 1010, 1000 + 1<<16, 1001, 2100, 0}
	for i := range took { // the driver's times have 24 bits
		took[i] = took[i].Round(10 * time.Nanosecond)
		want[i] = want[i].Round(10 * time.Nanosecond)
	}
	if !slices.Equal(took, want) {
		t.Errorf("times %v, want %v", took, want)
	}
}

// TestClockFails returns the driver's errors.
func TestClockFails(t *testing.T) {
	for _, function := range []string{"cuEventCreate", "cuEventRecord", "cuEventElapsedTime"} {
		g := fake.New(fake.Options{Machine: machine{}})
		o := open(t, g.Driver())
		q := o.queue.(gpu.Timed)
		g.OnCall(func(f string) int32 {
			if f == function {
				return 1 // CUDA_ERROR_INVALID_VALUE
			}
			return 0
		})
		err := errors.Join(q.Stamp(), q.Stamp())
		if function == "cuEventElapsedTime" {
			o.must(err)
			_, err = q.Stamps()
		}
		if err == nil {
			t.Errorf("%s fails without an error", function)
		}
		g.OnCall(nil)
		o.close()
		if live := g.Live(); live != "" {
			t.Errorf("not given back: %s", live)
		}
	}
}
