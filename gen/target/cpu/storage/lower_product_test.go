package storage

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// checkLower asserts that [Lower] replaces a node as wanted, by nodes that compute the same
// elements.
func checkLower(t *testing.T, o ir.Op, want string, operands ...any) {
	t.Helper()
	compareNodes(t, o, operands, want, func(b *ir.Builder, n *ir.Node) *ir.Value {
		if y := Lower(b, n); y != nil {
			return y[0]
		}
		return nil
	})
}

// TestProductsOfPanels asserts that products of f32 matrices are products with panels, whichever
// operand has the batch, and that other products stay.
func TestProductsOfPanels(t *testing.T) {
	checkLower(t, op.MatMul{}, "mat_mul_panels", "f32[5,7]", "f32[7,20]")
	checkLower(t, op.MatMul{}, "mat_mul_panels", "f32[2,5,7]", "f32[7,20]")
	checkLower(t, op.MatMul{}, "mat_mul_panels", "f32[5,7]", "f32[2,7,20]")
	checkLower(t, op.MatMul{}, "mat_mul_panels", "f32[2,1,5,7]", "f32[3,7,20]")
	checkLower(t, op.MatMul{}, "mat_mul_panels", "f32[7]", "f32[7,20]")
	checkLower(t, op.MatMul{}, "", "f64[5,7]", "f64[7,20]")
	for _, transposed := range []op.Gemm{{Alpha: 1, Beta: 1}, {Alpha: 2, Beta: 3}} {
		checkLower(t, transposed, "mat_mul_panels", "f32[5,7]", "f32[7,20]", "f32[20]")
		checkLower(t, transposed, "mat_mul_panels", "f32[5,7]", "f32[7,20]", "f32[5,1]")
		transposed.TransA, transposed.TransB = true, true
		checkLower(t, transposed, "mat_mul_panels", "f32[7,5]", "f32[20,7]")
	}
	checkLower(t, op.Gemm{Alpha: 1, Beta: 1}, "", "f64[5,7]", "f64[7,20]", "f64[20]")
	checkLower(t, op.Exp{}, "", "f32[5]")
}
