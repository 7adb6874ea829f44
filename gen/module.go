package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

// FromModule compiles a module that is not in a file. Its function "forward" is
// the model, called name, and its weights have data. The options that say how a
// file is read, Inputs, Dims and Outputs, mean nothing to it.
func FromModule(name string, m *ir.Module, o Options) (*Model, error) {
	f := m.Func("forward")
	if f == nil {
		return nil, fmt.Errorf("%s: the module has no function @forward", name)
	}
	for _, w := range m.Weights {
		if w.Data == nil {
			return nil, fmt.Errorf("%s: weight %q has no data", name, w.Name)
		}
	}
	sum := sha256.Sum256([]byte(m.String()))
	src := &onnx.Model{
		Name:      name,
		File:      name + ".ir",
		Sum:       hex.EncodeToString(sum[:]),
		Meta:      rt.Meta{Name: name, Source: name + ".ir"},
		Module:    m,
		Nodes:     len(f.Nodes),
		Operators: map[string]int{},
	}
	for _, n := range f.Nodes {
		src.Operators[ir.OpName(n.Op)]++
	}
	for _, p := range f.Params {
		src.Meta.Inputs = append(src.Meta.Inputs, port(p.Name, p.Type))
	}
	for i, r := range f.Results {
		src.Meta.Outputs = append(src.Meta.Outputs, port(f.ResultNames[i], r.Type))
	}
	return Compile(src, o)
}

// port describes an input or output.
func port(name string, t ir.Type) rt.Port {
	p := rt.Port{Name: name, DType: t.DType.String(), Shape: []string{}}
	for _, d := range t.Shape {
		p.Shape = append(p.Shape, d.String())
	}
	return p
}
