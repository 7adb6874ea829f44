// Package gputensor tests calls of packages for a GPU with tensors in device memory.
package gputensor

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"

	"program/head"
	device "program/model/vulkan"
	"program/words"
)

// tensorOf returns a tensor with the elements of x on the device of a model.
func tensorOf[T any](t *testing.T, i *gpu.Instance, x []T, shape ...int) *gpu.Tensor[T] {
	t.Helper()
	made, err := gpu.NewTensor[T](i, shape...)
	if err == nil {
		err = made.Upload(x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func load(t *testing.T) (*device.Model, *device.Session) {
	t.Helper()
	m, err := device.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

func images(n int, seed uint32) []device.Image {
	x := make([]device.Image, n)
	rt.Uniform(rt.Flat[float32](x), 0, 1, seed)
	return x
}

// shape returns the shape of n images, and logits that of their results.
func shape(n int) []int  { return []int{n, 3, 20, 20} }
func logits(n int) []int { return []int{n, len(device.Logits{})} }

// TestForwardDevice gives the bits of Forward, in goroutines with a session each, again and again, also when
// batches and tensors change.
func TestForwardDevice(t *testing.T) {
	m, _ := load(t)
	var wg sync.WaitGroup
	for g := range 2 {
		s, err := m.NewSession(nil)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for round := range 4 {
				n := 1 + (g+round)%3
				x := images(n, uint32(g+1))
				want, err := m.Forward(x)
				if err != nil {
					t.Error(err)
					return
				}
				in, err := gpu.NewTensor[float32](m.Device(), shape(n)...)
				if err != nil {
					t.Error(err)
					return
				}
				defer in.Close()
				out, err := gpu.NewTensor[float32](m.Device(), logits(n)...)
				if err != nil {
					t.Error(err)
					return
				}
				defer out.Close()
				got := make([]device.Logits, n)
				err = errors.Join(in.Upload(rt.Flat[float32](x)), s.ForwardDevice(out, in), s.ForwardDevice(out, in), out.Download(rt.Flat[float32](got)))
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, want %v, %v", got, want, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestChain passes the result of one model to another, and an argument to two models at once.
func TestChain(t *testing.T) {
	m, s := load(t)
	w, err := head.Load()
	if err != nil {
		t.Fatal(err)
	}
	other, err := w.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	x := images(2, 3)
	want, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	last, err := w.Forward(want)
	if err != nil {
		t.Fatal(err)
	}
	in := tensorOf(t, m.Device(), rt.Flat[float32](x), shape(2)...)
	between := tensorOf(t, m.Device(), make([]float32, 2*len(want[0])), 2, len(want[0]))
	out := tensorOf(t, w.Device(), make([]float32, 2*len(last[0])), 2, len(last[0]))
	got := make([]head.Y, 2)
	err = errors.Join(s.ForwardDevice(between, in), other.ForwardDevice(out, between), out.Download(rt.Flat[float32](got)))
	if err != nil || !slices.Equal(got, last) {
		t.Errorf("%v, want %v, %v", got, last, err)
	}
}

// TestErrors refuses tensors that cannot take part in a call, and computes afterwards.
func TestErrors(t *testing.T) {
	m, s := load(t)
	x := tensorOf(t, m.Device(), rt.Flat[float32](images(2, 1)), shape(2)...)
	y := tensorOf(t, m.Device(), make([]float32, 2*len(device.Logits{})), logits(2)...)
	flat := tensorOf(t, m.Device(), make([]float32, 4), 4)
	short := tensorOf(t, m.Device(), make([]float32, len(device.Logits{})), logits(1)...)
	closed := tensorOf(t, m.Device(), make([]float32, 4), 4)
	closed.Close()
	for _, c := range []struct {
		dst, x *gpu.Tensor[float32]
		want   string
	}{
		{y, nil, "image: the tensor is nil"},
		{nil, x, "dst: the tensor is nil"},
		{y, flat, "image: the tensor has shape [4], want [N "},
		{flat, x, "dst: the tensor has shape [4], want [N "},
		{short, x, "dst has room for 1: batch of 2"},
		{y, closed, "image: the tensor is closed"},
		{x, x, "dst: the tensor has shape"},
	} {
		if err := s.ForwardDevice(c.dst, c.x); err == nil || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if err := (*device.Session)(nil).ForwardDevice(y, x); !errors.Is(err, rt.ErrNoSession) {
		t.Errorf("error %v", err)
	}
	if err := s.ForwardDevice(y, x); err != nil {
		t.Error(err)
	}
}

// TestStructs passes several arguments and results of any extents.
func TestStructs(t *testing.T) {
	m, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	ids, mask := []int64{1, 2, 3, 4, 5, 6}, []float32{1, 1, 0, 1, .5, 0}
	want, err := m.Forward(words.Inputs{Ids: rt.Tensor[int64]{Data: ids, Shape: []int{2, 3}}, Mask: rt.Tensor[float32]{Data: mask, Shape: []int{2, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	in := words.DeviceInputs{Ids: tensorOf(t, m.Device(), ids, 2, 3), Mask: tensorOf(t, m.Device(), mask, 2, 3)}
	out := words.DeviceOutputs{Words: tensorOf(t, m.Device(), make([]float32, 48), 2, 3, 8), Sentence: tensorOf(t, m.Device(), make([]float32, 16), 2, 8)}
	all, sentence := make([]float32, 48), make([]float32, 16)
	err = errors.Join(s.ForwardDevice(out, in), out.Words.Download(all), out.Sentence.Download(sentence))
	if err != nil || !slices.Equal(all, want.Words.Data) || !slices.Equal(sentence, want.Sentence.Data) {
		t.Errorf("%v", err)
	}
	for want, dst := range map[string]words.DeviceOutputs{
		"sentence: the tensor has shape [16], want [2 8]": {Words: out.Words, Sentence: tensorOf(t, m.Device(), sentence, 16)},
		"words: the tensor has shape [1], want [2 3 8]":   {Words: tensorOf(t, m.Device(), sentence[:1], 1), Sentence: out.Sentence},
		"words: the tensor is nil":                        {Sentence: out.Sentence},
	} {
		if err := s.ForwardDevice(dst, in); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	bad := words.DeviceInputs{Ids: in.Ids, Mask: tensorOf(t, m.Device(), mask, 3, 2)}
	if err := s.ForwardDevice(out, bad); err == nil || !strings.Contains(err.Error(), "mask") {
		t.Errorf("error %v", err)
	}
}
