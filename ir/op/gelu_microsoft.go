package op

import "github.com/burngen/burngen/ir"

// importBiasGelu reads Gelu and BiasGelu of com.microsoft: the Gelu of x, and of
// x + bias.
func importBiasGelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Gelu{}, biased(c))}, nil
}

// importFastGelu reads FastGelu of com.microsoft: the approximate Gelu of x plus
// an optional bias.
func importFastGelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Gelu{Tanh: true}, biased(c))}, nil
}

// biased returns the first operand plus the second, where there is one.
func biased(c ir.Importer) *ir.Value {
	if c.Arg(1) == nil {
		return c.Arg(0)
	}
	return c.Builder().Node(Add{}, c.Arg(0), c.Arg(1))
}

// importQuickGelu reads QuickGelu of com.microsoft: x/(1 + e^(−alpha·x)).
func importQuickGelu(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(Swish{Alpha: c.Float("alpha", 1.702)}, c.Arg(0))}, nil
}
