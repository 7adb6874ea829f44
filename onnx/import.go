package onnx

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx/internal/wire"
	"github.com/burngen/burngen/runtime/rt"
)

// newestOpset is the newest version of ai.onnx whose operators are known.
const newestOpset = 28

// importer builds the IR of one model.
type importer struct {
	*Model
	proto    *wire.Model
	options  Options
	root     *os.Root
	files    map[string]*os.File
	read     int64 // bytes of external data so far
	problems problems

	symbols map[string]string // the model's text for a dimension → symbol
	taken   map[string]bool   // symbols
	fixed   map[string]ir.Dim // symbols that Options.Dims fix

	b         *ir.Builder
	functions map[functionKey]*wire.Function
	inlined   int
}

type functionKey struct{ domain, name, overload string }

// scope is where a graph's or a function's names are looked up.
type scope struct {
	outer  *scope
	values map[string]*ir.Value
	// failed are names whose nodes could not be imported.
	failed map[string]bool
	// omitted are inputs of a function that its caller leaves out.
	omitted map[string]bool
	// initializers are read when they are first used.
	initializers map[string]*wire.Tensor
	declared     map[string]*wire.Type
	opsets       map[string]int
	prefix       string // of node names
	// function is the function being inlined, with its caller's attributes.
	function *functionKey
	attrs    map[string]*wire.Attr
}

func (im *importer) run() error {
	im.problems.file = im.File
	im.readDims()
	s := im.newScope(nil, im.proto.Graph)
	s.opsets = im.opsets(im.proto.Opsets)
	im.functions = map[functionKey]*wire.Function{}
	for i := range im.proto.Functions {
		f := &im.proto.Functions[i]
		key := functionKey{domainName(f.Domain), f.Name, f.Overload}
		if im.functions[key] != nil {
			im.problems.add("function %s.%s is defined twice", f.Domain, f.Name)
		}
		im.functions[key] = f
	}
	f := &ir.Func{Name: "forward"}
	im.Module.Funcs = []*ir.Func{f}
	im.b = ir.NewBuilder(f)
	im.inputs(s)
	if err := im.problems.err(); err != nil {
		return err
	}
	im.nodes(s, im.b, im.proto.Graph.Nodes, true)
	results := im.outputs(s, f)
	if err := im.problems.err(); err != nil {
		return err
	}
	im.b.Return(results...)
	im.meta(f)
	f.Prune()
	im.pruneWeights(f)
	if err := ir.Verify(im.Module); err != nil {
		return fmt.Errorf("%s: burngen bug: %w", im.File, err)
	}
	return nil
}

func (im *importer) newScope(outer *scope, g *wire.Graph) *scope {
	s := &scope{
		outer: outer, values: map[string]*ir.Value{}, failed: map[string]bool{},
		initializers: map[string]*wire.Tensor{}, declared: map[string]*wire.Type{},
	}
	if outer != nil {
		s.opsets, s.prefix, s.function, s.attrs = outer.opsets, outer.prefix, outer.function, outer.attrs
	}
	for i := range g.Initializers {
		t := &g.Initializers[i]
		if s.initializers[t.Name] != nil {
			im.problems.add("initializer %q is defined twice", t.Name)
		}
		s.initializers[t.Name] = t
	}
	if len(g.SparseInitializers) > 0 {
		im.problems.add("sparse initializers are not supported")
	}
	for _, list := range [][]wire.ValueInfo{g.Values, g.Outputs} {
		for _, v := range list {
			s.declared[v.Name] = v.Type
		}
	}
	return s
}

// opsets returns the version of each operator set that a model or function
// imports.
func (im *importer) opsets(list []wire.Opset) map[string]int {
	out := map[string]int{}
	for _, o := range list {
		domain := domainName(o.Domain)
		if v, twice := out[domain]; twice && v != int(o.Version) {
			im.problems.add("opset of domain %q is imported twice: %d and %d", o.Domain, v, o.Version)
		}
		if o.Version < 1 || domain == "" && o.Version > newestOpset {
			im.problems.add("opset %d of domain %q: 1 to %d are known", o.Version, o.Domain, newestOpset)
		}
		out[domain] = int(o.Version)
	}
	if _, ok := out[""]; !ok && im.proto.IRVersion < 3 {
		out[""] = 1
	}
	return out
}

// domainName returns a domain with ai.onnx in its short form.
func domainName(d string) string {
	if d == "ai.onnx" {
		return ""
	}
	return d
}

