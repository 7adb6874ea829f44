package main

import (
	"github.com/burngen/burngen/examples/xor/xor"
	"github.com/burngen/burngen/runtime/rt"
)

// save saves the weights in a file, with floats of the given type.
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

// load returns a model with the weights in a file. The floats may have any type.
func load(path string) (*xor.Model, error) {
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	return xor.LoadFrom(w)
}
