package gpu

import (
	"fmt"
	"os"
	"strconv"
)

// Option says where a model computes, and how it is measured. [Device], [Memory] and [Watched] return
// options.
type Option func(*settings) error

// settings are the choices of a model's options.
type settings struct {
	index int
	// the environment variable that chose the device, as NAME=VALUE, or ""
	from string
	// limit of device memory in bytes; 0 for no limit
	limit int64
	// the device must not be emulated on the CPU
	hardware bool
	watch    *Watch // measures the model, or nil
}

// deviceVariable is the environment variable that chooses the device of models without [Device].
const deviceVariable = "BURNGEN_DEVICE"

// settingsOf returns the settings in the environment, changed by options. It returns an error if a
// variable or option is invalid.
func settingsOf(options []Option) (settings, error) {
	var s settings
	if text := os.Getenv(deviceVariable); text != "" {
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 {
			return s, fmt.Errorf("%s=%q: the index of a device expected", deviceVariable, text)
		}
		s.index, s.from = i, deviceVariable+"="+text+": "
	}
	for _, o := range options {
		if err := o(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Device chooses the device by its index in the driver's list, which "burngen devices" prints. Without
// this option the environment variable BURNGEN_DEVICE has the index. The default is 0. A negative
// index is an error of [Instance.Open].
func Device(index int) Option {
	return func(s *settings) error {
		if index < 0 {
			return fmt.Errorf("gpu.Device(%d): the index of a device expected", index)
		}
		s.index, s.from = index, ""
		return nil
	}
}

// Memory limits the device memory that the weights, sessions, trainers and tensors of a model take
// together, in bytes. A call that needs more returns an error that wraps [ErrMemory]. A limit that is
// not above 0 is an error of [Instance.Open].
func Memory(bytes int64) Option {
	return func(s *settings) error {
		if bytes <= 0 {
			return fmt.Errorf("gpu.Memory(%d): a number of bytes above 0 expected", bytes)
		}
		s.limit = bytes
		return nil
	}
}

// hardware is an option that treats a device that is emulated on the CPU as missing.
func hardware(s *settings) error {
	s.hardware = true
	return nil
}
