package nn

import "github.com/burngen/burngen/ir/op"

// Detach returns v, but no gradient flows back through the result.
func (v Value) Detach() Value { return one(op.Detach{}, v) }
