package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Concat concatenates tensors along Axis. Their other extents are equal.
type Concat struct{ Axis int }

// Infer returns the operands' type, but the extent of Axis is the sum of the operands' extents. It returns an error
// if other extents or the element types differ.
func (op Concat) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, -1); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	first := in[0]
	if op.Axis < 0 || op.Axis >= first.Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", op.Axis, first.Rank())
	}
	shape := append([]dim.Dim{}, first.Shape...)
	for i, t := range in[1:] {
		if t.Rank() != first.Rank() {
			return nil, fmt.Errorf("operand %d has rank %d, operand 0 has %d", i+1, t.Rank(), first.Rank())
		}
		for k, d := range t.Shape {
			if k == op.Axis {
				shape[k] = shape[k].Add(d)
			} else if err := Same(shape[k], d, fmt.Sprintf("axis %d of operands 0 and %d", k, i+1)); err != nil {
				return nil, err
			}
		}
	}
	return []ir.Type{ir.TensorOf(first.DType, shape...)}, nil
}

// Eval returns the operands, one after the other along Axis.
func (op Concat) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	types := make([]ir.Type, len(in))
	for i, t := range in {
		types[i] = t.Type()
	}
	out, err := op.Infer(types)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(out[0].DType, shape...)
	op.visit(shape, types, func(i, operand, j int) { y.Copy(i, in[operand], j) })
	return []*ir.Tensor{y}, nil
}

// Grad returns, for each operand, its slice of dy along Axis.
func (op Concat) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	grads := make([]*ir.Value, len(n.Args))
	at := dim.Const(0)
	for i, a := range n.Args {
		if want[i] {
			grads[i] = sliceAxis(b, dy[0], op.Axis, at, a.Type.Shape[op.Axis])
		}
		at = at.Add(a.Type.Shape[op.Axis])
	}
	return grads
}

// InferElems returns the known elements of all operands, in the order in which they are in the result.
func (op Concat) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	shape, ok := out.Static()
	types := make([]ir.Type, len(in))
	for i, v := range in {
		types[i] = v.Type
		ok = ok && v.Type.IsStatic()
	}
	if !ok {
		return nil
	}
	n, _ := out.Elems().Int()
	elems := make([]ir.Ratio, n)
	op.visit(shape, types, func(i, operand, j int) { elems[i] = in[operand].Elems[j] })
	return elems
}

// visit calls f for each element of a result of the given shape. i is the element's index. The element comes from
// operand `operand`, where it has index j.
func (op Concat) visit(shape []int, in []ir.Type, f func(i, operand, j int)) {
	outer := 1
	for _, d := range shape[:op.Axis] {
		outer *= d
	}
	i := 0
	for o := range outer {
		for operand, t := range in {
			width, _ := dim.Product(t.Shape[op.Axis:]...).Int()
			for j := range width {
				f(i, operand, o*width+j)
				i++
			}
		}
	}
}

// Parts returns the offset of each operand in the result, in elements. It returns nil if an axis before Axis has an
// extent other than 1, because then the elements of an operand are not contiguous in the result.
func (op Concat) Parts(n *ir.Node) []dim.Dim {
	for _, d := range n.Results[0].Type.Shape[:op.Axis] {
		if !d.Equal(dim.Const(1)) {
			return nil
		}
	}
	var at dim.Dim
	offsets := make([]dim.Dim, len(n.Args))
	for i, a := range n.Args {
		offsets[i] = at
		at = at.Add(a.Type.Elems())
	}
	return offsets
}

func importConcat(c ir.Importer) ([]*ir.Value, error) {
	if c.Opset() >= 4 && !c.Has("axis") {
		return nil, fmt.Errorf("no axis")
	}
	if c.NumArgs() == 0 {
		return nil, fmt.Errorf("no operands")
	}
	axis, err := fromFront(c.Int("axis", 1), c.Arg(0).Type.Rank())
	if err != nil {
		return nil, err
	}
	args := make([]*ir.Value, c.NumArgs())
	for i := range args {
		args[i] = c.Arg(i)
	}
	if len(args) == 1 {
		return args, nil
	}
	return []*ir.Value{c.Builder().Node(Concat{Axis: axis}, args...)}, nil
}

// IsIdentity returns true: the concatenation of one operand is that operand.
func (Concat) IsIdentity(ir.Type) bool { return true }

// IsMemoryBound marks the operator as bound by memory bandwidth.
func (Concat) IsMemoryBound() {}

// Movement returns Joins: the result consists of the elements of all operands.
func (Concat) Movement() Movement { return Joins }

// BeforeTranspose returns the Concat of the operands before they are transposed by perm. Its axis is the one that
// perm moves to Axis.
func (op Concat) BeforeTranspose(perm []int) ir.Op { return Concat{Axis: perm[op.Axis]} }
