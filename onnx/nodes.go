package onnx

import (
	"path/filepath"

	"github.com/burngen/burngen/onnx/internal/wire"
)

// Node is a node of a model's graph as stored in the file.
type Node struct {
	// Name is the node's name in positions of the IR.
	Name string
	// Operator is the operator's name, with its domain before a dot if that is not ai.onnx.
	Operator string
	// Version is the version of the operator's definition in the model's opset, or 0 if the
	// operator is not known.
	Version int
}

// Knows reports whether package op can import an operator.
func Knows(domain, name string) bool { return rules[ruleName(domain, name)] != nil }

// Nodes returns the nodes of a file's graph, in the order of the file. Nodes of functions and of graphs
// within nodes are left out. It returns an error if the file is not a readable ONNX model.
func Nodes(path string) ([]Node, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, lineError(filepath.Base(path), err)
	}
	m, err := wire.ReadModel(data, wire.Limits{})
	if err != nil {
		return nil, lineError(filepath.Base(path), err)
	}
	opsets := map[string]int{}
	for _, o := range m.Opsets {
		opsets[domainName(o.Domain)] = int(min(max(o.Version, 0), newestOpset))
	}
	nodes := make([]Node, len(m.Graph.Nodes))
	for i := range m.Graph.Nodes {
		n := &m.Graph.Nodes[i]
		nodes[i] = Node{Name: shorten(nameOf(n), maxName), Operator: plain(qualified(n))}
		if r := rules[ruleName(domainName(n.Domain), n.OpType)]; r != nil {
			nodes[i].Version = since(r, opsets[domainName(n.Domain)])
		}
	}
	return nodes, nil
}
