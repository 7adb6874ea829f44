package gen_test

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// testHostileConstants compiles models of a few bytes whose constants expand to large ones, or take
// long to compute.
func testHostileConstants(t *testing.T) {
	models := map[string]*onnxtest.Model{}
	// add adds a model that computes c from constants, and adds its sum to x.
	add := func(name string, build func(m *onnxtest.Model)) {
		m := onnxtest.New(21).Input("x", ir.F32, 1).Output("y", ir.F32, 1).Initializer("one", int64s(1))
		build(m)
		m.Node("sum", "ReduceSum", list("c"), list("s"), attr("keepdims", 0)).Node("float", "Cast", list("s"), list("f"), attr("to", 1)).
			Node("add", "Add", list("x", "f"), list("y"))
		models[name] = m
	}
	// splat appends a constant of a shape, all of whose elements are 1.
	splat := func(m *onnxtest.Model, name string, shape ...int64) {
		m.Initializer(name+" shape", int64s(shape...)).
			Node(name, "ConstantOfShape", list(name+" shape"), list(name), attr("value", floats(1)))
	}
	for _, bits := range []int{20, 24, 30, 33, 62} {
		add(fmt.Sprintf("a sum of 2^%d", bits), func(m *onnxtest.Model) { splat(m, "c", 1<<bits) })
		add(fmt.Sprintf("running sums of 2^%d", bits), func(m *onnxtest.Model) {
			splat(m, "v", 1<<bits)
			m.Initializer("axis", number(0)).Node("node", "CumSum", list("v", "axis"), list("c"))
		})
		add(fmt.Sprintf("tiles to 2^%d", bits), func(m *onnxtest.Model) {
			m.Initializer("v", int64s(1, 2)).Initializer("n", int64s(1<<(bits-1))).Node("node", "Tile", list("v", "n"), list("c"))
		})
		add(fmt.Sprintf("a range to 2^%d", bits), func(m *onnxtest.Model) {
			m.Initializer("zero", number(0)).Initializer("n", number(1<<bits)).Initializer("step", number(1)).
				Node("node", "Range", list("zero", "n", "step"), list("c"))
		})
		add(fmt.Sprintf("padding to 2^%d", bits), func(m *onnxtest.Model) {
			m.Initializer("v", int64s(1, 2)).Initializer("n", int64s(0, 1<<bits)).Node("node", "Pad", list("v", "n"), list("c"))
		})
		add(fmt.Sprintf("a weight expanded to 2^%d", bits), func(m *onnxtest.Model) {
			m.Initializer("w", floats(1.5)).Initializer("n", int64s(1<<bits)).Node("expand", "Expand", list("w", "n"), list("e")).
				Node("node", "Exp", list("e"), list("c"))
		})
		add(fmt.Sprintf("a depth of 2^%d", bits), func(m *onnxtest.Model) {
			m.Initializer("n", number(1<<bits)).Initializer("v", floats(0, 1)).Node("node", "OneHot", list("one", "n", "v"), list("c"))
		})
		add(fmt.Sprintf("a window of 2^%d", bits), func(m *onnxtest.Model) {
			m.Initializer("n", number(1<<bits)).Node("node", "HannWindow", list("n"), list("c"))
		})
		add(fmt.Sprintf("an identity of 2^%d", bits), func(m *onnxtest.Model) {
			splat(m, "v", 1<<(bits/2), 1<<(bits/2))
			m.Node("node", "EyeLike", list("v"), list("c"))
		})
		add(fmt.Sprintf("indices of 2^%d", bits), func(m *onnxtest.Model) {
			splat(m, "v", 1<<bits)
			m.Node("node", "NonZero", list("v"), list("c"))
		})
		add(fmt.Sprintf("an image of 2^%d", bits), func(m *onnxtest.Model) {
			splat(m, "v", 1, 1, 2, 2)
			m.Initializer("n", int64s(1, 1, 1<<(bits/2), 1<<(bits/2))).Node("node", "Resize", list("v", "", "", "n"), list("c"), attr("mode", "cubic"))
		})
	}
	for _, n := range []int64{300, 4096, 1 << 16} {
		add(fmt.Sprintf("a product of %d", n), func(m *onnxtest.Model) {
			splat(m, "v", n, n)
			m.Node("node", "MatMul", list("v", "v"), list("c"))
		})
		add(fmt.Sprintf("20 products of %d", n), func(m *onnxtest.Model) {
			splat(m, "v0", n, n)
			for i := range 20 {
				m.Node(fmt.Sprint("node ", i), "MatMul", list(fmt.Sprint("v", i), "v0"), list(fmt.Sprint("v", i+1)))
			}
			m.Node("node", "Neg", list("v20"), list("c"))
		})
		add(fmt.Sprintf("a convolution of %d", n), func(m *onnxtest.Model) {
			splat(m, "v", 1, 64, n, n)
			splat(m, "w", 64, 64, 3, 3)
			m.Node("node", "Conv", list("v", "w"), list("c"))
		})
		add(fmt.Sprintf("a contraction of %d", n), func(m *onnxtest.Model) {
			splat(m, "v", n, n)
			m.Node("node", "Einsum", list("v", "v", "v"), list("c"), attr("equation", "ij,jk,kl->il"))
		})
		add(fmt.Sprintf("boxes: %d", n), func(m *onnxtest.Model) {
			splat(m, "b", 1, n, 4)
			splat(m, "v", 1, 1, n)
			m.Node("node", "NonMaxSuppression", list("b", "v", "one"), list("c"))
		})
		add(fmt.Sprintf("regions: %d", n), func(m *onnxtest.Model) {
			splat(m, "v", 1, 1, 100, 100)
			splat(m, "b", 1, 4)
			m.Initializer("i", int64s(0)).Node("node", "RoiAlign", list("v", "b", "i"), list("c"), attr("output_height", int(n)), attr("output_width", int(n)), attr("sampling_ratio", 100))
		})
	}
	for _, trips := range []int64{5, 40, 1000} {
		inside := onnxtest.New(21).Input("i", ir.I64).Input("going", ir.Bool).Input("v", ir.I64, "A").
			Node("twice", "Concat", list("v", "v"), list("w"), attr("axis", 0)).Output("going", ir.Bool).Output("w", ir.I64, "B")
		add(fmt.Sprintf("%d loops that double", trips), func(m *onnxtest.Model) {
			m.Initializer("n", number(trips)).Node("loop", "Loop", list("n", "", "one"), list("c"), attr("body", inside))
		})
		add(fmt.Sprintf("%d concatenations that double", trips), func(m *onnxtest.Model) {
			m.Initializer("w0", floats(1))
			for i := range int(trips) {
				m.Node(fmt.Sprint("twice ", i), "Concat", list(fmt.Sprint("w", i), fmt.Sprint("w", i)), list(fmt.Sprint("w", i+1)), attr("axis", 0))
			}
			m.Node("node", "Neg", list(fmt.Sprint("w", trips)), list("c"))
		})
		add(fmt.Sprintf("%d expansions of a weight", trips), func(m *onnxtest.Model) {
			m.Initializer("w0", floats(1).Reshape(1, 1)).Initializer("n", int64s(2, 1))
			for i := range int(trips) {
				m.Node(fmt.Sprint("tile ", i), "Tile", list(fmt.Sprint("w", i), "n"), list(fmt.Sprint("t", i))).
					Node(fmt.Sprint("exp ", i), "Exp", list(fmt.Sprint("t", i)), list(fmt.Sprint("w", i+1)))
			}
			m.Node("node", "Neg", list(fmt.Sprint("w", trips)), list("c"))
		})
	}
	for name, model := range models {
		t.Run(name, func(t *testing.T) {
			within(t, func() {
				if _, err := compile(model); err != nil {
					checkMessage(t, err.Error())
				}
			})
		})
	}
}
