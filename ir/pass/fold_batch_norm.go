package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// foldBatchNorm moves a batch normalization, x·s + t, into the convolution, matrix product or batch normalization
// that computes x. Nothing else may read x. The weights of that operator are w, and its bias is c. The new weights
// are w·s and the new bias is c·s + t. s and t follow from the statistics, and are computed once, before all runs.
func foldBatchNorm(ctx *Context, m *ir.Module) (changed bool, err error) {
	if ctx.Strict {
		return false, nil
	}
	known := fixed{}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		o, ok := n.Op.(op.BatchNormalization)
		if !ok || b.Uses(n.Args[0]) != 1 {
			return nil
		}
		for _, a := range n.Args[1:] {
			if !known.has(a) || a.Type.Rank() != 1 {
				return nil
			}
		}
		l := linear{b: b, known: known}
		if !l.accepts(n.Args[0], true, true) || channelAxis(n.Args[0]) != 1 {
			return nil
		}
		s, t := o.Affine(b, n)
		ctx.Count(FoldedBatchNorms, 1)
		return []*ir.Value{l.scaled(n.Args[0], s, t)}
	})
}
