package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// CosineWindow is a window function of Size floats of type DType, A − B·cos t + C·cos 2t (ONNX BlackmanWindow,
// HammingWindow, HannWindow, from opset 17). For element i, t is 2π·i/(Size − 1), or 2π·i/Size with Periodic.
// Without Periodic, a window of one element is 1.
type CosineWindow struct {
	DType    ir.DType
	Size     dim.Dim
	Periodic bool
	A, B, C  float64
}

// Infer returns a vector of Size elements of type DType.
func (op CosineWindow) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 0, 0); err != nil {
		return nil, err
	}
	out := []ir.Type{ir.TensorOf(op.DType, op.Size)}
	return out, checkDomain(out, floats{})
}

// Eval returns the window as a vector of Size elements, computed in float64.
func (op CosineWindow) Eval([]*ir.Tensor) ([]*ir.Tensor, error) {
	size, ok := op.Size.Int()
	if !ok || size < 0 {
		return nil, fmt.Errorf("size %s", op.Size)
	}
	y := ir.NewTensor(op.DType, size)
	turn := size
	if !op.Periodic {
		turn--
	}
	for i := range size {
		v := 1.0
		if turn > 0 {
			t := 2 * math.Pi * (float64(i) / float64(turn))
			v = op.A - float64(op.B*portable.Cos(t)) + float64(op.C*portable.Cos(2*t))
		}
		y.SetFloat(i, v)
	}
	return []*ir.Tensor{y}, nil
}

// Lower computes a window of floats of at most 16 bits in f32, and converts it.
func (op CosineWindow) Lower(b *ir.Builder, _ *ir.Node) []*ir.Value {
	d := op.DType
	op.DType = wide(d)
	return drawNarrow(b, op, d)
}

// importWindowFunction returns the import function of a window function a − b·cos t + c·cos 2t, see [CosineWindow].
func importWindowFunction(a, b, c float64) func(ir.Importer) ([]*ir.Value, error) {
	return func(im ir.Importer) ([]*ir.Value, error) {
		size, err := boundDim(im, 0, "size")
		if err != nil {
			return nil, err
		}
		d := im.DType("output_datatype", ir.F32)
		op := CosineWindow{DType: d, Size: size, Periodic: im.Int("periodic", 1) != 0, A: a, B: b, C: c}
		if !d.IsFloat() {
			op.DType = ir.F32
		}
		return []*ir.Value{ConvertTo(im.Builder(), im.Builder().Node(op), d)}, nil
	}
}
