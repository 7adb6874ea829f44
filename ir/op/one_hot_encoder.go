package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func importOneHotEncoder(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	texts, numbers := textTensor(c.Texts("cats_strings", nil)), intTensor(c.Ints("cats_int64s", nil))
	keys := texts
	if x.Type.DType != ir.String {
		keys, x = numbers, ConvertTo(b, x, ir.I64)
	}
	if keys.Len() == 0 {
		return nil, fmt.Errorf("no categories of %s", keys.DType)
	}
	places := ir.NewTensor(ir.I64, keys.Len())
	for i := range places.Len() {
		places.SetInt(i, int64(i))
	}
	var other *ir.Tensor
	if c.Int("zeros", 1) != 0 {
		other = ir.IntTensor(ir.I64, int64(keys.Len()))
	}
	place, err := lookup(b, x, keys, places, other)
	if err != nil {
		return nil, err
	}
	offOn := b.Const(ir.FloatTensor(ir.F32, 0, 1))
	return []*ir.Value{b.Node(OneHot{Axis: x.Type.Rank(), Depth: dim.Const(keys.Len())}, place, offOn)}, nil
}
