package onnx

import "github.com/burngen/burngen/ir"

// Change modifies the model that [Load] reads.
type Change func(*Options)

// Outputs selects the values that the module computes, by their names in the file. They may be any
// values of the graph.
func Outputs(names ...string) Change {
	return func(o *Options) { o.Outputs = append(o.Outputs, names...) }
}

// Input gives an input another shape, such as "1x3x224x224" or "Nx3xHxW".
func Input(name, shape string) Change {
	return func(o *Options) {
		if o.Inputs == nil {
			o.Inputs = map[string]string{}
		}
		o.Inputs[name] = shape
	}
}

// Load reads an ONNX file for use in a description of a network, for example
// nn.FromIR(onnx.Load("resnet50.onnx", onnx.Outputs("features"))). It returns the errors of [Open].
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
