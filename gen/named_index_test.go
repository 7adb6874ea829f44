package gen_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestIndicesWithoutAnEnd runs models whose operators do not allow an index below 0, or an axis
// below −rank, both as IR and as steps. The error must show the index as it was given.
func TestIndicesWithoutAnEnd(t *testing.T) {
	image, pair := floats(1, 2, 3, 4).Reshape(1, 1, 2, 2), floats(1, 2).Reshape(1, 1, 1, 2)
	scores := floats(1, 2, 3, 4, 5, 6).Reshape(2, 3)
	loss := func(op string, attrs ...onnxtest.Attr) *onnxtest.Model {
		return onnxtest.New(21).Input("x", ir.F32, 2, 3).Input("i", ir.I64, 2).Output("y", ir.F32).Node("node", op, list("x", "i"), list("y"), attrs...)
	}
	unpool := onnxtest.New(21).Input("x", ir.F32, 1, 1, 1, 2).Input("i", ir.I64, 1, 1, 1, 2).Output("y", ir.F32, 1, 1, 2, 4).
		Node("node", "MaxUnpool", list("x", "i"), list("y"), attr("kernel_shape", []int{2, 2}), attr("strides", []int{2, 2}))
	align := onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("r", ir.F32, 1, 4).Input("i", ir.I64, 1).Output("y", ir.F32, 1, 1, 1, 1).
		Node("node", "RoiAlign", list("x", "r", "i"), list("y"))
	crop := onnxtest.New(21).Import("com.microsoft", 1).Input("x", ir.F32, 1, 1, 2, 2).Input("r", ir.F32, 1, 4).Input("i", ir.I32, 1).Initializer("s", int64s(1, 1)).Output("y", ir.F32, 1, 1, 1, 1).
		Node("node", "com.microsoft:CropAndResize", list("x", "r", "i", "s"), list("y"))
	sum := onnxtest.New(21).Input("x", ir.F32, 2, 3).Input("i", ir.I64).Output("y", ir.F32, 2, 3).Node("node", "CumSum", list("x", "i"), list("y"))
	features := onnxtest.New(21).Import("ai.onnx.ml", 3).Input("x", ir.F32, 2, 3).Input("i", ir.I64, 1).Output("y", ir.F32, 2, 1).
		Node("node", "ai.onnx.ml:ArrayFeatureExtractor", list("x", "i"), list("y"))
	embedding := onnxtest.New(21).Import("com.microsoft", 1).Input("x", ir.F32, 2, 3).Input("i", ir.I64, 2).Output("y", ir.F32, 2, 3).
		Node("node", "com.microsoft:TorchEmbedding", list("x", "i"), list("y"))
	region := floats(0, 0, 1, 1).Reshape(1, 4)
	for name, c := range map[string]struct {
		model *onnxtest.Model
		args  []*ir.Tensor
		want  string // "" for no error
	}{
		"a label below 0":           {loss("SoftmaxCrossEntropyLoss"), []*ir.Tensor{scores, int64s(0, -1)}, "label -1 is not one of 3 classes"},
		"a label of no class":       {loss("SoftmaxCrossEntropyLoss"), []*ir.Tensor{scores, int64s(0, 3)}, "label 3 is not one of 3 classes"},
		"labels":                    {loss("SoftmaxCrossEntropyLoss"), []*ir.Tensor{scores, int64s(0, 2)}, ""},
		"a label that is ignored":   {loss("SoftmaxCrossEntropyLoss", attr("ignore_index", -1)), []*ir.Tensor{scores, int64s(0, -1)}, ""},
		"a label beside an ignored": {loss("SoftmaxCrossEntropyLoss", attr("ignore_index", -1)), []*ir.Tensor{scores, int64s(-1, -2)}, "label -2 is not one of 3 classes"},
		"a likelihood's label":      {loss("NegativeLogLikelihoodLoss"), []*ir.Tensor{scores, int64s(-3, 0)}, "label -3 is not one of 3 classes"},
		"an unpooled index":         {unpool, []*ir.Tensor{pair, int64s(0, -1).Reshape(1, 1, 1, 2)}, "index -1 is not one of 8 elements"},
		"unpooled indices":          {unpool, []*ir.Tensor{pair, int64s(0, 7).Reshape(1, 1, 1, 2)}, ""},
		"a region's image":          {align, []*ir.Tensor{image, region, int64s(-1)}, "batch index -1 is not one of 1 images"},
		"a region":                  {align, []*ir.Tensor{image, region, int64s(0)}, ""},
		"a crop's image":            {crop, []*ir.Tensor{image, region, ir.IntTensor(ir.I32, -1)}, "batch index -1 is not one of 1 images"},
		"an axis below -rank":       {sum, []*ir.Tensor{scores, number(-3)}, "axis -3 is not one of 2 axes"},
		"an axis beyond the rank":   {sum, []*ir.Tensor{scores, number(2)}, "axis 2 is not one of 2 axes"},
		"an axis from the end":      {sum, []*ir.Tensor{scores, number(-2)}, ""},
		"a feature":                 {features, []*ir.Tensor{scores, int64s(-1)}, "index -1 is not one of 3 features"},
		"a token":                   {embedding, []*ir.Tensor{scores, int64s(1, -1)}, "token -1 is not one of 2 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := onnx.Read("model.onnx", c.model.Bytes(), nil, onnx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			ends := func(how string, err error) {
				got := ""
				if err != nil {
					got = err.Error()
				}
				if !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") {
					t.Errorf("%s: %q, want %q", how, got, c.want)
				}
			}
			_, err = (&ir.Evaluator{Module: src.Module}).Run(src.Module.Func("forward"), c.args)
			ends("evaluated", err)
			m, err := gen.Compile(src, gen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var args []any
			var shapes [][]int
			for _, a := range c.args {
				args, shapes = append(args, value.Slice(a)), append(shapes, a.Shape)
			}
			_, _, err = m.Run(args, shapes)
			ends("run", err)
		})
	}
}
