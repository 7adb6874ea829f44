package op

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Fusion computes its block of operators on tensors in one kernel: a [Pointwise] node, and before it operators whose
// results only this node reads. The parameters of the block are the operands. The last node alone reads the
// operands from number Own on, and it reads each element of them no later than the element of the result in the same
// place is stored.
type Fusion struct{ Own int }

var errBlock = errors.New("a fusion has a block")

// Infer reports that the block is needed.
func (Fusion) Infer([]ir.Type) ([]ir.Type, error) { return nil, errBlock }

// Eval reports that the block is needed.
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

// Overwrites allows the result to reuse the memory of the operands that only the last node reads.
func (op Fusion) Overwrites() []int {
	var may []int
	for i := range (Pointwise{}).Overwrites() {
		may = append(may, op.Own+i)
	}
	return may
}

// Encloses marks the nodes of the block as the work of the operator.
func (Fusion) Encloses() {}
