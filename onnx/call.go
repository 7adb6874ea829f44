package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// call implements [ir.Importer] for one node. It is what the import function of the node's operator
// gets as its argument.
type call struct {
	im    *importer
	scope *scope
	node  *wire.Node
	index int
	opset int
	args  []*ir.Value
	attrs map[string]attr
	asked map[string]bool // names of the attributes read
	used  int             // number of operands up to the last one read
	// absent is the index of the missing operand that was read last, or -1 if only existing ones were read.
	absent int
}

func (c *call) prepare() error {
	c.attrs = make(map[string]attr, len(c.node.Attrs))
	for i := range c.node.Attrs {
		a := &c.node.Attrs[i]
		if c.attrs[a.Name].Attr != nil {
			return fmt.Errorf("attribute %s is given twice", quote(a.Name))
		}
		resolved, err := resolve(a, c.scope)
		if err != nil {
			return err
		}
		if resolved.Attr == nil {
			continue
		}
		if _, err := resolved.Kind(); err != nil {
			return err
		}
		c.attrs[a.Name] = resolved
	}
	return nil
}

// Warn implements [ir.Importer]. If several nodes of the same operator warn with the same text, it
// is recorded only once.
func (c *call) Warn(text string) {
	c.im.warn(qualified(c.node)+" "+text, c.im.place(c.scope, c.node, c.index), "%s", text)
}

// unasked checks that the import function read the whole node. It warns of attributes that the
// function did not read. It returns an error if the node has more operands than the function read.
func (c *call) unasked() error {
	for i := range c.node.Attrs {
		if name := c.node.Attrs[i].Name; !c.asked[name] {
			c.im.warn(qualified(c.node)+" "+name, c.im.place(c.scope, c.node, c.index), "it has no attribute %s, which is ignored", quote(name))
		}
	}
	for i := c.used; i < len(c.args); i++ {
		if c.args[i] != nil {
			return fmt.Errorf("it has no operand %d", i)
		}
	}
	return nil
}

// unfit returns the error for a node whose import function panicked: an operand is missing, or the
// operands and attributes do not fit the function.
func (c *call) unfit() error {
	if c.absent >= 0 {
		return fmt.Errorf("operand %d is missing", c.absent)
	}
	return errUnfit
}

var errUnfit = fmt.Errorf("its operands and attributes do not fit it")

// attr returns an attribute, or the zero attr if it is missing. It panics, as [ir.Fail] does, if
// the attribute is not of one of the given kinds.
func (c *call) attr(name string, kinds ...wire.AttrType) attr {
	c.asked[name] = true
	a := c.attrs[name]
	if a.Attr == nil {
		return a
	}
	kind, err := a.Kind()
	if err != nil {
		ir.FailWith(err)
	}
	if !slices.Contains(kinds, kind) {
		ir.Fail("attribute %q is %s, %s expected", name, kind, kinds[0])
	}
	if err := c.im.look(len(a.Ints) + len(a.Floats) + len(a.Strings)); err != nil {
		ir.FailWith(err)
	}
	return a
}

func (c *call) Builder() *ir.Builder { return c.scope.builder }
func (c *call) Op() string           { return c.node.OpType }
func (c *call) Opset() int           { return c.opset }
func (c *call) Producer() string     { return c.im.proto.Producer }
func (c *call) NumResults() int      { return len(c.node.Outputs) }

func (c *call) NumArgs() int {
	c.used = len(c.args)
	return len(c.args)
}

func (c *call) Arg(i int) *ir.Value {
	c.used = max(c.used, i+1)
	if i >= len(c.args) || c.args[i] == nil {
		c.absent = i
		return nil
	}
	return c.scope.builder.Now(c.args[i])
}

func (c *call) Constant(i int) *ir.Tensor {
	t, err := c.im.constant(c.Arg(i))
	if err != nil {
		ir.FailWith(err)
	}
	return t
}

func (c *call) Wants(i int) bool { return i < len(c.node.Outputs) && c.node.Outputs[i] != "" }

func (c *call) ResultType(i int) (ir.Type, bool) {
	if !c.Wants(i) {
		return ir.Type{}, false
	}
	t := c.scope.declaredType(c.node.Outputs[i])
	if t == nil {
		return ir.Type{}, false
	}
	typ, err := c.im.typeOf(t, c.node.Outputs[i])
	return typ, err == nil
}

func (c *call) Has(name string) bool {
	c.asked[name] = true
	return c.attrs[name].Attr != nil
}

func toInt(name string, v int64) int {
	if int64(int(v)) != v {
		ir.Fail("attribute %q: %d does not fit", name, v)
	}
	return int(v)
}

func (c *call) Int(name string, def int) int {
	if a := c.attr(name, wire.AttrInt); a.Attr != nil {
		return toInt(name, a.I)
	}
	return def
}

func (c *call) Ints(name string, def []int) []int {
	a := c.attr(name, wire.AttrInts)
	if a.Attr == nil {
		return def
	}
	out := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		out[i] = toInt(name, v)
	}
	return out
}

func (c *call) Float(name string, def float64) float64 {
	if a := c.attr(name, wire.AttrFloat); a.Attr != nil {
		return float64(a.F)
	}
	return def
}

func (c *call) Floats(name string, def []float64) []float64 {
	a := c.attr(name, wire.AttrFloats)
	if a.Attr == nil {
		return def
	}
	out := make([]float64, len(a.Floats))
	for i, v := range a.Floats {
		out[i] = float64(v)
	}
	return out
}

