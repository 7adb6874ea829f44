// Package weights loads weights that PyTorch saved into packages that were generated without them.
package weights

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"

	"program/filled"
	"program/sequence"
)

// checkpoint opens the file that PyTorch saved.
func checkpoint(t *testing.T, options ...pytorch.Option) *rt.Weights {
	t.Helper()
	w, err := pytorch.Open("checkpoint.pt", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// want computes the network: a linear layer, a normalisation, and a linear layer.
func want(w *rt.Weights, x []float32) (out [2]float64) {
	get := func(name string, shape ...int) []float32 { return rt.WeightsOf[float32](w, name, shape...) }
	w0, b0, w2, b2 := get("0.weight", 4, 3), get("0.bias", 4), get("2.weight", 2, 4), get("2.bias", 2)
	scale, shift, mean, variance := get("1.weight", 4), get("1.bias", 4), get("1.running_mean", 4), get("1.running_var", 4)
	copy(out[:], []float64{float64(b2[0]), float64(b2[1])})
	for i := range 4 {
		h := float64(b0[i])
		for k := range 3 {
			h += float64(w0[3*i+k]) * float64(x[k])
		}
		h = (h-float64(mean[i]))/math.Sqrt(float64(variance[i])+1e-5)*float64(scale[i]) + float64(shift[i])
		for o := range 2 {
			out[o] += h * float64(w2[4*o+i])
		}
	}
	return out
}

func TestCheckpointIntoSequence(t *testing.T) {
	raw := checkpoint(t, pytorch.TopKey("model"))
	x := [3]float32{0.5, -1, 2}
	w := want(raw, x[:])
	if err := raw.Err(); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got [2]float32) {
		t.Helper()
		for i := range got {
			if math.Abs(float64(got[i])-w[i]) > 1e-5 {
				t.Errorf("%s: %v, want %v", what, got, w)
			}
		}
	}
	// The file holds the matrices transposed.
	loaded, err := sequence.LoadFrom(raw, keys.Remap(`^(\d)=>net.$1`))
	if err != nil {
		t.Fatal(err)
	}
	y, err := loaded.Forward([]sequence.X{x})
	if err != nil {
		t.Fatal(err)
	}
	near("loaded", y[0])
	swapped, err := sequence.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := swapped.Swap(checkpoint(t), keys.TopKey("model"), keys.Remap(`^=>net.`)); err != nil {
		t.Fatal(err)
	}
	if y, err = swapped.Forward([]sequence.X{x}); err != nil {
		t.Fatal(err)
	}
	near("swapped", y[0])
	embedded, err := filled.Load()
	if err != nil {
		t.Fatal(err)
	}
	z, err := embedded.Forward([]filled.X{x})
	if err != nil {
		t.Fatal(err)
	}
	near("embedded", z[0])
}

func TestWhatDoesNotFitIsSaidAtOnce(t *testing.T) {
	_, err := sequence.LoadFrom(checkpoint(t, pytorch.TopKey("model")), keys.Remap("^0=>net.2"), keys.Remap("^1=>net.1"), keys.Remap("^2=>net.3"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, line := range []string{
		`"net.0.weight": f32[3,4] expected, file has no such tensor; nearest: "net.`,
		`"net.2.weight": f32[4,2] expected, file has f32[4,3]`,
		`2 not used: "net.3.bias", "net.3.weight"`,
	} {
		if !strings.Contains(err.Error(), line) {
			t.Errorf("%v\ndoes not say %s", err, line)
		}
	}
	if _, err := sequence.LoadFrom(checkpoint(t, pytorch.TopKey("model")), keys.Remap("^=>net."), keys.AllowMissing(), keys.Remap("net.1.bias=>other")); err == nil || !strings.Contains(err.Error(), "the model does not have them either") {
		t.Error(err)
	}
	if len(sequence.Wanted()) != 8 {
		t.Error(sequence.Wanted())
	}
	if at, err := keys.Variant(checkpoint(t, pytorch.TopKey("model"), pytorch.Remap("^=>net.")), []keys.Want{{Name: "net.9", DType: "f32"}}, sequence.Wanted()); at != 1 || err != nil {
		t.Error(at, err)
	}
}
