package golden

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// hostOperatorsFile has a line for each operator that a kernel of the CPU computes, and no kernel of a
// GPU: packages for GPUs compute it on the host.
const hostOperatorsFile = "conformance/host_operators.tsv"

// TestHostOperators asserts that conformance/host_operators.tsv is up to date. -update writes it.
func TestHostOperators(t *testing.T) {
	var names []string
	for _, o := range op.Ops {
		_, scalar := o.(op.Scalar) // regions of elementwise operators have a kernel
		if call.Has(o) && !launch.Has(o) && !scalar {
			names = append(names, ir.OpName(o))
		}
	}
	slices.Sort(names)
	text := strings.Join(names, "\n") + "\n"
	if *update {
		if err := os.WriteFile(hostOperatorsFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(hostOperatorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the host computes\n%s%s has\n%srun go test ./golden -run TestHostOperators -update if that is meant", text, hostOperatorsFile, want)
	}
}
