package gpu

import (
	"context"
	"errors"
	"slices"
	"testing"
)

type trained struct{ a, b []float32 }

// TestVectors moves vectors between host and device: what was changed last is what is seen.
func TestVectors(t *testing.T) {
	f, r := opened(t)
	data, grad := []float32{1, 2, 3, 4}, make([]float32, 4)
	if err := r.Hold(data, grad, nil); err != nil {
		t.Fatal(err)
	}
	w, changes := &trained{data[:2], data[2:]}, &trained{grad[:2], grad[2:]}
	step := func() {
		t.Helper()
		call := func() (err error) {
			if err := BeginTraining(r, context.Background(), nil, w, changes); err != nil {
				return err
			}
			defer r.End(&err)
			if r.Replays("step") {
				return nil
			}
			r.Launch(double, 1, 1, 1, Int(2), In(w.a), Out(changes.a))
			r.Launch(double, 1, 1, 1, Int(2), In(w.b), Out(changes.b))
			return nil
		}
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if !slices.Equal(grad, make([]float32, 4)) {
		t.Error("gradients are copied unasked")
	}
	uploads := f.counts["upload"]
	step()
	if f.counts["upload"] != uploads || f.counts["replay"] != 1 {
		t.Error("what the device has is copied again")
	}
	if err := r.ToHost(data, grad); err != nil {
		t.Fatal(err)
	}
	if want := []float32{2, 4, 6, 8}; !slices.Equal(grad, want) {
		t.Errorf("gradients %v, want %v", grad, want)
	}
	downloads := f.counts["download"]
	if err := r.ToHost(data, grad); err != nil || f.counts["download"] != downloads {
		t.Errorf("%v: what the host has is copied again", err)
	}
	data[3] = 10 // by the host
	step()
	if err := r.ToHost(grad); err != nil || grad[3] != 20 {
		t.Errorf("%v: the gradient is %v, want 20", err, grad[3])
	}
	// Copies on the device.
	if err := errors.Join(r.Assign(data[:2], grad[2:]), r.Assign(nil, nil), r.ToHost(data)); err != nil {
		t.Fatal(err)
	}
	if want := []float32{6, 20, 3, 10}; !slices.Equal(data, want) {
		t.Errorf("parameters %v, want %v", data, want)
	}
	// A call without changes.
	call := func() (err error) {
		if err := BeginTraining(r, nil, nil, w, (*trained)(nil)); err != nil {
			return err
		}
		defer r.End(&err)
		return nil
	}
	if err := call(); err != nil {
		t.Error(err)
	}
	if err := r.Drop(data, grad, grad); err != nil || len(r.vectors) != 0 {
		t.Errorf("%v: %d vectors are left", err, len(r.vectors))
	}
	r.free()
	if f.pieces() > 0 {
		t.Errorf("%d allocations are not given back", f.pieces())
	}
}

// TestHoldWithoutMemory returns the device's error.
func TestHoldWithoutMemory(t *testing.T) {
	f, r := opened(t)
	f.limit = 1 << 10
	if err := r.Hold(make([]float32, 1<<10)); !errors.Is(err, ErrMemory) {
		t.Errorf("%v, want %v", err, ErrMemory)
	}
}

// TestUpdate passes numbers, groups and places to a kernel.
func TestUpdate(t *testing.T) {
	f, r := opened(t)
	f.kernels["scale"] = func(args []uint64) {
		x := floats(args[3], 4*int(args[1]))
		for i := range x {
			x[i] *= 3
		}
		if args[0] != 0x40400000 {
			t.Errorf("the number is %#x", args[0])
		}
	}
	f.kernels["squares"] = func(args []uint64) {
		x, sum := floats(args[1], int(args[0])), float32(0)
		for _, v := range x {
			sum += v * v
		}
		floats(args[2], 1)[0] = sum
	}
	x := make([]float32, 48)
	if err := r.Hold(x); err != nil {
		t.Fatal(err)
	}
	for i := range x {
		x[i] = 1
	}
	if err := r.Update("scale", []float32{3}, x[16:19]); err != nil {
		t.Fatal(err)
	}
	sum, err := r.Squares(x[16:18])
	if err != nil || sum != 18 {
		t.Errorf("%v, %v, want 18", sum, err)
	}
	if err := r.ToHost(x); err != nil || x[15] != 1 || x[18] != 3 || x[20] != 1 {
		t.Errorf("%v: %v", err, x[15:21])
	}
	if err := r.Update("other", nil, x); err == nil {
		t.Error("no error for a kernel that does not exist")
	}
	if sum, err := r.Squares(nil); sum != 0 || err != nil {
		t.Errorf("%v, %v, want 0", sum, err)
	}
}
