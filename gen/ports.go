package gen

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// checkPorts returns an error for an input or output whose size is known and over
// [rt.ArenaLimit]: its Go type would be an array that no machine holds.
func checkPorts(f *ir.Func) error {
	check := func(what, name string, t ir.Type) error {
		if !t.IsTensor() || !t.IsStatic() {
			return nil
		}
		n, ok := t.Elems().Int64()
		if limit := rt.ArenaLimit(0); !ok || n > limit/int64(max(1, t.DType.Size())) {
			return fmt.Errorf("%s %q is %s: limit is %d bytes (rt.ArenaLimit)", what, name, t, limit)
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
