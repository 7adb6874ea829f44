package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// importImputer imports Imputer. It replaces elements that equal replaced_value, or NaN if replaced_value is NaN.
// The attribute of new values has either one number for all elements, or one number for each index of the last
// axis.
func importImputer(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	d := x.Type.DType
	floats, replacedFloat := c.Floats("imputed_value_floats", nil), c.Float("replaced_value_float", 0)
	ints, replacedInt := c.Ints("imputed_value_int64s", nil), c.Int("replaced_value_int64", 0)
	replaced := ir.NewTensor(d)
	var imputed *ir.Tensor
	switch {
	case d.IsFloat():
		imputed = ir.FloatTensor(d, floats...)
		replaced.SetFloat(0, replacedFloat)
	case d.IsInt():
		imputed = ir.NewTensor(d, len(ints))
		for i, v := range ints {
			imputed.SetInt(i, int64(v))
		}
		replaced.SetInt(0, int64(replacedInt))
	default:
		return nil, fmt.Errorf("operand is %s, numbers expected", d)
	}
	if imputed.Len() == 0 {
		return nil, fmt.Errorf("no values to impute in %s", d)
	}
	x, value, err := perFeature(b, x, imputed)
	if err != nil {
		return nil, err
	}
	var gone *ir.Value
	if d.IsFloat() && math.IsNaN(replacedFloat) {
		gone = b.Node(IsNaN{}, x)
	} else {
		gone = b.Node(Equal{}, x, b.Const(replaced))
	}
	return []*ir.Value{b.Node(Where{}, gone, value, x)}, nil
}
