package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// MapValues returns the values of a map as a vector, in ascending order of the keys. The keys are i64 or strings,
// and the values are scalars. MapValues binds the symbol Count to the number of values.
type MapValues struct{ Count string }

// MapLookup looks up a vector of keys in a map, and returns a vector of the values. The keys are i64 or strings.
// The third operand, of one element, is the value for missing keys.
type MapLookup struct{}

// mapElem returns the element type of the values of a map. It returns an error if the keys are neither i64 nor
// strings, or if the values are not scalars.
func mapElem(t ir.Type) (ir.DType, error) {
	if t.Kind != ir.MapKind || !t.Elem.IsTensor() || t.Elem.Rank() != 0 {
		return ir.Invalid, fmt.Errorf("operand is %s, a map to scalars expected", t)
	}
	return t.Elem.DType, keyType(t.DType)
}

// Infer returns a vector of Count elements of the values' type.
func (op MapValues) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckOperands(in, 1, 1); err != nil {
		return nil, err
	}
	d, err := mapElem(in[0])
	return []ir.Type{ir.TensorOf(d, dim.Sym(op.Count))}, err
}

// Infer returns the shape of the keys with the element type of the values.
func (op MapLookup) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckOperands(in, 3, 3); err != nil {
		return nil, err
	}
	d, err := mapElem(in[0])
	if err != nil {
		return nil, err
	}
	keys, other := in[1], in[2]
	if !keys.IsTensor() || keys.DType != in[0].DType || keys.Rank() != 1 || !other.Equal(ir.StaticTensor(d, 1)) {
		return nil, fmt.Errorf("keys %s and a value %s for %s", keys, other, in[0])
	}
	return []ir.Type{keys.With(d)}, nil
}

// Eval returns the values as a vector, in ascending order of the keys.
func (op MapValues) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	m := in[0]
	y := ir.NewTensor(m.Elem.DType, len(m.Items))
	for i, item := range m.Items {
		y.Copy(i, item, 0)
	}
	return []*ir.Tensor{y}, nil
}

// Eval returns a vector with the value of each key. A key that the map does not have gets the third operand as its
// value.
func (op MapLookup) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	m, keys, other := in[0], in[1], in[2]
	y := ir.NewTensor(m.Elem.DType, keys.Len())
	for i := range y.Len() {
		y.Copy(i, other, 0)
		for j, item := range m.Items {
			if compareKeys(m.Keys, j, keys, i) == 0 {
				y.Copy(i, item, 0)
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// Binds returns the symbol Count.
func (op MapValues) Binds() []string { return []string{op.Count} }

// BindValues returns the number of values.
func (op MapValues) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Len())}, nil
}
