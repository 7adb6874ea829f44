package gen_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// parted returns a model with operand x, f32[T,4]. a and c are every second row of x, from row 0
// and from row 1, and e is every third row. Their extents are different expressions, which are
// equal for T = 2 and T = 4.
func parted() *onnxtest.Model {
	m := onnxtest.New(24).Import("com.microsoft", 1).Input("x", ir.F32, "T", 4).Initializer("zero", int64s(0)).Initializer("one", int64s(1)).
		Initializer("two", int64s(2)).Initializer("three", int64s(3)).Initializer("end", int64s(math.MaxInt64)).Initializer("both", int64s(0, 1))
	slice := func(name, from, step string) {
		m.Node(name, "Slice", list("x", from, "end", "zero", step), list(name))
	}
	slice("a", "zero", "two")
	slice("c", "one", "two")
	slice("e", "zero", "three")
	return m
}

// result appends a node whose result is y, of some element type and rank.
func result(m *onnxtest.Model, d ir.DType, rank int, op string, inputs []string, attrs ...onnxtest.Attr) *onnxtest.Model {
	return output(m.Node("agree", op, inputs, list("y"), attrs...), d, rank)
}

// output declares y.
func output(m *onnxtest.Model, d ir.DType, rank int) *onnxtest.Model {
	var dims []any
	for i := range rank {
		dims = append(dims, fmt.Sprint("out", i))
	}
	return m.Output("y", d, dims...)
}

// as appends a node, and returns the model.
func as(m *onnxtest.Model, name, op string, inputs []string, attrs ...onnxtest.Attr) *onnxtest.Model {
	return m.Node(name, op, inputs, list(name), attrs...)
}

// lifted appends a, c and e with leading axes: a1, c1 and e1 have one more axis, and a2, c2 and e2
// have two.
func lifted() *onnxtest.Model {
	m := parted()
	for _, v := range list("a", "c", "e") {
		as(m, v+"1", "Unsqueeze", list(v, "zero"))
		as(m, v+"2", "Unsqueeze", list(v, "both"))
	}
	return m
}

// vectors appends four values for each of a, c and e. For a these are as, the sums of its rows; am,
// their absolute values; ai, these as integers; and at, the transpose of a.
func vectors() *onnxtest.Model {
	m := parted().Initializer("last", int64s(1))
	for _, v := range list("a", "c", "e") {
		as(m, v+"s", "ReduceSum", list(v, "last"), attr("keepdims", 0))
		as(m, v+"m", "Abs", list(v+"s"))
		as(m, v+"i", "Cast", list(v+"m"), attr("to", 7))
		as(m, v+"t", "Transpose", list(v))
	}
	return m
}

// weight returns a tensor of some small numbers.
func weight(shape ...int) *ir.Tensor {
	w := ir.NewTensor(ir.F32, shape...)
	for i := range w.Len() {
		w.SetFloat(i, float64(i%7-3)/8)
	}
	return w
}

