package main

import (
	"github.com/burngen/burngen/examples/xor/xor"
	"github.com/burngen/burngen/runtime/rt"
)

// save writes the weights to a file, with floats of type dtype.
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

// load reads a model's weights from a file. The file may store floats of any type.
func load(path string) (*xor.Model, error) {
	w := rt.OpenWeightsFile(path)
	defer w.Close()
	return xor.LoadFrom(w)
}