func (c *call) Text(name string, def string) string {
	if a := c.attr(name, wire.AttrString); a.Attr != nil {
		return a.S
	}
	return def
}

func (c *call) Texts(name string, def []string) []string {
	if a := c.attr(name, wire.AttrStrings); a.Attr != nil {
		return a.Strings
	}
	return def
}

func (c *call) DType(name string, def ir.DType) ir.DType {
	a := c.attr(name, wire.AttrInt, wire.AttrString)
	if a.Attr == nil {
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

// dataTypeNamed returns the element type called `name`, or wire.Undefined if there is no such type.
// The first versions of Cast give a type by its name.
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
	if a.Attr == nil {
		return nil
	}
	t, err := c.im.tensor(a.T)
	if err != nil {
		ir.Fail("attribute %q: %w", name, err)
	}
	return t
}

func (c *call) Type(name string) ir.Type {
	a := c.attr(name, wire.AttrTypeProto)
	if a.Attr == nil {
		return ir.Type{}
	}
	t, err := c.im.elemTypeOf(a.TP, name)
	if err != nil {
		ir.Fail("attribute %q: %w", name, err)
	}
	return t
}

// maxListed is the maximum number of elements of an attribute that is a list. A longer list is an
// error, because the text form of the IR does not allow it.
const maxListed = 4096

func (c *call) Attributes() []ir.Attribute {
	var out []ir.Attribute
	for i := range c.node.Attrs {
		name := c.node.Attrs[i].Name
		a := c.attrs[name]
		if a.Attr == nil {
			c.asked[name] = true // a function's, which its caller does not give
			continue
		}
		kind, err := a.Kind()
		if err != nil {
			ir.FailWith(err)
		}
		if n := max(len(a.Ints), len(a.Floats), len(a.Strings)); n > maxListed {
			ir.Fail("attribute %q has %d elements, at most %d expected", name, n, maxListed)
		}
		var t *ir.Tensor
		switch kind {
		case wire.AttrInt:
			t = ir.IntTensor(ir.I64, c.attr(name, kind).I).Reshape()
		case wire.AttrInts:
			t = ir.IntTensor(ir.I64, c.attr(name, kind).Ints...)
		case wire.AttrFloat:
			t = ir.FloatTensor(ir.F32, float64(c.attr(name, kind).F)).Reshape()
		case wire.AttrFloats:
			t = ir.FloatTensor(ir.F32, c.Floats(name, nil)...)
		case wire.AttrString:
			t = textTensor(c.attr(name, kind).S).Reshape()
		case wire.AttrStrings:
			t = textTensor(c.attr(name, kind).Strings...)
		default:
			ir.Fail("attribute %q is %s: numbers, texts and lists of them expected", name, kind)
		}
		out = append(out, ir.Attribute{Name: name, Value: t})
	}
	return out
}

func textTensor(texts ...string) *ir.Tensor {
	t := ir.NewTensor(ir.String, len(texts))
	for i, s := range texts {
		t.SetText(i, s)
	}
	return t
}

// largeConstant imports a Constant node as a weight if its tensor has more than maxConstant
// elements. It returns nil for any other node.
func (c *call) largeConstant() *ir.Value {
	a := c.attrs["value"]
	if !isConstant(c.node) || a.Attr == nil || a.T == nil || len(c.args) > 0 {
		return nil
	}
	typ, err := tensorType(a.T)
	n, _ := typ.Elems().Int()
	if err != nil || n <= maxConstant || typ.DType == ir.String {
		return nil
	}
	c.asked["value"] = true
	v, err := c.im.load(c.Builder(), a.T, typ, shorten(c.scope.call.prefix+nameOf(c.node), maxName))
	if err != nil {
		ir.FailWith(err)
	}
	return v
}

func (c *call) GraphRank(name string, i int) int {
	a := c.attr(name, wire.AttrGraph)
	if a.Attr == nil || i >= len(a.G.Inputs) || a.G.Inputs[i].Type == nil {
		return 0
	}
	return len(a.G.Inputs[i].Type.Shape)
}

func (c *call) Graph(name string, params []ir.Type) *ir.Block {
	a := c.attr(name, wire.AttrGraph)
	if a.Attr == nil {
		ir.Fail("attribute %q is missing", name)
	}
	g := a.G
	if len(g.Inputs) != len(params) {
		ir.Fail("graph %q has %d inputs, %d expected", name, len(g.Inputs), len(params))
	}
	weight := (len(g.Inputs)+len(g.Outputs)+len(g.Initializers)+len(g.Values))/16 + weightOf(g.Nodes)
	if err := c.im.expand(weight); err != nil {
		ir.FailWith(err)
	}
	defer c.scope.at(c.node)
	return c.scope.builder.Block(func(b *ir.Builder) {
		s := c.im.newScope(a.scope, b, a.scope.call, g)
		s.where = c.im.inside(c.scope, c.node, c.index, name+": ")
		names := make([]string, len(g.Outputs))
		for i, in := range g.Inputs {
			s.values[in.Name] = b.Param(shorten(in.Name, maxName), params[i])
		}
		for i, o := range g.Outputs {
			names[i] = o.Name
		}
		c.im.body(s, g.Nodes, names)
		results := make([]*ir.Value, len(names))
		for i, name := range names {
			v, err := c.im.value(s, name)
			if err != nil {
				ir.FailWith(err)
			}
			if v == nil {
				ir.Fail("graph output %s is absent", quote(name))
			}
			results[i] = v
		}
		b.Return(results...)
	})
}
