package gpu

import (
	"errors"
	"testing"
)

// listed is a driver with devices that compute nothing. Its first calls of Open fail.
type listed struct {
	infos  []Info
	device Opened
	fails  int
	opened []int // the indices of all calls of Open
}

func (*listed) Name() string { return "listed" }

func (l *listed) Devices() ([]Info, error) {
	if len(l.infos) == 0 {
		return nil, ErrNoDevice
	}
	return l.infos, nil
}

func (l *listed) Open(index int) (Opened, error) {
	l.opened = append(l.opened, index)
	if len(l.opened) <= l.fails {
		return nil, ErrNoDevice
	}
	return l.device, nil
}

// programOn returns a program without kernels for a driver.
func programOn(d Driver) *Program {
	code := ""
	return &Program{Driver: func() Driver { return d }, Code: &code}
}

// TestProgramOpensDevicesOnce opens instances on two devices, after an error. Instances of one device
// share it.
func TestProgramOpensDevicesOnce(t *testing.T) {
	l := &listed{infos: make([]Info, 2), device: &counted{live: map[Address]bool{}}, fails: 1}
	p := programOn(l)
	if _, err := p.Open(); !errors.Is(err, ErrNoDevice) {
		t.Errorf("%v, want %v", err, ErrNoDevice)
	}
	for _, index := range []int{0, 1, 0, 1} {
		i, err := p.Open(Device(index))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := i.Open(); err != nil || d != l.device {
			t.Errorf("%v, %v, want the device", d, err)
		}
	}
	if len(l.opened) != 3 {
		t.Errorf("opened %v, want 0, 0 and 1", l.opened)
	}
}
