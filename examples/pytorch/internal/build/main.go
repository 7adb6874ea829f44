// Command build writes the example's file of weights, digits.pt, to the current folder.
package main

import (
	"encoding/binary"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/pytorch/pytorchtest"
)

func main() {
	file, err := stateDict("../digits/digits.onnx")
	if err == nil {
		err = os.WriteFile("digits.pt", file, 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// stateDict returns the weights in the ONNX file of examples/digits/train/train.py, as
// torch.save(net.state_dict(), "digits.pt") in that script would write them.
func stateDict(path string) ([]byte, error) {
	m, err := onnx.Load(path)
	if err != nil {
		return nil, err
	}
	var list []pytorchtest.Tensor
	for _, w := range m.Weights {
		if w.Type.DType != ir.F32 || !strings.Contains(w.Name, ".") {
			continue // not of a layer
		}
		shape, _ := w.Type.Static()
		list = append(list, pytorchtest.Tensor{Name: w.Name, Storage: "FloatStorage", Shape: shape, Data: w.Data})
		if layer, ok := strings.CutSuffix(w.Name, ".running_var"); ok { // a count that only training uses
			list = append(list, pytorchtest.Tensor{Name: layer + ".num_batches_tracked", Storage: "LongStorage", Data: binary.LittleEndian.AppendUint64(nil, 5600)})
		}
	}
	slices.SortFunc(list, func(a, b pytorchtest.Tensor) int { return strings.Compare(a.Name, b.Name) })
	return pytorchtest.Save("", list...), nil
}
