package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Optional is an optional that has its operand, a tensor or a sequence of tensors;
// without one it has none, and is of type Type, an optional.
type Optional struct{ Type ir.Type }

// Infer wraps the operand's type.
func (op Optional) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := operands(in, 0, 1); err != nil {
		return nil, err
	}
	out := op.Type
	if len(in) == 1 {
		out = ir.OptionalOf(ir.ElemOf(in[0]))
	}
	_, err := optionalElem([]ir.Type{out})
	return []ir.Type{out}, err
}

// optionalElem returns the type of what the only operand, an optional, has: a
// tensor or a sequence of tensors.
func optionalElem(in []ir.Type) (ir.Type, error) {
	if err := operands(in, 1, 1); err != nil {
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

// Eval wraps the operand.
func (op Optional) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if len(in) == 0 {
		return []*ir.Tensor{ir.OptionalTensor(*op.Type.Elem, nil)}, nil
	}
	return []*ir.Tensor{ir.OptionalTensor(ir.ElemOf(in[0].Type()), in[0])}, nil
}

// Call is cpu.OptionalTensor or OptionalSequence; cpu.NoTensor or NoSequence for
// none.
func (op Optional) Call(n *ir.Node) (ir.Call, error) {
	isTensor := n.Results[0].Type.Elem.IsTensor()
	switch {
	case len(n.Args) == 0 && isTensor:
		return ir.Call{Kernel: "NoTensor", Args: []any{ir.Out(0)}}, nil
	case len(n.Args) == 0:
		return ir.Call{Kernel: "NoSequence", Args: []any{ir.Out(0)}}, nil
	case isTensor:
		return ir.Call{Kernel: "OptionalTensor", Args: []any{ir.Out(0), ir.In(0), n.Args[0].Type.Shape}}, nil
	}
	return ir.Call{Kernel: "OptionalSequence", Args: []any{ir.Out(0), ir.In(0)}}, nil
}

// importOptional reads Optional. The type of none is that of the attribute, or of
// the result as the model declares it.
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

// knownOptional returns what an optional has when it is made in the model, nil for
// none.
func knownOptional(v *ir.Value) (item *ir.Value, ok bool) {
	if v.Def == nil {
		return nil, false
	}
	if _, ok = v.Def.Op.(Optional); !ok {
		return nil, false
	}
	return v.Def.Arg(0), true
}
