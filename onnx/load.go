package onnx

import "github.com/burngen/burngen/ir"

// Change changes a model while [Load] reads it.
type Change func(*Options)

// Outputs names the values to compute, any of the graph's.
func Outputs(names ...string) Change {
	return func(o *Options) { o.Outputs = append(o.Outputs, names...) }
}

// Input gives an input another shape, as in "1x3x224x224" or "Nx3xHxW".
func Input(name, shape string) Change {
	return func(o *Options) {
		if o.Inputs == nil {
			o.Inputs = map[string]string{}
		}
		o.Inputs[name] = shape
	}
}

// Load reads the network in a file for a description that builds on it:
// nn.FromIR(onnx.Load("resnet50.onnx", onnx.Outputs("features"))). Errors are those of
// [Open].
func Load(path string, changes ...Change) (*ir.Module, error) {
	var o Options
	for _, change := range changes {
		change(&o)
	}
	m, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	return m.Module, nil
}
