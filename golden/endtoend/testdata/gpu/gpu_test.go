// Package gpu tests a package for a GPU beside the same model's package for the CPU.
package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/vulkan"

	"program/model"
	device "program/model/vulkan"
)

// images draws images.
func images(n int, seed uint32) []device.Image {
	x := make([]device.Image, n)
	rt.Uniform(rt.Flat[float32](x), 0, 1, seed)
	return x
}

func load(t *testing.T) *device.Model {
	t.Helper()
	m, err := device.Load()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// agree compares with the CPU.
func agree(got []device.Logits, x []device.Image) error {
	m, err := model.Load()
	if err != nil {
		return err
	}
	y := make([]model.Image, len(x))
	copy(rt.Flat[float32](y), rt.Flat[float32](x))
	want, err := m.Forward(y)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return errors.New("the number of results differs")
	}
	for i := range want {
		for k, w := range want[i] {
			if d := math.Abs(float64(got[i][k] - w)); !(d <= 1e-4*(1+math.Abs(float64(w)))) {
				return errors.New("a result differs by more than 1e-4")
			}
		}
	}
	return nil
}

// TestGoroutines calls one model from many goroutines, with batches of several sizes.
func TestGoroutines(t *testing.T) {
	m := load(t)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 4 {
				x := images(1+(g+i)%5, uint32(16*g+i))
				got, err := m.Forward(x)
				if err == nil {
					err = agree(got, x)
				}
				if err != nil {
					t.Errorf("goroutine %d, call %d: %v", g, i, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestSameBits calls a session again.
func TestSameBits(t *testing.T) {
	m := load(t)
	x := images(3, 7)
	first, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := m.Forward(x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if first[i] != again[i] {
				t.Fatalf("image %d: %v, and then %v", i, first[i], again[i])
			}
		}
	}
}

// TestContext ends the context before a call and during calls. Calls after that are right.
func TestContext(t *testing.T) {
	m := load(t)
	x := images(4, 3)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.ForwardContext(ended, x); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v, want %v", err, context.Canceled)
	}
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		got, err := m.ForwardContext(ctx, x)
		if err == nil {
			err = agree(got, x)
		} else if errors.Is(err, context.Canceled) {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err = m.Forward(x); err == nil {
			err = agree(got, x)
		}
		if err != nil {
			t.Fatalf("after a context that ended: %v", err)
		}
	}
}

// TestEmptyBatch passes no images, and then some.
func TestEmptyBatch(t *testing.T) {
	m := load(t)
	x := images(2, 5)
	if _, err := m.Forward(nil); err != nil {
		t.Errorf("no images: %v", err)
	}
	got, err := m.Forward(x)
	if err == nil {
		err = agree(got, x)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDevices loads the model on devices by their index, twice on the same one.
func TestDevices(t *testing.T) {
	list, err := vulkan.Devices()
	if err != nil {
		t.Fatal(err)
	}
	x := images(2, 9)
	for _, info := range list {
		m, err := device.Load(gpu.Device(info.Index))
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		other, err := m.On(gpu.Device(0))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*device.Model{m, other, m} {
			got, err := m.Forward(x)
			if err == nil {
				err = agree(got, x)
			}
			if err != nil {
				t.Errorf("%s: %v", info.Name, err)
			}
		}
	}
	if _, err := device.Load(gpu.Device(len(list))); err == nil || errors.Is(err, gpu.ErrNoDevice) ||
		!strings.HasPrefix(err.Error(), fmt.Sprintf("vulkan: device %d: there", len(list))) {
		t.Errorf("a device that is not there: %v", err)
	}
	t.Setenv("BURNGEN_DEVICE", "99")
	if _, err := device.Load(); err == nil || !strings.HasPrefix(err.Error(), "BURNGEN_DEVICE=99: vulkan: device 99: there") {
		t.Errorf("the environment names a device that is not there: %v", err)
	}
	if _, err := device.Load(gpu.Device(0)); err != nil {
		t.Errorf("an option counts more than the environment: %v", err)
	}
}

// TestMemory limits the memory of a model. Small batches fit, large ones return an error, and small ones
// then fit again. Another model has a limit of its own.
func TestMemory(t *testing.T) {
	m, err := device.Load(gpu.Memory(1 << 20))
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	small, large := images(2, 11), images(2000, 12)
	for range 3 {
		got := make([]device.Logits, len(small))
		if err := s.Forward(got, small); err != nil {
			t.Fatal(err)
		}
		if err := agree(got, small); err != nil {
			t.Fatal(err)
		}
		if err := s.Forward(make([]device.Logits, len(large)), large); !errors.Is(err, gpu.ErrMemory) {
			t.Fatalf("a batch that does not fit: %v, want %v", err, gpu.ErrMemory)
		}
	}
	other, err := m.On()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Forward(large); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	if m, err = device.Load(gpu.Memory(1)); err == nil {
		_, err = m.Forward(small)
	}
	if !errors.Is(err, gpu.ErrMemory) {
		t.Errorf("a limit below the weights: %v, want %v", err, gpu.ErrMemory)
	}
}

// TestOtherWeights puts other weights on a device.
func TestOtherWeights(t *testing.T) {
	path := t.TempDir() + "/weights.safetensors"
	if err := load(t).Save(path); err != nil {
		t.Fatal(err)
	}
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	m, err := device.LoadFrom(w)
	if err == nil {
		m, err = m.On(gpu.Memory(64 << 20))
	}
	if err != nil {
		t.Fatal(err)
	}
	x := images(2, 13)
	got, err := m.Forward(x)
	if err == nil {
		err = agree(got, x)
	}
	if err != nil {
		t.Error(err)
	}
}
