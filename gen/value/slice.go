// Package value converts tensors between the evaluator, the Go slices of kernels, and files: NumPy
// arrays, ONNX test data, raw numbers and images. It does not know models.
package value

import (
	"encoding/binary"
	"fmt"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
)

// Slice returns the elements of t in the form that kernels take: a []float32 for f32.
func Slice(t *ir.Tensor) any {
	s := exec.MakeSlice(t.DType, t.Len())
	if texts, ok := s.([]string); ok {
		for i := range texts {
			texts[i] = t.Text(i)
		}
		return s
	}
	if _, err := binary.Decode(t.Bytes(), binary.LittleEndian, s); err != nil {
		panic(err) // the slice and the bytes have the same type and length
	}
	return s
}

// FromSlice converts a slice from kernels to a tensor. It returns an error if the size of the
// elements does not match d and shape.
func FromSlice(d ir.DType, shape []int, s any) (*ir.Tensor, error) {
	if texts, ok := s.([]string); ok {
		t := ir.NewTensor(ir.String, shape...)
		if d != ir.String || len(texts) != t.Len() {
			return nil, fmt.Errorf("%d strings for %s", len(texts), ir.StaticTensor(d, shape...))
		}
		for i, x := range texts {
			t.SetText(i, x)
		}
		return t, nil
	}
	data, err := binary.Append(nil, binary.LittleEndian, s)
	if err != nil {
		return nil, err
	}
	return ir.DecodeTensor(d, shape, data)
}
