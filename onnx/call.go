package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// call is a node as its operator's import function sees it: an [ir.Importer].
type call struct {
	im    *importer
	scope *scope
	b     *ir.Builder
	node  *wire.Node
	opset int
	args  []*ir.Value
	attrs map[string]*wire.Attr
	asked map[string]bool
}

// prepare finds the attributes.
func (c *call) prepare() error {
	c.attrs = map[string]*wire.Attr{}
	for i := range c.node.Attrs {
		a := &c.node.Attrs[i]
		if c.attrs[a.Name] != nil {
			return fmt.Errorf("attribute %q is given twice", a.Name)
		}
		resolved, err := resolve(a, c.scope)
		if err != nil {
			return err
		}
		if resolved == nil {
			continue
		}
		if _, err := resolved.Kind(); err != nil {
			return fmt.Errorf("attribute %q: %w", a.Name, err)
		}
		c.attrs[a.Name] = resolved
	}
	return nil
}

// unasked returns an error for an attribute that the operator does not have.
func (c *call) unasked() error {
	for i := range c.node.Attrs {
		if name := c.node.Attrs[i].Name; !c.asked[name] {
			return fmt.Errorf("it has no attribute %q", name)
		}
	}
	return nil
}

// attr returns an attribute of one of some kinds, nil when it is not there.
func (c *call) attr(name string, kinds ...wire.AttrType) *wire.Attr {
	c.asked[name] = true
	a := c.attrs[name]
	if a == nil {
		return nil
	}
	kind, err := a.Kind()
	if err != nil {
		ir.Fail("attribute %q: %w", name, err)
	}
	if !slices.Contains(kinds, kind) {
		ir.Fail("attribute %q is %s, %s expected", name, kind, kinds[0])
	}
	return a
}

func (c *call) Builder() *ir.Builder { return c.b }
func (c *call) Op() string           { return c.node.OpType }
func (c *call) Opset() int           { return c.opset }
func (c *call) NumArgs() int         { return len(c.args) }
func (c *call) NumResults() int      { return len(c.node.Outputs) }

func (c *call) Arg(i int) *ir.Value {
	if i < len(c.args) {
		return c.args[i]
	}
	return nil
}

func (c *call) Constant(i int) *ir.Tensor {
	v := c.Arg(i)
	if v == nil || v.Def == nil {
		return nil
	}
	switch op := v.Def.Op.(type) {
	case ir.Constant:
		return op.Value
	case ir.Load:
		if n, _ := op.Type.Elems().Int(); n > maxTensor {
			return nil
		}
		t, err := c.im.Module.Weight(op.Name).Tensor()
		if err != nil {
			ir.FailWith(err)
		}
		return t
	}
	return nil
}

func (c *call) Wants(i int) bool { return i < len(c.node.Outputs) && c.node.Outputs[i] != "" }

func (c *call) ResultType(i int) (ir.Type, bool) {
	if !c.Wants(i) {
		return ir.Type{}, false
	}
	t := c.scope.declared[c.node.Outputs[i]]
	if t == nil {
		return ir.Type{}, false
	}
	typ, err := c.im.typeOf(t, c.node.Outputs[i])
	return typ, err == nil
}

func (c *call) Has(name string) bool {
	c.asked[name] = true
	return c.attrs[name] != nil
}

// toInt returns an attribute's number, which has to fit an int.
func toInt(name string, v int64) int {
	if int64(int(v)) != v {
		ir.Fail("attribute %q: %d does not fit", name, v)
	}
	return int(v)
}

func (c *call) Int(name string, def int) int {
	if a := c.attr(name, wire.AttrInt); a != nil {
		return toInt(name, a.I)
	}
	return def
}

func (c *call) Ints(name string, def []int) []int {
	a := c.attr(name, wire.AttrInts)
	if a == nil {
		return def
	}
	out := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		out[i] = toInt(name, v)
	}
	return out
}

func (c *call) Float(name string, def float64) float64 {
	if a := c.attr(name, wire.AttrFloat); a != nil {
		return float64(a.F)
	}
	return def
}

func (c *call) Floats(name string, def []float64) []float64 {
	a := c.attr(name, wire.AttrFloats)
	if a == nil {
		return def
	}
	out := make([]float64, len(a.Floats))
	for i, v := range a.Floats {
		out[i] = float64(v)
	}
	return out
}

func (c *call) Text(name string, def string) string {
	if a := c.attr(name, wire.AttrString); a != nil {
		return a.S
	}
	return def
}

func (c *call) Texts(name string, def []string) []string {
	if a := c.attr(name, wire.AttrStrings); a != nil {
		return a.Strings
	}
	return def
}

func (c *call) DType(name string, def ir.DType) ir.DType {
	a := c.attr(name, wire.AttrInt, wire.AttrString)
	if a == nil {
		return def
	}
	code := wire.DataType(a.I)
	if a.S != "" {
		code = dataTypeNamed(a.S)
	}
	if a.I < 0 || a.I > math.MaxInt32 {
		ir.Fail("attribute %q: unknown element type %d", name, a.I)
	}
	d, err := dtypeOf(code)
	if err != nil {
		ir.Fail("attribute %q: %w", name, err)
	}
	return d
}

// dataTypeNamed returns the element type that the first Cast named by a text.
func dataTypeNamed(name string) wire.DataType {
	for d := range dtypes {
		if d.String() == name {
			return d
		}
	}
	return wire.Undefined
}

func (c *call) Tensor(name string) *ir.Tensor {
	a := c.attr(name, wire.AttrTensor)
	if a == nil {
		return nil
	}
	t, err := c.im.tensor(a.T)
	if err != nil {
		ir.Fail("attribute %q: %w", name, err)
	}
	return t
}

func (c *call) Graph(name string, params []ir.Type) *ir.Block {
	a := c.attr(name, wire.AttrGraph)
	if a == nil {
		ir.Fail("attribute %q is missing", name)
	}
	g := a.G
	if len(g.Inputs) != len(params) {
		ir.Fail("graph %q has %d inputs, %d expected", name, len(g.Inputs), len(params))
	}
	before := len(c.im.problems.errs) + c.im.problems.more
	block := c.b.Block(func(b *ir.Builder) {
		s := c.im.newScope(c.scope, g)
		for i, in := range g.Inputs {
			s.values[in.Name] = b.Param(in.Name, params[i])
		}
		c.im.nodes(s, b, g.Nodes, false)
		var results []*ir.Value
		for _, o := range g.Outputs {
			v, err := c.im.value(s, b, o.Name)
			if err != nil {
				ir.FailWith(err)
			}
			if v == nil {
				break
			}
			results = append(results, v)
		}
		b.Return(results...)
	})
	if n := len(c.im.problems.errs) + c.im.problems.more - before; n > 0 {
		ir.Fail("graph %q: %d nodes cannot be compiled", name, n)
	}
	return block
}
