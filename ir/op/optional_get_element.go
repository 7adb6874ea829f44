package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// OptionalGetElement is what an optional has; none is an error at run time.
// Extents is as for [SequenceAt], of a tensor.
type OptionalGetElement struct{ Extents []string }

// Infer unwraps the type.
func (op OptionalGetElement) Infer(in []ir.Type) ([]ir.Type, error) {
	elem, err := optionalElem(in)
	if err != nil || !elem.IsTensor() {
		return []ir.Type{elem}, err
	}
	item, err := inferItem(elem, op.Extents)
	return []ir.Type{item}, err
}

// Eval unwraps.
func (op OptionalGetElement) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if len(in[0].Items) == 0 {
		return nil, fmt.Errorf("the optional has no element")
	}
	return in[0].Items[:1], nil
}

// Binds returns the symbols of Extents.
func (op OptionalGetElement) Binds() []string { return boundExtents(op.Extents) }

// BindValues returns the extents of what the optional has.
func (op OptionalGetElement) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return extentValues(op.Extents, out[0].Shape)
}

// Measure is cpu.OptionalExtent for each symbol.
func (op OptionalGetElement) Measure(*ir.Node) ([]ir.Call, error) {
	return measureExtents(op.Extents, "OptionalExtent", ir.In(0), len(op.Extents))
}

// Call is cpu.GetTensor or GetSequence.
func (op OptionalGetElement) Call(n *ir.Node) (ir.Call, error) {
	r := n.Results[0].Type
	if !r.IsTensor() {
		return ir.Call{Kernel: "GetSequence", Args: []any{ir.Out(0), ir.In(0)}}, nil
	}
	return ir.Call{Kernel: "GetTensor", Args: []any{ir.Out(0), ir.In(0), r.Shape}}, nil
}

// importOptionalGetElement reads OptionalGetElement; what is no optional is its
// own element (opset 18).
func importOptionalGetElement(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	if x.Type.Kind != ir.OptionalKind {
		return []*ir.Value{x}, nil
	}
	if item, _ := knownOptional(x); item != nil {
		return []*ir.Value{item}, nil
	}
	elem, err := optionalElem([]ir.Type{x.Type})
	if err != nil {
		return nil, err
	}
	var op OptionalGetElement
	if elem.IsTensor() {
		rank, err := itemRank(c, elem)
		if err != nil {
			return nil, err
		}
		op.Extents = newExtents(b, itemShape(elem, rank))
	}
	return b.Nodes(op, x), nil
}
