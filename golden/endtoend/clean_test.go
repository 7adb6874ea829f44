package endtoend

import (
	"os/exec"
	"strings"
	"testing"
)

// staticcheck is the linter that generated code has to please.
const staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

// TestGeneratedCodeIsClean formats, vets and lints packages of every form, and packages of corpus
// models that cover most of the generated code.
func TestGeneratedCodeIsClean(t *testing.T) {
	long(t)
	t.Parallel()
	m := newModule(t)
	for _, f := range []fixture{staticNet, batchedNet, dynamicNet, tinyNet} {
		m.generate(t, f.name, f.write(t))
	}
	m.generate(t, "mapped", staticNet.write(t), "-weights", "file")
	m.generate(t, "bounded", dynamicNet.write(t), "-dim", "N=1..8", "-dim", "S=1..64")
	for name, model := range map[string]corpusModel{
		"mnist": "models/mnist-burn", "cifar": "models/cifar10-pytorch-tutorial", "bert": "models/bert-toy",
		"ultraface": "models/ultraface-slim-128", "shufflenet": "onnx-light/light_shufflenet",
		"trafficsign": "models/gtsrb-trafficsign",
	} {
		if !model.there() {
			t.Logf("no corpus: without %s", model)
			continue
		}
		m.generate(t, name, model.path(t))
	}
	t.Run("gofmt", func(t *testing.T) {
		if list := run(t, exec.Command("gofmt", "-l", m.dir)); list != "" {
			t.Errorf("not formatted:\n%s", list)
		}
	})
	t.Run("vet", func(t *testing.T) { m.run(t, nil, "vet", "./...") })
	t.Run("staticcheck", func(t *testing.T) {
		if out, err := m.command([]string{"GOPROXY=off"}, "run", staticcheck, "-version").CombinedOutput(); err != nil {
			t.Skipf("%s is not in the module cache: %v\n%s", staticcheck, err, out)
		}
		c := m.command([]string{"GOPROXY=off"}, "run", staticcheck, "-checks", "all", "./...")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, strings.ReplaceAll(string(out), m.dir+"/", ""))
		}
	})
}
