package weights

import (
	"testing"

	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"

	"program/mnist"
	"program/trained"
)

func TestCheckpointIntoMNIST(t *testing.T) {
	own, err := mnist.Load()
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := trained.Load()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := pytorch.Open("mnist.pt", pytorch.Remap("^=>module.net."))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := mnist.LoadFrom(raw, keys.TopKey("module"), keys.Remap(`^net\.=>`))
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	for seed := range uint32(5) {
		x := new(mnist.Input1)
		rt.Uniform(rt.FlatOf[float32](x), 0, 1, seed)
		before, err := own.Forward(x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := loaded.Forward(x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := embedded.Forward(x)
		if err != nil {
			t.Fatal(err)
		}
		if *got != *want || *got == *before {
			t.Errorf("seed %d: %v, %v where the weights were put in before, %v with others", seed, *got, *want, *before)
		}
	}
}
