package nn_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/nn"
)

func TestLoRA(t *testing.T) {
	x := nn.Of([][]float64{{1, 2, 3}, {-1, 0, 2}})
	l := nn.NewLoRA(nn.NewLinear(3, 2), 1, 4)
	if y := l.Forward(x); !y.Equal(l.Base.Forward(x)).All().Bools()[0] {
		t.Errorf("the update is not 0 at first: %v", y)
	}
	nn.Assign(&l, map[string]nn.Value{
		"base_layer.weight": nn.Of([][]float64{{1, 0, 0}, {0, 1, 0}}).Float(), "base_layer.bias": nn.Of([]float64{10, 20}).Float(),
		"lora_A.weight": nn.Of([][]float64{{1, 1, 1}}).Float(), "lora_B.weight": nn.Of([][]float64{{1}, {-1}}).Float(),
	})
	// The sum of a row times 4 is added to the first result, and subtracted from the second.
	want := nn.Of([][]float64{{1 + 10 + 24, 2 + 20 - 24}, {-1 + 10 + 4, 0 + 20 - 4}}).Float()
	for name, y := range map[string]nn.Value{"Forward": l.Forward(x.Float()), "Merged": l.Merged(x.Float())} {
		if !y.AllClose(want, 1e-6, 1e-6).Bools()[0] {
			t.Errorf("%s: got %v, want %v", name, y, want)
		}
	}
	var trained []string
	for _, p := range nn.Params(&l) {
		if !p.IsFrozen() {
			trained = append(trained, p.Name())
		}
	}
	if got := strings.Join(trained, " "); got != "lora_A.weight lora_B.weight" {
		t.Errorf("trained are %s", got)
	}
	for _, rank := range []int{0, 3} {
		func() {
			defer func() {
				if e, ok := recover().(*nn.Error); !ok {
					t.Errorf("rank %d: %v", rank, e)
				}
			}()
			nn.NewLoRA(nn.NewLinear(3, 2), rank, 1)
		}()
	}
}

func TestGateController(t *testing.T) {
	g := nn.NewGateController(2, 1)
	nn.Assign(&g, map[string]nn.Value{
		"input_transform.weight": nn.Of([][]float64{{1, 10}}).Float(), "input_transform.bias": nn.Of([]float64{100}).Float(),
		"hidden_transform.weight": nn.Of([][]float64{{1000}}).Float(), "hidden_transform.bias": nn.Of([]float64{10000}).Float(),
	})
	wants(t, g.Forward(nn.Of([][]float64{{1, 2}}).Float(), nn.Of([][]float64{{3}}).Float()), 13121)
}
