package onnx

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// scope resolves the names of a graph or of a function's body.
type scope struct {
	// outer is the scope around a graph that is an attribute, or nil for the model's graph and for
	// functions.
	outer *scope
	// builder appends to the graph's block.
	builder *ir.Builder
	// call is the inlined function, shared by the graphs in its body.
	call *frame
	// where is the prefix of messages about nodes.
	where string

	inputs map[string]bool // the names of the inputs
	values map[string]*ir.Value
	// failed holds the names whose nodes could not be imported. omitted holds the inputs of a
	// function that its caller omits.
	failed, omitted map[string]bool
	// initializers are read at their first use.
	initializers map[string]*wire.Tensor
	sparse       map[string]bool
	// declared holds the types that the file declares for values. It is filled at the first use.
	declared map[string]*wire.Type
	lists    [][]wire.ValueInfo
}

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

func (s *scope) has(name string) bool {
	return s.inputs[name] || s.initializers[name] != nil || s.sparse[name]
}

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

// value returns the value called `name`. It reads an initializer when the initializer is first
// used. It returns nil for an input that a function's caller omits. It returns errReported for a
// value that could not be imported.
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

func (s *scope) fail(n *wire.Node) {
	for _, o := range n.Outputs {
		if o != "" {
			s.failed[o] = true
		}
	}
}
