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

// compiling is a device whose modules compile kernels with an error.
type compiling struct {
	Opened
	err                    error
	compiled, closed, gone int // calls of CompileAll, and of Close of modules and of the device
}

func (c *compiling) Load([]byte) (Module, error) { return compilingModule{c: c}, nil }
func (c *compiling) Close() error                { c.gone++; return nil }

type compilingModule struct {
	Module
	c *compiling
}

func (m compilingModule) CompileAll() error { m.c.compiled++; return m.c.err }
func (m compilingModule) Close()            { m.c.closed++ }

// TestProgramCompilesKernels loads a program whose kernels are compiled at first with an error, which gives
// everything back.
func TestProgramCompilesKernels(t *testing.T) {
	wrong := errors.New("wrong")
	d := &compiling{err: wrong}
	code := "kernels"
	l := &listed{infos: make([]Info, 1), device: d}
	p := &Program{Driver: func() Driver { return l }, Code: &code}
	if _, err := p.Open(); !errors.Is(err, wrong) || d.compiled != 1 || d.closed != 1 || d.gone != 1 {
		t.Errorf("error %v; %+v", err, d)
	}
	d.err = nil
	for range 2 {
		if _, err := p.Open(); err != nil {
			t.Error(err)
		}
	}
	if d.compiled != 2 || d.closed != 1 || d.gone != 1 || len(l.opened) != 2 {
		t.Errorf("%+v, opened %v", d, l.opened)
	}
}
