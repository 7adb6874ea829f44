package system

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric/system/internal/nvml"
)

// interval is the time between readings. NVIDIA's cards report their use and power as means over at most a
// second. A longer interval would leave some of the time unmeasured.
const interval = time.Second

// patience is the longest time that Close waits for the last reading to end. The reading of a remote
// disk, for example, may take longer.
const patience = time.Second

// Machine measures the machine that the program runs on. A goroutine reads all values once a second,
// until Close. The methods may be called from several goroutines.
type Machine struct {
	sensors []sensor
	release func()        // is called after the last reading
	stop    chan struct{} // is closed by Close
	done    chan struct{} // is closed when the goroutine ends
	once    sync.Once

	mu     sync.Mutex
	rounds int       // readings since the last Measure
	means  []mean    // over these readings, one for each sensor
	values []float64 // the result of the last Measure
}

// mean is a mean of values. It is NaN if n is 0.
type mean struct {
	sum float64
	n   int
}

func (m mean) value() float64 { return m.sum / float64(m.n) }

// New returns a Machine. Its disk is the file system of the folder dir, which need not exist yet. An empty
// dir is the current folder. New reads each value once, to find which values there are. It may take a
// second if no other program uses the NVIDIA driver.
func New(dir string) *Machine { return start(dir, interval, nvml.Load) }

// start returns a Machine that takes readings. every is the time from one reading to the next. load
// opens NVIDIA's library.
func start(dir string, every time.Duration, load func() (*nvml.API, error)) *Machine {
	onCards, release := cards(load)
	m := newMachine(slices.Concat(process(), host(dir), onCards), release)
	go m.watch(every)
	return m
}

// newMachine returns a Machine that has one reading and does not yet run a goroutine.
func newMachine(sensors []sensor, release func()) *Machine {
	m := &Machine{sensors: sensors, release: release, stop: make(chan struct{}), done: make(chan struct{}),
		means: make([]mean, len(sensors)), values: make([]float64, len(sensors))}
	first := make([]float64, len(sensors))
	for i, s := range sensors {
		first[i] = s.first
	}
	m.add(first)
	return m
}

// watch takes readings until Close. every is the time from one reading to the next.
func (m *Machine) watch(every time.Duration) {
	defer close(m.done)
	defer m.release()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			m.read()
		}
	}
}

// read takes a reading. Only one goroutine may call it at a time.
func (m *Machine) read() {
	values := make([]float64, len(m.sensors))
	for i, s := range m.sensors {
		v, err := safely(s.read)
		if err != nil {
			v = math.NaN()
		}
		values[i] = v
	}
	m.add(values)
}

// add adds a reading, one value for each sensor, to the means. NaN values do not count.
func (m *Machine) add(values []float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rounds++
	for i, v := range values {
		if !math.IsNaN(v) {
			m.means[i].sum += v
			m.means[i].n++
		}
	}
}

// Series describes the values that Measure returns. The list does not change.
func (m *Machine) Series() []learn.Series {
	out := make([]learn.Series, len(m.sensors))
	for i, s := range m.sensors {
		out[i] = s.series
	}
	return out
}

// Measure returns a value for each of the Series, in their order. A value is the mean of the readings since the last
// Measure. It is NaN if all of these readings failed. The use of processors is NaN before the second reading. If
// there was no reading since the last Measure, Measure returns the same values as the last time. Measure does not
// wait for a reading.
func (m *Machine) Measure() []learn.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]learn.Value, len(m.sensors))
	for i, s := range m.sensors {
		if m.rounds > 0 {
			m.values[i], m.means[i] = m.means[i].value(), mean{}
		}
		out[i] = learn.Value{Name: s.series.Name, Value: learn.Number(m.values[i])}
	}
	m.rounds = 0
	return out
}

// Close ends the readings. It waits for the last one, but for at most a second. Measure may be called
// afterwards. Close may be called several times.
func (m *Machine) Close() {
	m.once.Do(func() { close(m.stop) })
	select {
	case <-m.done:
	case <-time.After(patience):
	}
}
