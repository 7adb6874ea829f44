// Command build writes shapes.onnx, the network of examples/images, to the current folder. FILE holds the weights
// that examples/images saved.
//
//	build FILE
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
	"github.com/burngen/burngen/runtime/rt"
)

func main() {
	w := rt.OpenWeightsFile(os.Args[1])
	file, err := network(w)
	if err == nil {
		err = os.WriteFile("shapes.onnx", file, 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// network returns the network as an ONNX file. The value "features" is the input of the last layer.
func network(w *rt.Weights) ([]byte, error) {
	m := onnxtest.New(17).Input("photo", ir.F32, "N", 3, 32, 32).Output("logits", ir.F32, "N", 4)
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		t, err := ir.DecodeTensor(ir.F32, info.Shape, w.Raw(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.Initializer(name, t)
	}
	pairs := func(name string, n ...int) onnxtest.Attr { return onnxtest.Attr{Name: name, Value: n} }
	x, count := "photo", 0
	add := func(op string, operands []string, attrs ...onnxtest.Attr) {
		count++
		y := fmt.Sprintf("%s_%d", op, count)
		m.Node(y, op, append([]string{x}, operands...), []string{y}, attrs...)
		x = y
	}
	const blocks = 3
	for i := range blocks {
		conv, norm := fmt.Sprintf("blocks.%d.conv.", i), fmt.Sprintf("blocks.%d.norm.", i)
		add("Conv", []string{conv + "weight"}, pairs("pads", 1, 1, 1, 1))
		add("BatchNormalization", []string{norm + "weight", norm + "bias", norm + "running_mean", norm + "running_var"})
		add("Relu", nil)
		if i < blocks-1 {
			add("MaxPool", nil, pairs("kernel_shape", 2, 2), pairs("strides", 2, 2))
		}
	}
	add("GlobalAveragePool", nil)
	m.Node("flatten", "Flatten", []string{x}, []string{"features"})
	m.Node("output", "Gemm", []string{"features", "output.weight", "output.bias"}, []string{"logits"}, onnxtest.Attr{Name: "transB", Value: 1})
	return m.Bytes(), w.Err()
}
