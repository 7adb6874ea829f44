package gen_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// wide are models of n nodes, inputs, outputs, constants or readers of one value.
var wide = map[string]func(n int) *onnxtest.Model{
	"a split into many": func(n int) *onnxtest.Model {
		m := onnxtest.New(21).Input("x", ir.F32, n)
		for _, y := range numbered("y", n) {
			m.Output(y, ir.F32, 1)
		}
		return m.Node("split", "Split", list("x"), numbered("y", n), attr("num_outputs", n))
	},
	"a concatenation of many": func(n int) *onnxtest.Model {
		m := onnxtest.New(21).Output("y", ir.F32, n)
		for _, x := range numbered("x", n) {
			m.Input(x, ir.F32, 1)
		}
		return m.Node("concat", "Concat", numbered("x", n), list("y"), attr("axis", 0))
	},
	"many inputs and outputs": func(n int) *onnxtest.Model {
		m := onnxtest.New(21)
		for i := range n {
			x, y := fmt.Sprint("x", i), fmt.Sprint("y", i)
			m.Input(x, ir.F32, 2).Output(y, ir.F32, 2).Node("node "+x, "Neg", list(x), list(y))
		}
		return m
	},
	"many slices": func(n int) *onnxtest.Model {
		m := onnxtest.New(21).Input("x", ir.F32, n)
		for i := range n {
			y := fmt.Sprint("y", i)
			m.Output(y, ir.F32, 1).Initializer(y+" from", int64s(int64(i))).Initializer(y+" to", int64s(int64(i+1))).
				Node("node "+y, "Slice", list("x", y+" from", y+" to"), list(y))
		}
		return m
	},
	"many products of one value": func(n int) *onnxtest.Model {
		m := onnxtest.New(21).Input("x", ir.F32, "N", 2)
		for i := range n {
			y := fmt.Sprint("y", i)
			m.Output(y, ir.F32, "N", 2).Initializer(y+" weight", ir.NewTensor(ir.F32, 2, 2)).Node("node "+y, "MatMul", list("x", y+" weight"), list(y))
		}
		return m
	},
	"many constants": func(n int) *onnxtest.Model {
		return chain(n, func(m *onnxtest.Model, i int, v, w string) {
			m.Initializer(w+" constant", floats(1, 2, 3, float64(i))).Node("node "+w, "Add", list(v, w+" constant"), list(w))
		})
	},
	"a chain": func(n int) *onnxtest.Model {
		return chain(n, func(m *onnxtest.Model, _ int, v, w string) { m.Node("node "+w, "Sin", list(v), list(w)) })
	},
	"many readers": func(n int) *onnxtest.Model {
		m := onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4*n)
		for i, h := range numbered("h", n) {
			m.Initializer(h+" constant", floats(float64(i))).Node("node "+h, "Add", list("x", h+" constant"), list(h))
		}
		return m.Node("concat", "Concat", numbered("h", n), list("y"), attr("axis", 0))
	},
}

// numbered returns n names.
func numbered(name string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(name, i)
	}
	return names
}

// chain returns a model of n nodes, each of which reads what the one before it made.
func chain(n int, node func(m *onnxtest.Model, i int, v, w string)) *onnxtest.Model {
	m := onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4)
	values := append(append([]string{"x"}, numbered("v", n-1)...), "y")
	for i := range n {
		node(m, i, values[i], values[i+1])
	}
	return m
}

// TestWideModels asserts that the bytes of a package, and the memory that generating it allocates,
// grow linearly with the model.
func TestWideModels(t *testing.T) {
	const n = 600
	for name, model := range wide {
		t.Run(name, func(t *testing.T) {
			size, made := cost(t, model(n))
			twice, madeTwice := cost(t, model(2*n))
			if most := size * 5 / 2; twice > most {
				t.Errorf("%d bytes of files, %d for a model of twice the size", size, twice)
			}
			if most := made * 5 / 2; madeTwice > most {
				t.Errorf("%d bytes allocated, %d for a model of twice the size", made, madeTwice)
			}
		})
	}
}

// cost returns the bytes of a model's package, and those that are allocated to make it.
func cost(t *testing.T, model *onnxtest.Model) (size, made uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := compile(model)
	if err != nil {
		t.Fatal(err)
	}
	files, err := m.Files()
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	for _, f := range files {
		size += uint64(len(f.Data))
	}
	return size, after.TotalAlloc - before.TotalAlloc
}
