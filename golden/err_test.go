package golden

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// badModels are models that cannot be compiled. err/onnx.txtar holds the errors of each, under its
// name.
var badModels = []struct {
	name    string
	options onnx.Options
	model   *onnxtest.Model
}{
	{name: "no_nodes", model: onnxtest.New(17).Output("y", ir.F32, 1)},
	{name: "no_outputs", model: onnxtest.New(17).Input("x", ir.F32, 1)},
	{name: "unknown_operator", model: oneNode(17, "Foo")},
	{name: "unknown_domain", model: oneNode(17, "com.acme:Foo")},
	{name: "opset_too_new", model: oneNode(1000, "Relu")},
	{name: "opset_too_old", model: oneNode(8, "Shrink")},
	{name: "undefined_input", model: onnxtest.New(17).Input("x", ir.F32, 4).Output("y", ir.F32, 4).
		Node("/Add", "Add", []string{"x", "bias"}, []string{"y"})},
	{name: "undefined_output", model: onnxtest.New(17).Input("x", ir.F32, 4).Output("z", ir.F32, 4).
		Node("/Relu", "Relu", []string{"x"}, []string{"y"})},
	{name: "two_definitions", model: onnxtest.New(17).Input("x", ir.F32, 4).Output("y", ir.F32, 4).
		Node("/Relu", "Relu", []string{"x"}, []string{"y"}).
		Node("/Abs", "Abs", []string{"x"}, []string{"y"})},
	{name: "cycle", model: onnxtest.New(17).Input("x", ir.F32, 4).Output("y", ir.F32, 4).
		Node("/Add", "Add", []string{"x", "b"}, []string{"a"}).
		Node("/Relu", "Relu", []string{"a"}, []string{"b"}).
		Node("/Abs", "Abs", []string{"b"}, []string{"y"})},
	{name: "missing_operand", model: oneNode(17, "MatMul")},
	{name: "too_many_results", model: onnxtest.New(17).Input("x", ir.F32, 4).Output("y", ir.F32, 4).
		Node("/Relu", "Relu", []string{"x"}, []string{"y", "z"})},
	{name: "attribute_of_another_type", model: oneNode(17, "Softmax", onnxtest.Attr{Name: "axis", Value: "last"})},
	{name: "axis_out_of_range", model: oneNode(17, "Softmax", onnxtest.Attr{Name: "axis", Value: 4})},
	{name: "wrong_element_type", model: onnxtest.New(17).Input("x", ir.String, 4).Output("y", ir.String, 4).
		Node("/Exp", "Exp", []string{"x"}, []string{"y"})},
	{name: "inner_dimensions", model: onnxtest.New(17).Input("a", ir.F32, "N", 4).Input("b", ir.F32, 5, 3).Output("y", ir.F32, "N", 3).
		Node("/MatMul", "MatMul", []string{"a", "b"}, []string{"y"})},
	{name: "no_broadcast", model: onnxtest.New(17).Input("a", ir.F32, 4).Input("b", ir.F32, 3).Output("y", ir.F32, 4).
		Node("/Add", "Add", []string{"a", "b"}, []string{"y"})},
	{name: "negative_extent", model: onnxtest.New(17).Input("x", ir.F32, -4).Output("y", ir.F32, 4).
		Node("/Relu", "Relu", []string{"x"}, []string{"y"})},
	{name: "huge_tensor", model: onnxtest.New(17).Input("x", ir.F32, 1<<40, 1<<40).Output("y", ir.F32, 1<<40, 1<<40).
		Node("/Relu", "Relu", []string{"x"}, []string{"y"})},
	{name: "group_of_zero", model: onnxtest.New(17).Input("x", ir.F32, 1, 4, 8, 8).Input("w", ir.F32, 4, 4, 3, 3).Output("y", ir.F32, 1, 4, 6, 6).
		Node("/Conv", "Conv", []string{"x", "w"}, []string{"y"}, onnxtest.Attr{Name: "group", Value: 0})},
	{name: "stride_of_zero", model: onnxtest.New(17).Input("x", ir.F32, 1, 4, 8, 8).Output("y", ir.F32, 1, 4, 6, 6).
		Node("/MaxPool", "MaxPool", []string{"x"}, []string{"y"},
			onnxtest.Attr{Name: "kernel_shape", Value: []int{3, 3}}, onnxtest.Attr{Name: "strides", Value: []int{0, 1}})},
	{name: "not_a_permutation", model: onnxtest.New(17).Input("x", ir.F32, 2, 3).Output("y", ir.F32, 3, 2).
		Node("/Transpose", "Transpose", []string{"x"}, []string{"y"}, onnxtest.Attr{Name: "perm", Value: []int{1, 1}})},
	{name: "newline_in_name", model: onnxtest.New(17).Input("x\ny", ir.F32, 4).Output("y", ir.F32, 4).
		Node("/a\n//go:embed b", "Foo", []string{"x\ny"}, []string{"y"})},
	{name: "every_problem", model: onnxtest.New(17).Input("x", ir.F32, 2, 3).Output("y", ir.F32, 3, 2).
		Node("/Foo", "Foo", []string{"x"}, []string{"a"}).
		Node("/Relu", "Relu", []string{"a"}, []string{"b"}).
		Node("/Softmax", "Softmax", []string{"x"}, []string{"c"}, onnxtest.Attr{Name: "axis", Value: 2}).
		Node("/Add", "Add", []string{"b", "c"}, []string{"y"})},
	{name: "input_flag", options: onnx.Options{Inputs: map[string]string{"picture": "1x4"}}, model: oneNode(17, "Relu")},
	{name: "dim_flag", options: onnx.Options{Dims: map[string]string{"N": "many"}}, model: oneNode(17, "Relu")},
	{name: "output_flag", options: onnx.Options{Outputs: []string{"inner"}}, model: oneNode(17, "Relu")},
	{name: "custom_too_few_operands", options: custom("(f32[N,4], f32[4]) -> f32[N,4]"), model: oneNode(17, "com.acme:Foo")},
	{name: "custom_too_many_operands", options: custom("() -> f32[4]"), model: oneNode(17, "com.acme:Foo")},
	{name: "custom_absent_operand", options: custom("(f32[N,4], f32[N,4]) -> f32[N,4]"),
		model: onnxtest.New(17).Input("x", ir.F32, "N", 4).Output("y", ir.F32, "N", 4).
			Node("/node", "com.acme:Foo", []string{"", "x"}, []string{"y"})},
	{name: "custom_other_element_type", options: custom("(f16[N,4]) -> f32[N,4]"), model: oneNode(17, "com.acme:Foo")},
	{name: "custom_other_rank", options: custom("(f32[N]) -> f32[N]"), model: oneNode(17, "com.acme:Foo")},
	{name: "custom_other_extent", options: custom("(f32[N,5]) -> f32[N,5]"), model: oneNode(17, "com.acme:Foo")},
	{name: "custom_too_many_results", options: custom("(f32[N,4]) -> f32[N,4]"),
		model: onnxtest.New(17).Input("x", ir.F32, "N", 4).Output("y", ir.F32, "N", 4).
			Node("/node", "com.acme:Foo", []string{"x"}, []string{"y", "z"})},
	{name: "custom_tensor_attribute", options: custom("(f32[N,4]) -> f32[N,4]"),
		model: oneNode(17, "com.acme:Foo", onnxtest.Attr{Name: "table", Value: ir.NewTensor(ir.F32, 2)})},
	{name: "custom_long_attribute", options: custom("(f32[N,4]) -> f32[N,4]"),
		model: oneNode(17, "com.acme:Foo", onnxtest.Attr{Name: "table", Value: make([]int, 5000)})},
	{name: "custom_other_operator", options: custom("(f32[N,4]) -> f32[N,4]"), model: oneNode(17, "com.acme:Bar")},
}

