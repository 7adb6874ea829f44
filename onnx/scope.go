package onnx

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// scope is where the names of a graph or of a function's body are looked up.
type scope struct {
	// outer is the scope around a graph that is an attribute; nil for the model's
	// graph and for a function.
	outer *scope
	// builder appends to the graph's block.
	builder *ir.Builder
	// call is the function that is inlined, shared by the graphs in its body.
	call *frame
	// where begins the messages about nodes.
	where string

	inputs map[string]bool // the names of the inputs
	values map[string]*ir.Value
	// failed are names whose nodes could not be imported, omitted ones inputs of
	// a function that its caller leaves out.
	failed, omitted map[string]bool
	// initializers are read when they are first used.
	initializers map[string]*wire.Tensor
	sparse       map[string]bool
	// declared are the types that the file gives values, collected from lists when
	// one is first asked for.
	declared map[string]*wire.Type
	lists    [][]wire.ValueInfo
}

// newScope returns the scope of a graph within outer, whose nodes go to b.
func (im *importer) newScope(outer *scope, b *ir.Builder, call *frame, g *wire.Graph) *scope {
	s := &scope{
		outer: outer, builder: b, call: call,
		inputs: map[string]bool{}, values: map[string]*ir.Value{}, failed: map[string]bool{}, omitted: map[string]bool{},
		initializers: map[string]*wire.Tensor{}, sparse: map[string]bool{},
		lists: [][]wire.ValueInfo{g.Values, g.Outputs},
	}
	for i := range g.Inputs {
		name := g.Inputs[i].Name
		if s.inputs[name] {
			im.problems.add("%sinput %s is declared twice", where(outer), quote(name))
		}
		s.inputs[name] = true
	}
	for i := range g.Initializers {
		t := &g.Initializers[i]
		if s.initializers[t.Name] != nil {
			im.problems.add("%sinitializer %s is defined twice", where(outer), quote(t.Name))
			continue
		}
		s.initializers[t.Name] = t
	}
	for i := range g.SparseInitializers {
		if t := g.SparseInitializers[i].Values; t != nil {
			s.sparse[t.Name] = true
		}
	}
	return s
}

func where(s *scope) string {
	if s == nil {
		return ""
	}
	return s.where
}

// has reports whether a name is that of an input or initializer.
func (s *scope) has(name string) bool {
	return s.inputs[name] || s.initializers[name] != nil || s.sparse[name]
}

// declaredType returns the type that the file gives a value, nil for none.
func (s *scope) declaredType(name string) *wire.Type {
	if s.declared == nil {
		s.declared = map[string]*wire.Type{}
		for _, list := range s.lists {
			for i := range list {
				s.declared[list[i].Name] = list[i].Type
			}
		}
	}
	return s.declared[name]
}

// value returns the value of a name, reading an initializer when it is first
// used. It returns nil for an input that a function's caller leaves out, and
// errReported for what could not be imported.
func (im *importer) value(s *scope, name string) (*ir.Value, error) {
	for at := s; at != nil; at = at.outer {
		if v := at.values[name]; v != nil {
			return s.builder.Now(v), nil
		}
		if at.failed[name] {
			return nil, errReported
		}
		if at.omitted[name] {
			return nil, nil
		}
		if at.sparse[name] {
			return nil, fmt.Errorf("initializer %s: sparse tensors are not supported", quote(name))
		}
		if t := at.initializers[name]; t != nil {
			v, err := im.initializer(at.builder, t, name)
			if err != nil {
				at.failed[name] = true
				return nil, fmt.Errorf("initializer %s: %w", quote(name), err)
			}
			at.values[name] = v
			return v, nil
		}
	}
	return nil, fmt.Errorf("input %s is not defined", quote(name))
}

// fail notes that a node's outputs could not be imported.
func (s *scope) fail(n *wire.Node) {
	for _, o := range n.Outputs {
		if o != "" {
			s.failed[o] = true
		}
	}
}
