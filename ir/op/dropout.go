package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importDropout reads Dropout as it is outside training: the operand, and a mask
// of ones. The mask has the operand's element type before opset 10, bool from
// there on. From opset 12 the ratio and whether it trains are operands.
func importDropout(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	if c.Opset() < 7 {
		if c.Opset() < 6 {
			c.Ints("consumed_inputs", nil)
		}
		c.Int("is_test", 0)
	}
	if c.Opset() < 12 {
		c.Float("ratio", 0.5)
	} else {
		c.Int("seed", 0)
		if err := refuseTraining(c); err != nil {
			return nil, err
		}
	}
	results := []*ir.Value{x}
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

// refuseTraining returns an error when elements would be dropped.
func refuseTraining(c ir.Importer) error {
	training := c.Arg(2)
	if training == nil {
		return nil
	}
	t, ok := training.ConstValue()
	if !ok {
		return fmt.Errorf("training_mode is not known before the model runs")
	}
	if t.DType != ir.Bool || t.Len() != 1 {
		return fmt.Errorf("training_mode is %s, one bool expected", t.Type())
	}
	if !t.Bool(0) {
		return nil
	}
	if ratio, ok := c.Arg(1).ConstValue(); ok && ratio.DType.IsFloat() && ratio.Len() == 1 && ratio.Float(0) == 0 {
		return nil
	}
	return fmt.Errorf("training_mode with a ratio above 0 is not supported")
}
