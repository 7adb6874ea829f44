package system

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"
)

// host returns the sensors of the machine other than cards. It measures the disk that holds dir.
func host(dir string) []sensor {
	return slices.Concat(share("machine cpu", processors), gauge("machine memory", "%", memory), fileSystem(dir), temperature(hardware))
}

// processors returns the busy and the total processor time of the machine, in seconds.
func processors() (counters, error) {
	times, err := cpu.Times(false)
	if err != nil {
		return counters{}, err
	}
	if len(times) != 1 {
		return counters{}, errors.New("the system does not say how busy its processors are")
	}
	t := times[0]
	busy := t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal
	if runtime.GOOS != "linux" { // on Linux, User and Nice contain them
		busy += t.Guest + t.GuestNice
	}
	return counters{busy, busy + t.Idle + t.Iowait}, nil
}

// memory returns the part of the machine's memory that programs cannot get, in percent.
func memory() (float64, error) {
	m, err := mem.VirtualMemory()
	if err != nil {
		return 0, err
	}
	if m.Total == 0 {
		return 0, errors.New("the system does not say how much memory it has")
	}
	return 100 * (1 - float64(m.Available)/float64(m.Total)), nil
}

func fileSystem(dir string) []sensor {
	path, err := existing(dir)
	if err != nil {
		return nil
	}
	return gauge("disk", "%", func() (float64, error) {
		use, err := disk.Usage(path)
		if err != nil {
			return 0, err
		}
		if use.Total == 0 {
			return 0, errors.New("the file system has no size")
		}
		return use.UsedPercent, nil
	})
}

// existing returns the absolute path of a folder. If the folder does not exist, it returns the
// path of the innermost parent that does.
func existing(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(path)
		parent := filepath.Dir(path)
		if err == nil || parent == path {
			return path, err
		}
		path = parent
	}
}
