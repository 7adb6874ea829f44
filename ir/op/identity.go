package op

import "github.com/burngen/burngen/ir"

// importIdentity imports Identity: it returns its operand, a value of any type.
func importIdentity(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Arg(0)}, nil
}
