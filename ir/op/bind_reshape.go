package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// BindReshape binds the extents that [Reshape] gives a tensor of shape From when a
// list asks for them: an element 0 is From's extent unless AllowZero is set, one
// element -1 is what is left. They have as many elements as From.
type BindReshape struct {
	Bound
	From      []ir.Dim
	AllowZero bool
}

// Infer checks the list.
func (op BindReshape) Infer(in []ir.Type) ([]ir.Type, error) {
	return op.infer(in, len(op.Symbols))
}

// BindValues fills 0 and -1 in.
func (op BindReshape) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	want := make([]ir.Dim, in[0].Len())
	for i := range want {
		want[i] = ir.Const64(in[0].Int(i))
	}
	dims, err := resolveShape(op.From, want, op.AllowZero)
	if err != nil {
		return nil, err
	}
	shape, ok := ir.Ints(dims)
	if n, err := ir.CheckedLen(shape); err != nil || !ok || !ir.Const(n).Equal(ir.Product(op.From...)) {
		return nil, fmt.Errorf("shape %s for the elements of %s", shapeText(want), shapeText(op.From))
	}
	return op.extents(shape)
}

// Measure is cpu.ReshapedExtent for each axis.
func (op BindReshape) Measure(*ir.Node) ([]ir.Call, error) {
	return op.measures("ReshapedExtent", ir.In(0), op.From, op.AllowZero, len(op.Symbols))
}
