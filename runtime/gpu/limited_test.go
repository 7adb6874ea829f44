package gpu

import (
	"errors"
	"testing"
)

// TestLimitedMemory allocates up to the limit. What is given back can be allocated again.
func TestLimitedMemory(t *testing.T) {
	d := &counted{live: map[Address]bool{}}
	i, err := programOn(&listed{infos: make([]Info, 1), device: d}).Open(Memory(1000))
	if err != nil {
		t.Fatal(err)
	}
	l, err := i.Open()
	if err != nil {
		t.Fatal(err)
	}
	first, err := l.Alloc(600)
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int64{401, 1 << 62} {
		if _, err := l.Alloc(bytes); !errors.Is(err, ErrMemory) {
			t.Errorf("%d bytes: %v, want %v", bytes, err, ErrMemory)
		}
	}
	if _, err := l.Alloc(401); errorText(err) != "not enough device memory: 401 bytes are wanted, 400 are left of the 1000 of gpu.Memory" {
		t.Error(err)
	}
	if d.pieces() != 1 {
		t.Errorf("%d allocations, want 1", d.pieces())
	}
	l.Free(0) // is ignored
	l.Free(first)
	if _, err := l.Alloc(1000); err != nil {
		t.Error(err)
	}
	if d.pieces() != 1 {
		t.Errorf("%d allocations, want 1", d.pieces())
	}
}

// TestLimitsOfTwoModels gives each instance of a device a limit of its own.
func TestLimitsOfTwoModels(t *testing.T) {
	p := programOn(&listed{infos: make([]Info, 1), device: &counted{live: map[Address]bool{}}})
	for range 2 {
		i, err := p.Open(Memory(1000))
		if err != nil {
			t.Fatal(err)
		}
		d, err := i.Open()
		if err == nil {
			_, err = d.Alloc(1000)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
