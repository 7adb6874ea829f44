package pages

import (
	"maps"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
	"github.com/burngen/burngen/pytorch/pytorchtest"
)

// fixtures are the files that pages expect to exist.
var fixtures = map[string]func() []byte{
	// A description that matches the tensors of a checkpoint.
	"encoder": func() []byte {
		return []byte(`package encoder

import "github.com/burngen/burngen/ir/nn"

type Whisper struct {
	Enc struct {
		Conv1  nn.Conv1d
		LNPost nn.LayerNorm
	}
}

func New() *Whisper {
	w := &Whisper{}
	w.Enc.Conv1 = nn.NewConv1d(80, 384, 3)
	w.Enc.LNPost = nn.NewLayerNorm(384)
	return w
}

//burngen:func (f32[80,S+2]) -> f32[S,384]
func (w *Whisper) Forward(mel nn.Value) nn.Value {
	return w.Enc.LNPost.Forward(w.Enc.Conv1.Forward(mel.Unsqueeze(0)).Squeeze(0).Transpose(0, 1))
}
`)
	},
	"whisper": func() []byte {
		return checkpoint("model", map[string][]int{
			"encoder.conv1.weight": {384, 80, 3}, "encoder.conv1.bias": {384}, "encoder.ln_post.weight": {384}, "encoder.ln_post.bias": {384},
		})
	},
	"other": func() []byte {
		return checkpoint("model", map[string][]int{
			"encoder.conv1.weight": {512, 80, 3}, "encoder.conv1.bias": {384}, "encoder.ln.weight": {384}, "encoder.ln_post.bias": {384},
		})
	},
	// A model with an operator that burngen does not know.
	"boxes": func() []byte {
		return onnxtest.New(17).Import("acme", 1).
			Input("boxes", ir.F32, "N", 4).Input("scores", ir.F32, "N").Output("kept", ir.I64, "K").
			Node("/nms", "acme:NMS", []string{"boxes", "scores"}, []string{"kept"}, onnxtest.Attr{Name: "iou", Value: 0.4}).Bytes()
	},
	// A model that returns its input, and its reference files.
	"detector": func() []byte {
		return onnxtest.New(17).Input("image", ir.F32, 1, 100, 4).Output("boxes", ir.F32, 1, 100, 4).
			Node("/relu", "Relu", []string{"image"}, []string{"boxes"}).Bytes()
	},
	"detected":    func() []byte { return onnxtest.Tensor("image", boxes()) },
	"misdetected": func() []byte { return onnxtest.Tensor("boxes", boxes(0.5121, 0.5121, 0.5121)) },
}

// boxes returns 100 boxes. The numbers from element 17 on may be others.
func boxes(other ...float64) *ir.Tensor {
	x := ir.NewTensor(ir.F32, 1, 100, 4)
	for i := range x.Len() {
		x.SetFloat(i, 0.4913)
	}
	for i, v := range other {
		x.SetFloat(17+i, v)
	}
	return x
}

// checkpoint returns a file as PyTorch saves a dictionary of tensors of zeros below a key.
func checkpoint(key string, shapes map[string][]int) []byte {
	var list []pytorchtest.Tensor
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		n := 1
		for _, extent := range shapes[name] {
			n *= extent
		}
		list = append(list, pytorchtest.Tensor{Name: name, Storage: "FloatStorage", Shape: shapes[name], Data: make([]byte, 4*n)})
	}
	return pytorchtest.Save(key, list...)
}
