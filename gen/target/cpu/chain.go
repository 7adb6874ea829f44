package cpu

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
)

// Tile is a run of adjacent elements that a [TileCall] works on.
type Tile struct {
	Kind TileKind
	// Index is the index among the operands, the results or the temporary runs.
	Index int
}

// TileKind says what a [Tile], a run of adjacent elements, belongs to: an operand, a result, or a temporary value.
type TileKind uint8

// The kinds of tiles.
const (
	TileOperand TileKind = iota
	TileResult
	TileTemp
)

// TileCall is a call of a vector primitive on runs of adjacent elements. An argument is a [Tile], which stands for a
// run, or a constant, such as a [kernel.Number].
type TileCall struct {
	Kernel   *kernel.Kernel
	Instance int // see [kernel.Call]
	Args     []any
	Node     *ir.Node
}

// Chain is a function that a kernel applies in place to runs of its result. A run is a slice of the result. Operand 0
// of the function is a run, and the function's only result is the new content of the run.
type Chain struct {
	Region *ir.Block
	Body   []TileCall
}

// newChain compiles a region that can be computed in place on a run of elements. A node may read three kinds of
// operands: the result of the previous node, which is in the run; further parameters of the region; and constants.
// newChain returns an error if a node reads another value, or if no kernel computes it.
func newChain(region *ir.Block) (*Chain, error) {
	c := &Chain{Region: region}
	at := region.Params[0]
	for _, n := range region.Nodes {
		if _, ok := n.Op.(ir.Constant); ok {
			continue
		}
		computes, err := call.Of(n)
		if err != nil {
			return nil, err
		}
		tc := TileCall{Kernel: computes.Kernel, Instance: computes.Instance, Node: n}
		for _, a := range computes.Args {
			arg, err := chainArg(region, at, a)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", n.Text(), err)
			}
			tc.Args = append(tc.Args, arg)
		}
		c.Body = append(c.Body, tc)
		at = n.Results[0]
	}
	if len(region.Results) != 1 || region.Results[0] != at {
		return nil, fmt.Errorf("the region is not a chain")
	}
	return c, nil
}

func chainArg(region *ir.Block, at *ir.Value, a any) (any, error) {
	switch a := a.(type) {
	case kernel.Result:
		return Tile{TileOperand, 0}, nil
	case kernel.Operand:
		if a.Value == at {
			return Tile{TileOperand, 0}, nil
		}
		if i := slices.Index(region.Params[1:], a.Value); i >= 0 {
			return Tile{TileOperand, i + 1}, nil
		}
		return nil, fmt.Errorf("%s is not at hand", a.Value)
	}
	return a, nil
}
