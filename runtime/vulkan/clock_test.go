package vulkan

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/gpu"
)

// TestClock reads the clock around launches: more than a pool and a submission have room for, fewer than before, and
// none.
func TestClock(t *testing.T) {
	onDevices(t, func(t *testing.T, d *device) {
		if d.adapter.clockBits == 0 {
			t.Skip("the device has no clock")
		}
		kernels, q := loaded(t, d), openQueue(t, d).(gpu.Timed)
		const n = 1 << 16
		x := allocate(t, d, 4*n)
		must(t, q.Upload(x, make([]byte, 4*n)))
		for _, launches := range []int{3, 2*stampsPerPool + 10, 1, 0} {
			start := time.Now()
			must(t, q.Stamp())
			for range launches {
				must(t, q.Launch(kernels["add"], [3]int{n / 64, 1, 1}, []uint64{uint64(x), uint64(x), uint64(x), n}), q.Stamp())
			}
			readings, err := q.Stamps()
			must(t, err)
			if len(readings) != launches+1 || readings[0] != 0 || !slices.IsSorted(readings) {
				t.Fatalf("%d launches: readings %v", launches, readings)
			}
			if all := readings[launches]; launches > 0 && all == 0 || all > time.Since(start) {
				t.Errorf("%d launches took %v of %v", launches, all, time.Since(start))
			}
		}
		if readings, err := q.Stamps(); err != nil || len(readings) != 0 {
			t.Errorf("readings %v without a stamp, error %v", readings, err)
		}
	})
}

// TestClockWithoutBits returns an error that names what the device lacks.
func TestClockWithoutBits(t *testing.T) {
	q := &queue{device: &device{adapter: &adapter{info: gpu.Info{Name: "card"}}}}
	err := q.Stamp()
	if !errors.Is(err, gpu.ErrNoClock) {
		t.Error(err)
	}
	wantError(t, err, "vulkan: card: the device has no clock: timestampValidBits is 0")
}

// TestTimes converts ticks. A clock of 36 bits starts again at 0.
func TestTimes(t *testing.T) {
	a := &adapter{clockBits: 36}
	a.properties.limits.timestampPeriod = 2.5
	got := a.times([]uint64{1<<36 - 4, 1<<36 - 2, 6, 6, 1 << 20})
	if want := []time.Duration{0, 5, 25, 25, 25 + (1<<20-6)*5/2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	a.clockBits = 64
	if got := a.times([]uint64{^uint64(0), 1}); got[1] != 5 {
		t.Errorf("%v, want 5 ns", got[1])
	}
	if got := a.times(nil); len(got) != 0 {
		t.Errorf("%v without readings", got)
	}
}
