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
		"./runtime/rt/... ./runtime/cpu ./runtime/gpu ./runtime/data/... ./runtime/metric ./runtime/record ./runtime/optim ./runtime/learn":                         false,
		"./examples/custom/... ./examples/finetune/... ./examples/images/... ./examples/mnist/... ./examples/regression/... ./examples/text/... ./examples/xor/...": false,
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

// TestModelsAreFreeOfTraining asserts that generated packages do not link what only programs that
// train use.
func TestModelsAreFreeOfTraining(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./examples/mnist/cnn", "./examples/xor/xor", "./examples/digits/model/...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		own, _ := strings.CutPrefix(pkg, modulePath+"/")
		for _, folder := range []string{"runtime/data", "runtime/metric", "runtime/optim", "runtime/record", "runtime/learn"} {
			if within(own, folder) {
				t.Errorf("generated packages link %s", pkg)
			}
		}
	}
}
