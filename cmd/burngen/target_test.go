package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cuda/cudatest"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// withFakeCard makes the command use a card that interprets PTX until the test ends.
func withFakeCard(t *testing.T) {
	before := drivers[0].driver
	drivers[0].driver = cudatest.Driver() // the driver of cuda
	t.Cleanup(func() { drivers[0].driver = before })
}

// sharing returns a model, y = softmax(x·w)·w, an input, and the output.
func sharing() (model *onnxtest.Model, x, y *ir.Tensor) {
	const rows, n = 3, 20
	w, x, y := ir.NewTensor(ir.F32, n, n), ir.NewTensor(ir.F32, rows, n), ir.NewTensor(ir.F32, rows, n)
	for _, t := range []*ir.Tensor{w, x} {
		for i := range t.Len() {
			t.SetFloat(i, float64(i*37%101)/101-0.5)
		}
	}
	for i := range rows {
		var shares [n]float64
		total := 0.0
		for j := range shares {
			for k := range n {
				shares[j] += x.Float(i*n+k) * w.Float(k*n+j)
			}
			shares[j] = math.Exp(shares[j])
			total += shares[j]
		}
		for j := range n {
			sum := 0.0
			for k, s := range shares {
				sum += s / total * w.Float(k*n+j)
			}
			y.SetFloat(i*n+j, sum)
		}
	}
	model = onnxtest.New(17).Input("x", ir.F32, "N", n).Output("y", ir.F32, "N", n).Initializer("w", w).
		Node("/a", "MatMul", []string{"x", "w"}, []string{"a"}).
		Node("/s", "Softmax", []string{"a"}, []string{"s"}, onnxtest.Attr{Name: "axis", Value: 1}).
		Node("/y", "MatMul", []string{"s", "w"}, []string{"y"})
	return model, x, y
}

// sharingFolder writes a folder with the model [sharing], the input, and an output.
func sharingFolder(t *testing.T, y *ir.Tensor) (dir string) {
	t.Helper()
	dir = t.TempDir()
	model, x, _ := sharing()
	for name, data := range map[string][]byte{
		"model.onnx": model.Bytes(), "test_data_set_0/input_0.pb": onnxtest.Tensor("x", x), "test_data_set_0/output_0.pb": onnxtest.Tensor("y", y),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPrecisionOnCard verifies and runs a model in each precision. The outputs of run differ from those of f32
// by more than f32 explains, and less than verify allows.
func TestPrecisionOnCard(t *testing.T) {
	withFakeCard(t)
	_, _, want := sharing()
	dir := sharingFolder(t, want)
	for i, p := range gpu.Precisions {
		for _, target := range []string{"cuda", "auto"} {
			var out, errs bytes.Buffer
			if code := run([]string{"verify", "-exec", "-target", target, "-precision", p, dir}, &streams{&out, &errs}); code != exitOK || !strings.HasSuffix(out.String(), "1 passed, 0 failed, 0 refused, 0 ran\n") {
				t.Errorf("%s in %s: exit code %d\n%s%s", target, p, code, &out, &errs)
			}
		}
		results := t.TempDir()
		var out, errs bytes.Buffer
		in := "x=" + filepath.Join(dir, "test_data_set_0/input_0.pb")
		if code := run([]string{"run", filepath.Join(dir, "model.onnx"), "-target", "cuda", "-precision", p, "-in", in, "-out", results}, &streams{&out, &errs}); code != exitOK {
			t.Fatalf("%s: exit code %d\n%s%s", p, code, &out, &errs)
		}
		got, err := value.Read(filepath.Join(results, "y.npy"), want.Type())
		if err != nil {
			t.Fatal(err)
		}
		off := 0.0
		for k := range want.Len() {
			off = max(off, max(got.Float(k)-want.Float(k), want.Float(k)-got.Float(k)))
		}
		if unit := gpu.Precision(i).Unit(); !(off <= max(4*unit, 1e-6)) || off < unit/1000 {
			t.Errorf("%s: the output of run is off by %g", p, off)
		}
	}
}

// TestVerifyFindsRounding asserts that the tolerance of verify is that of the precision: results in bf16 are
// not right in f16.
func TestVerifyFindsRounding(t *testing.T) {
	withFakeCard(t)
	_, _, y := sharing()
	for i := range y.Len() {
		y.SetFloat(i, y.Float(i)*(1+0x1p-6)+0x1p-9)
	}
	dir := sharingFolder(t, y)
	for p, code := range map[string]int{"bf16": exitOK, "f16": exitProblem, "tf32": exitProblem, "f32": exitProblem} {
		var out bytes.Buffer
		if got := run([]string{"verify", "-exec", "-target", "cuda", "-precision", p, dir}, &streams{&out, &out}); got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", p, got, code, fmt.Sprint(&out))
		}
	}
}
