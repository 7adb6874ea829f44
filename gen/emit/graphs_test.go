package emit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestRandomGraphsCompile generates packages from random graphs of branches, loops and calls. Their
// files must compile.
func TestRandomGraphsCompile(t *testing.T) {
	graphs := uint64(60)
	if testing.Short() {
		graphs = 20
	}
	for seed := range graphs {
		compiles(t, onnxtest.Graph(rand.New(rand.NewPCG(seed, 2)).IntN), "model")
	}
}

// TestPrepareDeclaresItsFunctions generates a model whose weights are prepared by a product with an
// activation that nothing else uses.
func TestPrepareDeclaresItsFunctions(t *testing.T) {
	w := ir.NewTensor(ir.F32, 32, 32)
	for i := range w.Len() {
		w.SetFloat(i, float64(i%7))
	}
	compiles(t, onnxtest.New(17).Input("x", ir.F32, "N", 32).Output("y", ir.F32, "N", 32).
		Initializer("a", w).Initializer("b", w).
		Node("/prepared", "MatMul", []string{"a", "b"}, []string{"ab"}).
		Node("/negated", "Neg", []string{"ab"}, []string{"c"}).
		Node("/square", "Sin", []string{"c"}, []string{"d"}).
		Node("/product", "MatMul", []string{"x", "d"}, []string{"y"}), "model")
}
