package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// OptionalGetElement returns the element of an optional (ONNX OptionalGetElement, from opset 15). It is an error at
// run time if the optional is empty. Extents has the same meaning as in [SequenceAt].
type OptionalGetElement struct{ Extents []string }

// Infer returns the type of the element. If an extent differs between elements, it is a symbol of Extents.
func (op OptionalGetElement) Infer(in []ir.Type) ([]ir.Type, error) {
	elem, err := optionalElem(in)
	if err != nil || !elem.IsTensor() {
		return []ir.Type{elem}, err
	}
	item, err := inferItem(elem, op.Extents)
	return []ir.Type{item}, err
}

// Eval returns the element. It returns an error if the optional is empty.
func (op OptionalGetElement) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if len(in[0].Items) == 0 {
		return nil, fmt.Errorf("the optional has no element")
	}
	return in[0].Items[:1], nil
}

// Binds returns the symbols of Extents.
func (op OptionalGetElement) Binds() []string { return boundExtents(op.Extents) }

// BindValues returns the values of the symbols in Extents, which are extents of the element.
func (op OptionalGetElement) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return extentValues(op.Extents, out[0].Shape)
}

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
