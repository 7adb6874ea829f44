package op

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Pointwise computes its region for each element of its operands, which broadcast. The parameters and nodes of the
// region have the types of single elements. A kernel computes the region in loops over many adjacent elements at
// once, by vector primitives.
type Pointwise struct{}

var errScalarRegion = errors.New("the region of a pointwise node computes single elements")

// Infer returns an error: [Pointwise.InferBlocks] is used instead.
func (Pointwise) Infer([]ir.Type) ([]ir.Type, error) { return nil, errScalarRegion }

// Eval returns an error: [Pointwise.EvalBlocks] is used instead.
func (Pointwise) Eval([]*ir.Tensor) ([]*ir.Tensor, error) { return nil, errScalarRegion }

// InferBlocks returns the types of the results. Result i of the node has the element type of result i of the region,
// and the shape to which the operands are broadcast.
func (Pointwise) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if len(blocks) != 1 {
		return nil, fmt.Errorf("%d regions, 1 expected", len(blocks))
	}
	if err := checkElementwise(blocks[0], in); err != nil {
		return nil, err
	}
	shape, err := broadcastShape(in)
	if err != nil {
		return nil, err
	}
	types := make([]ir.Type, len(blocks[0].Results))
	for i, r := range blocks[0].Results {
		types[i] = ir.TensorOf(r.Type.DType, shape...)
	}
	return types, nil
}

func checkElementwise(b *ir.Block, in []ir.Type) error {
	if len(b.Params) != len(in) {
		return fmt.Errorf("%d operands for a region of %d", len(in), len(b.Params))
	}
	for i, p := range b.Params {
		if !p.Type.Equal(ir.TensorOf(in[i].DType)) {
			return fmt.Errorf("parameter %s is %s for an operand of %s", p, p.Type, in[i])
		}
	}
	for _, n := range b.Nodes {
		_, isConst := n.Op.(ir.Constant)
		_, isElementwise := n.Op.(Elementwise)
		if !isConst && !isElementwise || len(n.Results) != 1 || n.Results[0].Type.Rank() != 0 {
			return fmt.Errorf("%s: %w", n.Text(), errScalarRegion)
		}
	}
	return nil
}

// EvalBlocks returns the region's results in the common shape of the operands. It evaluates the
// region on whole tensors.
func (Pointwise) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	shape, _, err := evalBroadcast(in)
	if err != nil {
		return nil, err
	}
	results, err := evalElementwise(blocks[0], in)
	if err != nil {
		return nil, err
	}
	for i, t := range results {
		results[i] = broadcastTo(t, shape)
	}
	return results, nil
}

func evalElementwise(b *ir.Block, in []*ir.Tensor) ([]*ir.Tensor, error) {
	values := map[*ir.Value]*ir.Tensor{}
	for i, p := range b.Params {
		values[p] = in[i]
	}
	for _, n := range b.Nodes {
		args := make([]*ir.Tensor, len(n.Args))
		for i, a := range n.Args {
			args[i] = values[a]
		}
		out, err := n.Op.Eval(args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ir.OpName(n.Op), err)
		}
		values[n.Results[0]] = out[0]
	}
	results := make([]*ir.Tensor, len(b.Results))
	for i, r := range b.Results {
		results[i] = values[r]
	}
	return results, nil
}

func broadcastTo(t *ir.Tensor, shape []int) *ir.Tensor {
	y := ir.NewTensor(t.DType, shape...)
	walk := newIndex(shape, t.Shape)
	for i := range y.Len() {
		y.Copy(i, t, walk.Offset)
		walk.Next()
	}
	return y
}

// Overwrites returns the indices of the operands whose memory the result may reuse: 0 to 7. The kernel reads element
// i of an operand before it writes element i of the result.
func (Pointwise) Overwrites() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7} }

// IsMemoryBound marks the operator as bound by memory bandwidth.
func (Pointwise) IsMemoryBound() {}
