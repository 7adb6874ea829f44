package onnx

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
	"github.com/burngen/burngen/runtime/rt"
)

const newestOpset = 28

type importer struct {
	*Model
	proto    *wire.Model
	options  Options
	outside  *outside
	problems problems
	symbols  symbols
	weights  weights

	functions map[functionKey]*function
	captures  map[*wire.Graph][]string
	expanded  int // number of nodes so far in expanded functions and nested graphs
	reported  map[reportKey]bool
	warned    map[string]bool
}

// errReported is returned for a value that cannot be imported because of a problem that has already
// been reported.
var errReported = errors.New("it follows from what could not be imported")

func (im *importer) run() error {
	im.problems.file = im.File
	im.problems.at = beforeNodes
	im.symbols.readOptions(im)
	im.readFunctions()

	g := im.proto.Graph
	f := &ir.Func{Name: "forward"}
	im.Module.Funcs = []*ir.Func{f}
	s := im.newScope(nil, ir.NewBuilder(f), &frame{opsets: im.opsets(im.proto.Opsets)}, g)
	im.readInputs(s)
	outputs := im.outputNames()
	o := im.sorted(s, g.Nodes, outputs)
	im.inputs(s, o.read)
	for _, i := range o.order {
		im.problems.at = i
		im.Operators[qualified(&g.Nodes[i])]++
		im.node(s, &g.Nodes[i], i)
	}
	im.problems.at = afterNodes
	results := im.outputs(s, outputs)
	im.symbols.checkOptions(im)
	if im.problems.count > 0 {
		return im.problems.err()
	}
	s.builder.Return(results...)
	f.ResultNames = outputs
	f.Prune()
	if err := im.loadSingle(f); err != nil {
		return err
	}
	if err := im.finishWeights(f); err != nil {
		return err
	}
	im.meta(f)
	if err := ir.Verify(im.Module); err != nil {
		return fmt.Errorf("%s: burngen bug: %w", im.File, err)
	}
	return nil
}

func (im *importer) opsets(list []wire.Opset) map[string]int {
	out := map[string]int{}
	for _, o := range list {
		domain := domainName(o.Domain)
		v, twice := out[domain]
		switch {
		case twice && v != int(min(o.Version, math.MaxInt32)):
			im.problems.add("opset of domain %s is imported twice: %d and %d", quote(o.Domain), v, o.Version)
		case o.Version < 1:
			im.problems.add("opset %d of domain %s does not exist", o.Version, quote(o.Domain))
		case domain == "" && o.Version > newestOpset:
			im.problems.add("opset %d is newer than %d, the newest that is known", o.Version, newestOpset)
		}
		out[domain] = int(min(o.Version, math.MaxInt32))
	}
	if _, ok := out[""]; !ok && im.proto.IRVersion < 3 {
		out[""] = 1
	}
	return out
}

func domainName(d string) string {
	if d == "ai.onnx" {
		return ""
	}
	return d
}

// inputs declares the graph's inputs as parameters, except inputs with an initializer. If
// Options.Outputs is not empty, it declares only the inputs in `read`.
func (im *importer) inputs(s *scope, read map[string]bool) {
	im.problems.at = beforeNodes
	declared := map[string]bool{}
	for _, in := range im.proto.Graph.Inputs {
		if s.initializers[in.Name] != nil || s.sparse[in.Name] || declared[in.Name] || len(im.options.Outputs) > 0 && !read[in.Name] {
			continue
		}
		declared[in.Name] = true
		typ, err := im.overridden(in.Name, in.Type)
		if len(in.Name) > maxName {
			err = fmt.Errorf("a name of %d bytes, at most %d expected", len(in.Name), maxName)
		}
		if err == nil {
			err = ir.Try(func() { s.values[in.Name] = s.builder.Param(in.Name, typ) })
		}
		if err != nil {
			im.problems.add("input %s: %v", quote(in.Name), err)
			s.failed[in.Name] = true
		}
	}
}

func (im *importer) readInputs(s *scope) {
	if len(im.options.Inputs) == 0 {
		return
	}
	var names []string
	for _, in := range im.proto.Graph.Inputs {
		if s.initializers[in.Name] == nil {
			names = append(names, in.Name)
		}
	}
	inputs := map[string]string{}
	for _, text := range slices.Sorted(maps.Keys(im.options.Inputs)) {
		name, err := Named("input", text, names)
		if err != nil {
			im.problems.add("-input %s: %v", plain(text), err)
		}
		inputs[name] = im.options.Inputs[text]
	}
	im.options.Inputs = inputs
}

func (im *importer) outputNames() []string {
	var names []string
	for _, o := range im.proto.Graph.Outputs {
		names = append(names, o.Name)
	}
	if len(im.options.Outputs) > 0 {
		names = im.namedOutputs()
	}
	if len(names) == 0 && len(im.options.Outputs) == 0 {
		im.problems.add("the graph has no outputs")
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			im.problems.add("output %s is named twice", quote(name))
		}
		if len(name) > maxName {
			im.problems.add("output %s: a name of %d bytes, at most %d expected", quote(name), len(name), maxName)
		}
		seen[name] = true
	}
	return slices.Clone(names)
}

func (im *importer) namedOutputs() (names []string) {
	g := im.proto.Graph
	var values []string
	for _, in := range g.Inputs {
		values = append(values, in.Name)
	}
	for i := range g.Initializers {
		values = append(values, g.Initializers[i].Name)
	}
	for i := range g.SparseInitializers {
		values = append(values, g.SparseInitializers[i].Values.Name)
	}
	for i := range g.Nodes {
		values = append(values, g.Nodes[i].Outputs...)
	}
	values = slices.DeleteFunc(values, func(name string) bool { return name == "" })
	for _, text := range im.options.Outputs {
		name, err := Named("value", text, values)
		if i := slices.IndexFunc(g.Nodes, func(n wire.Node) bool { return n.Name != "" && (n.Name == text || n.Name == unquoted(text)) }); err != nil && i >= 0 {
			var list []string
			for _, out := range g.Nodes[i].Outputs {
				list = append(list, quote(out))
			}
			err = fmt.Errorf("this is a node; the values that it gives are %s", strings.Join(list, ", "))
		}
		if err != nil {
			im.problems.add("-output %s: %v", plain(text), err)
			continue
		}
		names = append(names, name)
	}
	return names
}

func (im *importer) outputs(s *scope, names []string) []*ir.Value {
	results := make([]*ir.Value, len(names))
	for i, name := range names {
		var err error
		if failed := ir.Try(func() { results[i], err = im.value(s, name) }); failed != nil {
			err = failed
		}
		switch {
		case errors.Is(err, errReported):
		case err != nil && !s.has(name):
			im.problems.add("output %s: no node, input or initializer gives it", quote(name))
		case err != nil:
			im.problems.add("output %s: %v", quote(name), err)
		}
	}
	return results
}

func (im *importer) meta(f *ir.Func) {
	im.Meta.Name, im.Meta.Source = im.Name, im.File
	for _, o := range im.proto.Opsets {
		im.Meta.Opsets = append(im.Meta.Opsets, rt.Opset{Domain: domainName(o.Domain), Version: int(o.Version)})
	}
	for _, v := range f.Params {
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