// inputs declares the parameters: the graph's inputs that have no initializer.
func (im *importer) inputs(s *scope) {
	seen := map[string]bool{}
	for _, in := range im.proto.Graph.Inputs {
		if seen[in.Name] {
			im.problems.add("input %q is declared twice", in.Name)
			continue
		}
		seen[in.Name] = true
		if s.initializers[in.Name] != nil {
			continue
		}
		typ, err := im.overridden(in.Name, in.Type)
		if err == nil {
			err = ir.Try(func() { s.values[in.Name] = im.b.Param(in.Name, typ) })
		}
		if err != nil {
			im.problems.add("input %q: %v", in.Name, err)
			s.failed[in.Name] = true
		}
	}
	for name := range im.options.Inputs {
		if !seen[name] {
			im.problems.add("-input %s: the model has no such input", name)
		}
	}
}

// value returns the value of a name, reading an initializer when it is first
// used. It returns nil and an error for a name that nothing defines, nil alone
// for one whose node could not be imported.
func (im *importer) value(s *scope, b *ir.Builder, name string) (*ir.Value, error) {
	for at := s; at != nil; at = at.outer {
		if v := at.values[name]; v != nil {
			return v, nil
		}
		if at.failed[name] {
			return nil, nil
		}
		if t := at.initializers[name]; t != nil {
			v, err := im.initializer(b, t)
			if err != nil {
				at.failed[name] = true
				return nil, fmt.Errorf("initializer %q: %w", name, err)
			}
			if at == s {
				at.values[name] = v
			}
			return v, nil
		}
	}
	return nil, fmt.Errorf("input %q is not defined by anything before it", name)
}

// maxConstant is the largest initializer, in elements, that becomes a constant
// of the text form; larger ones, and floats of more than one element, are
// weights.
const maxConstant = 256

func (im *importer) initializer(b *ir.Builder, t *wire.Tensor) (*ir.Value, error) {
	typ, err := tensorType(t)
	if err != nil {
		return nil, err
	}
	n, _ := typ.Elems().Int()
	if n <= 1 || n <= maxConstant && !typ.DType.IsFloat() || typ.DType == ir.String {
		tensor, err := im.tensor(t)
		if err != nil {
			return nil, err
		}
		return named(b, b.Const(tensor), t.Name), nil
	}
	if im.Module.Weight(t.Name) == nil {
		data, err := im.data(t, typ)
		if err != nil {
			return nil, err
		}
		im.Module.Weights = append(im.Module.Weights, &ir.Weight{Name: t.Name, Type: typ, Data: data})
	}
	return named(b, b.Node(ir.Load{Name: t.Name, Type: typ}), t.Name), nil
}

// named gives a new value the model's name for it.
func named(b *ir.Builder, v *ir.Value, name string) *ir.Value {
	v.Name = b.Name(name)
	return v
}

// outputs returns the values that the model computes.
func (im *importer) outputs(s *scope, f *ir.Func) []*ir.Value {
	names := im.options.Outputs
	if len(names) == 0 {
		for _, o := range im.proto.Graph.Outputs {
			names = append(names, o.Name)
		}
	}
	if len(names) == 0 {
		im.problems.add("the graph has no outputs")
	}
	var results []*ir.Value
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			im.problems.add("output %q is named twice", name)
			continue
		}
		im.b.At("")
		var v *ir.Value
		var err error
		if e := ir.Try(func() { v, err = im.value(s, im.b, name) }); e != nil {
			err = e
		}
		if err != nil {
			im.problems.add("output %q: no node, input or initializer gives it", name)
		}
		if v != nil {
			results = append(results, v)
			f.ResultNames = append(f.ResultNames, name)
		}
	}
	return results
}

func (im *importer) pruneWeights(f *ir.Func) {
	used := map[string]bool{}
	for n := range f.All() {
		if l, ok := n.Op.(ir.Load); ok {
			used[l.Name] = true
		}
	}
	im.Module.Weights = slices.DeleteFunc(im.Module.Weights, func(w *ir.Weight) bool { return !used[w.Name] })
}

