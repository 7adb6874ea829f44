package gpu

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// chain counts the products on a path through the graph. The products between a softmax of n scores and the softmax
// before it count max(1, 2·ln n) times. [Precision.Rounding] derives a tolerance from the count.
type chain struct {
	before float64 // products up to the last softmax; a softmax increases the count
	since  float64 // products after the last softmax
}

func (c chain) length() float64 { return c.before + c.since }

func longer(a, b chain) chain {
	if b.length() > a.length() {
		return b
	}
	return a
}

func (c chain) product() chain { return chain{c.before, c.since + 1} }

// unknownScores is the number of scores that a softmax is assumed to have if the extent of its axis is a symbol.
const unknownScores = 1 << 10

func (c chain) softmax(scores dim.Dim) chain {
	n, ok := scores.Int()
	if !ok {
		n = unknownScores
	}
	return chain{before: c.before + c.since*max(1, 2*math.Log(float64(max(n, 1))))}
}

// longestChain returns the length of the longest chain of products in the function f. m is f's module. The body of a
// loop counts once.
func longestChain(m *ir.Module, f *ir.Func) float64 {
	c := chains{module: m, called: map[call]chain{}}
	return c.of(f, chain{}).length()
}

type chains struct {
	module *ir.Module
	called map[call]chain
}

// call is a call of the function called name. `at` is the longest chain that ends in an operand of the call.
type call struct {
	name string
	at   chain
}

// of returns the longest chain of products that ends in a value of f. It assumes that the chain `start` ends in each
// parameter of f. The result is at least as long as `start`.
func (c *chains) of(f *ir.Func, start chain) chain {
	known, ok := c.called[call{f.Name, start}]
	if !ok {
		before := map[*ir.Value]chain{}
		for _, p := range f.Params {
			before[p] = start
		}
		known = longer(start, c.block(&f.Block, before))
		c.called[call{f.Name, start}] = known
	}
	return known
}

// block returns the longest chain that ends in a value of a block. known maps the values computed before the block to
// their chains. block adds the values of the block to known.
func (c *chains) block(b *ir.Block, known map[*ir.Value]chain) chain {
	var longest chain
	for _, n := range b.Nodes {
		var at chain
		for _, a := range n.Args {
			at = longer(at, known[a])
		}
		at = c.node(n, at)
		start := at
		for _, inner := range n.Blocks {
			for _, p := range inner.Params {
				known[p] = start
			}
			at = longer(at, c.block(inner, known))
		}
		for _, r := range n.Results {
			known[r] = at
		}
		longest = longer(longest, at)
	}
	return longest
}

// node returns the chain that ends in a node. It does not count products in the node's blocks.
// start is the longest chain of the operands.
func (c *chains) node(n *ir.Node, start chain) chain {
	switch o := n.Op.(type) {
	case op.Attend:
		return start.product().softmax(o.Keys).product()
	case op.AttendTraining:
		return start.product().softmax(o.Keys).product()
	case op.AttendGradient:
		return start.product().softmax(o.Keys).product().product()
	case op.Attention:
		keys := n.Args[1].Type.Shape
		return start.product().softmax(keys[len(keys)-2]).product()
	case op.Softmax:
		return start.softmax(n.Results[0].Type.Shape[o.Axis])
	case op.Product:
		if n.Results[0].Type.DType.IsFloat() {
			return start.product()
		}
	case ir.Invoke:
		return c.of(c.module.Func(o.Func), start)
	}
	return start
}
