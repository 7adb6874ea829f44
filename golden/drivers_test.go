package golden

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCPUIsFreeOfDrivers asserts that programs without a GPU do not link the packages that load
// drivers. The programs stay static, and can be built for platforms that have no loader.
func TestCPUIsFreeOfDrivers(t *testing.T) {
	const loader = "github.com/ebitengine/purego"
	for packages, want := range map[string]bool{
		"./runtime/rt/... ./runtime/cpu ./runtime/gpu ./runtime/data ./runtime/record ./runtime/optim":                                        false,
		"./examples/custom/... ./examples/finetune/... ./examples/mnist/... ./examples/regression/... ./examples/text/... ./examples/xor/...": false,
		"./examples/digits/model":      false,
		"./examples/digits/model/auto": true,
		"./runtime/cuda":               true,
	} {
		list := exec.Command("go", append([]string{"list", "-deps"}, strings.Fields(packages)...)...)
		list.Dir = ".."
		list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		if linked := slices.Contains(strings.Fields(string(out)), loader); linked != want {
			t.Errorf("%s links %s: %v, want %v", packages, loader, linked, want)
		}
	}
}
