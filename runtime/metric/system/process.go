package system

import (
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	psutil "github.com/shirou/gopsutil/v4/process"
)

func process() []sensor {
	return slices.Concat(processorTime(), residentMemory(), gauge("heap", "MB", heap))
}

func self() (*psutil.Process, error) { return psutil.NewProcess(int32(os.Getpid())) }

// processorTime returns a sensor of the processor time of this process, in percent of GOMAXPROCS
// processors.
func processorTime() []sensor {
	p, err := safely(self)
	if err != nil {
		return nil
	}
	available, last := 0.0, time.Now()
	return share("cpu", func() (counters, error) {
		now := time.Now()
		available += now.Sub(last).Seconds() * float64(runtime.GOMAXPROCS(0)) // which may change
		last = now
		t, err := p.Times()
		if err != nil {
			return counters{}, err
		}
		return counters{t.User + t.System, available}, nil
	})
}

// residentMemory returns a sensor of the resident memory of this process.
func residentMemory() []sensor {
	p, err := safely(self)
	if err != nil {
		return nil
	}
	return gauge("memory", "MB", func() (float64, error) {
		m, err := p.MemoryInfo()
		if err != nil {
			return 0, err
		}
		return megabytes(m.RSS), nil
	})
}

// heap returns the memory of Go's heap objects in MB. It does not stop the world.
func heap() (float64, error) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return megabytes(sample[0].Value.Uint64()), nil
}

func megabytes(bytes uint64) float64 { return float64(bytes) / 1e6 }