// custom returns the options by which com.acme.Foo is a custom operator of this type.
func custom(declared string) onnx.Options {
	o, err := op.ParseCustom("com.acme.Foo=example.com/ops.Foo: " + declared)
	if err != nil {
		panic(err)
	}
	return onnx.Options{Custom: func(domain, name string) (onnx.CustomOp, bool) {
		d, n := o.Domain()
		return o.Import, d == domain && n == name
	}}
}

// oneNode returns a model of one operator with one operand, f32[N,4].
func oneNode(opset int64, operator string, attrs ...onnxtest.Attr) *onnxtest.Model {
	return onnxtest.New(opset).Input("x", ir.F32, "N", 4).Output("y", ir.F32, "N", 4).
		Node("/node", operator, []string{"x"}, []string{"y"}, attrs...)
}

// TestErr compares the errors of bad models with err/onnx.txtar.
func TestErr(t *testing.T) {
	const file = "err/onnx.txtar"
	archive := &txtar.Archive{Comment: []byte("What is said about the models of err_test.go, each under its name.\n\n")}
	if !*update {
		var err error
		if archive, err = txtar.ParseFile(file); err != nil {
			t.Fatal(err)
		}
	}
	known := map[string]bool{}
	for _, bad := range badModels {
		known[bad.name] = true
		t.Run(bad.name, func(t *testing.T) {
			_, err := onnx.Read("model.onnx", bad.model.Bytes(), nil, bad.options)
			if err == nil {
				t.Fatal("the model is accepted")
			}
			got := err.Error() + "\n"
			if *update {
				setSection(archive, bad.name, got)
			} else if want := section(t, archive, bad.name); got != want {
				t.Errorf("the message is\n%s\nwant\n%s", got, want)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range archive.Files {
		if !known[f.Name] {
			t.Errorf("%s: no model is called %s", file, f.Name)
		}
	}
}
