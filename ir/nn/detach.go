package nn

import "github.com/burngen/burngen/ir/op"

// Detach returns v without its gradient.
func (v Value) Detach() Value { return one(op.Detach{}, v) }
