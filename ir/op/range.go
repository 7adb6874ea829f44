package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Range is a vector of Count numbers: start, start+delta, start+2·delta and so on. The operands start and delta are
// scalars of the result's element type.
type Range struct{ Count dim.Dim }

// Infer returns [Count] with the operands' element type.
func (op Range) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	for i, t := range in {
		if n, ok := t.Elems().Int(); !ok || n != 1 || !t.DType.IsFloat() && !t.DType.IsInt() {
			return nil, fmt.Errorf("operand %d is %s, one number expected", i, t)
		}
	}
	return []ir.Type{ir.TensorOf(in[0].DType, op.Count)}, nil
}

// Grad returns Σ dy[i] for start and Σ i·dy[i] for delta.
func (op Range) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, g := calculus{b}, dy[0]
	steps := c.mul(g, places(b, g.Type.DType, 0, op.Count))
	return []*ir.Value{
		ReshapeTo(b, c.sum(g, false, 0), n.Arg(0).Type.Shape...), ReshapeTo(b, c.sum(steps, false, 0), n.Arg(1).Type.Shape...),
	}
}

// Eval returns Count numbers. Integers wrap.
func (op Range) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	n, ok := op.Count.Int()
	if _, err := ir.CheckedLen([]int{n}); err != nil || !ok {
		return nil, fmt.Errorf("%s elements", op.Count)
	}
	y := ir.NewTensor(in[0].DType, n)
	for i := range n {
		if y.DType.IsFloat() {
			step := float64(float64(i) * in[1].Float(0))
			y.SetFloat(i, in[0].Float(0)+step)
		} else {
			y.SetInt(i, in[0].Int(0)+int64(i)*in[1].Int(0))
		}
	}
	return []*ir.Tensor{y}, nil
}

// InferElems returns start + i·delta for each i. It returns nil if Count is not constant, or if start or delta is
// not a known integer.
func (op Range) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	n, ok := op.Count.Int()
	start, okStart := in[0].Dims()
	delta, okDelta := in[1].Dims()
	if !ok || !okStart || !okDelta {
		return nil
	}
	elems := make([]ir.Ratio, n)
	for i := range elems {
		elems[i] = ir.Ratio{Num: start[0].Add(delta[0].Mul(dim.Const(i))), Den: 1}
	}
	return elems
}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (op Range) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

func importRange(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	numbers := make([]*ir.Value, 3)
	for i, name := range []string{"start", "limit", "delta"} {
		if c.Arg(i) == nil {
			return nil, fmt.Errorf("%s is absent", name)
		}
		typ := c.Arg(i).Type
		if n, ok := typ.Elems().Int(); !ok || n != 1 || !typ.DType.IsFloat() && !typ.DType.IsInt() {
			return nil, fmt.Errorf("%s is %s, a number expected", name, typ)
		}
		numbers[i] = ReshapeTo(b, c.Arg(i))
	}
	count, err := rangeCount(b, numbers)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{b.Node(Range{Count: count}, numbers[0], numbers[2])}, nil
}

// rangeCount returns the length of a range, max(0, ⌈(limit − start)/delta⌉). numbers are start, limit and delta.
// The length is an expression if they are known, and otherwise a symbol that is bound at run time.
func rangeCount(b *ir.Builder, numbers []*ir.Value) (dim.Dim, error) {
	var dims [3]dim.Dim
	var constants [3]*ir.Tensor
	var wider [3]*ir.Value
	known, constant := numbers[0].Type.DType.IsInt(), true
	for i, v := range numbers {
		d, ok := v.Dims()
		if known = known && ok; known {
			dims[i] = d[0]
		}
		wider[i] = ConvertTo(b, v, wide(v.Type.DType))
		t, ok := wider[i].ConstValue()
		constants[i], constant = t, constant && ok
	}
	bind := BindRange{}
	switch {
	case constant:
		count, err := bind.BindValues(constants[:], nil)
		if err != nil {
			return dim.Dim{}, err
		}
		return dim.Const64(count[0]), nil
	case known && !dims[2].Equal(dim.Const(0)):
		return dims[1].Sub(dims[0]).CeilDiv(dims[2]).Max(dim.Const(0)), nil
	}
	if d, ok := extentCount(b, numbers); ok {
		return d, nil
	}
	bind.Bound = newBound(b, "range", 1)
	b.Nodes(bind, wider[:]...)
	return bind.dims()[0], nil
}

// extentCount returns the symbol that an earlier node has bound to limit, if there is one: it is the length of the
// range 0, 1, …, limit−1. numbers are start, limit and delta. extentCount returns false if there is no such symbol,
// if start is not 0, or if delta is not 1.
func extentCount(b *ir.Builder, numbers []*ir.Value) (dim.Dim, bool) {
	start, okStart := numbers[0].Dims()
	delta, okDelta := numbers[2].Dims()
	if !okStart || !okDelta || !start[0].Equal(dim.Const(0)) || !delta[0].Equal(dim.Const(1)) {
		return dim.Dim{}, false
	}
	o := originsOf(numbers[1])[0]
	if o.value == nil {
		return dim.Dim{}, false
	}
	return boundElem(b, o)
}
