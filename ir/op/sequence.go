package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func sequenceElem(in []ir.Type, i int) (ir.Type, error) {
	if in[i].Kind != ir.SequenceKind || !in[i].Elem.IsTensor() {
		return ir.Type{}, fmt.Errorf("operand %d is %s, a sequence of tensors expected", i, in[i])
	}
	return *in[i].Elem, nil
}

func checkPosition(in []ir.Type, i int) error {
	if n, ok := in[i].Elems().Int(); !in[i].IsTensor() || !ok || n != 1 {
		return fmt.Errorf("position %s, a scalar expected", in[i])
	}
	return indexType(in[i])
}

// itemShape returns the shape of the elements of a container. If the rank of the elements is unknown, it returns
// `rank` extents [dim.Any].
func itemShape(elem ir.Type, rank int) []dim.Dim {
	if elem.Shape != nil {
		return elem.Shape
	}
	shape := make([]dim.Dim, rank)
	for i := range shape {
		shape[i] = dim.Any
	}
	return shape
}

// inferItem returns the type of one element of a container. extents has one entry for each axis: the symbol of an
// extent that differs between elements, or "" for an extent that does not. If the rank of the elements is unknown,
// it is the length of extents.
func inferItem(elem ir.Type, extents []string) (ir.Type, error) {
	shape := itemShape(elem, len(extents))
	if len(extents) != len(shape) {
		return ir.Type{}, fmt.Errorf("%d symbols for the extents of %s", len(extents), elem)
	}
	item := ir.TensorOf(elem.DType, append([]dim.Dim{}, shape...)...)
	for i, s := range extents {
		switch {
		case s != "":
			item.Shape[i] = dim.Sym(s)
		case !shape[i].IsConst():
			return ir.Type{}, fmt.Errorf("axis %d of %s has no symbol", i, elem)
		}
	}
	return item, nil
}

// newExtents returns a list for [inferItem]: a new symbol for each extent of shape that is not constant, and "" for
// each constant.
func newExtents(b *ir.Builder, shape []dim.Dim) []string {
	extents := make([]string, len(shape))
	for i, d := range shape {
		if !d.IsConst() {
			extents[i] = b.Symbol("extent")
		}
	}
	return extents
}

// itemRank returns the rank of the elements of a container. If it is unknown, it returns the rank
// that the model declares for result 0.
func itemRank(c ir.Importer, elem ir.Type) (int, error) {
	if elem.Shape != nil {
		return elem.Rank(), nil
	}
	if declared, ok := c.ResultType(0); ok && declared.IsTensor() {
		return declared.Rank(), nil
	}
	return 0, fmt.Errorf("the rank of the elements of %s is not known", c.Arg(0).Type)
}

func boundExtents(extents []string) []string {
	var symbols []string
	for _, s := range extents {
		if s != "" {
			symbols = append(symbols, s)
		}
	}
	return symbols
}

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

// maxItems is the maximum length of a sequence whose elements are tracked as values of their own.
const maxItems = 1 << 10

// knownItems returns the elements of a sequence if they are known at compile time. Operators can then use the
// elements directly. Otherwise ok is false.
func knownItems(v *ir.Value) (items []*ir.Value, ok bool) {
	if v == nil || v.Def == nil {
		return nil, false
	}
	if _, ok = v.Def.Op.(SequenceConstruct); !ok || len(v.Def.Args) > maxItems {
		return nil, false
	}
	return v.Def.Args, true
}

// knownPosition returns the constant v as an index from the start of n elements. ok is false if v is not constant.
// `last` is the largest index that is allowed: n − 1, or n for an insertion. knownPosition returns an error for an
// index above `last` or below −n.
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

// itemIndex returns index as an index from the start of n elements. A negative index counts from the end. `last` is
// the largest index that is allowed: n − 1, or n for an insertion. itemIndex returns an error for an index above
// `last` or below −n.
func itemIndex(index int64, n, last int) (int, error) {
	if index < -int64(n) || index > int64(last) {
		return 0, fmt.Errorf("index %d out of range for a sequence of %d", index, n)
	}
	if index < 0 {
		index += int64(n)
	}
	return int(index), nil
}
