package main

import (
	"github.com/burngen/burngen/examples/xor/xor"
	"github.com/burngen/burngen/runtime/rt"
)

// save saves the weights in a file, as floats of a type.
func save(m *xor.Model, path, dtype string) error {
	if err := m.Save(path); err != nil || dtype == "f32" {
		return err
	}
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	if err := w.ConvertFloats(dtype); err != nil {
		return err
	}
	return w.Save(path)
}

// load returns the model with the weights in a file, whatever floats they are.
func load(path string) (*xor.Model, error) {
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	return xor.LoadFrom(w)
}
