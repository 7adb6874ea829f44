package onnx

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

const (
	// maxExpanded is the maximum number of nodes imported from model-local functions and from
	// graphs within nodes, such as the branches of an If. Nodes are counted as by [weightOf]. The
	// nodes of a function count each time the function is inlined. Each inlining counts as one more
	// node.
	maxExpanded = 1 << 18
	maxCalls    = 64
)

type functionKey struct{ domain, name, overload string }

// function is a model-local function. weight counts its nodes, see [weightOf].
type function struct {
	*wire.Function
	opsets map[string]int
	weight int
}

// frame is an inlined call of a function, or the model's graph.
type frame struct {
	caller   *frame
	depth    int
	function *function // nil for the graph
	opsets   map[string]int
	attrs    map[string]attr
	prefix   string // prefix of the names of values and nodes
}

// opset returns the version of a domain's operator set in f. A function that does not import the
// domain uses the version of its caller, and so on up to the model. opset returns false if the
// model does not import the domain either.
func (f *frame) opset(domain string) (int, bool) {
	for ; ; f = f.caller {
		if v, ok := f.opsets[domain]; ok || f.caller == nil {
			return v, ok
		}
	}
}

// attr is the value of an attribute. If the value is a graph, names in the graph are resolved in
// scope.
type attr struct {
	*wire.Attr
	scope *scope
}

func (im *importer) readFunctions() {
	im.functions = map[functionKey]*function{}
	for i := range im.proto.Functions {
		f := &im.proto.Functions[i]
		key := functionKey{domainName(f.Domain), f.Name, f.Overload}
		if im.functions[key] != nil {
			im.problems.add("function %s of domain %s is defined twice", quote(f.Name), quote(f.Domain))
		}
		weight := len(f.Inputs) + len(f.Outputs) + len(f.Required) + len(f.Defaults)
		im.functions[key] = &function{f, im.opsets(f.Opsets), weight/16 + weightOf(f.Nodes)}
	}
}

// weightOf counts nodes. A node with many operands, results and attributes counts more than once.
// Nodes of graphs within these nodes do not count.
func weightOf(nodes []wire.Node) int {
	w := len(nodes)
	for i := range nodes {
		w += (len(nodes[i].Inputs) + len(nodes[i].Outputs) + len(nodes[i].Attrs)) / 16
	}
	return w
}

// expand deducts weight + 1 nodes from the budget maxExpanded. `weight` is the result of [weightOf]
// for the nodes that are inlined. expand returns an error if the budget is exhausted.
func (im *importer) expand(weight int) error {
	if im.expanded += weight + 1; im.expanded > maxExpanded {
		im.expanded = maxExpanded
		return fmt.Errorf("functions and graphs within nodes expand to more than %d nodes", maxExpanded)
	}
	return nil
}

// inline imports a call of the model-local function f: it imports the body of f instead of node n.
// args are the operands of the call. i is the index of n in its graph or function.
func (im *importer) inline(s *scope, n *wire.Node, i int, f *function, args []*ir.Value) ([]*ir.Value, error) {
	for at := s.call; at != nil; at = at.caller {
		if at.function == f {
			return nil, errors.New("the function calls itself")
		}
	}
	switch {
	case s.call.depth == maxCalls:
		return nil, fmt.Errorf("functions call each other deeper than %d", maxCalls)
	case len(args) > len(f.Inputs):
		return nil, fmt.Errorf("%d inputs, the function has %d", len(args), len(f.Inputs))
	case len(n.Outputs) > len(f.Outputs):
		return nil, fmt.Errorf("%d outputs, the function has %d", len(n.Outputs), len(f.Outputs))
	}
	if err := im.expand(f.weight); err != nil {
		return nil, err
	}
	attrs, err := f.bind(s, n)
	if err != nil {
		return nil, err
	}
	call := &frame{
		caller: s.call, depth: s.call.depth + 1, function: f, opsets: f.opsets, attrs: attrs,
		prefix: shorten(s.call.prefix+nameOf(n)+"/", maxName),
	}
	inner := im.newScope(nil, s.builder, call, &wire.Graph{})
	inner.where = im.inside(s, n, i, "")
	inner.lists = [][]wire.ValueInfo{f.Values}
	for j, name := range f.Inputs {
		inner.inputs[name] = true
		if j < len(args) && args[j] != nil {
			inner.values[name] = args[j]
		} else {
			inner.omitted[name] = true
		}
	}
	var wanted []string
	for j, o := range n.Outputs {
		if o != "" {
			wanted = append(wanted, f.Outputs[j])
		}
	}
	im.body(inner, f.Nodes, wanted)
	s.at(n)
	return im.returned(inner, n, f)
}

// body imports nodes of a function, or of a graph within a node. It imports only nodes that are
// needed to compute the named values.
func (im *importer) body(s *scope, nodes []wire.Node, names []string) {
	o := im.sorted(s, nodes, names)
	for _, i := range o.order {
		im.node(s, &nodes[i], i)
	}
}

func (im *importer) returned(s *scope, n *wire.Node, f *function) ([]*ir.Value, error) {
	results := make([]*ir.Value, len(n.Outputs))
	for i, o := range n.Outputs {
		if o == "" {
			continue
		}
		v, err := im.value(s, f.Outputs[i])
		switch {
		case errors.Is(err, errReported):
			return nil, err
		case err != nil || v == nil:
			return nil, fmt.Errorf("output %s of the function is not defined", quote(f.Outputs[i]))
		}
		results[i] = v
	}
	return results, nil
}

func (f *function) bind(s *scope, n *wire.Node) (map[string]attr, error) {
	attrs := map[string]attr{}
	for i := range f.Defaults {
		attrs[f.Defaults[i].Name] = attr{&f.Defaults[i], s}
	}
	for i := range n.Attrs {
		a, err := resolve(&n.Attrs[i], s)
		if err != nil {
			return nil, err
		}
		if a.Attr != nil {
			attrs[n.Attrs[i].Name] = a
		}
	}
	for _, name := range f.Required {
		if attrs[name].Attr == nil {
			return nil, fmt.Errorf("attribute %s of the function is missing", quote(name))
		}
	}
	return attrs, nil
}

// resolve returns the value of an attribute. An attribute may refer to an attribute of the enclosing
// function; its value is then taken from the call of the function. It is the zero attr if the call
// does not have the attribute. resolve returns an error if there is no enclosing function.
func resolve(a *wire.Attr, s *scope) (attr, error) {
	if a.Ref == "" {
		return attr{a, s}, nil
	}
	if s.call.function == nil {
		return attr{}, fmt.Errorf("attribute %s refers to %s of a function, outside one", quote(a.Name), quote(a.Ref))
	}
	return s.call.attrs[a.Ref], nil
}
