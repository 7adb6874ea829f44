package gen

import (
	"fmt"

	"github.com/burngen/burngen/ir/nn/record"
	"github.com/burngen/burngen/runtime/rt"
)

// FromRecord returns a described model as a source. name is what the model is called,
// file what its description stands in, sum a digest of that, and docs the
// documentation of its methods, by their names.
func FromRecord(name, file, sum string, docs map[string]string, r *record.Model) (*Source, error) {
	src := &Source{
		Name: name, File: file, Sum: sum, Format: "Go",
		Meta:      rt.Meta{Name: name, Source: file},
		Module:    r.Module,
		Params:    []string{},
		Initial:   []rt.Initial{},
		Operators: map[string]int{},
	}
	if len(r.States) > 0 {
		return nil, fmt.Errorf("%s: state %q: no state is kept from call to call yet", file, r.States[0].Name)
	}
	for _, m := range r.Methods {
		src.Functions = append(src.Functions, Function{
			Name: m.Func, Method: m.Name, Doc: docs[m.Name], Outputs: m.Name + "Result", Direct: true, Loss: m.Loss,
		})
	}
	for i, w := range r.Weights {
		typ := r.Module.Weights[i].Type
		shape, _ := typ.Static()
		src.Initial = append(src.Initial, rt.Initial{Name: w.Name, DType: typ.DType.String(), Shape: shape, Init: w.Init})
		if !w.Buffer && !w.Frozen {
			src.Params = append(src.Params, w.Name)
		}
	}
	src.describe()
	return src, nil
}
