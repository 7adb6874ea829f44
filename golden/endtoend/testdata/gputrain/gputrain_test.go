// Package gputrain trains a described model on a GPU and on the CPU.
package gputrain

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"

	"program/model"
	device "program/model/vulkan"
)

const batch = 16

// near compares numbers.
func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-4*(1+math.Abs(float64(want[i])))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// descend is a step of gradient descent.
func descend(p *rt.Params) {
	for i := range p.Items {
		w, g := p.Value(i), p.Gradient(i)
		for k := range w {
			w[k] -= float32(0.1 * g[k])
		}
	}
	p.UseUp()
}

// TestSteps makes the same steps on both.
func TestSteps(t *testing.T) {
	cpu, err := model.New(7).NewTrainer(model.TrainerOptions{Batch: batch, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	m, err := device.New(7).On(gpu.Device(0), gpu.Memory(256<<20))
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := m.NewTrainer(device.TrainerOptions{Batch: batch, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	x, z, y := make([]model.Image, batch), make([]device.Image, batch), make([]int64, batch)
	var first, last float32
	for k := range 8 {
		rt.Uniform(rt.Flat[float32](x), 0, 1, uint32(k))
		for i := range y {
			y[i] = int64(i % 4)
			for l := range 4 {
				x[i][2*int(y[i])][l]++
			}
		}
		copy(rt.Flat[float32](z), rt.Flat[float32](x))
		want, err := cpu.Step(x, y)
		if err != nil {
			t.Fatal(err)
		}
		got, err := trainer.Step(z, y)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "loss", []float32{got.Loss}, []float32{want.Loss})
		near(t, "logits", rt.Flat[float32](got.Logits), rt.Flat[float32](want.Logits))
		if k == 0 {
			first = got.Loss
		}
		last = got.Loss
		p, q := cpu.Params(), trainer.Params()
		for i := range p.Items {
			near(t, "gradient of "+p.Items[i].Name, q.Gradient(i), p.Gradient(i))
		}
		descend(p)
		descend(q)
		for i := range p.Items {
			near(t, p.Items[i].Name, q.Value(i), p.Value(i))
		}
	}
	if !(last < first) {
		t.Errorf("the loss went from %v to %v", first, last)
	}
	// The running statistics of the normalisation are part of what is saved and evaluated.
	want, err := cpu.Model().Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := trainer.Model().Forward(z)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "evaluation", rt.Flat[float32](got), rt.Flat[float32](want))
}
