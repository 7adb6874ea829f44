package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/examples/images/cnn"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

// TestNetwork asserts that the ONNX file computes what the package of examples/images does.
func TestNetwork(t *testing.T) {
	m := cnn.New(1)
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	file, err := network(w)
	if err != nil {
		t.Fatal(err)
	}
	read, err := onnx.Read("shapes.onnx", file, nil, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 0))
	photo, x := make([]cnn.Photo, 1), ir.NewTensor(ir.F32, 1, 3, 32, 32)
	for i := range x.Len() {
		rt.Flat[float32](photo)[i] = float32(r.NormFloat64())
		x.SetFloat(i, float64(rt.Flat[float32](photo)[i]))
	}
	got, err := (&ir.Evaluator{Module: read.Module}).Run(read.Module.Func("forward"), []*ir.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Forward(photo)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want[0] {
		if math.Abs(got[0].Float(i)-float64(v)) > 1e-4 {
			t.Errorf("logit %d is %g, want %g", i, got[0].Float(i), v)
		}
	}
}
