package onnx

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/ir"
)

var every = flag.Int("every", 10, "TestNodeModels takes every `n`th of the official tests")

// TestNodeModels evaluates a sample of the official operator tests. Each must be refused or give
// the expected outputs.
func TestNodeModels(t *testing.T) {
	dirs := corpus.Glob(t, "onnx-node/*/model.onnx")
	passed, refused, skipped, failed := 0, 0, 0, 0
	for i := 0; i < len(dirs); i += *every {
		dir := filepath.Dir(dirs[i])
		t.Run(filepath.Base(dir), func(t *testing.T) {
			failed++
			m, err := Open(dirs[i], Options{})
			if err != nil {
				failed--
				refused++
				t.Logf("refused: %v", err)
				return
			}
			if hasContainers(m.Module.Func("forward")) {
				failed--
				skipped++
				t.Log("not evaluated: it takes or returns containers")
				return
			}
			for i := 0; ; i++ {
				set := filepath.Join(dir, fmt.Sprintf("test_data_set_%d", i))
				if _, err := os.Stat(set); err != nil {
					break
				}
				if why := evaluateSet(m, set); why != "" {
					t.Fatal(why)
				}
			}
			failed--
			passed++
		})
	}
	t.Logf("%d passed, %d refused, %d of containers not evaluated, %d failed", passed, refused, skipped, failed)
	if passed == 0 {
		t.Error("nothing passed")
	}
}

// hasContainers reports whether a parameter or a result is a sequence, optional or map. The
// evaluator does not accept these.
func hasContainers(f *ir.Func) bool {
	return slices.ContainsFunc(slices.Concat(f.Params, f.Results), func(v *ir.Value) bool { return !v.Type.IsTensor() })
}

// evaluateSet evaluates m on a folder of test data. It returns how the results differ from the
// expected ones, or "" if they do not.
func evaluateSet(m *Model, dir string) string {
	f := m.Module.Func("forward")
	var args []*ir.Tensor
	for i, p := range f.Params {
		v, _, err := ReadValue(filepath.Join(dir, fmt.Sprintf("input_%d.pb", i)), p.Type)
		if err != nil {
			return err.Error()
		}
		args = append(args, v.Tensor)
	}
	got, err := (&ir.Evaluator{Module: m.Module}).Run(f, args)
	if err != nil {
		return err.Error()
	}
	for i, r := range f.Results {
		v, _, err := ReadValue(filepath.Join(dir, fmt.Sprintf("output_%d.pb", i)), r.Type)
		if err != nil {
			return err.Error()
		}
		if why := differs(got[i], v.Tensor); why != "" {
			return fmt.Sprintf("output %d: %s", i, why)
		}
	}
	return ""
}

// differs compares a result with the expected one, within the tolerances of the official tests.
func differs(got, want *ir.Tensor) string {
	if got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) {
		return fmt.Sprintf("%s, want %s", got.Type(), want.Type())
	}
	near := func(i int) bool { return got.Int(i) == want.Int(i) }
	switch {
	case got.DType == ir.String:
		near = func(i int) bool { return got.Text(i) == want.Text(i) }
	case got.DType.IsFloat():
		relative, absolute := tolerance(want)
		near = func(i int) bool {
			g, w := got.Float(i), want.Float(i)
			return g == w || g != g && w != w || math.Abs(g-w) <= absolute+relative*math.Abs(w) && !math.IsInf(w, 0)
		}
	}
	for i := range want.Len() {
		if !near(i) {
			return fmt.Sprintf("element %d is %s, want %s", i, elementText(got, i), elementText(want, i))
		}
	}
	return ""
}

func tolerance(want *ir.Tensor) (relative, absolute float64) {
	largest := 0.0
	for i := range want.Len() {
		if v := math.Abs(want.Float(i)); v <= math.MaxFloat64 {
			largest = max(largest, v)
		}
	}
	switch want.DType {
	case ir.F64, ir.F32:
		return 1e-3, 1e-5
	case ir.F16:
		return 1e-2, 1e-3 * largest
	case ir.BF16:
		return 4e-2, 4e-3 * largest
	}
	return 0, 0
}

func elementText(t *ir.Tensor, i int) string {
	if t.DType == ir.String {
		return fmt.Sprintf("%q", t.Text(i))
	}
	return fmt.Sprint(t.Number(i))
}
