package op

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Fusion computes its block of operators on tensors in one kernel. The parameters of the block are the operands of
// the Fusion. The last node of the block is a [Pointwise]. Only this node reads the results of the other nodes.
// Only it reads the operands from index Own on. It reads each element of such an operand before it stores the
// element of the result at the same position, so the result may reuse the operand's memory.
//
// If Rows is true, the block is of another kind. Its nodes are elementwise operators on the rows of a tensor along
// its last axis, and operators that reduce these rows. It may have several results, and Own is the number of
// operands.
type Fusion struct {
	Own  int
	Rows bool
}

var errBlock = errors.New("a fusion has a block")

// Infer returns an error: [Fusion.InferBlocks] is used instead.
func (Fusion) Infer([]ir.Type) ([]ir.Type, error) { return nil, errBlock }

// Eval returns an error: [Fusion.EvalBlocks] is used instead.
func (Fusion) Eval([]*ir.Tensor) ([]*ir.Tensor, error) { return nil, errBlock }

// InferBlocks returns the types of the results of the block.
func (op Fusion) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if len(blocks) != 1 || len(blocks[0].Params) != len(in) || op.Own < 0 || op.Own > len(in) {
		return nil, errBlock
	}
	for i, p := range blocks[0].Params {
		if !p.Type.Equal(in[i]) {
			return nil, fmt.Errorf("parameter %s is %s for an operand of %s", p, p.Type, in[i])
		}
	}
	types := make([]ir.Type, len(blocks[0].Results))
	for i, r := range blocks[0].Results {
		types[i] = r.Type
	}
	return types, nil
}

// EvalBlocks evaluates the block.
func (Fusion) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, run func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	return run(blocks[0], in)
}

// Overwrites returns the indices of the operands that only the last node reads. The result may reuse the memory of
// one of them.
func (op Fusion) Overwrites() []int {
	var may []int
	for i := range (Pointwise{}).Overwrites() {
		may = append(may, op.Own+i)
	}
	return may
}

// Encloses marks the operator as an [ir.Encloser]. The operations of the nodes in its block are counted as
// operations of the Fusion.
func (Fusion) Encloses() {}
