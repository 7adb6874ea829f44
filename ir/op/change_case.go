package op

import (
	"strings"

	"github.com/burngen/burngen/ir"
)

// ChangeCase converts strings to lower case, or to upper case if Upper is set. It converts each letter by the
// Unicode tables, and has no rules for single languages.
type ChangeCase struct {
	unary[texts]
	Upper bool
}

// Eval returns the strings in upper or lower case.
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
