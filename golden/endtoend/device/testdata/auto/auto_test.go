// Package auto tests a package that chooses its target when the program runs. The environment variable
// WANT has the target that must be chosen, or the beginning of the error.
package auto

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"

	"program/model"
	"program/model/auto"
)

// load returns the model, or nil if there is the error that is wanted.
func load(t *testing.T, load func() (auto.Model, error)) auto.Model {
	t.Helper()
	want := os.Getenv("WANT")
	m, err := load()
	if err != nil {
		if m != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v beside the error %q, want %q", m, err, want)
		}
		return nil
	}
	if m.Target() != want {
		t.Errorf("computes on %s, want %s", m.Target(), want)
	}
	return m
}

// check compares what a model computes with what the CPU computes. The slices are those of its package.
func check(t *testing.T, m auto.Model) {
	t.Helper()
	cpu, err := model.Load()
	if err != nil {
		t.Fatal(err)
	}
	x := make([]model.Image, 3)
	rt.Uniform(rt.Flat[float32](x), 0, 1, 5)
	want, err := cpu.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	again := make([]auto.Logits, len(x))
	if err := s.Forward(again, x); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		for k, w := range want[i] {
			if d := math.Abs(float64(got[i][k] - w)); !(d <= 1e-4*(1+math.Abs(float64(w)))) || again[i][k] != got[i][k] {
				t.Fatalf("image %d: %v and %v, want %v", i, got[i], again[i], want[i])
			}
		}
	}
}

func TestLoad(t *testing.T) {
	if m := load(t, func() (auto.Model, error) { return auto.Load(gpu.Memory(64 << 20)) }); m != nil {
		check(t, m)
	}
}

func TestLoadFrom(t *testing.T) {
	w := rt.NewWeights()
	for _, want := range auto.Wanted() {
		n := 1
		for _, d := range want.Shape {
			n *= d
		}
		rt.Add(w, want.Name, make([]float32, n), want.Shape...)
	}
	m := load(t, func() (auto.Model, error) { return auto.LoadFrom(w) })
	if m == nil {
		return
	}
	if _, err := m.Forward(make([]auto.Image, 1)); err != nil {
		t.Error(err)
	}
}
