package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importBiasGelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Gelu{}, biased(c))}, nil
}

// importFastGelu imports FastGelu of com.microsoft: the approximate Gelu of x + bias. The bias is optional.
func importFastGelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Gelu{Tanh: true}, biased(c))}, nil
}

func biased(c ir.Importer) *ir.Value {
	if c.Arg(1) == nil {
		return c.Arg(0)
	}
	return c.Builder().Node(Add{}, c.Arg(0), c.Arg(1))
}

// importQuickGelu imports QuickGelu of com.microsoft: x/(1 + e^(−alpha·x)). alpha is 1.702 by default.
func importQuickGelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Swish{Alpha: c.Float("alpha", 1.702)}, c.Arg(0))}, nil
}

// importBiasSplitGelu imports BiasSplitGelu of com.microsoft. It splits x + bias into two halves along the last
// axis, and returns the first half times the Gelu of the second half.
func importBiasSplitGelu(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), biased(c)
	last := x.Type.Rank() - 1
	if last < 0 {
		return nil, fmt.Errorf("%s has no axes", x.Type)
	}
	half := divide(x.Type.Shape[last], dim.Const(2))
	gate := b.Node(Gelu{}, sliceAxis(b, x, last, half, half))
	return []*ir.Value{b.Node(Mul{}, sliceAxis(b, x, last, dim.Const(0), half), gate)}, nil
}

func importBiasAdd(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Add{}, biased(c), c.Arg(2))}, nil
}
