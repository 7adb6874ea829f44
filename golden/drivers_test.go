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
		"./runtime/rt/... ./runtime/cpu ./runtime/gpu ./runtime/data/... ./runtime/metric ./runtime/record ./runtime/optim ./runtime/learn": false,
		"./examples/classify/... ./examples/custom/... ./examples/finetune/... ./examples/images/... ./examples/learner ./examples/metric ./examples/mnist/... ./examples/pytorch/... ./examples/regression/... ./examples/renderer ./examples/squeezenet/... ./examples/text/... ./examples/transfer/... ./examples/web/... ./examples/xor/...": false,
		"./examples/digits/model":      false,
		"./examples/digits/model/auto": true,
		"./runtime/cuda":               true,
		"./runtime/metric/system":      true,
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

// linked lists the packages outside of the standard library that a generated package for the CPU links.
var linked = []string{
	modulePath + "/runtime/cpu",
	modulePath + "/runtime/rt",
	modulePath + "/runtime/rt/keys",
	modulePath + "/runtime/rt/safetensors",
	"golang.org/x/sys/cpu",
	"golang.org/x/sys/unix",
}

// TestModelsLinkLittle asserts that a generated package links what it needs to compute, and nothing of
// what only programs that train use.
func TestModelsLinkLittle(t *testing.T) {
	for _, pkg := range []string{"examples/mnist/cnn", "examples/xor/xor", "examples/digits/model"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./"+pkg)
		list.Dir = ".."
		list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return within(name, modulePath+"/"+pkg) })
		slices.Sort(got)
		if !slices.Equal(got, linked) {
			t.Errorf("%s links %q\nwant %q", pkg, got, linked)
		}
	}
}
