package onnx

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// maxComputed is the maximum length of a chain of operators that is evaluated at import. The result
// of a longer chain does not count as a constant.
const maxComputed = 16

// constant returns the elements of v if they can be computed at import. v must be a constant, a
// small weight, or the result of a chain of at most maxComputed operators with small results.
// Otherwise constant returns nil. It returns an error if a weight cannot be read, or if the budget
// of [importer.look] is exhausted.
func (im *importer) constant(v *ir.Value) (*ir.Tensor, error) {
	return im.computed(v, maxComputed)
}

func (im *importer) computed(v *ir.Value, steps int) (*ir.Tensor, error) {
	if v == nil || v.Def == nil {
		return nil, nil
	}
	switch op := v.Def.Op.(type) {
	case ir.Constant:
		return op.Value, nil
	case ir.Load:
		return im.decodedWeight(op.Name)
	}
	if t, ok := im.weights.computed[v]; ok {
		return t, nil
	}
	im.weights.computed[v] = nil // unless it turns out to be one
	if steps == 0 || !isFunction(v.Def) {
		return nil, nil
	}
	args, looked := make([]*ir.Tensor, len(v.Def.Args)), 1
	for i, a := range v.Def.Args {
		if a == nil {
			continue
		}
		t, err := im.computed(a, steps-1)
		if t == nil || t.Len() > maxConstant {
			return nil, err
		}
		args[i], looked = t, looked+t.Len()
	}
	if err := im.look(looked); err != nil {
		return nil, err
	}
	out, err := v.Def.Op.Eval(args)
	if err != nil || len(out) != len(v.Def.Results) {
		return nil, nil // it fails when the model runs
	}
	for i, r := range v.Def.Results {
		im.weights.computed[r] = out[i]
	}
	return im.weights.computed[v], nil
}

// isFunction reports whether a node's results are small tensors that depend only on its operands.
func isFunction(n *ir.Node) bool {
	switch n.Op.(type) {
	case ir.Effect, ir.Invoke, ir.Binder, op.Custom, interface{ IsRandom() }:
		return false
	}
	for _, r := range n.Results {
		elems, ok := r.Type.Elems().Int()
		if !r.Type.IsTensor() || !ok || elems > maxConstant {
			return false
		}
	}
	return len(n.Blocks) == 0
}
