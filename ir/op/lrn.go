package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// LRN divides each element of x, floats [N,C,spatial…], by (Bias + Alpha/Size·q)^Beta (ONNX LRN). q is the sum of
// the squares at the same position in Size adjacent channels: ⌊(Size−1)/2⌋ channels before the element's channel,
// this channel, and ⌈(Size−1)/2⌉ channels after it. Channels that do not exist count as 0.
type LRN struct {
	Size              int
	Alpha, Beta, Bias float64
	// Blocked says that x is channel-blocked, f32[N,⌈C/16⌉,spatial…,16].
	Blocked bool
}

// Infer returns the operand's type.
func (op LRN) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	if op.Size < 1 || op.Size > math.MaxInt32 {
		return nil, fmt.Errorf("size %d is out of range", op.Size)
	}
	if _, err := SpatialEnd(in[0], op.Blocked); err != nil {
		return nil, err
	}
	return in, nil
}

// Eval returns the normalised x, in x's shape. It sums squares in float64.
func (op LRN) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	end, err := SpatialEnd(x.Type(), op.Blocked)
	if err != nil {
		return nil, err
	}
	y := ir.NewTensor(x.DType, x.Shape...)
	plane, lanes := LenOf(x.Shape[2:end]), LenOf(x.Shape[end:])
	channels := x.Shape[1] * lanes
	place := func(n, c, at int) int { return ((n*channels+c)/lanes*plane+at)*lanes + c%lanes }
	for n := range x.Shape[0] {
		for c := range channels {
			first, last := max(0, c-(op.Size-1)/2), min(channels-1, c+op.Size/2)
			for at := range plane {
				sum := 0.0
				for i := first; i <= last; i++ {
					v := x.Float(place(n, i, at))
					sum += float64(v * v)
				}
				i := place(n, c, at)
				y.SetFloat(i, x.Float(i)/math.Pow(op.Bias+float64(op.Alpha/float64(op.Size)*sum), op.Beta))
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts 2·Size + 10 operations for each element of x: two for each square, and 10 for the power and the
// quotient.
func (op LRN) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(2*op.Size + 10)) }

// Grad returns dy·s^(−Beta) − 2·Alpha·Beta/Size·x·t. s is the base of the power in [LRN]. t is a sum of dy·y/s,
// where y is the result. The sum is over the channels whose s depends on x.
func (op LRN) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, x, g := calculus{b}, n.Arg(0), dy[0]
	before, after := (op.Size-1)/2, op.Size/2
	base := c.plus(c.times(op.average(b, c.square(x), before, after), op.Alpha), op.Bias)
	power := b.Node(Pow{}, base, c.num(x, -op.Beta))
	part := op.average(b, c.div(c.mul(c.mul(g, x), power), base), after, before)
	return []*ir.Value{c.sub(c.mul(g, power), c.mul(c.times(x, 2*op.Alpha*op.Beta), part))}
}

// average appends, for each element of x, the sum of Size adjacent channels at the element's position, divided by
// Size. These are `before` channels before the element's channel, this channel, and `after` channels after it.
// Missing channels count as 0.
func (op LRN) average(b *ir.Builder, x *ir.Value, before, after int) *ir.Value {
	shape, one := x.Type.Shape, dim.Const(1)
	flat := ReshapeTo(b, x, shape[0], one, shape[1], dim.Product(shape[2:]...))
	w := Window{Kernel: []int{op.Size, 1}, Pads: []int{before, 0, after, 0}}
	return ReshapeTo(b, b.Node(AveragePool{Window: w, CountPad: true}, flat), shape...)
}

// Lower computes floats of at most 16 bits in f32. It replaces an LRN of f64 by other operators: an [AveragePool]
// over the channels of the squares, a power and a quotient.
func (op LRN) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, d := n.Arg(0), n.Arg(0).Type.DType
	if d != ir.F64 {
		return lowerNarrow(b, n)
	}
	mean := op.average(b, b.Node(Mul{}, x, x), (op.Size-1)/2, op.Size/2)
	base := b.Node(Add{}, b.Node(Mul{}, mean, b.Scalar(d, op.Alpha)), b.Scalar(d, op.Bias))
	return []*ir.Value{b.Node(Div{}, x, b.Node(Pow{}, base, b.Scalar(d, op.Beta)))}
}

func importLRN(c ir.Importer) ([]*ir.Value, error) {
	op := LRN{
		Size:  c.Int("size", 0),
		Alpha: c.Float("alpha", float64(float32(0.0001))),
		Beta:  c.Float("beta", 0.75),
		Bias:  c.Float("bias", 1),
	}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
