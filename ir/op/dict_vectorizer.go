package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importDictVectorizer imports DictVectorizer, which converts a map to a row. The row holds the values of the map
// for the keys of a vocabulary, in this order. The value of a missing key is 0 or an empty string.
func importDictVectorizer(c ir.Importer) ([]*ir.Value, error) {
	b, m := c.Builder(), c.Arg(0)
	texts, numbers := textTensor(c.Texts("string_vocabulary", nil)), intTensor(c.Ints("int64_vocabulary", nil))
	d, err := mapElem(m.Type)
	if err != nil {
		return nil, err
	}
	keys := texts
	if m.Type.DType != ir.String {
		keys = numbers
	}
	if keys.Len() == 0 {
		return nil, fmt.Errorf("no vocabulary of %s", keys.DType)
	}
	y := b.Node(MapLookup{}, m, b.Const(keys), b.Const(ir.NewTensor(d, 1)))
	return []*ir.Value{ReshapeTo(b, y, dim.Const(1), dim.Const(keys.Len()))}, nil
}
