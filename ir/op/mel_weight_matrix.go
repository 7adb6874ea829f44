package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// MelWeightMatrix is a matrix [Length/2 + 1, Bins] of type DType (ONNX MelWeightMatrix, from opset 17). Each column
// is a mel filter for a one-sided spectrum of Length samples: a triangle of height 1. The operands are f64: the
// sample rate, a lower and an upper frequency. The corners of the triangles lie between the two frequencies, at
// equal distances on the mel scale, 2595·log10(1 + f/700).
type MelWeightMatrix struct {
	DType        ir.DType
	Bins, Length dim.Dim
}

// Infer returns [Length/2 + 1, Bins].
func (op MelWeightMatrix) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 3); err != nil {
		return nil, err
	}
	for i, t := range in {
		if t.DType != ir.F64 || t.Rank() != 0 {
			return nil, fmt.Errorf("operand %d is %s, one f64 expected", i, t)
		}
	}
	rows := op.Length.FloorDiv(dim.Const(2)).Add(dim.Const(1))
	out := []ir.Type{ir.TensorOf(op.DType, rows, op.Bins)}
	return out, checkDomain(out, floats{})
}

// Eval returns the matrix, [Length/2 + 1, Bins], computed in float64.
func (op MelWeightMatrix) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	bins, ok := op.Bins.Int()
	length, okLength := op.Length.Int()
	if !ok || !okLength || bins < 0 || length < 0 {
		return nil, fmt.Errorf("%s bands of %s samples", op.Bins, op.Length)
	}
	rows := length/2 + 1
	if _, err := ir.CheckedLen([]int{rows, bins}); err != nil {
		return nil, err
	}
	const scale = 2595 / math.Ln10
	rate := in[0].Float(0)
	low := float64(scale * portable.Log1p(in[1].Float(0)/700))
	step := (float64(scale*portable.Log1p(in[2].Float(0)/700)) - low) / float64(bins+2)
	corner := func(i int) int {
		hertz := 700 * portable.Expm1((low+float64(float64(i)*step))/scale)
		bin := math.Floor(float64(length+1) * hertz / rate)
		if !(bin > 0) {
			return 0
		}
		return int(min(bin, 1<<30))
	}
	y := ir.NewTensor(op.DType, rows, bins)
	for j := range bins {
		left, top, right := corner(j), corner(j+1), corner(j+2)
		for i := left; i < rows && i < right; i++ {
			if i < top {
				y.SetFloat(i*bins+j, float64(i-left)/float64(top-left))
			} else {
				y.SetFloat(i*bins+j, float64(right-i)/float64(right-top))
			}
		}
		if top < rows {
			y.SetFloat(top*bins+j, 1)
		}
	}
	return []*ir.Tensor{y}, nil
}

// Lower computes a matrix of floats of at most 16 bits in f32, and converts it.
func (op MelWeightMatrix) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	d := op.DType
	if op.DType = wide(d); op.DType == d {
		return nil
	}
	return []*ir.Value{ConvertTo(b, b.Node(op, n.Args...), d)}
}

func importMelWeightMatrix(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	var sizes [2]dim.Dim
	for i, name := range []string{"num_mel_bins", "dft_length"} {
		var err error
		if sizes[i], err = boundDim(c, i, name); err != nil {
			return nil, err
		}
	}
	var args []*ir.Value
	for i := 2; i < 5; i++ {
		v := c.Arg(i)
		if v == nil || !v.Type.Elems().Equal(dim.Const(1)) {
			return nil, fmt.Errorf("operand %d is not one number", i)
		}
		args = append(args, ConvertTo(b, ReshapeTo(b, v), ir.F64))
	}
	d := c.DType("output_datatype", ir.F32)
	op := MelWeightMatrix{DType: d, Bins: sizes[0], Length: sizes[1]}
	if !d.IsFloat() {
		op.DType = ir.F32
	}
	return []*ir.Value{ConvertTo(b, b.Node(op, args...), d)}, nil
}
