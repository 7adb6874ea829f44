package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Bound is embedded by operators that have no results but bind Symbols to numbers. The numbers are computed from
// the operands at run time: axes, extents and positions. They are never negative.
type Bound struct{ Symbols []string }

// Binds returns the symbols.
func (op Bound) Binds() []string { return op.Symbols }

// Eval returns no results.
func (op Bound) Eval([]*ir.Tensor) ([]*ir.Tensor, error) { return nil, nil }

// HasEffect marks the operator as an [ir.Effect]. Its nodes have no results, but extents depend on the symbols that
// they bind.
func (op Bound) HasEffect() {}

// infer returns no types. It returns an error if the number of symbols is not `want`, if an operand is not a list of
// i64, or if the first operand is absent.
func (op Bound) infer(in []ir.Type, want int) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, -1); err != nil {
		return nil, err
	}
	for i, t := range in {
		if !t.IsZero() && (t.DType != ir.I64 || t.Rank() != 1) {
			return nil, fmt.Errorf("operand %d is %s, a list of i64 expected", i, t)
		}
	}
	if len(op.Symbols) != want {
		return nil, fmt.Errorf("%d symbols, %d expected", len(op.Symbols), want)
	}
	return nil, nil
}

// each returns value(i) for the index i of each symbol. It returns the first error of value. It also returns an
// error if a number is negative.
func (op Bound) each(value func(i int) (int64, error)) ([]int64, error) {
	values := make([]int64, len(op.Symbols))
	for i := range values {
		v, err := value(i)
		if err != nil {
			return nil, err
		}
		if v < 0 {
			return nil, fmt.Errorf("%s is %d", op.Symbols[i], v)
		}
		values[i] = v
	}
	return values, nil
}

func newBound(b *ir.Builder, hint string, n int) Bound {
	op := Bound{Symbols: make([]string, n)}
	for i := range op.Symbols {
		op.Symbols[i] = b.Symbol(fmt.Sprintf("%s_%d", hint, i))
	}
	return op
}

func (op Bound) dims() []dim.Dim {
	dims := make([]dim.Dim, len(op.Symbols))
	for i, s := range op.Symbols {
		dims[i] = dim.Sym(s)
	}
	return dims
}

// intList appends a tensor of integers as a vector of i64. It returns nil for nil. It panics, as
// [ir.Fail] does, if the elements are not integers.
func intList(b *ir.Builder, v *ir.Value) *ir.Value {
	if v == nil {
		return nil
	}
	if !v.Type.DType.IsInt() {
		ir.Fail("%s where integers are expected", v.Type)
	}
	return ReshapeTo(b, ConvertTo(b, v, ir.I64), v.Type.Elems())
}

func intsOf(t *ir.Tensor) []int64 {
	if t == nil {
		return nil
	}
	list := make([]int64, t.Len())
	for i := range list {
		list[i] = t.Int(i)
	}
	return list
}

func arg(in []*ir.Tensor, i int) *ir.Tensor {
	if i < len(in) {
		return in[i]
	}
	return nil
}

// listLen returns the number of elements of operand i. It returns an error if the operand is
// absent, or if the number is not static or exceeds [ir.MaxRank]. name names the operand in errors.
func listLen(c ir.Importer, i int, name string) (int, error) {
	if c.Arg(i) == nil {
		return 0, fmt.Errorf("%s is absent", name)
	}
	n, ok := c.Arg(i).Type.Elems().Int()
	if !ok || n > ir.MaxRank {
		return 0, fmt.Errorf("%s has %s elements: the rank is not known before the model runs", name, c.Arg(i).Type.Elems())
	}
	return n, nil
}
