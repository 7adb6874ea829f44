package golden

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
	"github.com/burngen/burngen/runtime/rt"
)

// seeded returns the random numbers of a seed.
func seeded(seed uint64) func(n int) int { return rand.New(rand.NewPCG(seed, 1)).IntN }

// TestRandomGraphs compares results for random graphs of branches, loops and calls: the evaluator's
// results, and the results of the kernels on the compiled graph.
func TestRandomGraphs(t *testing.T) {
	graphs := uint64(300)
	if testing.Short() {
		graphs = 60
	}
	for seed := range graphs {
		if err := checkGraph(onnxtest.Graph(seeded(seed)).Bytes(), seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// FuzzGraphs runs the comparison of [TestRandomGraphs] on graphs that the bytes of the fuzzer
// determine.
func FuzzGraphs(f *testing.F) { fuzzDrawn(f, onnxtest.Graph, checkGraph) }

// fuzzDrawn runs check on models that the bytes of the fuzzer determine.
func fuzzDrawn(f *testing.F, draw func(pick func(n int) int) *onnxtest.Model, check func(data []byte, seed uint64) error) {
	for seed := range uint64(8) {
		pick, data := seeded(seed), make([]byte, 512)
		for i := range data {
			data[i] = byte(pick(256))
		}
		f.Add(data, seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		pick := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			v := int(data[0]) % n
			data = data[1:]
			return v
		}
		if err := check(draw(pick).Bytes(), seed); err != nil {
			t.Error(err)
		}
	})
}

// checkGraph evaluates a model, compiles it, runs it and compares the results. An odd seed compiles
// with strict sums. The arguments and the batch follow from the seed.
func checkGraph(data []byte, seed uint64) error {
	m, err := onnx.Read("graph.onnx", data, nil, onnx.Options{})
	if err != nil {
		return err
	}
	compiled, err := gen.Compile(m, gen.Options{Strict: seed%2 == 1})
	if err != nil {
		return err
	}
	for k := range uint64(3) { // conditions take both ways
		if err := checkCall(m, compiled, graphArgs(m, seed+k)); err != nil {
			return err
		}
	}
	return nil
}

// checkCall compares the results of a compiled model with those of the evaluator.
func checkCall(m *onnx.Model, compiled *gen.Model, args []*ir.Tensor) error {
	want, failed := verify.Evaluate(m, args)
	if failed != nil {
		return fmt.Errorf("evaluator: %w", failed)
	}
	got, err := runCompiled(compiled, m.Module.Func("forward").Results, args)
	if err != nil {
		return err
	}
	if why := verify.Compare(m, got, want); why != "" {
		return errors.New(why)
	}
	return nil
}

// runCompiled runs a compiled model. Its results have the types of the given values.
func runCompiled(m *gen.Model, results []*ir.Value, args []*ir.Tensor) ([]*ir.Tensor, error) {
	given, shapes := make([]any, len(args)), make([][]int, len(args))
	for i, a := range args {
		given[i], shapes[i] = value.Slice(a), a.Shape
	}
	out, outShapes, err := m.Run(given, shapes)
	if err != nil {
		return nil, err
	}
	got := make([]*ir.Tensor, len(out))
	for i, v := range results {
		if got[i], err = value.FromSlice(v.Type.DType, outShapes[i], out[i]); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// graphArgs draws the arguments of a model.
func graphArgs(m *onnx.Model, seed uint64) []*ir.Tensor {
	var args []*ir.Tensor
	for i, p := range m.Module.Func("forward").Params {
		shape, _ := p.Type.Subst(func(string) (dim.Dim, bool) { return dim.Const(1 + int(seed%3)), true }).Static()
		x := ir.NewTensor(p.Type.DType, shape...)
		for k := range x.Len() {
			v := rt.Hash(uint32(seed)+uint32(i), uint32(k)) >> 8
			switch x.DType {
			case ir.F32:
				x.SetFloat(k, float64(v)/(1<<23)-1)
			case ir.Bool:
				x.SetInt(k, int64(v%2))
			default:
				x.SetInt(k, int64(v%9)-4)
			}
		}
		args = append(args, x)
	}
	return args
}

// TestGeneratedGraphs builds the packages of some of the graphs into one program and compares their
// results with the evaluator's.
func TestGeneratedGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds generated code")
	}
	root := t.TempDir()
	for seed := range uint64(24) {
		data := onnxtest.Graph(seeded(seed)).Bytes()
		m, err := onnx.Read("model.onnx", data, nil, onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		args := graphArgs(m, seed)
		want, err := verify.Evaluate(m, args)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"model.onnx": data}
		for i, a := range args {
			files[fmt.Sprintf("test_data_set_0/input_%d.pb", i)] = onnxtest.Tensor(m.Meta.Inputs[i].Name, a)
		}
		for i, w := range want {
			files[fmt.Sprintf("test_data_set_0/output_%d.pb", i)] = onnxtest.Tensor(m.Meta.Outputs[i].Name, w)
		}
		for name, data := range files {
			path := filepath.Join(root, fmt.Sprintf("seed%d", seed), filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases, err := verify.Find([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	summary, err := verify.Run(cases, verify.Options{Report: func(r verify.Result) {
		if r.Status != verify.Pass || strings.Contains(r.Note, "not compared") {
			t.Error(r)
		}
	}})
	if err != nil || summary.Passed != 24 {
		t.Errorf("%v: %v", summary, err)
	}
}