// equalModels are models of operators whose operands need equal extents.
func equalModels() map[string]*onnxtest.Model {
	axis := func(n int) onnxtest.Attr { return attr("axis", n) }
	recurrent := func(op string, gates int) *onnxtest.Model {
		m := lifted().Initializer("w", weight(1, 4*gates, 4)).Initializer("r", weight(1, 4*gates, 4))
		inputs := list("a1", "w", "r", "", "", "c1")
		if op == "LSTM" {
			inputs = append(inputs, "e1")
		}
		return result(m, ir.F32, 4, op, inputs, attr("hidden_size", 4))
	}
	square := func() *onnxtest.Model { return as(parted(), "g", "Gemm", list("a", "c"), attr("transB", 1)) }
	inside := func(values ...string) *onnxtest.Model {
		return as(body(), "agree", "Concat", values, axis(1)).Initializer("axes", int64s(1)).
			Node("back", "ReduceSum", list("agree", "axes"), list("s"))
	}
	return map[string]*onnxtest.Model{
		"concat of three":       result(parted(), ir.F32, 2, "Concat", list("a", "c", "e"), axis(1)),
		"concat of two twice":   result(parted(), ir.F32, 2, "Concat", list("a", "c", "a", "c"), axis(1)),
		"concat around another": result(parted(), ir.F32, 2, "Concat", list("c", "a", "c"), axis(1)),
		"concat and back":       result(parted(), ir.F32, 2, "Concat", list("a", "c", "e", "a"), axis(1)),
		"sum":                   result(parted(), ir.F32, 2, "Sum", list("a", "c", "e")),
		"mean":                  result(parted(), ir.F32, 2, "Mean", list("a", "c", "e")),
		"max":                   result(parted(), ir.F32, 2, "Max", list("a", "c", "e")),
		"min":                   result(parted(), ir.F32, 2, "Min", list("a", "c", "e")),
		"where":                 result(parted().Initializer("f", floats(0)).Node("g", "Greater", list("a", "f"), list("g")), ir.F32, 2, "Where", list("g", "c", "e")),
		"p relu":                result(parted(), ir.F32, 2, "PRelu", list("a", "c")),
		"einsum of two":         result(parted(), ir.F32, 1, "Einsum", list("a", "c"), attr("equation", "ij,ij->i")),
		"einsum of three":       result(parted(), ir.F32, 1, "Einsum", list("a", "c", "e"), attr("equation", "ij,ij,ij->j")),
		"einsum of a diagonal":  result(square(), ir.F32, 1, "Einsum", list("g"), attr("equation", "ii->i")),
		"einsum of all":         result(square(), ir.F32, 2, "Einsum", list("a", "g", "e"), attr("equation", "ij,ik,kj->ij")),
		"gemm":                  result(parted(), ir.F32, 2, "Gemm", list("a", "c"), attr("transA", 1)),
		"gemm with bias":        result(parted().Initializer("w", weight(4, 4)), ir.F32, 2, "Gemm", list("a", "w", "c")),
		"gemm of three":         result(square(), ir.F32, 2, "Gemm", list("g", "e", "c")),
		"mat mul":               result(square(), ir.F32, 2, "MatMul", list("g", "e")),
		"det":                   result(square(), ir.F32, 0, "Det", list("g")),
		"stacked sequence": result(parted().Node("seq", "SequenceConstruct", list("a", "c", "e"), list("seq")), ir.F32, 3, "ConcatFromSequence", list("seq"),
			axis(0), attr("new_axis", 1)),
		"joined sequence": result(parted().Node("seq", "SequenceConstruct", list("a", "c", "e"), list("seq")), ir.F32, 2, "ConcatFromSequence", list("seq"), axis(1)),
		"inside of a branch": output(parted().Initializer("yes", ir.IntTensor(ir.Bool, 1).Reshape()).Input("flag", ir.Bool).
			Node("if", "If", list("flag"), list("y"), attr("then_branch", inside("a", "c", "e").Output("s", ir.F32, "P", 1)),
				attr("else_branch", inside("c", "a", "c").Output("s", ir.F32, "P", 1))), ir.F32, 2),
		"inside of a loop": output(parted().Initializer("n", number(3)).Node("loop", "Loop", list("n", "", "a"), list("y"), attr("body",
			loopBody().Input("v", ir.F32, "V", 4).Node("agree", "Concat", list("v", "c", "e"), list("w"), axis(1)).
				Node("some", "Slice", list("w", "zero", "end", "one", "three"), list("u")).Node("go", "Identity", list("going"), list("on")).
				Output("on", ir.Bool).Output("u", ir.F32, "V", 4))), ir.F32, 2),
		"carried": output(parted().Initializer("n", number(3)).Node("agree", "Loop", list("n", "", "a", "c"), list("z", "y"), attr("body",
			loopBody().Input("v", ir.F32, "V", 4).Input("w", ir.F32, "W", 4).Node("sum", "Sum", list("v", "w", "e"), list("u")).Node("go", "Identity", list("going"), list("on")).
				Output("on", ir.Bool).Output("w", ir.F32, "V", 4).Output("u", ir.F32, "V", 4))), ir.F32, 2),
		"scan": output(parted().Node("agree", "Scan", list("a", "c", "e"), list("y"), attr("num_scan_inputs", 3), attr("body",
			body().Input("p", ir.F32, 4).Input("q", ir.F32, 4).Input("r", ir.F32, 4).Node("sum", "Sum", list("p", "q", "r"), list("s")).Output("s", ir.F32, 4))), ir.F32, 2),
		"lstm":                   recurrent("LSTM", 4),
		"gru":                    recurrent("GRU", 3),
		"rnn":                    recurrent("RNN", 1),
		"batch normalization":    result(vectors(), ir.F32, 2, "BatchNormalization", list("at", "cs", "es", "as", "cm")),
		"layer normalization":    result(vectors(), ir.F32, 2, "LayerNormalization", list("at", "cs", "es")),
		"instance normalization": result(as(vectors(), "a1", "Unsqueeze", list("a", "zero")), ir.F32, 3, "InstanceNormalization", list("a1", "cs", "es")),
		"skip normalization":     result(parted().Initializer("w", weight(4)), ir.F32, 2, "com.microsoft:SkipLayerNormalization", list("a", "c", "w")),
		"scatter elements": result(as(as(parted().Initializer("f", floats(0)), "k", "Mul", list("c", "f")), "i", "Cast", list("k"), attr("to", 7)), ir.F32, 2,
			"ScatterElements", list("a", "i", "e"), axis(1), attr("reduction", "add")),
		"scatter nd": result(as(as(vectors(), "z", "Sub", list("ci", "ci")), "i", "Unsqueeze", list("z", "one")), ir.F32, 2, "ScatterND", list("a", "i", "e"), attr("reduction", "max")),
		"gather nd":  result(as(as(vectors(), "z", "Sub", list("ci", "ci")), "i", "Unsqueeze", list("z", "one")), ir.F32, 1, "GatherND", list("a", "i"), attr("batch_dims", 1)),
		"reverse sequence": result(as(as(vectors(), "z", "Sub", list("ci", "ci")), "i", "Add", list("z", "two")), ir.F32, 2, "ReverseSequence", list("a", "i"),
			attr("batch_axis", 0), attr("time_axis", 1)),
		"non max suppression": result(as(as(vectors().Initializer("most", int64s(3)), "a1", "Unsqueeze", list("a", "zero")), "c2", "Unsqueeze", list("cs", "both")), ir.I64, 2,
			"NonMaxSuppression", list("a1", "c2", "most")),
		"roi align": result(as(vectors().Initializer("image", weight(1, 1, 4, 4)), "z", "Sub", list("ci", "ci")), ir.F32, 4, "RoiAlign", list("image", "a", "z"),
			attr("output_height", 2), attr("output_width", 2)),
		"grid sample": result(as(as(parted().Initializer("s", int64s(0, 1, 2, 2)).Initializer("t", int64s(0, 2, 1, 2)), "image", "Reshape", list("a", "s")), "grid", "Reshape", list("c", "t")),
			ir.F32, 4, "GridSample", list("image", "grid")),
		"max unpool":             result(as(as(lifted().Initializer("f", floats(0)), "k", "Mul", list("c2", "f")), "i", "Cast", list("k"), attr("to", 7)), ir.F32, 4, "MaxUnpool", list("a2", "i"), attr("kernel_shape", []int{1, 1})),
		"cross entropy":          result(as(vectors(), "z", "Sub", list("ci", "ci")), ir.F32, 0, "SoftmaxCrossEntropyLoss", list("a", "z")),
		"quantize":               result(vectors(), ir.U8, 2, "QuantizeLinear", list("at", "cm"), axis(1)),
		"attention of sequences": result(lifted(), ir.F32, 4, "Attention", list("a2", "c2", "e2")),
		"attention of batches": result(as(as(as(parted().Initializer("ax", int64s(1, 2)), "q", "Unsqueeze", list("a", "ax")), "k", "Unsqueeze", list("c", "ax")), "v", "Unsqueeze", list("e", "ax")), ir.F32, 4,
			"Attention", list("q", "k", "v")),
		"masked attention":     result(as(lifted(), "g", "Gemm", list("c", "a"), attr("transB", 1)), ir.F32, 4, "Attention", list("a2", "c2", "e2", "g")),
		"multi head attention": result(lifted(), ir.F32, 3, "com.microsoft:MultiHeadAttention", list("a1", "c1", "e1"), attr("num_heads", 2)),
		"attention with bias": result(as(as(lifted(), "g", "Gemm", list("c", "a"), attr("transB", 1)), "g2", "Unsqueeze", list("g", "both")), ir.F32, 3, "com.microsoft:MultiHeadAttention",
			list("a1", "c1", "e1", "", "", "g2"), attr("num_heads", 2)),
		"mat mul of batches": result(as(as(parted().Initializer("square", int64s(0, 2, 2)), "m", "Reshape", list("a", "square")), "n", "Reshape", list("c", "square")), ir.F32, 3,
			"MatMul", list("m", "n")),
		"mat mul of integers": result(as(as(as(as(vectors(), "q", "Cast", list("a"), attr("to", 2)), "r", "Cast", list("ct"), attr("to", 2)), "z", "Cast", list("em"), attr("to", 2)), "g", "Transpose", list("r")),
			ir.I32, 2, "MatMulInteger", list("q", "r", "", "z")),
		"convolution":    result(as(as(vectors(), "w", "Unsqueeze", list("ct", "two")), "a1", "Unsqueeze", list("a", "zero")), ir.F32, 3, "Conv", list("a1", "w")),
		"tensor scatter": result(as(as(parted().Initializer("ax", int64s(1, 2)), "m", "Unsqueeze", list("a", "ax")), "n", "Unsqueeze", list("c", "ax")), ir.F32, 4, "TensorScatter", list("m", "n")),
		"momentum": output(parted().Import("ai.onnx.preview.training", 1).Initializer("rate", floats(0.5)).Node("agree", "ai.onnx.preview.training:Momentum",
			list("rate", "zero", "a", "c", "e"), list("y", "z"), attr("alpha", 0.5), attr("beta", 0.5), attr("norm_coefficient", 0.1), attr("mode", "standard")), ir.F32, 2),
		"strings":           result(as(as(parted(), "s", "Cast", list("a"), attr("to", 8)), "r", "Cast", list("c"), attr("to", 8)), ir.String, 2, "StringConcat", list("s", "r")),
		"texts of a choice": result(as(as(as(parted().Initializer("f", floats(0)), "s", "Cast", list("a"), attr("to", 8)), "r", "Cast", list("c"), attr("to", 8)), "g", "Greater", list("e", "f")), ir.String, 2, "Where", list("g", "s", "r")),
		"rotary embedding":  result(as(as(as(lifted().Initializer("halves", int64s(0, 0, 2)).Initializer("f", floats(2)), "p", "Slice", list("c1", "zero", "two", "two")), "q", "Slice", list("e1", "zero", "two", "two")), "u", "Unsqueeze", list("a1", "one")), ir.F32, 4, "RotaryEmbedding", list("u", "p", "q")),
		"sequence of a loop": output(parted().Node("seq", "SequenceConstruct", list("a", "c"), list("seq")).Node("more", "SequenceInsert", list("seq", "e"), list("more")).
			Node("agree", "ConcatFromSequence", list("more"), list("y"), axis(1)), ir.F32, 2),
		"shape of another":    result(as(parted(), "s", "Shape", list("c")), ir.F32, 2, "Expand", list("a", "s")),
		"reshaped to another": result(as(parted(), "s", "Shape", list("c")), ir.F32, 2, "Reshape", list("a", "s")),
		"distances":           result(vectors(), ir.F32, 2, "com.microsoft:CDist", list("at", "ct"), attr("metric", "sqeuclidean")),
	}
}

