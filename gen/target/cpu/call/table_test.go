package call

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// An operator is in one family, once, and in the IR's list of operators.
func TestNoOperatorHasTwoBuilders(t *testing.T) {
	listed := map[reflect.Type]bool{}
	for _, o := range slices.Concat(op.Ops, storage.Ops) {
		listed[reflect.TypeOf(o)] = true
	}
	seen := map[reflect.Type]bool{}
	for _, e := range table {
		if seen[e.op] {
			t.Errorf("two builders claim %s", e.op)
		}
		if seen[e.op] = true; !listed[e.op] {
			t.Errorf("%s is not an operator of package op or storage", e.op)
		}
	}
}

// uncalled are the operators that reach the schedule and that no single kernel computes.
var uncalled = map[string]string{
	"custom":          "a function of the user's program computes it",
	"fusion":          "only passes for GPUs make it",
	"if":              "it is a step of its own, which calls functions",
	"loop":            "it is a step of its own, which calls functions",
	"mat_mul_integer": "package storage replaces it",
	"pointwise":       "it is a loop over the kernels of its region",
}

// Every operator that remains after lowering has a builder, unless it is a view or has no results.
func TestEveryOperatorThatIsNotLoweredHasABuilder(t *testing.T) {
	for _, o := range slices.Concat(op.Ops, storage.Ops) {
		name, e := ir.OpName(o), builders[reflect.TypeOf(o)]
		_, lowers := o.(ir.Lowerer)
		_, composed := o.(ir.Composite)
		_, view := o.(ir.Viewer)
		_, binds := o.(ir.Binder)
		switch {
		case binds && !lowers && e.measures == nil && uncalled[name] == "":
			t.Errorf("%s binds symbols that no kernel measures", name)
		case e.call != nil || e.measures != nil:
			if uncalled[name] != "" {
				t.Errorf("%s has a builder", name)
			}
		case !lowers && !composed && !view && uncalled[name] == "":
			t.Errorf("%s has no lowering, and no kernel computes it", name)
		}
	}
}

// TestEveryKernelIsCalled asserts that every constructor of package kernel is called: by a builder,
// or by the code that makes and runs steps.
func TestEveryKernelIsCalled(t *testing.T) {
	source := func(patterns ...string) string {
		var b strings.Builder
		for _, p := range patterns {
			files, err := filepath.Glob(p)
			if err != nil || len(files) == 0 {
				t.Fatalf("%s: %d files, error %v", p, len(files), err)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasSuffix(f, "_test.go") {
					b.Write(text)
				}
			}
		}
		return b.String()
	}
	called := map[string]bool{}
	for _, m := range regexp.MustCompile(`kernel\.(\w+)`).FindAllStringSubmatch(source("*.go", "../*.go"), -1) {
		called[m[1]] = true
	}
	for _, e := range simple {
		called[e.op.Name()] = true
	}
	kernels := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(`).FindAllStringSubmatch(source("../kernel/zkernels.go"), -1)
	if len(kernels) < 300 {
		t.Errorf("%d kernels, more than 300 expected", len(kernels))
	}
	for _, m := range kernels {
		if !called[m[1]] {
			t.Errorf("nothing calls kernel.%s", m[1])
		}
	}
}
