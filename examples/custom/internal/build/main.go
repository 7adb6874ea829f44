// Command build writes the examples' models, beats.onnx and spirals/spirals.onnx, to the current
// folder.
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

func main() {
	for path, model := range models {
		if err := os.WriteFile(path, model().Bytes(), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// models maps the files to write to their models.
var models = map[string]func() *onnxtest.Model{
	"beats.onnx":           beats,
	"spirals/spirals.onnx": spirals,
}

// rate is the sampling rate in Hz.
const rate = 250

// beats returns a model that finds heartbeats in an electrocardiogram (Pan and Tompkins, A
// Real-Time QRS Detection Algorithm, 1985). The signal is steep at a beat, so its slope is squared
// and averaged over the width of a beat. heart.Peaks, which is not an ONNX operator, finds the
// peaks.
func beats() *onnxtest.Model {
	const width = 31 // width of a beat in samples
	mean := ir.NewTensor(ir.F32, 1, 1, width)
	for i := range width {
		mean.SetFloat(i, 1./width)
	}
	same := func(pad int) onnxtest.Attr { return onnxtest.Attr{Name: "pads", Value: []int{pad, pad}} }
	return onnxtest.New(17).Import("heart", 1).
		Input("signal", ir.F32, "S").
		Output("seconds", ir.F32, "P").
		Output("heights", ir.F32, "P").
		Initializer("front", ir.IntTensor(ir.I64, 0, 1)).
		Initializer("slope", ir.FloatTensor(ir.F32, -0.125, -0.25, 0, 0.25, 0.125).Reshape(1, 1, 5)).
		Initializer("mean", mean).
		Initializer("period", ir.FloatTensor(ir.F32, 1./rate).Reshape()).
		Node("rows", "Unsqueeze", []string{"signal", "front"}, []string{"row"}).
		Node("slope", "Conv", []string{"row", "slope"}, []string{"steep"}, same(2)).
		Node("square", "Mul", []string{"steep", "steep"}, []string{"power"}).
		Node("mean", "Conv", []string{"power", "mean"}, []string{"smooth"}, same(width/2)).
		Node("line", "Squeeze", []string{"smooth", "front"}, []string{"energy"}).
		Node("peaks", "heart:Peaks", []string{"energy"}, []string{"at", "heights"},
			onnxtest.Attr{Name: "above", Value: 0.3}, onnxtest.Attr{Name: "apart", Value: rate / 4}).
		Node("number", "Cast", []string{"at"}, []string{"samples"}, onnxtest.Attr{Name: "to", Value: 1}).
		Node("time", "Mul", []string{"samples", "period"}, []string{"seconds"})
}

// spirals returns a perceptron that predicts on which of two spirals a point lies.
// acme.FusedMatMulAddReLU computes its hidden layers. The weights are random, as in PyTorch's
// Linear.
func spirals() *onnxtest.Model {
	m := onnxtest.New(17).Import("acme", 1).
		Input("point", ir.F32, "N", 2).
		Output("logits", ir.F32, "N", 2)
	rng := rand.New(rand.NewPCG(42, 0))
	layer := func(name, op, from, to string, in, out int) {
		bound := 1 / math.Sqrt(float64(in))
		weight, bias := ir.NewTensor(ir.F32, in, out), ir.NewTensor(ir.F32, out)
		for _, t := range []*ir.Tensor{weight, bias} {
			for i := range t.Len() {
				t.SetFloat(i, bound*(2*rng.Float64()-1))
			}
		}
		m.Initializer(name+".weight", weight).Initializer(name+".bias", bias).
			Node(name, op, []string{from, name + ".weight", name + ".bias"}, []string{to})
	}
	const width = 32
	at := "point"
	for i, in := range []int{2, width, width} {
		to := fmt.Sprintf("h%d", i+1)
		layer(fmt.Sprintf("layer%d", i+1), "acme:FusedMatMulAddReLU", at, to, in, width)
		at = to
	}
	layer("output", "Gemm", at, "logits", width, 2)
	return m
}
