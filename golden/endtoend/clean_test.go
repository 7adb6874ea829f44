package endtoend

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
)

// staticcheck is the linter that generated code has to please.
const staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

// TestGeneratedCodeIsClean formats, vets and lints packages of every form, and packages of corpus
// models that cover most of the generated code.
func TestGeneratedCodeIsClean(t *testing.T) {
	module.Long(t)
	t.Parallel()
	m := module.New(t)
	for _, f := range []fixture.Model{fixture.Static, fixture.Batched, fixture.Dynamic, fixture.Tiny} {
		m.Generate(t, f.Name, f.Write(t))
	}
	m.Generate(t, "mapped", fixture.Static.Write(t), "-weights", "file")
	m.Generate(t, "bounded", fixture.Dynamic.Write(t), "-dim", "N=1..8", "-dim", "S=1..64")
	for name, model := range map[string]fixture.Corpus{
		"mnist": "models/mnist-burn", "cifar": "models/cifar10-pytorch-tutorial", "bert": "models/bert-toy",
		"ultraface": "models/ultraface-slim-128", "shufflenet": "onnx-light/light_shufflenet",
		"trafficsign": "models/gtsrb-trafficsign",
	} {
		if !model.There() {
			t.Logf("no corpus: without %s", model)
			continue
		}
		m.Generate(t, name, model.Path(t))
	}
	t.Run("gofmt", func(t *testing.T) {
		if list := module.Output(t, exec.Command("gofmt", "-l", m.Dir)); list != "" {
			t.Errorf("not formatted:\n%s", list)
		}
	})
	t.Run("vet", func(t *testing.T) { m.Run(t, nil, "vet", "./...") })
	t.Run("staticcheck", func(t *testing.T) {
		if out, err := m.Command([]string{"GOPROXY=off"}, "run", staticcheck, "-version").CombinedOutput(); err != nil {
			t.Skipf("%s is not in the module cache: %v\n%s", staticcheck, err, out)
		}
		c := m.Command([]string{"GOPROXY=off"}, "run", staticcheck, "-checks", "all", "./...")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, strings.ReplaceAll(string(out), m.Dir+"/", ""))
		}
	})
}
