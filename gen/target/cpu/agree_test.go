package cpu_test

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	kernels "github.com/burngen/burngen/runtime/cpu"
)

func best() (restore func()) { return kernels.SetLevel(kernels.AVX512) }

func TestAgree(t *testing.T)         { targettest.Agree(t, cpu.Target{}, cpu.Target{}.Plain, best) }
func TestStorageAgrees(t *testing.T) { stored.Agree(t, cpu.Target{}, cpu.Target{}.Plain, best) }

// stored are the trials of the operators in layouts of the target's own.
var stored = targettest.Merged(storageTrials, bytesTrials)

// TestEveryOperatorHasATrial asserts that there is a trial for every operator that has a lowering
// or a builder of its call, or that binds symbols.
func TestEveryOperatorHasATrial(t *testing.T) {
	for _, o := range slices.Concat(op.Ops, storage.Ops) {
		name, calls := ir.OpName(o), call.Has(o)
		_, lowers := o.(ir.Lowerer)
		_, binds := o.(ir.Binder)
		if _, region := o.(ir.RegionOp); region && !lowers && !calls {
			continue // control flow, and what passes make of elementwise operators
		}
		if (lowers || calls || binds) && !targettest.Tried(name) && stored[name] == nil {
			t.Errorf("%s has a kernel or a lowering, and no trial", name)
		}
	}
	for name := range stored {
		if !slices.ContainsFunc(slices.Concat(op.Ops, storage.Ops), func(o ir.Op) bool { return ir.OpName(o) == name }) {
			t.Errorf("no operator %s", name)
		}
	}
}
