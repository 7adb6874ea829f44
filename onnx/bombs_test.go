package onnx

import (
	"fmt"
	"math"
	"strings"
	"testing"

	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// hostileGrowth imports small files that declare large values. The importer must see their sizes
// and must not allocate memory of these sizes.
func hostileGrowth(t *testing.T) {
	of := func(output string, nodes ...*pb.NodeProto) *pb.ModelProto {
		g := &pb.GraphProto{Input: values(value("x", f32(1))), Output: values(value(output, nil)), Node: nodes}
		g.Initializer = []*pb.TensorProto{
			ints("huge", 1<<40), ints("large", 1<<30, 1<<10), ints("over", 1<<32, 1<<32), ints("negative", -5),
			initializer("zero", pb.TensorProto_INT64, make([]byte, 8)), initializer("one", pb.TensorProto_INT64, []byte{1, 0, 0, 0, 0, 0, 0, 0}),
			initializer("end", pb.TensorProto_INT64, []byte{0, 0, 0, 0, 0, 1, 0, 0}), initializer("float", pb.TensorProto_FLOAT, make([]byte, 4)),
		}
		return model(g)
	}
	for name, test := range map[string]struct {
		model *pb.ModelProto
		want  string // the type of the result, or a part of the error
	}{
		"constant of shape":     {of("y", node("ConstantOfShape", names("huge"), names("y"))), "f32[1099511627776]"},
		"a size that is large":  {of("y", node("ConstantOfShape", names("large"), names("y"))), "f32[1073741824,1024]"},
		"a size that overflows": {of("y", node("ConstantOfShape", names("over"), names("y"))), "more elements than fit a 64-bit size"},
		"a negative size":       {of("y", node("ConstantOfShape", names("negative"), names("y"))), "dimension 0 is negative: -5"},
		"expand":                {of("y", node("Expand", names("x", "large"), names("y"))), "f32[1073741824,1024]"},
		"tile":                  {of("y", node("Tile", names("x", "huge"), names("y"))), "f32[1099511627776]"},
		"range":                 {of("y", node("Range", names("zero", "end", "one"), names("y"))), "1099511627776 elements"},
		"range and sum":         {of("y", node("Range", names("zero", "end", "one"), names("r")), node("ReduceSum", names("r"), names("y"), attrInt("keepdims", 0))), "1099511627776 elements"},
		"a shape from a shape":  {of("y", node("ConstantOfShape", names("large"), names("c")), node("Shape", names("c"), names("s")), node("Expand", names("x", "s"), names("y"))), "f32[1073741824,1024]"},
		"pads":                  {of("y", node("Pad", names("x", "p"), names("y")), node("Constant", nil, names("p"), attrTensor("value", ints("", 1<<40, 1<<40)))), "f32[2199023255553]"},
		"one hot":               {of("y", node("Constant", nil, names("v"), attrTensor("value", ints("", 0, 1))), node("OneHot", names("zero", "end", "v"), names("y"))), "i64[1099511627776]"},
		"upsampled":             {of("y", node("Resize", names("x", "", "", "huge"), names("y"))), "f32[1099511627776]"},
		"concat doubles 40 times": {of("v40", manyOf(40, func(i int) *pb.NodeProto {
			from := map[bool]string{true: "x", false: fmt.Sprint("v", i)}[i == 0]
			return node("Concat", names(from, from), names(fmt.Sprint("v", i+1)), attrInt("axis", 0))
		})...), "f32[1099511627776]"},
		"concat doubles 70 times": {of("v70", manyOf(70, func(i int) *pb.NodeProto {
			from := map[bool]string{true: "x", false: fmt.Sprint("v", i)}[i == 0]
			return node("Concat", names(from, from), names(fmt.Sprint("v", i+1)), attrInt("axis", 0))
		})...), "node 60 \"v61\" (Concat-13): concat: result f32[2305843009213693952]: more elements than fit a 64-bit size"},
		"numbers that double 100 times": {of("y", append(manyOf(100, func(i int) *pb.NodeProto {
			from := map[bool]string{true: "huge", false: fmt.Sprint("v", i)}[i == 0]
			return node("Add", names(from, from), names(fmt.Sprint("v", i+1)))
		}), node("Expand", names("x", "v100"), names("y")))...), "shape_0"},
	} {
		t.Run(name, func(t *testing.T) {
			m, lines := imports(t, test.model, Options{})
			got := strings.Join(lines, "\n")
			if m != nil {
				got = m.Module.Func("forward").Results[0].Type.String()
				roundTrip(t, m.Module)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// hostileExtents imports models whose extents are large expressions.
func hostileExtents(t *testing.T) {
	// sums is a graph of a shape of 200 elements that grow from node to node.
	grow := func(op string, n int) *pb.ModelProto {
		shape := []any{}
		for i := range 16 {
			shape = append(shape, fmt.Sprint("s", i))
		}
		g := &pb.GraphProto{Input: values(value("x", f32(shape...))), Output: values(value("y", nil))}
		g.Node = append(g.Node, node("Shape", names("x"), names("s")),
			node("Concat", manyOf(12, func(int) string { return "s" }), names("v0"), attrInt("axis", 0)),
			node("Gather", names("v0", "order"), names("w0")))
		order := make([]int64, 192)
		for i := range order {
			order[i] = int64((i*7 + 3) % 192)
		}
		g.Initializer = []*pb.TensorProto{ints("order", order...)}
		for i := range n {
			g.Node = append(g.Node, node(op, names(fmt.Sprint("w", i), fmt.Sprint("v", i)), names(fmt.Sprint("v", i+1))),
				node("Gather", names(fmt.Sprint("v", i+1), "order"), names(fmt.Sprint("w", i+1))))
		}
		g.Node = append(g.Node, node("Identity", names(fmt.Sprint("v", n)), names("y")))
		return model(g)
	}
	for _, op := range []string{"Add", "Mul", "Div", "Max", "Min", "Mod", "Sub"} {
		t.Run(op, func(t *testing.T) {
			if m, lines := imports(t, grow(op, 500), Options{}); m == nil && !strings.Contains(lines[0], "complex") {
				t.Error(lines)
			}
		})
	}
	t.Run("products of extents", func(t *testing.T) {
		g := &pb.GraphProto{Output: values(value("y", nil))}
		all := []string{}
		for i := range 2000 {
			g.Input = append(g.Input, value(fmt.Sprint("x", i), f32(fmt.Sprint("n", i), 2, fmt.Sprint("m", i))))
			g.Node = append(g.Node, node("Flatten", names(fmt.Sprint("x", i)), names(fmt.Sprint("f", i)), attrInt("axis", 3)))
			all = append(all, fmt.Sprint("f", i))
		}
		g.Node = append(g.Node, node("Concat", all, names("y"), attrInt("axis", 0)))
		_, lines := imports(t, model(g), Options{})
		if len(lines) != 1 || !strings.Contains(lines[0], "too_complex") {
			t.Errorf("%.500s", lines)
		}
	})
	t.Run("extents that cannot be equal", func(t *testing.T) {
		g := &pb.GraphProto{Input: values(value("a", f32("N", 2)), value("b", f32(math.MaxInt32, "N"))), Output: values(value("y", nil))}
		g.Node = []*pb.NodeProto{node("MatMul", names("a", "b"), names("y"))}
		m, lines := imports(t, model(g), Options{})
		if m == nil && !strings.Contains(lines[0], "node 0") || m != nil && m.Module.Func("forward").Params[0].Type.String() != "f32[2,2]" {
			t.Error(m, lines)
		}
	})
}
