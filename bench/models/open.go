package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// open, as an extent, stands for the symbol N.
const open = -1

// openBatch replaces the batch of 1, the first extent of inputs and outputs, by the symbol N. It makes Reshape nodes
// of activations copy the first extent of their operand.
func (g *graph) openBatch() error {
	for _, list := range [][][]byte{g.inputs, g.outputs} {
		for i, b := range list {
			v, err := opened(b)
			if err != nil {
				return err
			}
			list[i] = v
		}
	}
	weights, shapes := map[string]bool{}, map[string]bool{}
	for _, b := range g.inits {
		t, err := parse(b)
		if err != nil {
			return err
		}
		weights[t.text(tensorName)] = true
	}
	for _, b := range g.nodes {
		n, err := parse(b)
		if err != nil {
			return err
		}
		if args := n[nodeInput]; n.text(nodeOp) == "Reshape" && len(args) == 2 && !weights[string(args[0].bytes)] {
			shapes[string(args[1].bytes)] = true
		}
	}
	for i, b := range g.inits {
		t, _ := parse(b)
		name := t.text(tensorName)
		if !shapes[name] {
			continue
		}
		dims, err := t.ints()
		if err != nil {
			return err
		}
		if len(dims) < 2 || dims[0] != 1 {
			return fmt.Errorf("shape %q is %v, of no batch of 1", name, dims)
		}
		dims[0] = 0 // copy the dimension
		g.inits[i] = intsTensor(name, dims)
	}
	return nil
}

// opened replaces the first extent of a float tensor by N, and returns the new declaration. b is the tensor's
// declaration. The first extent must be 1.
func opened(b []byte) ([]byte, error) {
	m, err := parse(b)
	if err != nil {
		return nil, err
	}
	name := m.text(valueName)
	for _, n := range []protowire.Number{valueType, typeTensor, tensorShape} {
		if m, err = parse([]byte(m.text(n))); err != nil {
			return nil, err
		}
	}
	var dims []int
	for _, f := range m[shapeDim] {
		d, err := parse(f.bytes)
		if err != nil {
			return nil, err
		}
		dims = append(dims, int(d.number(dimIs)))
	}
	if len(dims) == 0 || dims[0] != 1 {
		return nil, fmt.Errorf("%q is %v, without a batch of 1", name, dims)
	}
	dims[0] = open
	return value(name, dims), nil
}
