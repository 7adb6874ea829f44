package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Optional returns an optional that holds the operand, a tensor or a sequence of tensors (ONNX Optional, from opset
// 15). Without an operand, it returns an empty optional of type Type.
type Optional struct{ Type ir.Type }

// Infer returns an optional of the operand's type, or Type if there is no operand.
func (op Optional) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckOperands(in, 0, 1); err != nil {
		return nil, err
	}
	out := op.Type
	if len(in) == 1 {
		out = ir.OptionalOf(ir.ElemOf(in[0]))
	}
	_, err := optionalElem([]ir.Type{out})
	return []ir.Type{out}, err
}

func optionalElem(in []ir.Type) (ir.Type, error) {
	if err := CheckOperands(in, 1, 1); err != nil {
		return ir.Type{}, err
	}
	if in[0].Kind != ir.OptionalKind {
		return ir.Type{}, fmt.Errorf("operand 0 is %s, an optional expected", in[0])
	}
	elem := *in[0].Elem
	if !elem.IsTensor() && (elem.Kind != ir.SequenceKind || !elem.Elem.IsTensor()) {
		return ir.Type{}, fmt.Errorf("an optional of %s, of a tensor or a sequence of tensors expected", elem)
	}
	return elem, nil
}

// Eval returns an optional that holds the operand, or is empty if there is no operand.
func (op Optional) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if len(in) == 0 {
		return []*ir.Tensor{ir.OptionalTensor(*op.Type.Elem, nil)}, nil
	}
	return []*ir.Tensor{ir.OptionalTensor(ir.ElemOf(in[0].Type()), in[0])}, nil
}

// importOptional imports Optional. The type of an empty optional is the attribute `type`. If the attribute is
// absent, it is the type that the model declares for the result.
func importOptional(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	elem := c.Type("type")
	if c.NumArgs() > 0 && c.Arg(0) != nil {
		return b.Nodes(Optional{}, c.Arg(0)), nil
	}
	if declared, ok := c.ResultType(0); elem.IsZero() && ok && declared.Kind == ir.OptionalKind {
		elem = *declared.Elem
	}
	if elem.IsZero() {
		return nil, fmt.Errorf("the type of what the optional has is not declared")
	}
	return b.Nodes(Optional{Type: ir.OptionalOf(elem)}), nil
}

// knownOptional returns the element of the optional v, or nil if v is empty. ok is false unless an [Optional] node
// creates v.
func knownOptional(v *ir.Value) (item *ir.Value, ok bool) {
	if v.Def == nil {
		return nil, false
	}
	if _, ok = v.Def.Op.(Optional); !ok {
		return nil, false
	}
	return v.Def.Arg(0), true
}
