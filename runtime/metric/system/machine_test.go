package system

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric/system/internal/nvml"
)

// The learner takes a Machine as its own.
var _ learn.Machine = (*Machine)(nil)

// noLibrary stands for NVIDIA's library on machines without it.
func noLibrary() (*nvml.API, error) { return nil, errors.New("not installed") }

// values returns the values of a Measure by their names.
func values(m *Machine) map[string]float64 {
	out := map[string]float64{}
	for _, v := range m.Measure() {
		out[v.Name] = float64(v.Value)
	}
	return out
}

// eventually repeats a measurement until its values are as wanted.
func eventually(t *testing.T, m *Machine, wanted func(v map[string]float64) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		v := values(m)
		if wanted(v) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not reached: %v", v)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestThisMachine measures the machine of the test while the test computes and allocates.
func TestThisMachine(t *testing.T) {
	m := start(t.TempDir(), 20*time.Millisecond, noLibrary)
	defer m.Close()
	units := map[string]string{}
	for _, s := range m.Series() {
		units[s.Name] = s.Unit
	}
	want := map[string]string{"heap": "MB"}
	if slices.Contains([]string{"linux", "darwin", "windows"}, runtime.GOOS) {
		want = map[string]string{"heap": "MB", "cpu": "%", "memory": "MB", "machine cpu": "%", "machine memory": "%", "disk": "%"}
	}
	for name, unit := range want {
		if units[name] != unit {
			t.Errorf("%s: unit %q, want %q", name, units[name], unit)
		}
	}

	ranges := map[string][2]float64{"cpu": {0, math.Inf(1)}, "memory": {1, 1e6}, "heap": {0.01, 1e6}, "machine cpu": {0, 100},
		"machine memory": {0.01, 100}, "disk": {0, 100}, "temperature": {0.1, 150}}
	for name, v := range values(m) {
		r, ok := ranges[name]
		isFirstUse := name == "cpu" || name == "machine cpu"
		if !ok || !(isFirstUse && math.IsNaN(v)) && !(r[0] <= v && v <= r[1]) {
			t.Errorf("%s: %g %s at the beginning", name, v, units[name])
		}
	}

	if _, ok := units["cpu"]; ok {
		var stop atomic.Bool
		var wait sync.WaitGroup
		wait.Go(func() {
			for !stop.Load() {
			}
		})
		eventually(t, m, func(v map[string]float64) bool {
			return v["cpu"] > 0 && v["machine cpu"] > 0 && v["machine cpu"] <= 100
		})
		stop.Store(true)
		wait.Wait()
	}

	before := values(m)["heap"]
	block := make([]byte, 64e6)
	eventually(t, m, func(v map[string]float64) bool { return v["heap"] > before+32 })
	runtime.KeepAlive(block)
}

// TestSeriesIsStable asserts that callers cannot change the list, and that values come in its order.
func TestSeriesIsStable(t *testing.T) {
	m := start("", time.Millisecond, noLibrary)
	defer m.Close()
	first := m.Series()
	want := slices.Clone(first)
	for i := range first {
		first[i].Name = "changed"
	}
	for range 20 {
		if got := m.Series(); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		v := m.Measure()
		if len(v) != len(want) {
			t.Fatalf("%d values, want %d", len(v), len(want))
		}
		for i, s := range want {
			if v[i].Name != s.Name {
				t.Fatalf("value %d is of %s, want %s", i, v[i].Name, s.Name)
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// scripted returns a sensor that reads one number after the other. It fails instead of reading NaN, and
// panics instead of reading an infinity.
func scripted(numbers ...float64) sensor {
	return sensor{series("scripted", ""), numbers[0], func() (float64, error) {
		numbers = numbers[1:]
		switch {
		case math.IsNaN(numbers[0]):
			return 0, errors.New("broken")
		case math.IsInf(numbers[0], 0):
			panic("very broken")
		}
		return numbers[0], nil
	}}
}

// TestMeasureIsMean reads a sensor at certain times, and measures at others.
func TestMeasureIsMean(t *testing.T) {
	m := newMachine([]sensor{scripted(4, 1, math.NaN(), 3, math.NaN(), math.Inf(1), 5, 7)}, func() {})
	nan := math.NaN()
	for i, step := range []struct {
		readings int
		want     float64
	}{
		{0, 4},   // the first reading
		{0, 4},   // again, without a reading
		{1, 1},   // not with the reading before
		{2, 3},   // a failure does not count
		{1, nan}, // a failure alone
		{0, nan}, // again
		{1, nan}, // a panic
		{2, 6},   // the sensor works again
	} {
		for range step.readings {
			m.read()
		}
		got := float64(m.Measure()[0].Value)
		if got != step.want && !(math.IsNaN(got) && math.IsNaN(step.want)) {
			t.Errorf("step %d: %g, want %g", i, got, step.want)
		}
	}
}

// TestReadsOnceInAnInterval asserts that sensors are read once in an interval, however often they are
// measured, and that the goroutine ends.
func TestReadsOnceInAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		var reads atomic.Int64
		releases := 0
		count := sensor{series("count", ""), 0, func() (float64, error) { return float64(reads.Add(1)), nil }}
		m := newMachine([]sensor{count}, func() { releases++ })
		go m.watch(interval)
		time.Sleep(interval / 2)
		for second := range 5 {
			for range 100 {
				m.Measure()
			}
			synctest.Wait()
			if n := reads.Load(); n != int64(second) {
				t.Errorf("%d readings after %d seconds", n, second)
			}
			time.Sleep(interval)
		}
		began := time.Now()
		m.Close()
		m.Close()
		if waited := time.Since(began); waited != 0 {
			t.Errorf("Close waited %v for nothing", waited)
		}
		time.Sleep(10 * interval)
		if got := m.Measure()[0].Value; got != 5 || reads.Load() != 5 || releases != 1 {
			t.Errorf("after Close: value %v, %d readings, %d releases", got, reads.Load(), releases)
		}
	})
}

// TestHangingSensor asserts that a reading that does not end holds up neither Measure nor, for long, Close.
func TestHangingSensor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang, released := make(chan bool), false
		m := newMachine([]sensor{{series("disk", "%"), 12, func() (float64, error) { <-hang; return 0, nil }}}, func() { released = true })
		go m.watch(interval)
		time.Sleep(3 * interval)
		began := time.Now()
		if v := m.Measure()[0].Value; v != 12 {
			t.Errorf("value %v, want 12", v)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("Measure waited %v", waited)
		}
		m.Close()
		if waited := time.Since(began); waited != patience || released {
			t.Errorf("Close waited %v, want %v; released: %v", waited, patience, released)
		}
		close(hang)
		synctest.Wait()
		if !released {
			t.Error("the library was not released after the last reading")
		}
	})
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	m := start("", 100*time.Microsecond, noLibrary)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 50 {
				if len(m.Measure()) != len(m.Series()) {
					t.Error("not all values")
				}
				time.Sleep(10 * time.Microsecond)
			}
			m.Close()
		})
	}
	wait.Wait()
}
