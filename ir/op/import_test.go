package op

import (
	"errors"
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
)

// testNode is the ir.Importer of a node written in a test.
type testNode struct {
	b       *ir.Builder
	op      string
	opset   int
	args    []*ir.Value
	results int
	attrs   map[string]any
	asked   map[string]bool
}

// attrs are the attributes of a node in a test. A value is an int, []int, float64, []float64,
// string, []string, ir.DType or *ir.Tensor.
type attrs map[string]any

// importNode applies the import function that the table has for an operator.
func importNode(b *ir.Builder, op string, opset, results int, a attrs, args ...*ir.Value) (out []*ir.Value, err error) {
	for _, rule := range ONNX {
		if rule.Name != op {
			continue
		}
		n := &testNode{b, op, opset, args, results, a, map[string]bool{}}
		var failed error
		if err := ir.Try(func() { out, failed = rule.Import(n) }); err != nil {
			return nil, err
		}
		for name := range a {
			if failed == nil && !n.asked[name] {
				failed = fmt.Errorf("unknown attribute %s", name)
			}
		}
		return out, failed
	}
	return nil, errors.New("no operator " + op)
}

// mustImport is importNode for a node of one result that can be imported.
func mustImport(b *ir.Builder, op string, opset int, a attrs, args ...*ir.Value) *ir.Value {
	out, err := importNode(b, op, opset, 1, a, args...)
	if err != nil {
		ir.Fail("%s: %w", op, err)
	}
	return out[0]
}

// importFunc returns a function of one node. Its operands are parameters of the given types,
// followed by constants.
func importFunc(op string, opset, results int, a attrs, types []ir.Type, constants ...*ir.Tensor) (*ir.Func, error) {
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		var args []*ir.Value
		for _, typ := range types {
			args = append(args, b.Param("x", typ))
		}
		for _, t := range constants {
			if t == nil {
				args = append(args, nil)
				continue
			}
			args = append(args, b.Const(t))
		}
		out, err := importNode(b, op, opset, results, a, args...)
		if err != nil {
			ir.FailWith(err)
		}
		b.Return(out...)
	})
	for _, r := range f.Results {
		f.ResultNames = append(f.ResultNames, r.Name)
	}
	return f, err
}

func (n *testNode) Builder() *ir.Builder { return n.b }
func (n *testNode) Op() string           { return n.op }
func (n *testNode) Opset() int           { return n.opset }
func (n *testNode) Producer() string     { return "" }
func (n *testNode) Constant(i int) *ir.Tensor {
	t, _ := n.Arg(i).ConstValue()
	return t
}
func (n *testNode) NumArgs() int                      { return len(n.args) }
func (n *testNode) Warn(string)                       {}
func (n *testNode) NumResults() int                   { return n.results }
func (n *testNode) Wants(i int) bool                  { return i < n.results }
func (n *testNode) ResultType(int) (ir.Type, bool)    { return ir.Type{}, false }
func (n *testNode) GraphRank(string, int) int         { return 0 }
func (n *testNode) Graph(string, []ir.Type) *ir.Block { return nil }

func (n *testNode) Arg(i int) *ir.Value {
	if i < len(n.args) {
		return n.args[i]
	}
	return nil
}

func (n *testNode) Has(name string) bool {
	n.asked[name] = true
	_, ok := n.attrs[name]
	return ok
}

func attrOf[T any](n *testNode, name string, def T) T {
	if !n.Has(name) {
		return def
	}
	v, ok := n.attrs[name].(T)
	if !ok {
		ir.Fail("attribute %s is a %T", name, n.attrs[name])
	}
	return v
}

func (n *testNode) Int(name string, def int) int             { return attrOf(n, name, def) }
func (n *testNode) Ints(name string, def []int) []int        { return attrOf(n, name, def) }
func (n *testNode) Float(name string, def float64) float64   { return attrOf(n, name, def) }
func (n *testNode) Text(name, def string) string             { return attrOf(n, name, def) }
func (n *testNode) Texts(name string, def []string) []string { return attrOf(n, name, def) }
func (n *testNode) DType(name string, def ir.DType) ir.DType { return attrOf(n, name, def) }
func (n *testNode) Type(name string) ir.Type                 { return attrOf(n, name, ir.Type{}) }

func (n *testNode) Tensor(name string) *ir.Tensor { return attrOf(n, name, (*ir.Tensor)(nil)) }
func (n *testNode) Floats(name string, def []float64) []float64 {
	return attrOf(n, name, def)
}

func TestTableNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range ONNX {
		if seen[rule.Name] {
			t.Errorf("%s stands in the table twice", rule.Name)
		}
		seen[rule.Name] = true
		for i, v := range rule.Since {
			if i > 0 && v <= rule.Since[i-1] || v < 1 {
				t.Errorf("%s: versions %v do not ascend", rule.Name, rule.Since)
			}
		}
	}
	if len(Set) < len(Ops) {
		t.Errorf("%d operators have %d names", len(Ops), len(Set))
	}
}
