package op

import "github.com/burngen/burngen/ir"

// OptionalHasElement tells whether an optional has something, as a scalar.
type OptionalHasElement struct{}

// Infer gives a boolean.
func (OptionalHasElement) Infer(in []ir.Type) ([]ir.Type, error) {
	_, err := optionalElem(in)
	return []ir.Type{ir.TensorOf(ir.Bool)}, err
}

// Eval looks.
func (OptionalHasElement) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := ir.NewTensor(ir.Bool)
	y.SetBool(0, len(in[0].Items) > 0)
	return []*ir.Tensor{y}, nil
}

// Call is cpu.HasTensor or HasSequence.
func (OptionalHasElement) Call(n *ir.Node) (ir.Call, error) {
	kernel := "HasTensor"
	if !n.Args[0].Type.Elem.IsTensor() {
		kernel = "HasSequence"
	}
	return ir.Call{Kernel: kernel, Args: []any{ir.Out(0), ir.In(0)}}, nil
}

// importOptionalHasElement reads OptionalHasElement: an absent operand has no
// element, one that is no optional has (opset 18).
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
