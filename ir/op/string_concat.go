package op

import "github.com/burngen/burngen/ir"

// StringConcat is x followed by y, broadcast: of strings (ONNX StringConcat).
type StringConcat struct{ binary[texts] }

// Eval concatenates.
func (StringConcat) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	shape, walks, err := evalBroadcast(in)
	if err != nil {
		return nil, err
	}
	y := ir.NewTensor(ir.String, shape...)
	for i := range y.Len() {
		y.SetText(i, in[0].Text(walks[0].Offset)+in[1].Text(walks[1].Offset))
		walks[0].Next()
		walks[1].Next()
	}
	return []*ir.Tensor{y}, nil
}

// Lower repeats the operands.
func (StringConcat) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerTexts(b, n) }

// Call is cpu.StringConcat.
func (StringConcat) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "StringConcat", Args: []any{ir.Out(0), ir.In(0), ir.In(1)}}, nil
}
