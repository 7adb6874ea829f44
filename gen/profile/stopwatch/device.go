package stopwatch

import (
	"errors"
	"slices"
	"time"

	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"
)

// DevicePackage is a generated package for a device.
type DevicePackage struct {
	// Open loads the model with the weights of a file and an option. It returns the method Forward of a session and of the model, and the device
	// of the model.
	Open func(weights string, watched gpu.Option) (session, model any, device *gpu.Instance, err error)
	// Lap is the variable that the package calls after each step.
	Lap *func(step int)
}

// Device has the measurements of a device.
type Device struct {
	Info gpu.Info
	// NoClock says why the device measures no time, or is "". If it is not "", the fields below are
	// empty.
	NoClock string
	// Copy is the number of bytes per nanosecond that the device reads and writes when it copies its memory.
	Copy float64
	// Replays are the times of the recorded work of calls, one for each call. There are none if calls
	// are not recorded.
	Replays []time.Duration
	// Laps are the pieces of work of a call that is not recorded, in the order of the first such call.
	Laps []Lap
}

// Lap is a part of the work of a step: the launches of one kernel, copies of one kind, or the work
// of the host.
type Lap struct {
	Work   gpu.Work
	Kernel string // name of the kernel, or ""
	Step   int    // number of the step; -1 for copies between host and device, which belong to no step
	Runs   int    // number of launches or copies in a call
	Bytes  int    // number of bytes that are copied in a call
	// Time is the time in a call: the median over calls.
	Time time.Duration
}

// MainOn is [Main] for a package for a device.
func MainOn(code string, p DevicePackage) {
	serve(code, func(q Request) (Reply, error) { return measureOn(q, p) })
}

func measureOn(q Request, p DevicePackage) (r Reply, err error) {
	rt.Threads(q.Threads)
	watch := &gpu.Watch{}
	session, model, device, err := p.Open(q.Weights, gpu.Watched(watch))
	if err != nil {
		return r, err
	}
	opened, err := device.Open()
	if err != nil {
		return r, err
	}
	d := &Device{Info: opened.Info()}
	r.Device = d
	forward, err := bind(session, model, q.Inputs)
	if err != nil {
		return r, err
	}
	if r.Calls, err = repeat(q.Time, forward); err != nil {
		return r, err
	}
	if d.Copy, err = watch.CopyRate(device); errors.Is(err, gpu.ErrNoClock) {
		d.NoClock = err.Error()
		return r, nil
	} else if err != nil {
		return r, err
	}
	if d.Replays, err = replays(q.Time, watch, forward); err != nil {
		return r, err
	}
	*p.Lap = watch.Lap
	d.Laps, err = laps(q.Time, watch, forward)
	return r, err
}

func watched(watch *gpu.Watch, each bool, forward func() error) ([]gpu.Event, error) {
	watch.Begin(each)
	failed := forward()
	events, err := watch.End()
	if failed != nil {
		return nil, failed
	}
	return events, err
}

// replays calls forward for about budget. It returns the device times of all pieces of recorded work that the calls
// replay, in order, without the first warmUp of them. It first calls forward once more, and returns nil if the device
// reports no recorded work for this call.
func replays(budget time.Duration, watch *gpu.Watch, forward func() error) (times []time.Duration, err error) {
	events, err := watched(watch, false, forward)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	_, err = repeat(budget, func() error {
		events, err := watched(watch, false, forward)
		for _, e := range events {
			times = append(times, e.Time)
		}
		return err
	})
	return times[min(len(times), warmUp):], err
}

// laps calls forward for about budget, and measures each step on the device. The calls do not replay
// recorded work.
func laps(budget time.Duration, watch *gpu.Watch, forward func() error) ([]Lap, error) {
	var s sums
	_, err := repeat(budget, func() error {
		events, err := watched(watch, true, forward)
		if err == nil {
			s.add(events)
		}
		return err
	})
	return s.laps(warmUp), err
}

type sums struct {
	keys  []Lap // without times
	times [][]time.Duration
	calls int
}

func (s *sums) add(events []gpu.Event) {
	for i := range s.keys {
		s.keys[i].Runs, s.keys[i].Bytes = 0, 0
		s.times[i] = append(s.times[i], 0)
	}
	s.calls++
	for _, e := range events {
		key := Lap{Work: e.Work, Kernel: e.Kernel, Step: e.Step}
		if e.Work == gpu.Uploaded || e.Work == gpu.Downloaded {
			key.Step = -1
		}
		i := slices.IndexFunc(s.keys, func(l Lap) bool {
			return l.Work == key.Work && l.Kernel == key.Kernel && l.Step == key.Step
		})
		if i < 0 {
			i = len(s.keys)
			s.keys, s.times = append(s.keys, key), append(s.times, make([]time.Duration, s.calls))
		}
		s.keys[i].Runs++
		s.keys[i].Bytes += e.Bytes
		s.times[i][s.calls-1] += e.Time
	}
}

// laps returns a Lap for each key. The Lap has the runs and bytes of the last call. Its time is the median over all
// calls except the first `skip`.
func (s *sums) laps(skip int) []Lap {
	out := slices.Clone(s.keys)
	for i := range out {
		out[i].Time = Median(s.times[i][min(skip, s.calls):])
	}
	return out
}
