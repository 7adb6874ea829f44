package gotype_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/ir"
)

// runtime is how type arguments name the packages of the runtime.
const runtime = "github.com/burngen/burngen/runtime/"

// The names are the names of the types that values have when a program is run.
func TestNamesAreThoseOfRunning(t *testing.T) {
	for d := ir.DType(1); exec.GoType(d) != nil; d++ {
		tensor := ir.TensorOf(d)
		for _, typ := range []ir.Type{tensor, ir.SequenceOf(tensor), ir.OptionalOf(tensor), ir.OptionalOf(ir.SequenceOf(tensor)), ir.SequenceOf(ir.MapOf(ir.I64, tensor))} {
			if got, want := gotype.Of(typ), strings.ReplaceAll(exec.HeldType(typ).String(), runtime, ""); got != want {
				t.Errorf("%s is %s, want %s", typ, got, want)
			}
		}
		if got, want := gotype.Elem(d), exec.GoType(d).String(); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}
