package endtoend

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// verify runs burngen verify on a folder and returns its output and exit code.
func verify(t *testing.T, dir string, flags ...string) (string, int) {
	t.Helper()
	c := exec.Command(module.Burngen(t, ""), append([]string{"verify", dir}, flags...)...)
	c.Dir = module.Root
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// TestVerifyIsHonest runs burngen verify on correct references, and on references with one number
// changed.
func TestVerifyIsHonest(t *testing.T) {
	module.Long(t)
	t.Parallel()
	for _, test := range []struct {
		name string
		make func(*testing.T, string) // writes a case
		file string                   // the reference to change
	}{
		{"own", ownCase, "test_data_set_0/output_0.pb"},
		{"operator", copyOf("onnx-node/test_matmul_3d"), "test_data_set_0/output_0.pb"},
		{"model", copyOf("models/mnist-burn"), "ref/digit2.out.0.bin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "case")
			test.make(t, dir)
			for _, mode := range []string{"-eval=false", "-exec", "-eval"} {
				if out, code := verify(t, dir, mode); code != 0 || !strings.HasPrefix(out, "PASS case\n") {
					t.Errorf("%s: exit code %d, want 0 and PASS:\n%s", mode, code, out)
				}
			}
			spoil(t, filepath.Join(dir, filepath.FromSlash(test.file)))
			for _, mode := range []string{"-eval=false", "-exec", "-eval"} {
				out, code := verify(t, dir, mode)
				if code != 1 || !strings.HasPrefix(out, "FAIL case: ") || !strings.Contains(out, "0 passed, 1 failed") {
					t.Errorf("%s: exit code %d, want 1 and FAIL:\n%s", mode, code, out)
				}
				t.Log(strings.TrimSpace(out))
			}
		})
	}
}

// ownCase writes an ONNX backend test of a rectifier.
func ownCase(t *testing.T, dir string) {
	t.Helper()
	model := onnxtest.New(17).Input("x", ir.F32, 6).Output("y", ir.F32, 6).
		Node("/Relu", "Relu", []string{"x"}, []string{"y"})
	module.WriteFile(t, filepath.Join(dir, "model.onnx"), string(model.Bytes()))
	data := filepath.Join(dir, "test_data_set_0")
	module.WriteFile(t, filepath.Join(data, "input_0.pb"), string(onnxtest.Tensor("x", ir.FloatTensor(ir.F32, -1, 2, -3, 4, -5, 6))))
	module.WriteFile(t, filepath.Join(data, "output_0.pb"), string(onnxtest.Tensor("y", ir.FloatTensor(ir.F32, 0, 2, 0, 4, 0, 6))))
}

// copyOf returns a function that copies a case of the corpus.
func copyOf(m fixture.Corpus) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.CopyFS(dir, os.DirFS(m.Dir(t))); err != nil {
			t.Fatal(err)
		}
	}
}

// spoil adds a hundredth to one number in a file of floats. The file is a TensorProto or raw bytes.
func spoil(t *testing.T, path string) {
	t.Helper()
	if filepath.Ext(path) == ".pb" {
		v, name, err := onnx.ReadValue(path, ir.TensorOf(ir.F32))
		if err != nil {
			t.Fatal(err)
		}
		module.WriteFile(t, path, string(onnxtest.Tensor(name, spoilt(v.Tensor))))
		return
	}
	data := []byte(module.ReadFile(t, path))
	v, err := ir.DecodeTensor(ir.F32, []int{len(data) / 4}, data)
	if err != nil {
		t.Fatal(err)
	}
	module.WriteFile(t, path, string(spoilt(v).Bytes()))
}

// spoilt changes the number in the middle of a tensor.
func spoilt(v *ir.Tensor) *ir.Tensor {
	i := v.Len() / 2
	v.SetFloat(i, 1.01*v.Float(i)+.01)
	return v
}
