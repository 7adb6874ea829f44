package program

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Tile is an operand of a [TileCall]: which run of elements it works on.
type Tile struct {
	Kind TileKind
	// Index counts the operands, the results or the temporary runs.
	Index int
}

// TileKind tells what a [Tile] is a run of.
type TileKind uint8

// The kinds of tiles.
const (
	TileOperand TileKind = iota
	TileResult
	TileTemp
)

// TileCall is a call of a vector primitive on runs of elements. An argument is a
// [Tile], [ir.Number], or another constant of a [Call].
type TileCall struct {
	Kernel string
	Args   []any
	Node   *ir.Node
}

// Chain is a function that a kernel applies to runs of its result: operand 0
// and the only result are the run itself.
type Chain struct {
	Region *ir.Block
	Body   []TileCall
}

// newChain compiles a region that can be computed in place: no node takes the
// result of another but the one before it.
func newChain(region *ir.Block) (*Chain, error) {
	c := &Chain{Region: region}
	at := region.Params[0]
	for _, n := range region.Nodes {
		if _, ok := n.Op.(ir.Constant); ok {
			continue
		}
		call, err := n.Op.(ir.Caller).Call(n)
		if err != nil {
			return nil, err
		}
		tc := TileCall{Kernel: call.Kernel, Node: n}
		for _, a := range call.Args {
			arg, err := chainArg(region, n, at, a)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", n.Text(), err)
			}
			tc.Args = append(tc.Args, arg)
		}
		c.Body = append(c.Body, tc)
		at = n.Results[0]
	}
	if len(region.Results) != 1 || region.Results[0] != at {
		return nil, fmt.Errorf("the region is no chain")
	}
	return c, nil
}

func chainArg(region *ir.Block, n *ir.Node, at *ir.Value, a any) (any, error) {
	switch a := a.(type) {
	case ir.Out:
		return Tile{TileOperand, 0}, nil
	case ir.In:
		v := n.Args[a]
		if v == at {
			return Tile{TileOperand, 0}, nil
		}
		for i, p := range region.Params[1:] {
			if v == p {
				return Tile{TileOperand, i + 1}, nil
			}
		}
		return nil, fmt.Errorf("%s is not at hand", v)
	case int:
		return ir.Const(a), nil
	}
	return a, nil
}
