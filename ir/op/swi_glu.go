package op

import "github.com/burngen/burngen/ir"

func importSwiGLU(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	gate := b.Node(Swish{Alpha: c.Float("alpha", 1)}, c.Arg(0))
	return []*ir.Value{b.Node(Mul{}, gate, c.Arg(1))}, nil
}
