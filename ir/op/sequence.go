package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// sequenceElem returns the type of the elements of operand i, a sequence of
// tensors.
func sequenceElem(in []ir.Type, i int) (ir.Type, error) {
	if in[i].Kind != ir.SequenceKind || !in[i].Elem.IsTensor() {
		return ir.Type{}, fmt.Errorf("operand %d is %s, a sequence of tensors expected", i, in[i])
	}
	return *in[i].Elem, nil
}

// checkPosition checks operand i, one index of a sequence.
func checkPosition(in []ir.Type, i int) error {
	if n, ok := in[i].Elems().Int(); !in[i].IsTensor() || !ok || n != 1 {
		return fmt.Errorf("position %s, a scalar expected", in[i])
	}
	return indexType(in[i])
}

// itemShape returns the shape of the elements of a container: of this rank, where
// they do not say it.
func itemShape(elem ir.Type, rank int) []ir.Dim {
	if elem.Shape != nil {
		return elem.Shape
	}
	shape := make([]ir.Dim, rank)
	for i := range shape {
		shape[i] = ir.AnyDim
	}
	return shape
}

// inferItem returns the type of one element of a container of elem: symbols of
// extents stand for those that differ from one to the next, and are empty for the
// others. Of elements whose rank is not known they are as many as the rank.
func inferItem(elem ir.Type, extents []string) (ir.Type, error) {
	shape := itemShape(elem, len(extents))
	if len(extents) != len(shape) {
		return ir.Type{}, fmt.Errorf("%d symbols for the extents of %s", len(extents), elem)
	}
	item := ir.TensorOf(elem.DType, append([]ir.Dim{}, shape...)...)
	for i, s := range extents {
		switch {
		case s != "":
			item.Shape[i] = ir.Sym(s)
		case !shape[i].IsConst():
			return ir.Type{}, fmt.Errorf("axis %d of %s has no symbol", i, elem)
		}
	}
	return item, nil
}

// newExtents returns the symbols that [inferItem] takes for an element of a shape.
func newExtents(b *ir.Builder, shape []ir.Dim) []string {
	extents := make([]string, len(shape))
	for i, d := range shape {
		if !d.IsConst() {
			extents[i] = b.Symbol("extent")
		}
	}
	return extents
}

// itemRank returns the rank of the elements of a container, or that of result 0
// as the model declares it where they do not say it.
func itemRank(c ir.Importer, elem ir.Type) (int, error) {
	if elem.Shape != nil {
		return elem.Rank(), nil
	}
	if declared, ok := c.ResultType(0); ok && declared.IsTensor() {
		return declared.Rank(), nil
	}
	return 0, fmt.Errorf("the rank of the elements of %s is not known", c.Arg(0).Type)
}

// boundExtents returns the symbols among extents.
func boundExtents(extents []string) []string {
	var symbols []string
	for _, s := range extents {
		if s != "" {
			symbols = append(symbols, s)
		}
	}
	return symbols
}

// extentValues returns the values of [boundExtents] in a shape.
func extentValues(extents []string, shape []int) ([]int64, error) {
	if len(shape) != len(extents) {
		return nil, fmt.Errorf("rank %d, %d expected", len(shape), len(extents))
	}
	var values []int64
	for i, s := range extents {
		if s != "" {
			values = append(values, int64(shape[i]))
		}
	}
	return values, nil
}

// measureExtents returns, for each of [boundExtents], the call of a kernel with
// the number of its axis as last argument.
func measureExtents(extents []string, kernel string, args ...any) ([]ir.Call, error) {
	var calls []ir.Call
	for i, s := range extents {
		if s != "" {
			calls = append(calls, ir.Call{Kernel: kernel, Args: append(append([]any{}, args...), i)})
		}
	}
	return calls, nil
}

// joinItems returns the type of the elements of a sequence of tensors.
func joinItems(items []ir.Type) (ir.Type, error) {
	elem := ir.ElemOf(items[0])
	for i, t := range items[1:] {
		var err error
		if elem, err = ir.Join(elem, t); err != nil {
			return elem, fmt.Errorf("element %d: %w", i+1, err)
		}
	}
	return elem, nil
}

// maxItems is the largest number of elements of a sequence that is followed
// value by value.
const maxItems = 1 << 10

// knownItems returns the elements of a sequence whose values are known: then
// what is done to it concerns no sequence.
func knownItems(v *ir.Value) (items []*ir.Value, ok bool) {
	if v == nil || v.Def == nil {
		return nil, false
	}
	if _, ok = v.Def.Op.(SequenceConstruct); !ok || len(v.Def.Args) > maxItems {
		return nil, false
	}
	return v.Def.Args, true
}

// knownPosition returns the index that v is, counted from the front of n elements,
// when it is constant. The last argument is the largest one allowed.
func knownPosition(v *ir.Value, n, last int) (at int, ok bool, err error) {
	dims, ok := v.Dims()
	if !ok || len(dims) != 1 {
		return 0, false, nil
	}
	index, ok := dims[0].Int64()
	if !ok {
		return 0, false, nil
	}
	at, err = itemIndex(index, n, last)
	return at, true, err
}

// itemIndex returns an index of n elements, which counts from the end where it is
// negative, and is at most last.
func itemIndex(index int64, n, last int) (int, error) {
	if index < -int64(n) || index > int64(last) {
		return 0, fmt.Errorf("index %d out of range for a sequence of %d", index, n)
	}
	if index < 0 {
		index += int64(n)
	}
	return int(index), nil
}
