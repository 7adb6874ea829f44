package gen

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// maxPort is the largest size in bytes of an input or output. burngen refuses a model with a larger one. The limit
// does not depend on the memory of the generating machine, because another machine may run the package.
const maxPort int64 = 64 << 30

// checkPorts returns an error if an input or output has a static size over maxPort. Its Go type would be an array
// that no machine can hold.
func checkPorts(f *ir.Func) error {
	check := func(what, name string, t ir.Type) error {
		if !t.IsTensor() || !t.IsStatic() {
			return nil
		}
		n, ok := t.Elems().Int64()
		if !ok || n > maxPort/max(1, int64(t.DType.Size())) {
			return fmt.Errorf("%s %q is %s: limit is %d bytes", what, name, t, maxPort)
		}
		return nil
	}
	for _, p := range f.Params {
		if err := check("input", p.Name, p.Type); err != nil {
			return err
		}
	}
	for i, r := range f.Results {
		if err := check("output", f.ResultNames[i], r.Type); err != nil {
			return err
		}
	}
	return nil
}
