package pass

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// partTerms is how many terms of a sum are added one after the other in strict mode. The
// error of a long sum in parts of b terms grows with the root of b, and ONNX Runtime's parts
// have 128 to 256 terms.
const partTerms = 128

// divideSums makes long sums of products ones of parts of them, where floats have to be
// rounded no more than elsewhere.
func divideSums(ctx *Context, m *ir.Module) (bool, error) {
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
