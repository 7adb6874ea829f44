package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// LayerNormalization normalises the elements along Axis and the axes after it to mean 0 and variance 1, for floats:
// (x − mean)/√(variance + Epsilon)·scale + bias. It uses the population variance. The optional scale and bias have
// the extents of the normalised axes. Epsilon has the precision of an f32 (ONNX LayerNormalization, from opset 17).
type LayerNormalization struct {
	Axis    int
	Epsilon float64
}

// RMSNormalization divides the elements along Axis and the axes after it by their root mean square, for floats:
// x/√(mean(x²) + Epsilon)·scale. The optional scale has the extents of these axes. Epsilon has the precision of an
// f32 (ONNX RMSNormalization, from opset 23).
type RMSNormalization struct {
	Axis    int
	Epsilon float64
}

// Infer returns the type of x.
func (op LayerNormalization) Infer(in []ir.Type) ([]ir.Type, error) {
	return inferNormalization(in, op.Axis, 3)
}

// Infer returns the type of x.
func (op RMSNormalization) Infer(in []ir.Type) ([]ir.Type, error) {
	return inferNormalization(in, op.Axis, 2)
}

// inferNormalization returns the type of x, operand 0. It returns an error unless there are at most `limit`
// operands, all of one float type. The operands after x must have the extents of x's axes from `axis` on.
func inferNormalization(in []ir.Type, axis, limit int) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, limit); err != nil {
		return nil, err
	}
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	x := in[0]
	if axis < 0 || axis >= x.Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", axis, x.Rank())
	}
	want := ir.TensorOf(x.DType, x.Shape[axis:]...)
	for i, t := range in[1:] {
		if t.IsZero() {
			continue
		}
		if t.Rank() != want.Rank() {
			return nil, fmt.Errorf("operand %d is %s, %s expected", i+1, t, want)
		}
		for k, d := range t.Shape {
			if err := Same(d, want.Shape[k], fmt.Sprintf("axis %d of operand %d", k, i+1)); err != nil {
				return nil, err
			}
		}
	}
	return in[:1], nil
}

// Eval returns the normalised x, in x's shape, computed in float64.
func (op LayerNormalization) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalNormalization(in, op.Axis, func(row []float64) {
		mean := sum(row) / float64(len(row))
		for i := range row {
			row[i] -= mean
		}
		scaleBy(row, 1/math.Sqrt(squares(row)/float64(len(row))+op.Epsilon))
	}), nil
}

// Eval returns the normalised x, in x's shape, computed in float64.
func (op RMSNormalization) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalNormalization(in, op.Axis, func(row []float64) {
		scaleBy(row, 1/math.Sqrt(squares(row)/float64(len(row))+op.Epsilon))
	}), nil
}

func scaleBy(row []float64, factor float64) {
	for i := range row {
		row[i] *= factor
	}
}

// evalNormalization returns one tensor, a copy of operand 0 with changed rows. A row holds the elements along axis
// and the axes after it. f changes a row in place. Then evalNormalization multiplies the row by operand 1, and adds
// operand 2 to it, if these operands are present.
func evalNormalization(in []*ir.Tensor, axis int, f func(row []float64)) []*ir.Tensor {
	x := in[0]
	y := ir.NewTensor(x.DType, x.Shape...)
	n := LenOf(x.Shape[axis:])
	row := make([]float64, n)
	for first := 0; first < y.Len(); first += n {
		for i := range row {
			row[i] = x.Float(first + i)
		}
		f(row)
		for i, v := range row {
			if len(in) > 1 && in[1] != nil {
				v *= in[1].Float(i)
			}
			if len(in) > 2 && in[2] != nil {
				v = float64(v) + in[2].Float(i)
			}
			y.SetFloat(first+i, v)
		}
	}
	return []*ir.Tensor{y}
}

// Overwrites allows the result to reuse the memory of x.
func (LayerNormalization) Overwrites() []int { return []int{0} }

