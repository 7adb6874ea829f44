package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// BindDims binds symbols to the elements of an integer tensor, which become
// extents. It has no results.
type BindDims struct{ Symbols []string }

// Infer checks the operand's number of elements.
func (op BindDims) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if n, ok := in[0].Elems().Int(); !ok || n != len(op.Symbols) || !in[0].DType.IsInt() {
		return nil, fmt.Errorf("%s for %d symbols", in[0], len(op.Symbols))
	}
	return nil, nil
}

// Eval has no results.
func (op BindDims) Eval([]*ir.Tensor) ([]*ir.Tensor, error) { return nil, nil }

// HasEffect marks that the node is kept: extents depend on it.
func (op BindDims) HasEffect() {}

// Binds returns the symbols.
func (op BindDims) Binds() []string { return op.Symbols }

// BindValues returns the elements, none of which may be negative.
func (op BindDims) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	values := make([]int64, len(op.Symbols))
	for i := range values {
		if values[i] = in[0].Int(i); values[i] < 0 {
			return nil, fmt.Errorf("element %d is %d, an extent expected", i, values[i])
		}
	}
	return values, nil
}

// Measure is cpu.Extent for each element.
func (op BindDims) Measure(*ir.Node) ([]ir.Call, error) {
	calls := make([]ir.Call, len(op.Symbols))
	for i := range calls {
		calls[i] = ir.Call{Kernel: "Extent", Args: []any{ir.In(0), i}}
	}
	return calls, nil
}

// boundDims is knownDims for an operand of extents that may also be known only
// when the model runs: symbols are bound to its elements then.
func boundDims(c ir.Importer, i int, name string) ([]ir.Dim, error) {
	v := c.Arg(i)
	if v == nil {
		return nil, fmt.Errorf("%s is absent", name)
	}
	if _, known := v.Dims(); known {
		return knownDims(c, i, name)
	}
	n, ok := v.Type.Elems().Int()
	if !ok || n > ir.MaxRank {
		return nil, fmt.Errorf("%s has %s elements: the rank is not known before the model runs", name, v.Type.Elems())
	}
	b := c.Builder()
	bind := BindDims{Symbols: make([]string, n)}
	dims := make([]ir.Dim, n)
	for k := range dims {
		bind.Symbols[k] = b.Symbol(fmt.Sprintf("%s_%d", name, k))
		dims[k] = ir.Sym(bind.Symbols[k])
	}
	b.Nodes(bind, v)
	return dims, nil
}
