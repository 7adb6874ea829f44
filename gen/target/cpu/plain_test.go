package cpu_test

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu"
	kernels "github.com/burngen/burngen/runtime/cpu"
)

// TestPlainLastsAsLongAsAnyoneNeedsIt asserts that the level comes back with the last restore.
func TestPlainLastsAsLongAsAnyoneNeedsIt(t *testing.T) {
	before := kernels.CurrentLevel()
	first, second := cpu.Target{}.Plain(), cpu.Target{}.Plain()
	if l := kernels.CurrentLevel(); l != kernels.Generic {
		t.Errorf("the level is %s", l)
	}
	first()
	if l := kernels.CurrentLevel(); l != kernels.Generic {
		t.Errorf("the level is %s, and one caller still needs the plain kernels", l)
	}
	second()
	if l := kernels.CurrentLevel(); l != before {
		t.Errorf("the level is %s, it was %s", l, before)
	}
}
