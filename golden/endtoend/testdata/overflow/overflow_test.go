package program

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"

	"program/joined"
	"program/looped"
	"program/tiled"
)

// vector returns a tensor of rank 1.
func vector[T any](v ...T) rt.Tensor[T] { return rt.Tensor[T]{Data: v, Shape: []int{len(v)}} }

// refuses fails the test unless err says that a size does not fit.
func refuses(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "does not fit 64 bits") {
		t.Errorf("%v", err)
	}
}

// TestTiled repeats four elements 2^62 times: the product is 0 modulo 2^64.
func TestTiled(t *testing.T) {
	m, err := tiled.Load()
	if err != nil {
		t.Fatal(err)
	}
	call := func(n int64) (rt.Tensor[float32], error) {
		return m.Forward(tiled.Inputs{X: vector[float32](1, 2, 3, 4), N: vector(n)})
	}
	got, err := call(1 << 62)
	refuses(t, err)
	if got, err = call(2); err != nil || len(got.Data) != 8 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestJoined joins four empty tensors of 2^62 columns each.
func TestJoined(t *testing.T) {
	m, err := joined.Load()
	if err != nil {
		t.Fatal(err)
	}
	call := func(rows, columns int) (rt.Tensor[float32], error) {
		return m.Forward(rt.Tensor[float32]{Data: make([]float32, rows*columns), Shape: []int{rows, columns}})
	}
	_, err = call(0, 1<<62)
	refuses(t, err)
	if got, err := call(2, 3); err != nil || got.Shape[1] != 12 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestLooped makes an extent four times as large in each trip: 0 modulo 2^64 after 32.
func TestLooped(t *testing.T) {
	m, err := looped.Load()
	if err != nil {
		t.Fatal(err)
	}
	call := func(trips int64) (rt.Tensor[float32], error) {
		return m.Forward(looped.Inputs{X: rt.Tensor[float32]{Shape: []int{0, 1}}, N: rt.Tensor[int64]{Data: []int64{trips}}})
	}
	_, err = call(100)
	refuses(t, err)
	if got, err := call(3); err != nil || got.Shape[1] != 64 {
		t.Errorf("%v, %v", got, err)
	}
}
