package gpu

import (
	"errors"
	"testing"
)

// TestInstanceOfDevices opens devices that are there, that are not there, and that are software.
func TestInstanceOfDevices(t *testing.T) {
	two := []Info{{Index: 0, Name: "card"}, {Index: 1, Name: "renderer", Software: true}}
	for _, c := range []struct {
		infos    []Info
		variable string
		options  []Option
		want     string
		missing  bool // whether the error wraps ErrNoDevice
	}{
		{two, "", nil, "", false},
		{two, "", []Option{Device(1)}, "", false},
		{two, "", []Option{Device(3)}, "listed: device 3: there are 2", false},
		{two[:1], "", []Option{Device(3)}, "listed: device 3: there is only device 0", false},
		{two, "2", nil, "BURNGEN_DEVICE=2: listed: device 2: there are 2", false},
		{two, "2", []Option{Device(0)}, "", false},
		{two, "-1", nil, `BURNGEN_DEVICE="-1": the index of a device expected`, false},
		{two, "", []Option{hardware}, "", false},
		{two, "", []Option{hardware, Device(1)}, "listed: no usable GPU: renderer computes on the CPU", true},
		{nil, "", nil, "no usable GPU", true},
	} {
		t.Setenv(deviceVariable, c.variable)
		_, err := programOn(&listed{infos: c.infos, device: &counted{}}).Open(c.options...)
		if got := errorText(err); got != c.want {
			t.Errorf("%q: %q, want %q", c.variable, got, c.want)
		}
		if errors.Is(err, ErrNoDevice) != c.missing {
			t.Errorf("%v: wraps ErrNoDevice: %v, want %v", err, !c.missing, c.missing)
		}
	}
}
