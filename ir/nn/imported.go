package nn

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// imported applies an ONNX operator at its newest opset by the import function in package op, which
// may build it from several operators.
func imported(name string, attrs map[string]any, args ...Value) []Value {
	i := slices.IndexFunc(op.ONNX, func(r op.Rule) bool { return r.Name == name })
	rule := op.ONNX[i]
	return build(func(b *ir.Builder, in []*ir.Value) []*ir.Value {
		out, err := rule.Import(&foreign{b: b, name: name, opset: rule.Since[len(rule.Since)-1], attrs: attrs, args: in})
		if err != nil {
			ir.FailWith(err)
		}
		return out
	}, args...)
}

// foreign is an [ir.Importer] for an ONNX node that is not in a file.
type foreign struct {
	b     *ir.Builder
	name  string
	opset int
	attrs map[string]any
	args  []*ir.Value
}

func attr[T any](f *foreign, name string, def T) T {
	v, ok := f.attrs[name]
	if !ok {
		return def
	}
	return v.(T)
}

// Builder returns the builder of the function under construction.
func (f *foreign) Builder() *ir.Builder { return f.b }

// Op returns the name of the operator.
func (f *foreign) Op() string { return f.name }

// Opset returns the newest opset that changed the operator.
func (f *foreign) Opset() int { return f.opset }

// Producer returns "".
func (f *foreign) Producer() string { return "" }

// NumArgs returns the number of operands.
func (f *foreign) NumArgs() int { return len(f.args) }

// Arg returns operand i, or nil if it is absent.
func (f *foreign) Arg(i int) *ir.Value {
	if i < len(f.args) {
		return f.args[i]
	}
	return nil
}

// Constant returns nil, because all operands are parameters of the function.
func (f *foreign) Constant(int) *ir.Tensor { return nil }

// NumResults returns 1.
func (f *foreign) NumResults() int { return 1 }

// Warn does nothing: warnings about a file do not apply to a description.
func (f *foreign) Warn(string) {}

// Wants reports whether i is the first result.
func (f *foreign) Wants(i int) bool { return i == 0 }

// ResultType returns false: no result type is declared.
func (f *foreign) ResultType(int) (ir.Type, bool) { return ir.Type{}, false }

// Has reports whether an attribute of this name is given.
func (f *foreign) Has(name string) bool { _, ok := f.attrs[name]; return ok }

// Int returns an integer attribute, or def.
func (f *foreign) Int(name string, def int) int { return attr(f, name, def) }

// Ints returns an attribute that is a list of integers, or def.
func (f *foreign) Ints(name string, def []int) []int { return attr(f, name, def) }

// Float returns a float attribute, or def.
func (f *foreign) Float(name string, def float64) float64 { return attr(f, name, def) }

// Floats returns an attribute that is a list of floats, or def.
func (f *foreign) Floats(name string, def []float64) []float64 { return attr(f, name, def) }

// Text returns a string attribute, or def.
func (f *foreign) Text(name string, def string) string { return attr(f, name, def) }

// Texts returns an attribute that is a list of strings, or def.
func (f *foreign) Texts(name string, def []string) []string { return attr(f, name, def) }

// DType returns an attribute that is an element type, or def.
func (f *foreign) DType(name string, def ir.DType) ir.DType { return attr(f, name, def) }

// Type returns the zero Type: no attribute is a type.
func (f *foreign) Type(string) ir.Type { return ir.Type{} }

// Tensor returns nil: no attribute is a tensor.
func (f *foreign) Tensor(string) *ir.Tensor { return nil }

// Attributes returns nil.
func (f *foreign) Attributes() []ir.Attribute { return nil }

// GraphRank returns 0, because no attribute is a graph.
func (f *foreign) GraphRank(string, int) int { return 0 }

// Graph panics with an [*Error]: operators with blocks are not applied this way.
func (f *foreign) Graph(name string, _ []ir.Type) *ir.Block {
	ir.FailWith(fmt.Errorf("%s has no %s", f.name, name))
	return nil
}
