package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// StringConcat concatenates strings x and y with broadcasting (ONNX StringConcat, from opset 20).
type StringConcat struct{ binary[texts] }

// maxEvalTexts is the maximum number of bytes of all strings that one call of an Eval creates.
const maxEvalTexts = 64 << 20

// Eval returns the concatenated strings in the common shape of both operands. It returns an error if these strings
// have more than [maxEvalTexts] bytes in all.
func (StringConcat) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	shape, walks, err := evalBroadcast(in)
	if err != nil {
		return nil, err
	}
	y := ir.NewTensor(ir.String, shape...)
	room := maxEvalTexts
	for i := range y.Len() {
		a, b := in[0].Text(walks[0].Offset), in[1].Text(walks[1].Offset)
		if room -= len(a) + len(b); room < 0 {
			return nil, fmt.Errorf("more than %d bytes of text", maxEvalTexts)
		}
		y.SetText(i, a+b)
		walks[0].Next()
		walks[1].Next()
	}
	return []*ir.Tensor{y}, nil
}

// Lower expands the operands to the shape of the result, see [lowerTexts].
func (StringConcat) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerTexts(b, n) }
