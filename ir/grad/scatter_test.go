package grad_test

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
)

// TestGradientsOfScatteredFactors asserts that the gradient of a factor is the product of the other factors of its
// element, also where factors are 0.
func TestGradientsOfScatteredFactors(t *testing.T) {
	for _, scatter := range []struct{ op, indices string }{{"scatter_elements", "i64[7]"}, {"scatter_nd", "i64[7,1]"}} {
		text := fmt.Sprintf(`
weight "data": f64[4]
weight "factors": f64[7]
func @loss(%%i: %s, %%dy: f64[4]) -> (loss: f64[]) {
  %%d = load {name="data"} : f64[4]
  %%f = load {name="factors"} : f64[7]
  %%y = %s %%d, %%i, %%f {reduction="mul"} : f64[4]
  %%p = mul %%y, %%dy : f64[4]
  %%l = reduce %%p {axes=[0] kind="sum"} : f64[]
  return %%l
}
`, scatter.indices, scatter.op)
		// Elements 0, 1 and 2 have no, one and two factors of 0; nothing is scattered to element 3.
		m := parse(t, text, map[string][]float64{"data": {2, 3, 5, 7}, "factors": {11, 13, 0, 17, 0, 0, 19}})
		f, err := grad.Step(m, m.Func("loss"), "step", []string{"data", "factors"})
		if err != nil {
			t.Fatal(err)
		}
		indices := ir.IntTensor(ir.I64, 0, 0, 1, 1, 2, 2, 2)
		if scatter.op == "scatter_nd" {
			indices = indices.Reshape(7, 1)
		}
		out := run(t, m, f, indices, ir.FloatTensor(ir.F64, 1, 10, 100, 1000))
		near(t, "loss", out[0], 2*11*13+7*1000)
		near(t, "grad/data", out[1], 11*13, 0, 0, 1000)
		near(t, "grad/factors", out[2], 2*13, 2*11, 10*3*17, 0, 0, 0, 0)
	}
}
