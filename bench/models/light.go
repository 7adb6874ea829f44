package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// light returns the graph of one of the official light models with random weights.
func light(corpus, name string) (*graph, error) {
	path := filepath.Join(corpus, "onnx-light", "light_"+name, "model.onnx")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g, err := reseed(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}

type role int

const (
	unused role = iota
	kernel      // weights of a convolution
	matrix      // weights of a dense layer, a row for each output
	offset
	scale
	mean
	variance
)

// roles maps operators to the roles of their operands, by index.
var roles = map[string]map[int]role{
	"Conv":               {1: kernel, 2: offset},
	"Gemm":               {1: matrix, 2: offset},
	"BatchNormalization": {1: scale, 2: offset, 3: mean, 4: variance},
	"Mul":                {0: scale, 1: scale},
	"Add":                {0: offset, 1: offset},
}

// passing lists operators whose results have about the magnitude of their operands.
var passing = map[string]bool{
	"Add": true, "AveragePool": true, "BatchNormalization": true, "Concat": true, "MaxPool": true, "Mul": true,
	"Reshape": true, "Transpose": true, "Unsqueeze": true,
}

// use says how a value is read.
type use struct {
	role
	next string // the first operator after the one with the role that is not in passing, or ""
}

// bounds returns the range of a weight's random values. The range is chosen so that activations neither vanish nor
// explode. The weights of a convolution or a product keep the mean square of its input. If a rectifier follows, they
// double the mean square, because the rectifier halves it. The scale of a normalisation is about 1, or about 1/2
// before a Sum.
func (u use) bounds(dims []int) (low, high float64, err error) {
	switch u.role {
	case kernel, matrix:
		fan := dims[len(dims)-1]
		if u.role == kernel {
			fan = dims[1] * dims[2] * dims[3]
		}
		b := spread(fan)
		if u.next == "Relu" {
			b *= math.Sqrt2
		}
		return -b, b, nil
	case offset, mean:
		return -.1, .1, nil
	case scale:
		if u.next == "Sum" {
			return .4, .6, nil
		}
		return .8, 1.2, nil
	case variance:
		return .75, 1.25, nil
	}
	return 0, 0, fmt.Errorf("no role")
}

// reseed decodes a model and returns its graph with random weights. Weights are float initialisers and results of
// ConstantOfShape. Integer initialisers are kept.
func reseed(data []byte) (*graph, error) {
	m, err := parse(data)
	if err != nil {
		return nil, err
	}
	if len(m[modelGraph]) != 1 || len(m[modelOpset]) != 1 {
		return nil, fmt.Errorf("%d graphs, %d opsets", len(m[modelGraph]), len(m[modelOpset]))
	}
	opset, err := parse(m[modelOpset][0].bytes)
	if err != nil {
		return nil, err
	}
	in, err := parse(m[modelGraph][0].bytes)
	if err != nil {
		return nil, err
	}
	g := &graph{opset: opset.number(opsetVersion)}
	for _, f := range in[graphOut] {
		g.outputs = append(g.outputs, f.bytes)
	}

	nodes := make([]fields, len(in[graphNode]))
	for i, f := range in[graphNode] {
		if nodes[i], err = parse(f.bytes); err != nil {
			return nil, err
		}
	}
	inits := map[string]fields{}
	for _, f := range in[graphInit] {
		t, err := parse(f.bytes)
		if err != nil {
			return nil, err
		}
		inits[t.text(tensorName)] = t
	}
	for _, f := range in[graphIn] {
		v, err := parse(f.bytes)
		if err != nil {
			return nil, err
		}
		if _, ok := inits[v.text(valueName)]; !ok {
			g.inputs = append(g.inputs, f.bytes)
		}
	}

	uses := usesOf(nodes)
	wanted := map[string]bool{}
	for i, n := range nodes {
		if n.text(nodeOp) != "ConstantOfShape" {
			g.nodes = append(g.nodes, in[graphNode][i].bytes)
			for _, arg := range n[nodeInput] {
				wanted[string(arg.bytes)] = true
			}
			continue
		}
		shape, err := inits[n.text(nodeInput)].ints()
		if err != nil {
			return nil, err
		}
		if err := g.seed(n.text(nodeOutput), uses, shape); err != nil {
			return nil, err
		}
	}
	for _, f := range in[graphInit] {
		t, _ := parse(f.bytes)
		name := t.text(tensorName)
		switch {
		case !wanted[name]:
		case t.number(tensorType) == typeInt64:
			g.inits = append(g.inits, f.bytes)
		default:
			dims, err := t.varints(tensorDim)
			if err != nil {
				return nil, err
			}
			if err := g.seed(name, uses, dims); err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

func (g *graph) seed(name string, uses map[string]use, dims []int) error {
	low, high, err := uses[name].bounds(dims)
	if err != nil {
		return fmt.Errorf("weight %q: %w", name, err)
	}
	g.weight(name, low, high, dims...)
	return nil
}

// usesOf returns how each value is used by the first node that reads it. If that node is Unsqueeze or Reshape and
// the value is its first operand, the value gets the role that the node's result has.
func usesOf(nodes []fields) map[string]use {
	uses := map[string]use{}
	for i := len(nodes) - 1; i >= 0; i-- {
		op, result := nodes[i].text(nodeOp), uses[nodes[i].text(nodeOutput)]
		for k, arg := range nodes[i][nodeInput] {
			u := use{roles[op][k], result.next}
			if (op == "Unsqueeze" || op == "Reshape") && k == 0 {
				u.role = result.role
			}
			if u.role == unused && !passing[op] {
				u.next = op
			}
			uses[string(arg.bytes)] = u
		}
	}
	return uses
}
