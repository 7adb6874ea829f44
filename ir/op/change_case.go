package op

import (
	"strings"

	"github.com/burngen/burngen/ir"
)

// ChangeCase is its operand, strings, in lower case, or in upper case where Upper
// is set. Letters change one by one as Unicode says, in any language.
type ChangeCase struct {
	unary[texts]
	Upper bool
}

// Eval changes the case.
func (op ChangeCase) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	y := ir.NewTensor(ir.String, x.Shape...)
	for i := range y.Len() {
		if op.Upper {
			y.SetText(i, strings.ToUpper(x.Text(i)))
		} else {
			y.SetText(i, strings.ToLower(x.Text(i)))
		}
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.ChangeCase.
func (op ChangeCase) Call(*ir.Node) (ir.Call, error) { return callUnary("ChangeCase", op.Upper), nil }
