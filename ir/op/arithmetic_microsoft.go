package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importBiasDropout imports BiasDropout of com.microsoft: Dropout(x + bias) + residual. The last two operands are
// the ratio and the training flag.
func importBiasDropout(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	x := b.Node(Add{}, c.Arg(0), c.Arg(1))
	out, err := asOpset(13, importDropout)(withArgs(c, x, c.Arg(3), c.Arg(4)))
	if err == nil && c.Arg(2) != nil {
		out[0] = b.Node(Add{}, out[0], c.Arg(2))
	}
	return out, err
}

func importGatedAdd(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	return []*ir.Value{b.Node(Add{}, c.Arg(0), b.Node(Mul{}, c.Arg(1), c.Arg(2)))}, nil
}

// importComplexMul imports ComplexMul of com.microsoft, the product of complex numbers. The last axis holds the
// real and the imaginary part of a number. If conjugate is true, it imports ComplexMulConj, which conjugates the
// second factor.
func importComplexMul(conjugate bool) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		b := c.Builder()
		var parts [2][2]*ir.Value // of operand, real or imaginary
		for i := range parts {
			v := c.Arg(i)
			axis := v.Type.Rank() - 1
			if axis < 0 || !v.Type.Shape[axis].Equal(dim.Const(2)) {
				return nil, fmt.Errorf("operand %d is %s, a last axis of 2 expected", i, v.Type)
			}
			for k := range parts[i] {
				parts[i][k] = sliceAxis(b, v, axis, dim.Const(k), dim.Const(1))
			}
		}
		product := func(i, k int) *ir.Value { return b.Node(Mul{}, parts[0][i], parts[1][k]) }
		var re, im ir.Op = Sub{}, Add{}
		if conjugate {
			re, im = Add{}, Sub{}
		}
		real := b.Node(re, product(0, 0), product(1, 1))
		imaginary := b.Node(im, product(1, 0), product(0, 1))
		return []*ir.Value{b.Node(Concat{Axis: real.Type.Rank() - 1}, real, imaginary)}, nil
	}
}

var distances = map[string]Reduction{
	"chebyshev": ReduceMax, "cityblock": ReduceL1, "euclidean": ReduceL2, "sqeuclidean": ReduceSumSquare,
}

// importCDist imports CDist of com.microsoft: the distances, [M,K], between the rows of a matrix [M,N] and the rows
// of a matrix [K,N].
func importCDist(c ir.Importer) ([]*ir.Value, error) {
	b, x, y := c.Builder(), c.Arg(0), c.Arg(1)
	metric := c.Text("metric", "sqeuclidean")
	kind, ok := distances[metric]
	if !ok {
		return nil, fmt.Errorf("metric %q is not supported", metric)
	}
	if x.Type.Rank() != 2 || y.Type.Rank() != 2 {
		return nil, fmt.Errorf("distances of %s and %s, matrices expected", x.Type, y.Type)
	}
	both := []*ir.Value{x, y}
	agree(b, x.Type.Shape[1], y.Type.Shape[1], "columns", both)
	x, y = both[0], both[1]
	d := b.Node(Sub{}, ReshapeTo(b, x, x.Type.Shape[0], dim.Const(1), x.Type.Shape[1]), y)
	if kind == ReduceMax {
		d = b.Node(Abs{}, d)
	}
	return []*ir.Value{b.Node(Reduce{Kind: kind, Axes: []int{2}}, d)}, nil
}

// importIsAllFinite imports IsAllFinite of com.microsoft. The result is true if no element of any operand is
// infinite or NaN. With an attribute, the operator tests only for infinities or only for NaNs.
func importIsAllFinite(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	infOnly, nanOnly := c.Int("isinf_only", 0) != 0, c.Int("isnan_only", 0) != 0
	if infOnly && nanOnly {
		return nil, fmt.Errorf("isinf_only beside isnan_only")
	}
	all := b.Const(ir.Scalar(ir.Bool, 1))
	for i := range c.NumArgs() {
		v := c.Arg(i)
		if v == nil {
			return nil, fmt.Errorf("operand %d is absent", i)
		}
		var bad *ir.Value
		switch {
		case infOnly:
			bad = b.Node(IsInf{Negative: true, Positive: true}, v)
		case nanOnly:
			bad = b.Node(IsNaN{}, v)
		default:
			bad = b.Node(Or{}, b.Node(IsNaN{}, v), b.Node(IsInf{Negative: true, Positive: true}, v))
		}
		any := b.Node(Reduce{Kind: ReduceMax, Axes: AllAxes(v.Type.Rank())}, bad)
		all = b.Node(And{}, all, b.Node(Not{}, any))
	}
	return []*ir.Value{all}, nil
}
