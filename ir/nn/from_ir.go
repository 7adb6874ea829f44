package nn

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Graph is an imported network as a module. If the field of a module that holds the Graph has the tag `nn:"."`, the
// weights keep the names that they have in their file.
type Graph struct {
	// Params are the trainable weights, and Buffers the others: integers and running statistics.
	Params  map[string]Param  `nn:"."`
	Buffers map[string]Buffer `nn:"."`
	fn      *ir.Func
}

// FromIR returns the first function of an imported network as a module. Call it with the results of an importer:
// nn.FromIR(onnx.Load("resnet50.onnx")). It panics with an [*Error] if err is not nil, if the module has no
// function, or if a weight has no data.
func FromIR(m *ir.Module, err error) *Graph {
	if err != nil {
		fail("%v", err)
	}
	if m == nil || len(m.Funcs) == 0 {
		fail("the module has no function")
	}
	g := &Graph{Params: map[string]Param{}, Buffers: map[string]Buffer{}, fn: m.Funcs[0]}
	statistics := map[string]bool{}
	for n := range g.fn.All() {
		if _, ok := n.Op.(op.BatchNormalization); ok {
			for _, a := range n.Args[3:] {
				if a.Def == nil {
					continue
				}
				if l, ok := a.Def.Op.(ir.Load); ok {
					statistics[l.Name] = true
				}
			}
		}
	}
	for _, w := range m.Weights {
		if w.Data == nil {
			fail("weight %q has no data", w.Name)
		}
		p := givenParam(w)
		if !w.Type.DType.IsFloat() || statistics[w.Name] {
			g.Buffers[w.Name] = Buffer{asBuffer(p)}
			continue
		}
		g.Params[w.Name] = Param{p: p}
	}
	return g
}

// Freeze marks the network as not trained, and returns it.
func (g *Graph) Freeze() *Graph { return Freeze(g) }

// Forward applies the network. operands are in the order of the network's inputs, and the results in the order of
// its outputs.
func (g *Graph) Forward(operands ...Value) []Value {
	if len(operands) != len(g.fn.Params) {
		fail("%d operands for %d inputs", len(operands), len(g.fn.Params))
	}
	f := g.fn.Clone()
	bound := map[string]dim.Dim{}
	for i, p := range f.Params {
		t := operands[i].typ()
		if t.DType != p.Type.DType || t.Rank() != p.Type.Rank() {
			fail("operand %d is %s, input %s is %s", i, t, p, p.Type)
		}
		for k, d := range p.Type.Shape {
			if names := d.Symbols(); len(names) == 1 && d.Equal(dim.Sym(names[0])) {
				if _, ok := bound[names[0]]; !ok {
					bound[names[0]] = t.Shape[k]
				}
			}
		}
	}
	f.Subst(bound)
	env := map[*ir.Value]Value{}
	for i, p := range f.Params {
		if t := operands[i].typ(); !slices.EqualFunc(t.Shape, p.Type.Shape, dim.Dim.Same) {
			fail("operand %d is %s, input %s is %s", i, t, p, p.Type)
		}
		env[p] = operands[i]
	}
	f.Nodes = slices.DeleteFunc(f.Nodes, func(n *ir.Node) bool {
		l, ok := n.Op.(ir.Load)
		if ok {
			env[n.Results[0]] = g.weight(l.Name)
		}
		return ok
	})
	take(f.Nodes, env)
	out := make([]Value, len(f.Results))
	for i, r := range f.Results {
		out[i] = env[r]
	}
	return out
}

func (g *Graph) weight(name string) Value {
	if p, ok := g.Params[name]; ok {
		return p.Value()
	}
	return g.Buffers[name].Value()
}
