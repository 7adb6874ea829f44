package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Dropout returns its operand, of floats. In training it sets elements to zero with probability Rate, and divides
// the others by 1 − Rate (Srivastava and others, Dropout: a simple way to prevent neural networks from overfitting,
// 2014). Site is the seed of the random numbers, so Dropouts with different Sites zero different elements. The
// elements also differ between training steps.
type Dropout struct {
	Rate float64
	Site int64
}

// Infer returns the operand's type. It returns an error unless Rate is from 0 to 1.
func (op Dropout) Infer(in []ir.Type) ([]ir.Type, error) {
	if !(op.Rate >= 0 && op.Rate <= 1) {
		return nil, fmt.Errorf("the rate %g is not from 0 to 1", op.Rate)
	}
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	return in, checkDomain(in, floats{})
}

// Eval returns the operand.
func (Dropout) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return in[:1], nil }

// Scalar returns the element unchanged.
func (Dropout) Scalar(_ *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value { return x[0] }

// Lower returns the operand.
func (Dropout) Lower(_ *ir.Builder, n *ir.Node) []*ir.Value { return []*ir.Value{n.Arg(0)} }

// Grad returns dy.
func (Dropout) Grad(_ *ir.Builder, _ *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value { return dy }

// Train replaces the node by nodes that set random elements of the operand to zero, and divide the others by 1 −
// Rate. It returns nil if Rate is 0.
func (op Dropout) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	x := n.Arg(0)
	if op.Rate == 0 {
		return nil
	}
	c, d := calculus{b}, wide(x.Type.DType)
	u := b.Node(RandomUniform{DType: d, Shape: x.Type.Shape, High: 1, Seed: op.Site}, t.Key(b))
	kept := c.times(x, 1/(1-op.Rate))
	if op.Rate == 1 {
		kept = c.times(x, 0)
	}
	return []*ir.Value{c.where(b.Node(GreaterOrEqual{}, u, c.num(u, op.Rate)), kept)}
}

func importDropout(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	if c.Opset() < 7 {
		if c.Opset() < 6 {
			c.Ints("consumed_inputs", nil)
		}
		c.Int("is_test", 0)
	}
	rate := 0.5
	if c.Opset() < 12 {
		rate = c.Float("ratio", rate)
	} else {
		c.Int("seed", 0)
		if trains, err := dropoutTrains(c); err != nil {
			return nil, err
		} else if trains {
			warnOfTraining(c, "drops elements")
			y, mask := dropout(c)
			return []*ir.Value{y, mask}[:max(1, min(2, c.NumResults()))], nil
		}
	}
	if t, ok := c.Arg(1).ConstValue(); ok && t.DType.IsFloat() && t.Len() == 1 {
		rate = t.Float(0)
	}
	results := []*ir.Value{x}
	if x.Type.DType.IsFloat() && rate > 0 && rate <= 1 {
		results[0] = b.Node(Dropout{Rate: rate, Site: siteSeed(b)}, x)
	}
	if c.NumResults() > 1 {
		mask := x.Type.DType
		if c.Opset() >= 10 {
			mask = ir.Bool
		}
		if !mask.IsFloat() && mask != ir.Bool {
			return nil, fmt.Errorf("not defined for %s", mask)
		}
		results = append(results, fill(b, ir.Scalar(mask, 1), x.Type.Shape...))
	}
	return results, nil
}

func dropoutTrains(c ir.Importer) (bool, error) {
	ratio, training := c.Arg(1), c.Arg(2)
	if ratio != nil && (!ratio.Type.DType.IsFloat() || !ratio.Type.Elems().Equal(dim.Const(1))) {
		return false, fmt.Errorf("ratio is %s, one float expected", ratio.Type)
	}
	if training == nil {
		return false, nil
	}
	if training.Type.DType != ir.Bool || !training.Type.Elems().Equal(dim.Const(1)) {
		return false, fmt.Errorf("training_mode is %s, one bool expected", training.Type)
	}
	if t, ok := training.ConstValue(); ok && !t.Bool(0) {
		return false, nil
	}
	t, ok := ratio.ConstValue()
	return !ok || t.Float(0) != 0, nil
}

// dropout appends Dropout in training mode. It returns the result, and the mask of bools that says which elements
// are kept. If training_mode is false at run time, all elements are kept.
func dropout(c ir.Importer) (y, mask *ir.Value) {
	b, x := c.Builder(), c.Arg(0)
	d := wide(x.Type.DType)
	ratio, training := b.Scalar(d, 0.5), ReshapeTo(b, c.Arg(2))
	if c.Arg(1) != nil {
		ratio = ReshapeTo(b, ConvertTo(b, c.Arg(1), d))
	}
	ratio = b.Node(Where{}, training, ratio, b.Scalar(d, 0))
	source := siteSeed(b)
	if c.Has("seed") {
		source = int64(c.Int("seed", 0))
	}
	u := b.Node(RandomUniform{DType: d, Shape: x.Type.Shape, High: 1, Seed: source})
	mask = b.Node(GreaterOrEqual{}, u, ratio)
	scaled := b.Node(Div{}, ConvertTo(b, x, d), b.Node(Sub{}, b.Scalar(d, 1), ratio))
	y = b.Node(Where{}, mask, scaled, b.Scalar(d, 0))
	return ConvertTo(b, y, x.Type.DType), mask
}

// IsIdentity returns true: without training the result is the operand.
func (Dropout) IsIdentity(ir.Type) bool { return true }
