package nn

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// imported applies an ONNX operator at its newest opset. It calls the operator's import function in package op,
// which may use several operators of the IR.
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

// foreign is an ONNX node that is not in a file, as an [ir.Importer].
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

func (f *foreign) Builder() *ir.Builder { return f.b }

func (f *foreign) Op() string { return f.name }

// Opset returns the newest opset that changed the operator.
func (f *foreign) Opset() int { return f.opset }

func (f *foreign) Producer() string { return "" }

func (f *foreign) NumArgs() int { return len(f.args) }

func (f *foreign) Arg(i int) *ir.Value {
	if i < len(f.args) {
		return f.args[i]
	}
	return nil
}

// Constant returns nil, because all operands are parameters of the function.
func (f *foreign) Constant(int) *ir.Tensor { return nil }

func (f *foreign) NumResults() int { return 1 }

func (f *foreign) Warn(string) {}

func (f *foreign) Wants(i int) bool { return i == 0 }

func (f *foreign) ResultType(int) (ir.Type, bool) { return ir.Type{}, false }

func (f *foreign) Has(name string) bool { _, ok := f.attrs[name]; return ok }

func (f *foreign) Int(name string, def int) int { return attr(f, name, def) }

func (f *foreign) Ints(name string, def []int) []int { return attr(f, name, def) }

func (f *foreign) Float(name string, def float64) float64 { return attr(f, name, def) }

func (f *foreign) Floats(name string, def []float64) []float64 { return attr(f, name, def) }

func (f *foreign) Text(name string, def string) string { return attr(f, name, def) }

func (f *foreign) Texts(name string, def []string) []string { return attr(f, name, def) }

func (f *foreign) DType(name string, def ir.DType) ir.DType { return attr(f, name, def) }

func (f *foreign) Type(string) ir.Type { return ir.Type{} }

func (f *foreign) Tensor(string) *ir.Tensor { return nil }

func (f *foreign) Attributes() []ir.Attribute { return nil }

func (f *foreign) GraphRank(string, int) int { return 0 }

// Graph panics with an [*Error], because operators with blocks are not applied as a [foreign] node.
func (f *foreign) Graph(name string, _ []ir.Type) *ir.Block {
	ir.FailWith(fmt.Errorf("%s has no %s", f.name, name))
	return nil
}
