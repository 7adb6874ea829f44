package fake

import (
	"sync"

	"github.com/burngen/burngen/runtime/metric/system/internal/nvml"
)

// Card describes a card by the values that NVML returns for it, in NVML's units.
type Card struct {
	Percent    uint32 // use
	Used       uint64 // bytes of memory
	Celsius    uint32
	Milliwatts uint32
	// Fails has results of functions that fail for the card, by their names in the library.
	Fails map[string]nvml.Result
}

// Library is NVML. The zero value has no cards.
type Library struct {
	// Fails has results of functions that fail for all cards, by their names in the library.
	Fails map[string]nvml.Result

	mu    sync.Mutex
	cards []Card
	opens int // calls of Init less calls of Shutdown
}

// SetCards replaces the cards. It may be called while the library is used.
func (l *Library) SetCards(cards ...Card) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cards = cards
}

// Opens returns the number of times that the library was opened and not closed.
func (l *Library) Opens() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opens
}

// API returns the functions of the library.
func (l *Library) API() *nvml.API {
	return &nvml.API{
		Init: func() nvml.Result {
			return l.call("nvmlInit_v2", func() nvml.Result {
				l.opens++
				return nvml.Success
			})
		},
		Shutdown: func() nvml.Result {
			return l.whileOpen("nvmlShutdown", func() nvml.Result {
				l.opens--
				return nvml.Success
			})
		},
		DeviceGetCount: func(count *uint32) nvml.Result {
			return l.whileOpen("nvmlDeviceGetCount_v2", func() nvml.Result {
				*count = uint32(len(l.cards))
				return nvml.Success
			})
		},
		DeviceGetHandle: func(index uint32, device *nvml.Device) nvml.Result {
			return l.whileOpen("nvmlDeviceGetHandleByIndex_v2", func() nvml.Result {
				if index >= uint32(len(l.cards)) {
					return nvml.InvalidArgument
				}
				*device = handle + nvml.Device(index)
				return nvml.Success
			})
		},
		DeviceGetUtilization: func(device nvml.Device, use *nvml.Utilization) nvml.Result {
			return l.ofCard("nvmlDeviceGetUtilizationRates", device, func(c Card) { *use = nvml.Utilization{GPU: c.Percent, Memory: 1} })
		},
		DeviceGetMemory: func(device nvml.Device, memory *nvml.Memory) nvml.Result {
			const total = 80 << 30
			return l.ofCard("nvmlDeviceGetMemoryInfo", device, func(c Card) {
				*memory = nvml.Memory{Total: total, Free: total - c.Used, Used: c.Used}
			})
		},
		DeviceGetTemperature: func(device nvml.Device, sensor uint32, celsius *uint32) nvml.Result {
			if sensor != nvml.Core {
				return nvml.InvalidArgument
			}
			return l.ofCard("nvmlDeviceGetTemperature", device, func(c Card) { *celsius = c.Celsius })
		},
		DeviceGetPower: func(device nvml.Device, milliwatts *uint32) nvml.Result {
			return l.ofCard("nvmlDeviceGetPowerUsage", device, func(c Card) { *milliwatts = c.Milliwatts })
		},
	}
}

const handle nvml.Device = 0x7f00

// call calls f, unless l.Fails has an error for the function called name.
func (l *Library) call(name string, f func() nvml.Result) nvml.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.Fails[name]; r != nvml.Success {
		return r
	}
	return f()
}

// whileOpen is [Library.call] for functions that need an open library.
func (l *Library) whileOpen(name string, f func() nvml.Result) nvml.Result {
	return l.call(name, func() nvml.Result {
		if l.opens == 0 {
			return nvml.Uninitialized
		}
		return f()
	})
}

// ofCard calls f with the card that a handle identifies. If the library or the card is set to
// fail in the function called `name`, ofCard returns that error and does not call f.
func (l *Library) ofCard(name string, device nvml.Device, f func(Card)) nvml.Result {
	return l.whileOpen(name, func() nvml.Result {
		if device < handle || device >= handle+nvml.Device(len(l.cards)) {
			return nvml.InvalidArgument
		}
		c := l.cards[device-handle]
		if r := c.Fails[name]; r != nvml.Success {
			return r
		}
		f(c)
		return nvml.Success
	})
}
