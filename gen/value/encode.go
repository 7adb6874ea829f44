package value

import (
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/ir"
)

// Encode converts a tensor to the form that is sent to a program that calls generated code.
func Encode(t *ir.Tensor) harness.Value {
	v := harness.Value{Elem: exec.GoType(t.DType).String(), Shape: t.Shape}
	if t.DType != ir.String {
		v.Data = t.Bytes()
		return v
	}
	for i := range t.Len() {
		v.Texts = append(v.Texts, t.Text(i))
	}
	return v
}
