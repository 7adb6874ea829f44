package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// importLabelEncoder imports LabelEncoder. Before opset 2 the node has a list of strings, and maps a string to its
// index or an index to its string. From opset 2 on it has a list of keys and a list of values. From opset 4 on
// these lists may be tensors.
func importLabelEncoder(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	if c.Opset() < 2 {
		texts := textTensor(c.Texts("classes_strings", nil))
		places := ir.NewTensor(ir.I64, texts.Len())
		for i := range places.Len() {
			places.SetInt(i, int64(i))
		}
		return importTextTable(c, texts, places)
	}
	keys, err := labelList(c, "keys", x.Type.DType)
	if err != nil {
		return nil, err
	}
	values, err := labelList(c, "values", ir.Invalid)
	if err != nil {
		return nil, err
	}
	if keys.DType != x.Type.DType {
		return nil, fmt.Errorf("keys are %s, the operand is %s", keys.DType, x.Type.DType)
	}
	y, err := lookup(c.Builder(), x, keys, values, labelDefault(c, values.DType))
	return []*ir.Value{y}, err
}

func importCategoryMapper(c ir.Importer) ([]*ir.Value, error) {
	return importTextTable(c, textTensor(c.Texts("cats_strings", nil)), intTensor(c.Ints("cats_int64s", nil)))
}

func importTextTable(c ir.Importer, texts, numbers *ir.Tensor) ([]*ir.Value, error) {
	number, text := ir.NewTensor(ir.I64, 1), ir.NewTensor(ir.String, 1)
	number.SetInt(0, int64(c.Int("default_int64", -1)))
	text.SetText(0, c.Text("default_string", "_Unused"))
	keys, values, other := texts, numbers, number
	x := c.Arg(0)
	if x.Type.DType != ir.String {
		keys, values, other = numbers, texts, text
	}
	if x.Type.DType != keys.DType {
		return nil, fmt.Errorf("operand is %s, strings or i64 expected", x.Type.DType)
	}
	y, err := lookup(c.Builder(), x, keys, values, other)
	return []*ir.Value{y}, err
}

// labelList returns a list of keys or values. Four attributes, whose names start with `name`, may hold it. If
// several are present, labelList ignores empty lists, because exporters may write empty lists beside the list in
// use. It then also ignores lists whose element type is not want, unless want is Invalid. It returns an error
// unless one list is left.
func labelList(c ir.Importer, name string, want ir.DType) (*ir.Tensor, error) {
	var lists []*ir.Tensor
	if c.Has(name + "_strings") {
		lists = append(lists, textTensor(c.Texts(name+"_strings", nil)))
	}
	if c.Has(name + "_int64s") {
		lists = append(lists, intTensor(c.Ints(name+"_int64s", nil)))
	}
	if c.Has(name + "_floats") {
		lists = append(lists, ir.FloatTensor(ir.F32, c.Floats(name+"_floats", nil)...))
	}
	if tensor := name + "_tensor"; c.Opset() >= 4 && c.Has(tensor) {
		t := c.Tensor(tensor)
		lists = append(lists, t.Reshape(t.Len()))
	}
	if len(lists) > 1 {
		lists = slices.DeleteFunc(lists, func(t *ir.Tensor) bool { return t.Len() == 0 || want != ir.Invalid && t.DType != want })
	}
	if len(lists) != 1 {
		return nil, fmt.Errorf("%d lists of %s, one expected", len(lists), name)
	}
	return lists[0], nil
}

// labelDefault returns the value for unknown keys. From opset 4 on, it is the attribute default_tensor, unchanged,
// if there is one. Otherwise it is one element of type d: the attribute of this type, or by default "_Unused", −1
// or −0.
func labelDefault(c ir.Importer, d ir.DType) *ir.Tensor {
	text, number, float := c.Text("default_string", "_Unused"), c.Int("default_int64", -1), c.Float("default_float", math.Copysign(0, -1))
	if c.Opset() >= 4 && c.Has("default_tensor") {
		return c.Tensor("default_tensor")
	}
	t := ir.NewTensor(d, 1)
	switch {
	case d == ir.String:
		t.SetText(0, text)
	case d.IsFloat():
		t.SetFloat(0, float)
	default:
		t.SetInt(0, int64(number))
	}
	return t
}
