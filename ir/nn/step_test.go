package nn_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/nn"
)

// TestTrainingSteps records the objective of each reference as a loss, with a symbol for the batch
// where there is one. It compares the gradients and the running statistics of the training step
// with PyTorch's, both evaluated and compiled.
func TestTrainingSteps(t *testing.T) {
	table := trials()
	for _, c := range references(t) {
		trial := table[c.Name]
		if trial.module == nil || len(c.Grads) == 0 || len(nn.Params(trial.module)) == 0 || strings.HasPrefix(c.Name, "BatchNorm") && c.After == nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			assign(c, trial)
			inputs, types := make([]nn.Value, len(c.Inputs)), make([]ir.Type, len(c.Inputs))
			for i, e := range c.Inputs {
				inputs[i] = e.value()
				types[i] = ir.StaticTensor(inputs[i].DType(), e.Shape...)
				if e.Shape[0] == c.Inputs[0].Shape[0] {
					types[i].Shape[0] = dim.Sym("N")
				}
			}
			m, err := recorded(trial.module, types, func(in []nn.Value) []nn.Value { return []nn.Value{objective(trial.f(in))} }, 1)
			if err != nil {
				t.Fatal(err)
			}
			var params []string
			for _, p := range nn.Params(trial.module) {
				params = append(params, p.Name())
			}
			step, err := grad.Step(m.Module, m.Module.Func("forward"), "forward", params)
			if err != nil {
				t.Fatal(err)
			}
			m.Module.Funcs = []*ir.Func{step}
			out := evaluated(t, m, trial.module, inputs)
			want := make([]nn.Value, len(out))
			for i, name := range step.ResultNames {
				want[i] = valueOf(out[i])
				e, ok := c.Grads[strings.TrimPrefix(name, grad.GradPrefix)]
				if state, isState := strings.CutPrefix(name, grad.StatePrefix); isState {
					e, ok = c.After[state]
				}
				if !ok {
					continue
				}
				if err := near(want[i].Floats(), e, 2e-4); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if len(step.ResultNames) != 1+len(params)+len(c.After) {
				t.Errorf("results %v", step.ResultNames)
			}
			runs(t, m.Module, inputs, want)
		})
	}
}

// TestTrainingStepsDraw asserts that the random numbers of a description differ in each step, and
// are the same when a step is repeated.
func TestTrainingStepsDraw(t *testing.T) {
	lin := nn.NewLinear(2, 1, nn.NoBias)
	model := &struct{ Lin nn.Linear }{lin}
	m, err := recorded(model, []ir.Type{ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(2))}, func(in []nn.Value) []nn.Value {
		x := nn.NewDropout(0.5).Forward(in[0].Add(nn.Normal(0, 1, in[0].Dim(0), 2)))
		x = nn.GaussianNoise{Deviation: 0.1}.Forward(x)
		return []nn.Value{lin.Forward(x).Sum().Add(nn.Uniform(0, 1).Sum())}
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	step, err := grad.Step(m.Module, m.Module.Func("forward"), "forward", []string{"lin.weight"})
	if err != nil {
		t.Fatal(err)
	}
	m.Module.Funcs = []*ir.Func{step}
	results := map[int][]*ir.Tensor{}
	for i, number := range []int{0, 1, 0} {
		results[i] = evaluated(t, m, model, []nn.Value{nn.Ones(3, 2), nn.Of([]int{7, number})})
	}
	if !results[0][0].Equal(results[2][0]) || !results[0][1].Equal(results[2][1]) {
		t.Error("the same step gives others")
	}
	if results[0][0].Equal(results[1][0]) || results[0][1].Equal(results[1][1]) {
		t.Error("another step gives the same")
	}
}

// Layers that draw do nothing where nothing is trained.
func TestNoiseIsOfTraining(t *testing.T) {
	x := nn.Normal(0, 1, 3)
	for _, l := range []nn.Layer{nn.NewDropout(0.5), nn.GaussianNoise{Deviation: 2}} {
		if !l.Forward(x).Equal(x).All().Bools()[0] {
			t.Errorf("%T changes values", l)
		}
	}
	if err := nn.Try(func() { nn.GaussianNoise{Deviation: -1}.Forward(x) }); err == nil || !strings.Contains(err.Error(), "GaussianNoise: the deviation -1 is negative") {
		t.Error(err)
	}
}

// TestTrainingStepsThroughWhile compares a training step through a loop whose number of turns depends on its operand
// with one that repeats the body so often, both evaluated and compiled.
func TestTrainingStepsThroughWhile(t *testing.T) {
	lin := nn.NewLinear(2, 2)
	model := &struct{ Lin nn.Linear }{lin}
	nn.Assign(model, map[string]nn.Value{
		"lin.weight": nn.Of([][]float64{{1.1, 0.2}, {-0.1, 1.3}}).Float(), "lin.bias": nn.Of([]float64{0.3, 0.1}).Float(),
	})
	turn := func(h nn.Value) nn.Value { return h.Add(nn.Tanh(lin.Forward(h))) }
	// step returns the results of a training step of the loss.
	step := func(x nn.Value, loss func(x nn.Value) nn.Value) []nn.Value {
		m, err := recorded(model, []ir.Type{ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(2))}, func(in []nn.Value) []nn.Value {
			return []nn.Value{loss(in[0]).Square().Mean()}
		}, 1)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grad.Step(m.Module, m.Module.Func("forward"), "forward", []string{"lin.weight", "lin.bias"})
		if err != nil {
			t.Fatal(err)
		}
		m.Module.Funcs = []*ir.Func{f}
		var out []nn.Value
		for _, v := range evaluated(t, m, model, []nn.Value{x}) {
			out = append(out, valueOf(v))
		}
		runs(t, m.Module, []nn.Value{x}, out)
		return out
	}
	for turns, x := range map[int]nn.Value{0: nn.Of([][]float64{{4, 5}}), 1: nn.Of([][]float64{{3, 2}, {3.5, 2.5}}), 3: nn.Of([][]float64{{1, 1}, {1.2, 0.9}, {1, 1.1}})} {
		x = x.Float()
		did := 0
		enough := func(h nn.Value) nn.Value { return h.Mean().Less(3.4) }
		for h := x; enough(h).Item() != 0; h = turn(h) {
			did++
		}
		if did != turns {
			t.Fatalf("%v needs %d turns, not %d", x, did, turns)
		}
		got := step(x, func(x nn.Value) nn.Value { return nn.While(x, enough, turn) })
		want := step(x, func(x nn.Value) nn.Value {
			for range turns {
				x = turn(x)
			}
			return x.Add(lin.Forward(x).Mul(0))
		})
		for i := range want {
			if !got[i].AllClose(want[i], 1e-5, 1e-6).Bools()[0] {
				t.Errorf("%d turns, result %d: %v, want %v", turns, i, got[i], want[i])
			}
		}
	}
}
