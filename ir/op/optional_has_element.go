package op

import "github.com/burngen/burngen/ir"

// OptionalHasElement returns a bool scalar that says whether an optional has an element (ONNX OptionalHasElement,
// from opset 15).
type OptionalHasElement struct{}

// Infer returns bool[]. It returns an error unless the operand is an optional.
func (OptionalHasElement) Infer(in []ir.Type) ([]ir.Type, error) {
	_, err := optionalElem(in)
	return []ir.Type{ir.TensorOf(ir.Bool)}, err
}

// Eval returns true if the optional has an element.
func (OptionalHasElement) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := ir.NewTensor(ir.Bool)
	y.SetBool(0, len(in[0].Items) > 0)
	return []*ir.Tensor{y}, nil
}

func importOptionalHasElement(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	var x *ir.Value
	if c.NumArgs() > 0 {
		x = c.Arg(0)
	}
	if x != nil && x.Type.Kind == ir.OptionalKind {
		item, known := knownOptional(x)
		if !known {
			return b.Nodes(OptionalHasElement{}, x), nil
		}
		x = item
	}
	has := ir.NewTensor(ir.Bool)
	has.SetBool(0, x != nil)
	return []*ir.Value{b.Const(has)}, nil
}
