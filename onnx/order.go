package onnx

import (
	"slices"

	"github.com/burngen/burngen/onnx/internal/wire"
)

func graphs(n *wire.Node) []*wire.Graph {
	var all []*wire.Graph
	for i := range n.Attrs {
		a := &n.Attrs[i]
		if a.G != nil {
			all = append(all, a.G)
		}
		for j := range a.Graphs {
			all = append(all, &a.Graphs[j])
		}
	}
	return all
}

// free returns the names that graph g reads from outside of it, each once. The result is
// remembered, so that each graph is searched only once.
func (im *importer) free(g *wire.Graph) []string {
	if names, done := im.captures[g]; done {
		return names
	}
	// seen are the names that the graph defines, or that are listed already.
	seen := map[string]bool{"": true}
	for i := range g.Inputs {
		seen[g.Inputs[i].Name] = true
	}
	for i := range g.Initializers {
		seen[g.Initializers[i].Name] = true
	}
	for i := range g.Nodes {
		for _, o := range g.Nodes[i].Outputs {
			seen[o] = true
		}
	}
	var names []string
	read := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for i := range g.Nodes {
		for _, name := range g.Nodes[i].Inputs {
			read(name)
		}
		for _, inner := range graphs(&g.Nodes[i]) {
			for _, name := range im.free(inner) {
				read(name)
			}
		}
	}
	for i := range g.Outputs {
		read(g.Outputs[i].Name)
	}
	im.captures[g] = names
	return names
}

type ordering struct {
	nodes []wire.Node
	// captured holds the names that the graphs of a node read. Most nodes have no graphs.
	captured map[int][]string
	maker    map[string]int // the node that defines a name
	state    []progress
	// order lists the nodes that are needed. Definitions precede uses; otherwise the nodes are in the
	// order of the file. read holds the names that no node defines.
	order []int
	read  map[string]bool
}

type progress uint8

const (
	unneeded progress = iota
	needed
	open
	done
	broken // part of a cycle
)

// sorted returns the nodes on which the named values depend, each after the nodes whose results it
// reads. It reports names that are defined twice, and cycles. If several Constant nodes define a
// name, the last one is used, as in ONNX Runtime.
func (im *importer) sorted(s *scope, nodes []wire.Node, names []string) *ordering {
	o := &ordering{nodes: nodes, captured: map[int][]string{}, maker: map[string]int{}, state: make([]progress, len(nodes)), read: map[string]bool{}}
	for i := range nodes {
		for _, inner := range graphs(&nodes[i]) {
			o.captured[i] = append(o.captured[i], im.free(inner)...)
		}
		for _, out := range nodes[i].Outputs {
			j, twice := o.maker[out]
			switch {
			case out == "":
			case twice && isConstant(&nodes[i]) && isConstant(&nodes[j]):
				o.maker[out] = i
			case twice:
				im.nodeProblem(s, &nodes[i], i, "it defines %s, as %s does", quote(out), label(&nodes[j], j))
			case s.has(out):
				im.nodeProblem(s, &nodes[i], i, "it defines %s, which is an input or initializer", quote(out))
			default:
				o.maker[out] = i
			}
		}
	}
	o.need(names)
	for root := range nodes {
		if o.state[root] == needed {
			im.visit(s, o, root)
		}
	}
	return o
}

func isConstant(n *wire.Node) bool { return n.OpType == "Constant" && domainName(n.Domain) == "" }

// uses returns name i of the names that a node reads. The list has the node's inputs, followed by
// the names that the node's graphs read from outside. ok is false if the list has at most i names.
func (o *ordering) uses(node, i int) (name string, ok bool) {
	inputs := o.nodes[node].Inputs
	if i < len(inputs) {
		return inputs[i], true
	}
	captured := o.captured[node]
	if i -= len(inputs); i < len(captured) {
		return captured[i], true
	}
	return "", false
}

func (o *ordering) need(names []string) {
	pending := slices.Clone(names)
	for len(pending) > 0 {
		name := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		i, made := o.maker[name]
		if !made {
			o.read[name] = true
			continue
		}
		if o.state[i] == needed {
			continue
		}
		o.state[i] = needed
		pending = append(pending, o.nodes[i].Inputs...)
		pending = append(pending, o.captured[i]...)
	}
}

// visit appends nodes to o.order: first the nodes that node `root` depends on, and then this node.
func (im *importer) visit(s *scope, o *ordering, root int) {
	type frame struct{ node, next int }
	stack := []frame{{node: root}}
	o.state[root] = open
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		name, more := o.uses(top.node, top.next)
		top.next++
		if !more {
			if o.state[top.node] == open {
				o.state[top.node] = done
				o.order = append(o.order, top.node)
			}
			stack = stack[:len(stack)-1]
			continue
		}
		i, made := o.maker[name]
		switch {
		case !made:
		case o.state[i] == needed:
			o.state[i] = open
			stack = append(stack, frame{node: i})
		case o.state[i] == open:
			o.state[i] = broken
			im.nodeProblem(s, &o.nodes[i], i, "it is part of a cycle through %s", quote(name))
			s.fail(&o.nodes[i])
		}
	}
}
