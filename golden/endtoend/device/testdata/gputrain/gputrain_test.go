// Package gputrain trains a described model on a GPU and on the CPU.
package gputrain

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/optim"
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

// pair is a trainer on the CPU and one on the GPU.
type pair struct {
	cpu *model.Trainer
	gpu *device.Trainer
	x   []model.Image
	z   []device.Image
	y   []int64
}

func newPair(t *testing.T, freeze ...string) *pair {
	t.Helper()
	cpu, err := model.New(7).NewTrainer(model.TrainerOptions{Batch: batch, Seed: 3, Freeze: freeze})
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := device.New(7).NewTrainer(device.TrainerOptions{Batch: batch, Seed: 3, Freeze: freeze})
	if err != nil {
		t.Fatal(err)
	}
	return &pair{cpu, gpu, make([]model.Image, batch), make([]device.Image, batch), make([]int64, batch)}
}

// step makes a step on both, with n examples.
func (p *pair) step(t *testing.T, k, n int) {
	t.Helper()
	x := p.x[:n]
	rt.Uniform(rt.Flat[float32](x), 0, 1, uint32(k))
	for i := range n {
		p.y[i] = int64((i + k) % 4)
		x[i][2*int(p.y[i])][1]++
	}
	copy(rt.Flat[float32](p.z[:n]), rt.Flat[float32](x))
	want, err := p.cpu.Step(x, p.y[:n])
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.gpu.Step(p.z[:n], p.y[:n])
	if err != nil {
		t.Fatal(err)
	}
	near(t, "loss", []float32{got.Loss}, []float32{want.Loss})
}

// same compares the parameters.
func (p *pair) same(t *testing.T) {
	t.Helper()
	a, b := p.cpu.Params(), p.gpu.Params()
	for i := range a.Items {
		near(t, a.Items[i].Name, b.Value(i), a.Value(i))
	}
}

// optimizers are some with a kernel, and one that steps on the host.
var optimizers = map[string]func(p *rt.Params) (optim.Optimizer, error){
	"momentum": func(p *rt.Params) (optim.Optimizer, error) {
		return optim.NewSGD(p, optim.SGDConfig{Momentum: 0.9, Nesterov: true, WeightDecay: 0.01})
	},
	"adamw": func(p *rt.Params) (optim.Optimizer, error) {
		return optim.NewAdamW(p, optim.AdamWConfig{Epsilon: 1e-3})
	},
	"adan": func(p *rt.Params) (optim.Optimizer, error) { return optim.NewAdan(p, optim.AdanConfig{Epsilon: 1e-3}) },
	"muon": func(p *rt.Params) (optim.Optimizer, error) {
		return optim.NewMuon(p.Match("**.weight").Except("norm"), optim.MuonConfig{})
	},
}

// TestOptimizers trains with optimizers on both, and goes on from the state of the GPU on a CPU.
func TestOptimizers(t *testing.T) {
	for name, open := range optimizers {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			a, err := open(p.cpu.Params())
			if err != nil {
				t.Fatal(err)
			}
			b, err := open(p.gpu.Params())
			if err != nil {
				t.Fatal(err)
			}
			const rate = 1e-3
			train := func(from, to int) {
				for k := from; k < to; k++ {
					n := batch - k%3
					p.step(t, k, n)
					if k%2 == 1 { // gradients of two batches, clipped
						p.step(t, k+100, n)
						p.cpu.Params().Scale(0.5)
						p.gpu.Params().Scale(0.5)
						want, got := p.cpu.Params().ClipNorm(0.5), p.gpu.Params().ClipNorm(0.5)
						near(t, "norm", []float32{float32(got)}, []float32{float32(want)})
						p.cpu.Params().ClipValue(0.05)
						p.gpu.Params().ClipValue(0.05)
						p.cpu.Params().ClipNorms(0.2)
						p.gpu.Params().ClipNorms(0.2)
					}
					for _, err := range []error{a.Step(rate), b.Step(rate)} {
						if err != nil {
							t.Fatal(err)
						}
					}
					p.cpu.Params().UseUp() // what Muon does not train, too
					p.gpu.Params().UseUp()
				}
			}
			train(0, 5)
			if q := p.gpu.Params(); name != "muon" && (q.Data != nil || q.Grad != nil) {
				t.Error("the fields show elements that are on the device")
			}
			p.same(t)
			if q := p.gpu.Params(); q.Data == nil || q.Grad == nil {
				t.Error("the fields do not show fetched elements")
			}
			train(5, 8)
			p.same(t)

			// The state goes on elsewhere.
			state, err := rt.CollectState(map[string]rt.Stater{"trainer": p.gpu, "optimizer": b})
			if err != nil {
				t.Fatal(err)
			}
			other := newPair(t)
			c, err := open(other.cpu.Params())
			if err != nil {
				t.Fatal(err)
			}
			if err := rt.RestoreState(state, map[string]rt.Stater{"trainer": other.cpu, "optimizer": c}); err != nil {
				t.Fatal(err)
			}
			p.cpu, a = other.cpu, c
			train(8, 11)
			p.same(t)
			// And back.
			if state, err = rt.CollectState(map[string]rt.Stater{"trainer": p.cpu, "optimizer": a}); err != nil {
				t.Fatal(err)
			}
			train(11, 12)
			if err := rt.RestoreState(state, map[string]rt.Stater{"trainer": p.gpu, "optimizer": b}); err != nil {
				t.Fatal(err)
			}
			if err := rt.RestoreState(state, map[string]rt.Stater{"trainer": p.cpu, "optimizer": a}); err != nil {
				t.Fatal(err)
			}
			train(12, 14)
			p.same(t)
			b.Release()
			if _, err := open(p.gpu.Params()); err != nil {
				t.Errorf("after Release: %v", err)
			}
		})
	}
}

// TestFieldsWithoutOptimizer changes Data and reads Grad, as a program of its own rule does.
func TestFieldsWithoutOptimizer(t *testing.T) {
	p := newPair(t)
	for k := range 4 {
		p.step(t, k, batch)
		for _, q := range []*rt.Params{p.cpu.Params(), p.gpu.Params()} {
			for i, g := range q.Grad {
				q.Data[i] -= float32(0.1 * g)
			}
			q.UseUp()
		}
		p.same(t)
	}
}

// TestFrozen trains a part of the parameters, with two optimizers.
func TestFrozen(t *testing.T) {
	p := newPair(t, "fc2")
	var list []optim.Optimizer
	for _, q := range []*rt.Params{p.cpu.Params(), p.gpu.Params()} {
		first, err := optim.NewAdam(q.Match(q.Items[0].Name), optim.AdamConfig{Epsilon: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		rest, err := optim.NewSGD(q.Except(q.Items[0].Name), optim.SGDConfig{Momentum: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, first, rest)
	}
	for k := range 5 {
		p.step(t, k, batch)
		for _, o := range list {
			if err := o.Step(0.01); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.same(t)
	want, err := p.cpu.Model().Forward(p.x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.gpu.Model().Forward(p.z)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "evaluation", rt.Flat[float32](got), rt.Flat[float32](want))
}