// TestExtentsThatAreEqualAtRunTime compares models whose extents are known only at run time with
// the same models with known extents. It also checks the error if the extents differ.
func TestExtentsThatAreEqualAtRunTime(t *testing.T) {
	for name, model := range equalModels() {
		t.Run(name, func(t *testing.T) {
			open, err := onnx.Read("model.onnx", model.Bytes(), nil, onnx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m, err := gen.Compile(open, gen.Options{Strict: true, Package: "model"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Files(); err != nil {
				t.Fatal(err)
			}
			again, err := onnx.Read("model.onnx", model.Bytes(), nil, onnx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range []int{4, 2} {
				fixed, err := onnx.Read("model.onnx", model.Bytes(), nil, onnx.Options{Dims: map[string]string{"T": fmt.Sprint(rows)}})
				if err != nil {
					t.Fatal(err)
				}
				args := extentArgs(fixed.Module.Func("forward"), rows)
				want, err := (&ir.Evaluator{Module: fixed.Module}).Run(fixed.Module.Func("forward"), args)
				if err != nil {
					t.Fatal(err)
				}
				got, err := (&ir.Evaluator{Module: again.Module}).Run(again.Module.Func("forward"), args)
				if err != nil {
					t.Fatalf("%d rows: %v", rows, err)
				}
				closeTo(t, fmt.Sprintf("%d rows, evaluated", rows), got[0], want[0])
				if got[0], err = runOne(m, args); err != nil {
					t.Fatalf("%d rows: %v", rows, err)
				}
				closeTo(t, fmt.Sprintf("%d rows", rows), got[0], want[0])
			}
			args := extentArgs(again.Module.Func("forward"), 9)
			if _, err := (&ir.Evaluator{Module: again.Module}).Run(again.Module.Func("forward"), args); err == nil || !strings.Contains(err.Error(), "agree") {
				t.Errorf("9 rows, evaluated: %v", err)
			}
			if _, err := runOne(m, args); err == nil || !strings.Contains(err.Error(), "agree") || strings.Contains(err.Error(), "panic") {
				t.Errorf("9 rows: %v", err)
			}
		})
	}
}

// extentArgs returns a matrix of rows, and true for other parameters.
func extentArgs(f *ir.Func, rows int) []*ir.Tensor {
	args := []*ir.Tensor{weight(rows, 4)}
	for range f.Params[1:] {
		args = append(args, ir.IntTensor(ir.Bool, 1).Reshape())
	}
	return args
}

// runOne runs a model of one result.
func runOne(m *gen.Model, args []*ir.Tensor) (*ir.Tensor, error) {
	var slices []any
	var shapes [][]int
	for _, a := range args {
		slices, shapes = append(slices, value.Slice(a)), append(shapes, a.Shape)
	}
	results, outShapes, err := m.Run(slices, shapes)
	if err != nil {
		return nil, err
	}
	return value.FromGo(m.Forward.IR.Results[0].Type, outShapes[0], results[0])
}

// closeTo compares two tensors.
func closeTo(t *testing.T, what string, got, want *ir.Tensor) {
	t.Helper()
	if fmt.Sprint(got.Shape) != fmt.Sprint(want.Shape) {
		t.Fatalf("%s: shape %v, want %v", what, got.Shape, want.Shape)
	}
	if !want.DType.IsFloat() {
		if got.String() != want.String() {
			t.Fatalf("%s: %s, want %s", what, got, want)
		}
		return
	}
	for i := range want.Len() {
		if d := math.Abs(got.Float(i) - want.Float(i)); d > 1e-4 || math.IsNaN(d) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got.Float(i), want.Float(i))
		}
	}
}
