package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// partTerms is the number of terms that strict mode adds one after the other. Longer sums are added in parts of
// this length. If a part has b terms, the rounding error of the sum grows with √b. ONNX Runtime uses parts of 128
// to 256 terms.
const partTerms = 128

// divideSums divides long sums of products into sums of parts, in strict mode. The rounding errors of the sums are
// then not larger than in other implementations.
func divideSums(ctx *Context, m *ir.Module) (changed bool, err error) {
	if !ctx.Strict {
		return false, nil
	}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if o, ok := n.Op.(op.Summer); ok {
			if parts := o.InParts(n, partTerms); parts != nil {
				return b.NodeBlocks(parts, n.Blocks, n.Args...)
			}
		}
		return nil
	})
}
