package nn

import "github.com/burngen/burngen/ir/op"

// Detach returns v cut off from differentiation: no gradient flows through it.
func (v Value) Detach() Value { return one(op.Detach{}, v) }