func (im *importer) meta(f *ir.Func) {
	im.Meta.Name, im.Meta.Source = im.Name, im.File
	for _, o := range im.proto.Opsets {
		im.Meta.Opsets = append(im.Meta.Opsets, rt.Opset{Domain: domainName(o.Domain), Version: int(o.Version)})
	}
	for i, v := range f.Params {
		_ = i
		im.Meta.Inputs = append(im.Meta.Inputs, portOf(v.Name, v.Type))
	}
	for i, v := range f.Results {
		im.Meta.Outputs = append(im.Meta.Outputs, portOf(f.ResultNames[i], v.Type))
	}
	for _, e := range im.proto.Metadata {
		if im.Meta.Metadata == nil {
			im.Meta.Metadata = map[string]string{}
		}
		im.Meta.Metadata[e.Key] = e.Value
	}
}

func portOf(name string, t ir.Type) rt.Port {
	p := rt.Port{Name: name, DType: t.DType.String(), Shape: []string{}}
	for _, d := range t.Shape {
		p.Shape = append(p.Shape, d.String())
	}
	return p
}

// nodes imports nodes in an order in which definitions come before uses.
func (im *importer) nodes(s *scope, b *ir.Builder, nodes []wire.Node, count bool) {
	order, ok := im.sorted(s, nodes)
	if !ok {
		return
	}
	for _, i := range order {
		n := &nodes[i]
		if count {
			im.Operators[qualified(n)]++
		}
		im.node(s, b, n, i)
	}
}

// sorted returns the nodes' indexes with definitions before uses, otherwise in
// the order of the file. It reports names that two nodes define, and cycles.
func (im *importer) sorted(s *scope, nodes []wire.Node) (order []int, ok bool) {
	maker := map[string]int{}
	ok = true
	for i := range nodes {
		for _, out := range nodes[i].Outputs {
			if out == "" {
				continue
			}
			if j, twice := maker[out]; twice {
				im.problems.add("%s and %s both define %q", label(s, &nodes[j], j), label(s, &nodes[i], i), out)
				ok = false
				continue
			}
			if s.values[out] != nil || s.initializers[out] != nil {
				im.problems.add("%s defines %q, which is an input or initializer", label(s, &nodes[i], i), out)
				ok = false
			}
			maker[out] = i
		}
	}
	const (
		unseen = iota
		open
		done
	)
	state := make([]uint8, len(nodes))
	type frame struct{ node, next int }
	uses := make([][]string, len(nodes))
	for i := range nodes {
		uses[i] = freeNames(&nodes[i])
	}
	for root := range nodes {
		if state[root] != unseen {
			continue
		}
		stack := []frame{{root, 0}}
		state[root] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(uses[top.node]) {
				state[top.node] = done
				order = append(order, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			name := uses[top.node][top.next]
			top.next++
			j, made := maker[name]
			if !made || state[j] == done {
				continue
			}
			if state[j] == open {
				im.problems.add("%s is part of a cycle through %q", label(s, &nodes[j], j), name)
				return nil, false
			}
			state[j] = open
			stack = append(stack, frame{j, 0})
		}
	}
	return order, ok
}

// freeNames returns the names that a node reads, those of its graphs included.
func freeNames(n *wire.Node) []string {
	names := slices.Clone(n.Inputs)
	for i := range n.Attrs {
		a := &n.Attrs[i]
		graphs := a.Graphs
		if a.G != nil {
			graphs = append(slices.Clone(graphs), *a.G)
		}
		for _, g := range graphs {
			for j := range g.Nodes {
				names = append(names, freeNames(&g.Nodes[j])...)
			}
			for _, o := range g.Outputs {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

// label names a node for messages: its index, and its name or first output.
func label(s *scope, n *wire.Node, i int) string {
	return "node " + strconv.Itoa(i) + " " + strconv.Quote(s.prefix+nameOf(n))
}

func nameOf(n *wire.Node) string {
	if n.Name != "" {
		return n.Name
	}
	for _, o := range n.Outputs {
		if o != "" {
			return o
		}
	}
	return n.OpType
}

func qualified(n *wire.Node) string {
	if d := domainName(n.Domain); d != "" {
		return d + "." + n.OpType
	}
	return n.OpType
}

// rules finds the import rules by domain and name.
var rules = func() map[string]*op.Rule {
	m := map[string]*op.Rule{}
	for i := range op.ONNX {
		m[op.ONNX[i].Name] = &op.ONNX[i]
	}
	return m
}()

// ruleName returns the name of an operator in the table.
func ruleName(domain, name string) string {
	if domain == "" {
		return name
	}
	return domain + ":" + name
}

// since returns the version of a rule that an opset uses.
func since(r *op.Rule, opset int) int {
	v := 0
	for _, s := range r.Since {
		if s <= opset {
			v = max(v, s)
		}
	}
	return v
}
