package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// hasDims reports whether the elements of an operand are known at compile time, as constants or expressions. It
// returns true if the operand is absent.
func hasDims(v *ir.Value) bool {
	if v == nil {
		return true
	}
	if n, ok := v.Type.Elems().Int(); ok && n == 0 {
		return true
	}
	_, ok := v.Dims()
	return ok
}

// isKnown reports whether v is nil, or all elements of v are constants.
func isKnown(v *ir.Value) bool {
	dims, _ := v.Dims()
	_, constant := dim.Ints(dims)
	return hasDims(v) && constant
}

// knownDims returns the elements of operand i, an integer tensor, as constants or expressions in
// the symbols. It returns an error if they are not known. name names the operand in errors.
func knownDims(c ir.Importer, i int, name string) ([]dim.Dim, error) {
	v := c.Arg(i)
	if v == nil {
		return nil, fmt.Errorf("%s is absent", name)
	}
	if n, ok := v.Type.Elems().Int(); ok && n == 0 {
		return []dim.Dim{}, nil
	}
	dims, ok := v.Dims()
	if !ok {
		return nil, fmt.Errorf("%s is not known before the model runs", name)
	}
	return dims, nil
}

// knownInts is [knownDims] for an operand that has to be constant.
func knownInts(c ir.Importer, i int, name string) ([]int, error) {
	dims, err := knownDims(c, i, name)
	if err != nil {
		return nil, err
	}
	n, ok := dim.Ints(dims)
	if !ok {
		return nil, fmt.Errorf("%s is not constant: %s", name, ShapeText(dims))
	}
	return n, nil
}

// knownInt is [knownInts] for an operand of one element.
func knownInt(c ir.Importer, i int, name string) (int, error) {
	n, err := knownInts(c, i, name)
	if err != nil {
		return 0, err
	}
	if len(n) != 1 {
		return 0, fmt.Errorf("%s has %d elements, one expected", name, len(n))
	}
	return n[0], nil
}

// attrOrInts returns a list of integers. Before opset `since`, it is the attribute called `name`. From opset
// `since` on, it holds the elements of operand i. attrOrInts returns nil if the attribute or the operand is absent,
// and an error if the operand is not constant.
func attrOrInts(c ir.Importer, since int, name string, i int) ([]int, error) {
	if c.Opset() < since {
		return c.Ints(name, nil), nil
	}
	if c.Arg(i) == nil {
		return nil, nil
	}
	return knownInts(c, i, name)
}
