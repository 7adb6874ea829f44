package stopwatch

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/gen/target/cuda/cudatest/cuda"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/runtime/gpu"
)

// TestSums adds up the events of calls. The middle call launches a kernel less, and the last one a kernel more.
func TestSums(t *testing.T) {
	var s sums
	for call, ms := range []time.Duration{100, 3, 1, 2} {
		ms *= time.Millisecond
		events := []gpu.Event{
			{Work: gpu.Uploaded, Bytes: 10, Step: 0, Time: ms},
			{Work: gpu.Launched, Kernel: "a", Step: 0, Time: ms},
			{Work: gpu.Launched, Kernel: "a", Step: 0, Time: ms},
			{Work: gpu.Hosted, Step: 1, Time: ms},
			{Work: gpu.Uploaded, Bytes: 20, Step: 2, Time: ms},
			{Work: gpu.Launched, Kernel: "a", Step: 2, Time: ms},
		}
		switch call {
		case 2:
			events = slices.Delete(events, 3, 4)
		case 3:
			events = append(events, gpu.Event{Work: gpu.Launched, Kernel: "b", Step: 2, Time: ms})
		}
		s.add(events)
	}
	want := []Lap{
		{gpu.Uploaded, "", -1, 2, 30, 4 * time.Millisecond},
		{gpu.Launched, "a", 0, 2, 0, 4 * time.Millisecond},
		{gpu.Hosted, "", 1, 1, 0, 2 * time.Millisecond},
		{gpu.Launched, "a", 2, 1, 0, 2 * time.Millisecond},
		{gpu.Launched, "b", 2, 1, 0, 0},
	}
	if got := s.laps(1); !slices.Equal(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
	if got := s.laps(9); got[0].Time != 0 {
		t.Errorf("%v of no call", got[0].Time)
	}
}

// clockless is a driver, and its device, whose queues do not read a clock.
type clockless struct {
	gpu.Driver
	gpu.Opened
}

func (c clockless) Open(index int) (gpu.Opened, error) {
	d, err := c.Driver.Open(index)
	return clockless{nil, d}, err
}

func (c clockless) Queue() (gpu.Queue, error) {
	q, err := c.Opened.Queue()
	return struct{ gpu.Queue }{q}, err
}

func (c clockless) Close() error { return c.Opened.Close() }

// TestMeasureWithoutClock measures whole calls only.
func TestMeasureWithoutClock(t *testing.T) {
	input, err := harness.Encode(reflect.ValueOf([]float32{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	program := &gpu.Program{Driver: func() gpu.Driver { return clockless{cuda.Driver(), nil} }, Code: new(string)}
	lap := func(int) {}
	r, err := measureOn(Request{Inputs: []harness.Value{input}, Threads: 1, Time: time.Millisecond}, DevicePackage{Lap: &lap, Open: func(_ string, watched gpu.Option) (session, model any, device *gpu.Instance, err error) {
		device, err = program.Open(watched)
		session = func(dst, x []float32) error { copy(dst, x); return nil }
		model = func(x []float32) ([]float32, error) { return slices.Clone(x), nil }
		return session, model, device, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Device; len(r.Calls) < minCalls || !strings.Contains(d.NoClock, gpu.ErrNoClock.Error()) || d.Info.Name != "Fake GPU 0" || len(d.Replays)+len(d.Laps) > 0 {
		t.Errorf("%d calls, device %+v", len(r.Calls), d)
	}
}
