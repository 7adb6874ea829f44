package main

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/runtime/rt"

	described "program/describe/net"
	"program/net"
)

var points, targets = []net.X{{1, 2}, {-1, 0.5}, {0.25, -2}}, []net.Target{{1, 2, 3}, {0, -1, 1}, {2, 0, -2}}

// TestDescribed compares a generated package with the values of its description.
func TestDescribed(t *testing.T) {
	m := net.New(3)
	got, err := m.Forward(points)
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string][]float32{}
	p := trainerOf(t, m).Params()
	for i, item := range p.Items {
		weights[item.Name] = p.Value(i)
	}
	d := described.New()
	d.Linear.Weight = nn.ParamOf(nn.Of(weights["linear.weight"], 3, 2))
	d.Linear.Bias = nn.ParamOf(nn.Of(weights["linear.bias"]))
	for i, w := range d.Forward(nn.Of([][2]float32{points[0], points[1], points[2]})).Floats() {
		if g := float64(rt.Flat[float32](got)[i]); math.Abs(g-w) > 1e-5*(1+math.Abs(w)) {
			t.Errorf("element %d is %g, the description has %g", i, g, w)
		}
	}
}

// TestDescribedExtents runs an operator that decides the number of rows.
func TestDescribedExtents(t *testing.T) {
	kept, err := net.New(3).Kept(rt.Tensor[float32]{Shape: []int{3, 3}, Data: []float32{1, 2, 3, -1, 2, 3, 4, 5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(kept.At.Data, []int64{0, 2}) || !slices.Equal(kept.Sums.Data, []float32{6, 15}) || !slices.Equal(kept.Rows.Shape, []int{2, 3}) {
		t.Errorf("kept %v", kept)
	}
}

func trainerOf(t *testing.T, m *net.Model) *net.Trainer {
	t.Helper()
	trainer, err := m.NewTrainer(net.TrainerOptions{Batch: len(points)})
	if err != nil {
		t.Fatal(err)
	}
	return trainer
}

// TestDescribedGradients compares the gradients of both losses with differences.
func TestDescribedGradients(t *testing.T) {
	for name, step := range map[string]func(*net.Trainer) (float32, error){
		"a function": func(t *net.Trainer) (float32, error) { return t.Step(points, targets) },
		"operators":  func(t *net.Trainer) (float32, error) { return t.StepComposed(points, targets) },
	} {
		t.Run(name, func(t *testing.T) {
			trainer := trainerOf(t, net.New(3))
			p := trainer.Params()
			loss := func() float64 {
				value, err := step(trainer)
				if err != nil {
					t.Fatal(err)
				}
				p.UseUp()
				return float64(value)
			}
			loss()
			if len(p.Items) != 3 {
				t.Fatalf("the parameters are %v", p.Items)
			}
			for i, item := range p.Items {
				w, g := p.Value(i), slices.Clone(p.Gradient(i))
				for k, at := range w {
					const h = 1.0 / 256
					w[k] = at + h
					up := loss()
					w[k] = at - h
					slope := (up - loss()) / (2 * h)
					w[k] = at
					if math.Abs(slope-float64(g[k])) > 2e-3*(1+math.Abs(slope)) {
						t.Errorf("%s[%d]: the gradient is %g, the slope %g", item.Name, k, g[k], slope)
					}
				}
			}
		})
	}
}
