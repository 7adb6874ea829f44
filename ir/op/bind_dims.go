package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BindDims binds symbols to elements of an integer tensor. The symbols can then be used as extents. Places[i] is
// the row-major index of the element that symbol i is bound to.
type BindDims struct {
	Bound
	Places []int
}

// Infer returns an error if the operand does not have an element at each of Places. There are no results.
func (op BindDims) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	n, ok := in[0].Elems().Int()
	if !ok || !in[0].DType.IsInt() || len(op.Places) != len(op.Symbols) {
		return nil, fmt.Errorf("%s for %d symbols", in[0], len(op.Symbols))
	}
	for _, at := range op.Places {
		if at < 0 || at >= n {
			return nil, fmt.Errorf("element %d of %s", at, in[0])
		}
	}
	return nil, nil
}

// BindValues returns the elements at Places. It returns an error if one of them is negative.
func (op BindDims) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	return op.each(func(i int) (int64, error) { return in[0].Int(op.Places[i]), nil })
}

// boundDims returns the elements of operand i as extents. If the elements are known, it returns constants or
// expressions, like [knownDims]. Otherwise it binds symbols to the elements at run time. The names of the symbols
// derive from `name`, which also names the operand in errors.
func boundDims(c ir.Importer, i int, name string) ([]dim.Dim, error) {
	v := c.Arg(i)
	if _, known := v.Dims(); known || v == nil {
		return knownDims(c, i, name)
	}
	n, err := listLen(c, i, name)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return []dim.Dim{}, nil
	}
	if !v.Type.DType.IsInt() {
		v = ConvertTo(c.Builder(), v, ir.I64)
	}
	return bindElems(c.Builder(), v, name), nil
}

// boundDim is [boundDims] for an operand with one element.
func boundDim(c ir.Importer, i int, name string) (dim.Dim, error) {
	dims, err := boundDims(c, i, name)
	if err != nil {
		return dim.Dim{}, err
	}
	if len(dims) != 1 {
		return dim.Dim{}, fmt.Errorf("%s has %d elements, one expected", name, len(dims))
	}
	return dims[0], nil
}

// bindElems returns the elements of an integer tensor as extents. For elements that are not known before run time,
// it binds symbols whose names derive from `name`. If an element is a copy of an element of another tensor, such as
// after a concatenation, all copies have one symbol.
func bindElems(b *ir.Builder, v *ir.Value, name string) []dim.Dim {
	dims := make([]dim.Dim, 0, ir.MaxRank)
	for i, o := range originsOf(v) {
		if o.value == nil {
			dims = append(dims, o.dim)
			continue
		}
		d, ok := boundElem(b, o)
		if !ok {
			symbol := b.Symbol(fmt.Sprintf("%s_%d", name, i))
			b.Nodes(BindDims{Bound{[]string{symbol}}, []int{o.place}}, o.value)
			d = dim.Sym(symbol)
		}
		dims = append(dims, d)
	}
	return dims
}

// boundElem returns the symbol to which an earlier node has bound the element o. It returns false if no node has.
func boundElem(b *ir.Builder, o origin) (dim.Dim, bool) {
	for _, n := range b.Func().Nodes {
		if bind, ok := n.Op.(BindDims); ok && n.Arg(0) == o.value {
			if i := slices.Index(bind.Places, o.place); i >= 0 {
				return dim.Sym(bind.Symbols[i]), true
			}
		}
	}
	return dim.Dim{}, false
}

// origin says where an element of an integer tensor comes from. It is element `place` of `value`. If `value` is
// nil, it is the expression `dim` instead.
type origin struct {
	value *ir.Value
	place int
	dim   dim.Dim
}

func originsOf(v *ir.Value) []origin {
	t := tracer{elems: map[*ir.Value][]ir.Ratio{}, origins: map[string]origin{}}
	count, _ := v.Type.Elems().Int()
	origins := make([]origin, count)
	elems := t.trace(v, maxTrace)
	for i := range origins {
		origins[i] = origin{value: v, place: i}
		if elems == nil || elems[i].Den != 1 {
			continue
		}
		d := elems[i].Num
		if o, ok := t.origins[d.String()]; ok {
			origins[i] = o
		} else if d.IsConst() {
			origins[i] = origin{dim: d}
		}
	}
	return origins
}

// maxTrace is the maximum number of operators that a [tracer] goes back through.
const maxTrace = 64

// tracer expresses the elements of integer tensors by the elements from which they were computed ([origin]). An
// element whose origin is unknown is written as the difference of two new symbols, because it may be negative.
// elems holds the expressions of each tensor that was traced. origins maps the text of such a difference to the
// element that it stands for.
type tracer struct {
	elems   map[*ir.Value][]ir.Ratio
	origins map[string]origin
}

// trace returns the elements of v as expressions of origins, or nil if they cannot be traced. It goes back through
// at most `depth` operators.
func (t *tracer) trace(v *ir.Value, depth int) []ir.Ratio {
	if v.Elems != nil {
		return v.Elems
	}
	if elems, ok := t.elems[v]; ok {
		return elems
	}
	n, ok := v.Type.Elems().Int()
	if !ok || n > ir.MaxRank || !v.Type.IsTensor() {
		return nil
	}
	elems := t.through(v, depth)
	if elems == nil && v.Type.DType.IsInt() {
		for i := range n {
			up := dim.Sym(fmt.Sprintf("origin.%d.%d.up", len(t.elems), i))
			down := dim.Sym(fmt.Sprintf("origin.%d.%d.down", len(t.elems), i))
			elem := up.Sub(down)
			t.origins[elem.String()] = origin{value: v, place: i}
			elems = append(elems, ir.Ratio{Num: elem, Den: 1})
		}
	}
	t.elems[v] = elems
	return elems
}

// through computes the elements of v from the traced elements of its operator's operands. It returns nil if they
// cannot be traced. depth is as in [tracer.trace].
func (t *tracer) through(v *ir.Value, depth int) []ir.Ratio {
	if v.Def == nil || len(v.Def.Results) != 1 || depth == 0 {
		return nil
	}
	op, ok := v.Def.Op.(ir.ElemsOp)
	if !ok {
		return nil
	}
	args := make([]*ir.Value, len(v.Def.Args))
	for i, a := range v.Def.Args {
		if a == nil {
			continue
		}
		shadow := *a
		if shadow.Elems = t.trace(a, depth-1); shadow.Elems == nil {
			return nil
		}
		args[i] = &shadow
	}
	return op.InferElems(args, v.Type)
}
