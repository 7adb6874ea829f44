package targettest

import (
	"maps"
	"slices"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestTrialsAreOfOperators asserts that the names in both tables are operators, and that no
// operator is in both.
func TestTrialsAreOfOperators(t *testing.T) {
	names := map[string]bool{}
	for _, o := range op.Ops {
		names[ir.OpName(o)] = true
	}
	for _, list := range [][]string{slices.Collect(maps.Keys(trials)), slices.Collect(maps.Keys(untried))} {
		for _, name := range list {
			if !names[name] {
				t.Errorf("no operator %s", name)
			}
		}
	}
	for name := range untried {
		if trials[name] != nil {
			t.Errorf("%s is tried", name)
		}
	}
}
