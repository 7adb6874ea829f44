package endtoend

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

// subject is a model whose package must pass the tests in testdata/contract, which check what the
// API promises.
type subject struct {
	name string
	path func(*testing.T) string
	// tests are the folders in testdata/contract that apply to the form of the package.
	tests []string
	// input and output are the types of its image and result, symbol its batch.
	input, output, symbol string
	// file keeps the weights out of the program.
	file bool
}

// subjects are models of each form of the API.
var subjects = []subject{
	{name: "static", path: fixture.Static.Write, tests: []string{"static"}, input: "Image", output: "Logits"},
	{name: "mapped", path: fixture.Static.Write, tests: []string{"static", "file"}, input: "Image", output: "Logits", file: true},
	{name: "batched", path: fixture.Batched.Write, tests: []string{"batched"}, input: "Image", output: "Logits", symbol: "N"},
	{name: "dynamic", path: fixture.Dynamic.Write, tests: []string{"dynamic"}},
	{name: "mnist", path: fixture.Corpus("models/mnist-burn").Path, tests: []string{"static"}, input: "Input1", output: "X33"},
	{name: "detector", path: fixture.Corpus("models/fastestdet").Path, tests: []string{"static", "file"}, input: "Input", output: "Output", file: true},
	{name: "cifar", path: fixture.Corpus("models/cifar10-pytorch-tutorial").Path, tests: []string{"batched"}, input: "ModelInput", output: "ModelOutput", symbol: "batch_size"},
}

// contract generates a subject's package and puts the tests of its API into a folder of the same
// module. It returns the module.
func (s subject) contract(t *testing.T) module.Module {
	t.Helper()
	m := module.New(t)
	model := s.path(t)
	load := fmt.Sprintf("func load() (*Model, error) { return %s.Load() }\n", s.name)
	if s.file {
		m.Generate(t, s.name, model, "-weights", "file")
		load = fmt.Sprintf("const ownFile = %q\n\nfunc load() (*Model, error) { return %s.Load(\"../\" + ownFile) }\n", weightsFile(t, m, s.name), s.name)
	} else {
		m.Generate(t, s.name, model)
	}
	dir := s.name + "/contract"
	m.Copy(t, dir, "contract/common_test.go")
	for _, form := range s.tests {
		m.Copy(t, dir, "contract/"+form+"/"+form+"_test.go")
	}
	var text strings.Builder
	fmt.Fprintf(&text, "package contract\n\nimport %[1]q\n\ntype (\n\tModel = %[2]s.Model\n\tSession = %[2]s.Session\n)\n\nvar loadFrom, wanted = %[2]s.LoadFrom, %[2]s.Wanted\n\n%[3]s", "program/"+s.name, s.name, load)
	if s.input != "" {
		fmt.Fprintf(&text, "\ntype (\n\tinput = %[1]s.%[2]s\n\toutput = %[1]s.%[3]s\n)\n", s.name, s.input, s.output)
	}
	if s.symbol != "" {
		fmt.Fprintf(&text, "\nconst symbol = %q\n", s.symbol)
	}
	m.Write(t, dir+"/subject_test.go", text.String())
	m.Write(t, dir+"/raw.safetensors", rawWeights(t, model))
	return m
}

// weightsFile returns the name of the weights file of a generated package.
func weightsFile(t *testing.T, m module.Module, name string) string {
	t.Helper()
	files, err := filepath.Glob(m.Path(name + "/*.safetensors"))
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".const.safetensors") })
	if err != nil || len(files) != 1 {
		t.Fatalf("one weights file expected, not %q", files)
	}
	return filepath.Base(files[0])
}

// rawWeights returns a file with the original weights of a model, before burngen prepares them.
func rawWeights(t *testing.T, model string) string {
	t.Helper()
	src, err := onnx.Open(model, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw := rt.NewWeights()
	for _, w := range src.Module.Weights {
		shape, _ := w.Type.Static()
		raw.AddRaw(w.Name, w.Type.DType.String(), shape, w.Data)
	}
	var file strings.Builder
	if _, err := raw.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// TestContract runs the tests in testdata/contract on each subject.
func TestContract(t *testing.T) {
	module.Long(t)
	t.Parallel()
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			t.Log(s.contract(t).Run(t, nil, "test", "./..."))
		})
	}
}

// TestContractUnderTheRaceDetector runs the tests that call from many goroutines with the race
// detector, if -races is given.
func TestContractUnderTheRaceDetector(t *testing.T) {
	module.Long(t)
	t.Parallel()
	if !*races {
		t.Skip("no -races")
	}
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			t.Log(s.contract(t).Run(t, []string{"CGO_ENABLED=1"}, "test", "-race", "-run", "Goroutines|Workers|OneCall|Context|Outlive|Swap", "./"+s.name+"/contract"))
		})
	}
}
