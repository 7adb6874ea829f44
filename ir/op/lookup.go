package op

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/burngen/burngen/ir"
)

// Lookup maps the elements of x by a table. The operands are x, of any shape; keys, a vector of x's element type in
// increasing order; values, a vector of the same length; and an optional value for unknown keys. If the last
// operand is absent, an unknown key is an error at run time. NaN equals NaN and precedes all numbers. Keys are
// strings, floats of 32 or 64 bits, or signed integers of 16, 32 or 64 bits.
type Lookup struct{}

// Infer returns x's shape with the element type of the values.
func (op Lookup) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 4); err != nil {
		return nil, err
	}
	x, keys, values := in[0], in[1], in[2]
	switch x.DType {
	case ir.String, ir.F32, ir.F64, ir.I16, ir.I32, ir.I64:
	default:
		return nil, fmt.Errorf("keys are %s, strings, floats or integers expected", x.DType)
	}
	if keys.Rank() != 1 || keys.DType != x.DType || !values.Equal(keys.With(values.DType)) {
		return nil, fmt.Errorf("a table from %s to %s for %s", keys, values, x)
	}
	if len(in) > 3 && !in[3].IsZero() && !in[3].Equal(ir.StaticTensor(values.DType, 1)) {
		return nil, fmt.Errorf("a value %s in a table of %s", in[3], values)
	}
	return []ir.Type{x.With(values.DType)}, nil
}

// Eval returns the value for each element of x, in x's shape. It returns an error if a key is unknown and the
// operand with the value for unknown keys is absent.
func (op Lookup) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x, keys, values := in[0], in[1], in[2]
	y := ir.NewTensor(values.DType, x.Shape...)
	for i := range x.Len() {
		at, found := sort.Find(keys.Len(), func(j int) int { return compareKeys(x, i, keys, j) })
		switch {
		case found:
			y.Copy(i, values, at)
		case len(in) > 3 && in[3] != nil:
			y.Copy(i, in[3], 0)
		default:
			return nil, fmt.Errorf("element %d is not a key", i)
		}
	}
	return []*ir.Tensor{y}, nil
}

// compareKeys compares element i of a with element j of b, as [cmp.Compare] does. NaN equals NaN and precedes all
// numbers.
func compareKeys(a *ir.Tensor, i int, b *ir.Tensor, j int) int {
	switch {
	case a.DType == ir.String:
		return cmp.Compare(a.Text(i), b.Text(j))
	case a.DType.IsFloat():
		return cmp.Compare(a.Float(i), b.Float(j))
	}
	return cmp.Compare(a.Int(i), b.Int(j))
}

// lookup appends a [Lookup] of the elements of x. keys may be in any order. If a key occurs twice, its last value
// is used. `other` is the value for unknown keys, with one element. It may be nil.
func lookup(b *ir.Builder, x *ir.Value, keys, values, other *ir.Tensor) (*ir.Value, error) {
	if keys.Len() != values.Len() {
		return nil, fmt.Errorf("%d keys, %d values", keys.Len(), values.Len())
	}
	last := sortedKeys(keys)
	args := []*ir.Value{x, b.Const(pickElems(keys, last)), b.Const(pickElems(values, last))}
	if other != nil {
		if other.Len() != 1 || other.DType != values.DType {
			return nil, fmt.Errorf("default %s for values of %s", other.Type(), values.DType)
		}
		args = append(args, b.Const(other.Reshape(1)))
	}
	return b.Node(Lookup{}, args...), nil
}

func pickElems(t *ir.Tensor, places []int) *ir.Tensor {
	y := ir.NewTensor(t.DType, len(places))
	for i, at := range places {
		y.Copy(i, t, at)
	}
	return y
}

// sortedKeys returns the indices of keys, in increasing order of the keys. If a key occurs twice, it returns only
// the last index.
func sortedKeys(keys *ir.Tensor) []int {
	order := make([]int, keys.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareKeys(keys, i, keys, j) })
	last := order[:0]
	for i, at := range order {
		if i+1 == len(order) || compareKeys(keys, at, keys, order[i+1]) != 0 {
			last = append(last, at)
		}
	}
	return last
}
