package op

import "github.com/burngen/burngen/ir"

// importIdentity reads Identity, of a value of any type.
func importIdentity(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Arg(0)}, nil
}
