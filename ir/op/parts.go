package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Parts says how a kernel splits a sum of f32 products. The sum is then computed as a sum of partial sums.
type Parts struct {
	// Terms is the largest number of terms that are added sequentially. A longer sum is the sum of
	// partial sums, which rounds less. 0 means as many as is fastest.
	Terms int
}

// Summer is an operator whose kernel can add up its sums in [Parts].
type Summer interface {
	ir.Op
	// InParts returns the operator of n with partial sums of the given number of terms. It returns
	// nil if no sum has more terms.
	InParts(n *ir.Node, terms int) ir.Op
}

// SplitSum splits a sum of n terms into partial sums of at most `terms` terms each. several is true if there may be
// more than one partial sum.
func SplitSum(n dim.Dim, terms int) (p Parts, several bool) {
	_, most := n.Bounds()
	return Parts{terms}, most > int64(terms)
}