// Overwrites allows the result to reuse the memory of x.
func (RMSNormalization) Overwrites() []int { return []int{0} }

// Flops counts seven operations for each element.
func (LayerNormalization) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(7)) }

// Grad returns the gradients of x, scale and bias. The gradient of x includes the gradients that flow through the
// mean and the variance.
func (op LayerNormalization) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	return normalGrad(b, n, dy[0], want, op.Axis, op.Epsilon, true)
}

// Flops counts four operations for each element.
func (RMSNormalization) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(4)) }

// Grad returns the gradients of x and scale. The gradient of x includes the gradient that flows through the root
// mean square.
func (op RMSNormalization) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	return normalGrad(b, n, dy[0], want, op.Axis, op.Epsilon, false)
}

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (LayerNormalization) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (RMSNormalization) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

var stashTypes = map[int]ir.DType{1: ir.F32, 10: ir.F16, 11: ir.F64, 16: ir.BF16}

// importLayerNormalization imports LayerNormalization. ONNX has this operator from opset 17 on, but ONNX Runtime
// also writes it for older opsets. Scale and bias are broadcast to the shape of the normalised axes. The optional
// results, the mean and the inverse standard deviation, are computed separately.
func importLayerNormalization(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	axis, err := fromFront(c.Int("axis", -1), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	stash, ok := stashTypes[c.Int("stash_type", 1)]
	if !ok {
		return nil, fmt.Errorf("stash_type %d is not a float", c.Int("stash_type", 1))
	}
	op := LayerNormalization{Axis: axis, Epsilon: c.Float("epsilon", float64(float32(1e-5)))}
	y := rowOperands(b, x, axis, []*ir.Value{c.Arg(1), c.Arg(2)}, func(args ...*ir.Value) *ir.Value { return b.Node(op, args...) })
	out := []*ir.Value{y}
	if c.Wants(1) || c.Wants(2) {
		axes := AllAxes(x.Type.Rank())[axis:]
		mean, variance := moments(b, ConvertTo(b, x, stash), axes)
		deviation := b.Node(Sqrt{}, b.Node(Add{}, variance, b.Scalar(stash, op.Epsilon)))
		out = append(out, mean, b.Node(Reciprocal{}, deviation))
	}
	return out[:min(len(out), max(c.NumResults(), 1))], nil
}

func importRMSNormalization(c ir.Importer) ([]*ir.Value, error) {
	b, x, scale := c.Builder(), c.Arg(0), c.Arg(1)
	axis, err := fromFront(c.Int("axis", -1), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	if _, ok := stashTypes[c.Int("stash_type", 1)]; !ok {
		return nil, fmt.Errorf("stash_type %d is not a float", c.Int("stash_type", 1))
	}
	op := RMSNormalization{Axis: axis, Epsilon: c.Float("epsilon", float64(float32(1e-5)))}
	if scale.Type.DType != x.Type.DType { // the result has the scale's type
		y := ConvertTo(b, b.Node(op, x), scale.Type.DType)
		return []*ir.Value{b.Node(Mul{}, y, scale)}, nil
	}
	return []*ir.Value{rowOperands(b, x, axis, []*ir.Value{scale}, func(args ...*ir.Value) *ir.Value { return b.Node(op, args...) })}, nil
}

// rowOperands applies norm to x, a scale and a bias. `more` holds the scale and the bias; nil means an absent one.
// rowOperands broadcasts them to the shape of the axes of x from `axis` on. This is not possible if one of them
// varies along an earlier axis. rowOperands then calls norm with x only, multiplies the result by the scale, and adds
// the bias.
func rowOperands(b *ir.Builder, x *ir.Value, axis int, more []*ir.Value, norm func(...*ir.Value) *ir.Value) *ir.Value {
	row := x.Type.Shape[axis:]
	args, rows := []*ir.Value{x}, true
	for _, v := range more {
		if v != nil {
			lead := v.Type.Rank() - len(row)
			rows = rows && (lead <= 0 || dim.Product(v.Type.Shape[:lead]...).Equal(dim.Const(1)))
		}
	}
	if !rows {
		y := norm(x)
		for i, v := range more {
			if v != nil {
				y = b.Node([]ir.Op{Mul{}, Add{}}[i], y, v)
			}
		}
		return y
	}
	for _, v := range more {
		if v != nil {
			if lead := v.Type.Rank() - len(row); lead > 0 {
				v = ReshapeTo(b, v, v.Type.Shape[lead:]...)
			}
			v = ExpandTo(b, v, row...)
		}
		args = append(args, v)
	}
	return norm(args...)
}

// moments appends the mean and the population variance of x along axes. The extents of these axes become 1.
func moments(b *ir.Builder, x *ir.Value, axes []int) (mean, variance *ir.Value) {
	average := Reduce{Kind: ReduceMean, Axes: axes, KeepDims: true}
	mean = b.Node(average, x)
	d := b.Node(Sub{}, x, mean)
	return mean, b.Node(average, b.Node(Mul{}, d, d))
}

// normalGrad returns the gradients of x, scale and bias for a normalisation over the axes from `axis` on. g is the
// gradient of the result. Let z be the normalised x, h = g·scale the gradient of z, r = 1/√(variance + epsilon),
// and avg an average along a row. The gradient of x is r·(h − z·avg(h·z)), or r·(h − z·avg(h·z) − avg(h)) if
// centred is set.
func normalGrad(b *ir.Builder, n *ir.Node, g *ir.Value, want []bool, axis int, epsilon float64, centred bool) []*ir.Value {
	c, x := calculus{b}, n.Arg(0)
	rows, axes := AllAxes(axis), AllAxes(x.Type.Rank())[axis:]
	z := x
	if centred {
		z = c.sub(x, c.mean(x, axes...))
	}
	r := c.over(1, b.Node(Sqrt{}, c.plus(c.mean(c.square(z), axes...), epsilon)))
	z = c.mul(z, r)
	grads := make([]*ir.Value, len(n.Args))
	h := g
	if scale := n.Arg(1); scale != nil {
		h = c.mul(g, scale)
		if want[1] {
			grads[1] = ReshapeTo(b, c.sum(c.mul(g, z), false, rows...), scale.Type.Shape...)
		}
	}
	if bias := n.Arg(2); bias != nil && want[2] {
		grads[2] = ReshapeTo(b, c.sum(g, false, rows...), bias.Type.Shape...)
	}
	if want[0] {
		d := c.sub(h, c.mul(z, c.mean(c.mul(h, z), axes...)))
		if centred {
			d = c.sub(d, c.mean(h, axes...))
		}
		grads[0] = c.mul(d, r)
	}
	return grads
}

// IsMemoryBound marks the operator as bound by memory bandwidth.
func (LayerNormalization) IsMemoryBound() {}

// IsMemoryBound marks the operator as bound by memory bandwidth.
func (RMSNormalization) IsMemoryBound() {}

// RowAxis returns Axis and true, because a row of the operand begins at Axis.
func (op LayerNormalization) RowAxis(int) (axis int, ok bool) { return op.Axis, true }

// AtAxis returns the operator for rows that start at axis.
func (op LayerNormalization) AtAxis(axis int) ir.Op {
	op.Axis = axis
	return op
}

// RowAxis returns Axis and true, because a row of the operand begins at Axis.
func (op RMSNormalization) RowAxis(int) (axis int, ok bool) { return op.Axis, true }

// AtAxis returns the operator for rows that start at axis.
func (op RMSNormalization) AtAxis(axis int) ir.Op {
	op.Axis = axis
	return op
}

// IsStatistic returns false: no operand is a running statistic.
func (LayerNormalization) IsStatistic(int) bool { return false }

// IsStatistic returns false: no operand is a running statistic.
func (RMSNormalization) IsStatistic(int) bool { return false }
