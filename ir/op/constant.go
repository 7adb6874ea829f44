package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

func importConstant(c ir.Importer) ([]*ir.Value, error) {
	t, err := constantValue(c)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Const(t)}, nil
}

func constantValue(c ir.Importer) (*ir.Tensor, error) {
	for _, name := range []string{"value", "sparse_value"} {
		if c.Has(name) {
			return c.Tensor(name), nil
		}
	}
	switch {
	case c.Has("value_float"):
		return ir.Scalar(ir.F32, c.Float("value_float", 0)), nil
	case c.Has("value_floats"):
		return ir.FloatTensor(ir.F32, c.Floats("value_floats", nil)...), nil
	case c.Has("value_int"):
		t := ir.NewTensor(ir.I64)
		t.SetInt(0, int64(c.Int("value_int", 0)))
		return t, nil
	case c.Has("value_ints"):
		return intTensor(c.Ints("value_ints", nil)), nil
	case c.Has("value_string"):
		t := ir.NewTensor(ir.String)
		t.SetText(0, c.Text("value_string", ""))
		return t, nil
	case c.Has("value_strings"):
		return textTensor(c.Texts("value_strings", nil)), nil
	}
	return nil, fmt.Errorf("no value")
}

func intTensor(n []int) *ir.Tensor {
	t := ir.NewTensor(ir.I64, len(n))
	for i, v := range n {
		t.SetInt(i, int64(v))
	}
	return t
}

func textTensor(texts []string) *ir.Tensor {
	t := ir.NewTensor(ir.String, len(texts))
	for i, s := range texts {
		t.SetText(i, s)
	}
	return t
}
