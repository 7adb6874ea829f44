package pass

import "github.com/burngen/burngen/ir"

// decomposeOps replaces operators by sequences of simpler operators, which the passes of the target then see. It
// leaves operators that a pass of the target may compute as a whole.
func decomposeOps(ctx *Context, m *ir.Module) (changed bool, err error) {
	return ctx.lowerWhere(m, func(n *ir.Node) bool { return !ctx.Target.Keeps(n) })
}
