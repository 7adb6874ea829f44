package op

import "github.com/burngen/burngen/ir"

// reread presents a node to an import function with other operands, args, and another operator set version, opset.
type reread struct {
	ir.Importer
	opset int
	args  []*ir.Value
}

// asOpset returns an import function that calls read for the node as if the model had the given opset. It is for
// operators of other domains whose attributes and operands are those of an ONNX operator at that opset.
func asOpset(opset int, read func(ir.Importer) ([]*ir.Value, error)) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) { return read(reread{c, opset, argsOf(c)}) }
}

// withArgs returns an importer for the node of c, but with the operands args instead of the node's own operands.
func withArgs(c ir.Importer, args ...*ir.Value) ir.Importer { return reread{c, c.Opset(), args} }

func argsOf(c ir.Importer) []*ir.Value {
	args := make([]*ir.Value, c.NumArgs())
	for i := range args {
		args[i] = c.Arg(i)
	}
	return args
}

func (r reread) Opset() int { return r.opset }

func (r reread) NumArgs() int { return len(r.args) }

// Arg returns operand i of args, or nil if args lacks it. Before it returns nil, it asks the importer for an operand
// that the node lacks. The importer then records that an operand is missing.
func (r reread) Arg(i int) *ir.Value {
	if i < len(r.args) && r.args[i] != nil {
		return r.args[i]
	}
	if r.Importer.Arg(i) == nil {
		return nil
	}
	return r.Importer.Arg(r.Importer.NumArgs())
}

// Constant returns the value of operand i if it is known: the model gives it, or it is computed from constants.
// Otherwise Constant returns nil.
func (r reread) Constant(i int) *ir.Tensor {
	v := r.Arg(i)
	if v == nil {
		return nil
	}
	for k, arg := range argsOf(r.Importer) {
		if arg == v {
			return r.Importer.Constant(k)
		}
	}
	t, _ := v.ConstValue()
	return t
}

// channelsLast returns the import function of an operator on tensors [N,spatial…,C]. read is the import function of
// the operator on tensors [N,C,spatial…]. `operands` are the indices of the operands whose channels are last. The
// channels of the results are last, too.
func channelsLast(read func(ir.Importer) ([]*ir.Value, error), operands ...int) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		b, args := c.Builder(), argsOf(c)
		for _, i := range operands {
			if i < len(args) && args[i] != nil {
				args[i] = channelsToFront(b, args[i])
			}
		}
		out, err := read(withArgs(c, args...))
		if err != nil {
			return nil, err
		}
		for i, v := range out {
			out[i] = channelsToBack(b, v)
		}
		return out, nil
	}
}

// channelsToFront transposes [N,spatial…,C] to [N,C,spatial…].
func channelsToFront(b *ir.Builder, v *ir.Value) *ir.Value {
	rank := v.Type.Rank()
	if rank < 3 {
		ir.Fail("%s has no spatial axes", v.Type)
	}
	perm := AllAxes(rank)
	copy(perm[2:], perm[1:])
	perm[1] = rank - 1
	return TransposeBy(b, v, perm...)
}

// channelsToBack transposes [N,C,spatial…] to [N,spatial…,C].
func channelsToBack(b *ir.Builder, v *ir.Value) *ir.Value {
	perm := AllAxes(v.Type.Rank())
	copy(perm[1:], perm[2:])
	perm[len(perm)-1] = 1
	return TransposeBy(b, v, perm...)
}
