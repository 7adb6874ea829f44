package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

const maxSparseMap = 1 << 20

// importCastMap imports CastMap, which converts a map with i64 keys to a row of its values. The values are in the
// order of the keys. With map_form SPARSE, the keys are the indices of the values in a row of max_map elements, and
// all other elements are 0.
func importCastMap(c ir.Importer) ([]*ir.Value, error) {
	b, m := c.Builder(), c.Arg(0)
	to, ok := map[string]ir.DType{"TO_FLOAT": ir.F32, "TO_STRING": ir.String, "TO_INT64": ir.I64}[c.Text("cast_to", "TO_FLOAT")]
	if !ok {
		return nil, fmt.Errorf("unknown cast_to %q", c.Text("cast_to", ""))
	}
	form, size := c.Text("map_form", "DENSE"), c.Int("max_map", 1)
	d, err := mapElem(m.Type)
	if err != nil {
		return nil, err
	}
	var y *ir.Value
	switch {
	case m.Type.DType != ir.I64:
		return nil, fmt.Errorf("operand is %s, a map from i64 expected", m.Type)
	case form == "DENSE":
		y = b.Node(MapValues{Count: b.Symbol("values")}, m)
	case form != "SPARSE" || size < 0 || size > maxSparseMap:
		return nil, fmt.Errorf("map_form %q, max_map %d", form, size)
	default:
		places := ir.NewTensor(ir.I64, size)
		for i := range size {
			places.SetInt(i, int64(i))
		}
		zero := ir.NewTensor(d, 1)
		if d == ir.String {
			zero.SetText(0, "0")
		}
		y = b.Node(MapLookup{}, m, b.Const(places), b.Const(zero))
	}
	return []*ir.Value{ConvertTo(b, ReshapeTo(b, y, dim.Const(1), y.Type.Shape[0]), to)}, nil
}
