package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

type driver struct {
	load func() (*libcuda.API, error)
	// returns the release of the driver
	release func() string
	cache   cache
	// size in bytes of a slot of a queue's pinned memory
	slot int
	// held while code is compiled; a second caller with the same code then finds the result of the
	// first in the cache, and the driver's compiler does not run in parallel anyway
	assembling sync.Mutex
}

const cacheLimit = 256 << 20

var installed = &driver{
	load:    sync.OnceValues(libcuda.Load),
	release: libcuda.DriverRelease,
	cache:   newCache(userCache, cacheLimit),
	slot:    4 << 20, // large enough for the bus, small enough for the queue of a small model
}

// Driver returns the driver of this machine. The driver's library is opened at the first call of a
// method.
func Driver() gpu.Driver { return installed }

// Devices lists the cards of the machine. It returns an error that wraps [gpu.ErrNoDevice] if there is
// no card, or if the CUDA driver is not installed or too old.
func Devices() ([]gpu.Info, error) { return installed.Devices() }

// Over returns a driver that calls the functions of api instead of the functions of the machine's
// library. It keeps compiled code in folder. If folder is "", it does not keep compiled code.
// Package fake calls it.
func Over(api *libcuda.API, folder string) gpu.Driver {
	return &driver{
		load:    func() (*libcuda.API, error) { return api, nil },
		release: func() string { return "" },
		cache:   newCache(func() string { return folder }, cacheLimit),
		slot:    1 << 20, // less data goes around the ring
	}
}

// userCache returns the folder of the cache, or "" if the user has no cache folder.
func userCache() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "burngen", "cuda")
}

func (*driver) Name() string { return "cuda" }

func (dr *driver) Devices() ([]gpu.Info, error) {
	api, version, count, err := dr.start()
	if err != nil {
		return nil, fmt.Errorf("cuda: %w: %w", gpu.ErrNoDevice, err)
	}
	infos := make([]gpu.Info, count)
	for i := range infos {
		if infos[i], _, err = dr.describe(api, version, i); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

func (dr *driver) Open(index int) (gpu.Opened, error) {
	api, version, count, err := dr.start()
	if err != nil {
		return nil, fmt.Errorf("cuda: %w: %w", gpu.ErrNoDevice, err)
	}
	if index < 0 || index >= count {
		return nil, fmt.Errorf("cuda: %w: device %d is wanted, the machine has %d", gpu.ErrNoDevice, index, count)
	}
	info, handle, err := dr.describe(api, version, index)
	if err != nil {
		return nil, err
	}
	return openDevice(dr, api, info, handle)
}

// start initializes the driver. It returns the driver's functions, the driver's version as
// 1000·major + 10·minor, and the number of cards. It returns an error if there is no card.
func (dr *driver) start() (api *libcuda.API, version int32, count int, err error) {
	if api, err = dr.load(); err != nil {
		return nil, 0, 0, err
	}
	if r := api.Init(0); r != libcuda.Success {
		return nil, 0, 0, fmt.Errorf("starting the driver: %s", errorName(api, r))
	}
	if r := api.DriverGetVersion(&version); r != libcuda.Success {
		return nil, 0, 0, fmt.Errorf("the version of the driver: %s", errorName(api, r))
	}
	if version < libcuda.MinVersion {
		return nil, 0, 0, fmt.Errorf("the driver supports %s, want CUDA %d.0 or newer", versionText(version), libcuda.MinVersion/1000)
	}
	var n int32
	if r := api.DeviceGetCount(&n); r != libcuda.Success {
		return nil, 0, 0, fmt.Errorf("counting devices: %s", errorName(api, r))
	}
	if n < 1 {
		return nil, 0, 0, fmt.Errorf("the driver finds no device")
	}
	return api, version, int(n), nil
}

func (dr *driver) describe(api *libcuda.API, version int32, index int) (gpu.Info, libcuda.Device, error) {
	var handle libcuda.Device
	r := api.DeviceGet(&handle, int32(index))
	name := make([]byte, 128)
	if r == libcuda.Success {
		r = api.DeviceGetName(&name[0], int32(len(name)), handle)
	}
	var memory uintptr
	if r == libcuda.Success {
		r = api.DeviceTotalMem(&memory, handle)
	}
	values := make([]int32, 3)
	for i, attr := range []libcuda.DeviceAttr{libcuda.CapabilityMajor, libcuda.CapabilityMinor, libcuda.WarpSize} {
		if r == libcuda.Success {
			r = api.DeviceGetAttr(&values[i], attr, handle)
		}
	}
	if r != libcuda.Success {
		return gpu.Info{}, 0, fmt.Errorf("cuda: device %d: %s", index, errorName(api, r))
	}
	release := versionText(version)
	if r := dr.release(); r != "" {
		release = r + ", " + release
	}
	return gpu.Info{
		Index:      index,
		Name:       text(name),
		Memory:     int64(memory),
		Capability: fmt.Sprintf("%d.%d", values[0], values[1]),
		Driver:     release,
		Subgroup:   int(values[2]),
	}, handle, nil
}

func versionText(version int32) string {
	return fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10)
}
