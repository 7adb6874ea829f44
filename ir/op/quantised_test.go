package op

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

// drawnOperand returns a tensor of small random numbers; scales are positive.
func drawnOperand(r *rand.Rand, typ ir.Type) *ir.Tensor {
	shape, _ := typ.Static()
	t := ir.NewTensor(typ.DType, shape...)
	for i := range t.Len() {
		switch {
		case typ.DType.IsFloat():
			t.SetFloat(i, float64(1+r.IntN(64))/64)
		case typ.DType == ir.I32:
			t.SetInt(i, int64(r.IntN(2000)-1000))
		default:
			t.SetInt(i, int64(r.IntN(256)))
		}
	}
	return t
}

// quantisedNodes are nodes of integer operators by the types of their operands.
var quantisedNodes = []struct {
	name  string
	op    ir.Op
	types string
}{
	{"per tensor", QuantizeLinear{To: ir.U8, Precision: ir.F32}, "f32[2,3,4] f32[] u8[]"},
	{"per axis", QuantizeLinear{Granularity: Granularity{Axis: 1}, To: ir.I8, Precision: ir.F32}, "f32[2,3,4] f32[3] i8[3]"},
	{"ragged blocks", QuantizeLinear{Granularity: Granularity{Axis: 1, Block: 2}, To: ir.I16, Precision: ir.F32}, "f32[2,3,4] f32[2,2,4]"},
	{"half precision", QuantizeLinear{Granularity: Granularity{Axis: 2}, To: ir.U4, Precision: ir.F16}, "f16[2,3,4] f16[4] u4[4]"},
	{"integers by integers", QuantizeLinear{To: ir.I8, Precision: ir.F64}, "i32[5] i32[]"},
	{"to i32", QuantizeLinear{To: ir.I32, Precision: ir.F32}, "f32[5] f32[]"},
	{"to a float", QuantizeLinear{Granularity: Granularity{Axis: 1, Block: 2}, To: ir.F8E4M3FN, Precision: ir.F32}, "f32[2,4] f32[2,2]"},
	{"no elements", QuantizeLinear{Granularity: Granularity{Axis: 1}, To: ir.U8, Precision: ir.F32}, "f32[2,0] f32[0]"},
	{"dequantised", DequantizeLinear{To: ir.F32}, "u8[2,3] f32[1] u8[1]"},
	{"dequantised per axis", DequantizeLinear{Granularity: Granularity{Axis: 0}, To: ir.F16}, "i8[2,3] f16[2] i8[2]"},
	{"dequantised blocks", DequantizeLinear{Granularity: Granularity{Axis: 1, Block: 3}, To: ir.F32}, "i4[2,7] f32[2,3] i4[2,3]"},
	{"dequantised floats", DequantizeLinear{Granularity: Granularity{Axis: 0}, To: ir.F32}, "f8e5m2[2,3] f32[2]"},
	{"dequantised sums", DequantizeLinear{To: ir.F32}, "i32[4] f32[]"},
	{"table", ByteTable{}, "i8[3,5] f32[256]"},
	{"table of bytes", ByteTable{}, "u8[7] i8[256]"},
	{"sums", ConvInteger{Window: Window{Kernel: []int{3, 2}, Pads: []int{1, 0, 1, 1}, Strides: []int{2, 1}}, Group: 1}, "u8[2,3,5,6] i8[4,3,3,2] u8[1] i8[4]"},
	{"sums without zero points", ConvInteger{Window: Window{Kernel: []int{3}}, Group: 1}, "i8[1,5,9] u8[2,5,3]"},
	{"groups", ConvInteger{Window: Window{Kernel: []int{2, 2}, Dilations: []int{1, 2}}, Group: 2, Requantize: Requantize{To: ir.U8}}, "u8[2,6,4,5] i8[4,3,2,2] u8[] i8[4] i32[4] f32[4] u8[]"},
	{"signs the other way", ConvInteger{Window: Window{Kernel: []int{1, 1}}, Group: 1, Requantize: Requantize{To: ir.I8, Clamp: true, Lo: -20, Hi: 30}}, "i8[1,5,4,5] u8[17,5,1,1] i8[] u8[] i32[17] f64[] i8[]"},
	{"depthwise", ConvInteger{Window: Window{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}}, Group: 3, Requantize: Requantize{To: ir.U8}}, "u8[1,3,6,6] u8[6,1,3,3] u8[] u8[6] none f32[6]"},
	{"depthwise along a line", ConvInteger{Window: Window{Kernel: []int{4}, Strides: []int{2}, Dilations: []int{2}, Pads: []int{3, 2}}, Group: 2}, "i8[2,2,11] u8[2,1,4] i8[] u8[]"},
	{"depthwise over wide planes", ConvInteger{Window: Window{Kernel: []int{2, 3}, Strides: []int{1, 2}, Same: "lower"}, Group: 2, Requantize: Requantize{To: ir.I8, Clamp: true, Lo: -3, Hi: 100}}, "u8[1,2,3,700] i8[2,1,2,3] u8[] none i32[2] f64[] i8[]"},
	{"volume", ConvInteger{Window: Window{Kernel: []int{2, 2, 2}, Same: "upper"}, Group: 1}, "u8[1,2,3,4,3] i8[3,2,2,2,2] u8[]"},
	{"matrices", MatMulInteger{}, "u8[5,7] i8[7,19] u8[] i8[]"},
	{"matrices per column", MatMulInteger{Requantize{To: ir.I8}}, "i8[2,3,8] i8[8,5] i8[] i8[5] i32[5] f32[5] i8[]"},
	{"batches", MatMulInteger{}, "u8[2,1,3,5] u8[4,5,6] u8[] u8[6]"},
	{"rows and columns", MatMulInteger{Requantize{To: ir.U8}}, "u8[5] u8[5,3] none u8[] none f32[1] u8[1]"},
	{"no rows", MatMulInteger{}, "u8[0,5] i8[5,3] u8[]"},
	{"no terms", MatMulInteger{}, "u8[2,0] i8[0,3] u8[]"},
	{"long sums", MatMulInteger{}, "u8[3,1500] i8[1500,2] u8[] i8[]"},
}

func TestQuantisedOperatorsAgreeWithWhatTheyAreLoweredTo(t *testing.T) {
	for _, test := range quantisedNodes {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var params []ir.Type
			var args []*ir.Tensor
			names := strings.Fields(test.types)
			for _, name := range names {
				if name != "none" {
					typ := types(t, name)[0]
					params, args = append(params, typ), append(args, drawnOperand(r, typ))
				}
			}
			f := buildFunc(t, params, func(b *ir.Builder, p []*ir.Value) []*ir.Value {
				operands := make([]*ir.Value, len(names))
				for i, name := range names {
					if name != "none" {
						operands[i], p = p[0], p[1:]
					}
				}
				return b.Nodes(test.op, operands...)
			})
			checkLower(t, f, 0, args...)
			lowered(t, f)
		})
	}
}

func TestQuantisedOperandsAreChecked(t *testing.T) {
	conv := ConvInteger{Window: Window{Kernel: []int{1, 1}}, Group: 1}
	to := ConvInteger{Window: conv.Window, Group: 1, Requantize: Requantize{To: ir.U8}}
	for _, test := range []struct {
		op          ir.Op
		types, want string
	}{
		{QuantizeLinear{To: ir.U8, Precision: ir.F32}, "f32[2] f32[] i8[]", "zero point i8[] for u8"},
		{QuantizeLinear{To: ir.U8, Precision: ir.F32, Granularity: Granularity{Axis: 2}}, "f32[2,2] f32[2]", "axis 2 out of range for rank 2"},
		{QuantizeLinear{To: ir.U8, Precision: ir.F32}, "f32[2,2] f32[3]", "scale and axis: 3 is not 2"},
		{QuantizeLinear{To: ir.U8, Precision: ir.F32, Granularity: Granularity{Block: 2}}, "f32[4,2] f32[2,3]", "axis 1 of the scale: 3 is not 2"},
		{QuantizeLinear{To: ir.F64, Precision: ir.F32}, "f32[2] f32[]", "not defined for f64"},
		{DequantizeLinear{To: ir.F32}, "f32[2] f32[]", "f32[2] with scale f32[]"},
		{DequantizeLinear{To: ir.I8}, "i8[2] f32[]", "a product of type i8"},
		{conv, "f32[1,1,2,2] i8[1,1,1,1]", "an integer product of f32, i8 or u8 expected"},
		{conv, "u8[1,1,2,2] i8[1,1,1,1] u8[2]", "zero point u8[2], one element expected"},
		{conv, "u8[1,1,2,2] i8[1,2,1,1]", "channels of the operand and the weights: 1 is not 2"},
		{to, "u8[1,1,2,2] i8[1,1,1,1]", "scale none"},
		{to, "u8[1,1,2,2] i8[2,1,1,1] none none i32[3] f32[]", "bias and channels: 3 is not 2"},
		{MatMulInteger{}, "u8[2,3] i8[4,5]", "inner dimensions: 3 is not 4"},
		{MatMulInteger{Requantize{To: ir.I32}}, "u8[2,3] i8[3,5]", "sums requantised to i32"},
		{ByteTable{}, "u8[2] f32[255]", "table f32[255], 256 elements expected"},
		{Quantize{To: ir.I8, Zero: 200}, "f32[2]", "zero point 200 does not fit i8"},
	} {
		var in []ir.Type
		for _, name := range strings.Fields(test.types) {
			typ := ir.Type{}
			if name != "none" {
				typ = types(t, name)[0]
			}
			in = append(in, typ)
		}
		_, err := test.op.Infer(in)
		if fmt.Sprint(err) != test.want {
			t.Errorf("%s of %s: %v, want %s", ir.OpName(test.op), test.types, err, test.want)
		}
	}
}

func TestQuantizingRoundsHalvesToEvenAndSaturates(t *testing.T) {
	x := ir.FloatTensor(ir.F32, 0.5, 1.5, -0.5, -2.5, 1e9, -1e9)
	f := buildFunc(t, types(t, "f32[6]"), func(b *ir.Builder, p []*ir.Value) []*ir.Value {
		return []*ir.Value{b.Node(Quantize{Scale: 1, Zero: 3, To: ir.I4}, p[0])}
	})
	got := checkLower(t, f, 0, x)[0]
	if want := []int64{3, 5, 3, 1, 7, -8}; !got.Equal(ir.IntTensor(ir.I4, want...)) {
		t.Errorf("%s, want %v", got, want)
	}
}

// quantisedImports are operators of com.microsoft with values for all operands.
var quantisedImports = []struct {
	op     string
	attrs  attrs
	values []*ir.Tensor
	want   *ir.Tensor
}{
	{"com.microsoft:QLinearAdd", nil, []*ir.Tensor{
		ir.IntTensor(ir.U8, 10, 20, 250), ir.Scalar(ir.F32, 0.5), ir.Scalar(ir.U8, 0),
		ir.IntTensor(ir.U8, 4, 5, 250), ir.Scalar(ir.F32, 1), ir.Scalar(ir.U8, 4),
		ir.Scalar(ir.F32, 1), ir.Scalar(ir.U8, 2),
	}, ir.IntTensor(ir.U8, 7, 13, 255)},
	{"com.microsoft:QLinearConcat", attrs{"axis": 0}, []*ir.Tensor{
		ir.Scalar(ir.F32, 1), ir.Scalar(ir.I8, 0),
		ir.IntTensor(ir.I8, 1, 2), ir.Scalar(ir.F32, 2), ir.Scalar(ir.I8, 1),
		ir.IntTensor(ir.I8, -128), ir.Scalar(ir.F32, 1), ir.Scalar(ir.I8, 0),
	}, ir.IntTensor(ir.I8, 0, 2, -128)},
	{"com.microsoft:QLinearLeakyRelu", attrs{"alpha": 0.5}, []*ir.Tensor{
		ir.IntTensor(ir.I8, -4, 4), ir.Scalar(ir.F32, 1), ir.Scalar(ir.I8, 0), ir.Scalar(ir.F32, 1), ir.Scalar(ir.I8, 0),
	}, ir.IntTensor(ir.I8, -2, 4)},
	{"com.microsoft:QGemm", attrs{"transB": 1}, []*ir.Tensor{
		ir.IntTensor(ir.U8, 3, 4).Reshape(1, 2), ir.Scalar(ir.F32, 1), ir.Scalar(ir.U8, 1),
		ir.IntTensor(ir.I8, 1, 2, -1, 5).Reshape(2, 2), ir.Scalar(ir.F32, 0.5), ir.Scalar(ir.I8, 0),
		ir.IntTensor(ir.I32, 2, -2), ir.Scalar(ir.F32, 1), ir.Scalar(ir.U8, 0),
	}, ir.IntTensor(ir.U8, 5, 6).Reshape(1, 2)},
	{"com.microsoft:MatMulIntegerToFloat", nil, []*ir.Tensor{
		ir.IntTensor(ir.U8, 3, 4).Reshape(1, 2), ir.IntTensor(ir.U8, 1, 2, 3, 4).Reshape(2, 2), ir.Scalar(ir.F32, 0.5), ir.FloatTensor(ir.F32, 1, 2),
		ir.Scalar(ir.U8, 2), ir.IntTensor(ir.U8, 1, 2), ir.FloatTensor(ir.F32, 10, 20),
	}, ir.FloatTensor(ir.F32, 12, 24).Reshape(1, 2)},
	{"com.microsoft:MatMulNBits", attrs{"K": 3, "N": 2, "bits": 4, "block_size": 2}, []*ir.Tensor{
		ir.FloatTensor(ir.F32, 1, 10, 100).Reshape(1, 3), ir.IntTensor(ir.U8, 0x98, 0x07, 0xa8, 0x0f).Reshape(2, 2, 1),
		ir.FloatTensor(ir.F32, 1, 2, 1, 0.5).Reshape(2, 2),
	}, ir.FloatTensor(ir.F32, -190, 370).Reshape(1, 2)},
	{"onnx.brevitas:Quant", attrs{"signed": 1, "narrow": 1, "rounding_mode": "ROUND"}, []*ir.Tensor{
		ir.FloatTensor(ir.F32, 0.3, -9, 0.75), ir.Scalar(ir.F32, 0.5), ir.Scalar(ir.F32, 0), ir.Scalar(ir.F32, 3),
	}, ir.FloatTensor(ir.F32, 0.5, -1.5, 1)},
	{"onnx.brevitas:BipolarQuant", nil, []*ir.Tensor{ir.FloatTensor(ir.F32, 0, -2), ir.Scalar(ir.F32, 3)}, ir.FloatTensor(ir.F32, 3, -3)},
	{"onnx.brevitas:Trunc", nil, []*ir.Tensor{
		ir.FloatTensor(ir.F32, 7, -5), ir.Scalar(ir.F32, 1), ir.Scalar(ir.F32, 0), ir.Scalar(ir.F32, 8), ir.Scalar(ir.F32, 6),
	}, ir.FloatTensor(ir.F32, 1, -2)},
}

func TestQuantisedImportsComputeTheirDefinition(t *testing.T) {
	for _, test := range quantisedImports {
		t.Run(test.op, func(t *testing.T) {
			f, err := importFunc(test.op, 1, 1, test.attrs, nil, test.values...)
			if err != nil {
				t.Fatal(err)
			}
			if got := checkLower(t, f, 0)[0]; !got.Equal(test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestDynamicQuantizationOfAConstantHasScaleOne(t *testing.T) {
	f, err := importFunc("DynamicQuantizeLinear", 11, 3, nil, types(t, "f32[3]"))
	if err != nil {
		t.Fatal(err)
	}
	out := checkLower(t, f, 0, ir.FloatTensor(ir.F32, 0, 0, 0))
	if out[0].Int(0) != 0 || out[1].Float(0) != 1 || out[2].Int(0) != 0 {
		t.Errorf("%v", out)
	}
}

func TestZeroPointsOfRowsAndColumns(t *testing.T) {
	a := ir.IntTensor(ir.U8, 3, 250, 7, 0, 255, 9, 12, 13, 14, 100, 90, 80).Reshape(2, 2, 3)
	m := ir.IntTensor(ir.I8, -128, 127, 5, -6, 7, 8, 1, 2, 3, -4, -5, 6).Reshape(2, 3, 2)
	for _, test := range []struct {
		name   string
		a0, m0 *ir.Tensor
	}{
		{"rows", ir.IntTensor(ir.U8, 128, 3), ir.Scalar(ir.I8, 5)},
		{"rows of each matrix", ir.IntTensor(ir.U8, 128, 3, 255, 0).Reshape(2, 2, 1), ir.IntTensor(ir.I8, 3, -128)},
		{"columns of each matrix", ir.Scalar(ir.U8, 7), ir.IntTensor(ir.I8, 127, -128, 1, 0).Reshape(2, 1, 2)},
		{"both", ir.IntTensor(ir.U8, 128, 3, 255, 0).Reshape(2, 2, 1), ir.IntTensor(ir.I8, 127, -128, 1, 0).Reshape(2, 1, 2)},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := importFunc("MatMulInteger", 10, 1, nil, nil, a, m, test.a0, test.m0)
			if err != nil {
				t.Fatal(err)
			}
			got := checkLower(t, f, 0)[0]
			row, column := test.a0.Len(), test.m0.Len()
			for i := range 8 {
				batch, r, c := i/4, i/2%2, i%2
				sum := int64(0)
				for k := range 3 {
					sum += (a.Int((batch*2+r)*3+k) - test.a0.Int((batch*2+r)%row)) * (m.Int((batch*3+k)*2+c) - test.m0.Int((batch*2+c)%column))
				}
				if got.Int(i) != sum {
					t.Errorf("sum %d is %d, want %d", i, got.Int(i), sum)
				}
			}
		})
	}
}

func TestZeroPointsOfAnUnknownNumberAreOneOrOfColumns(t *testing.T) {
	f, err := importFunc("MatMulInteger", 10, 1, nil, types(t, "u8[2,2]", "i8[2,3]", "u8[]", "i8[C]"))
	if err != nil {
		t.Fatal(err)
	}
	a, m := ir.IntTensor(ir.U8, 1, 2, 3, 4).Reshape(2, 2), ir.IntTensor(ir.I8, 1, 2, 3, 4, 5, 6).Reshape(2, 3)
	for _, test := range []struct{ zero, want *ir.Tensor }{
		{ir.IntTensor(ir.I8, 1), ir.IntTensor(ir.I32, 3, 4, 5, 9, 14, 19)},
		{ir.IntTensor(ir.I8, 1, 0, -1), ir.IntTensor(ir.I32, 3, 5, 7, 9, 19, 29)},
	} {
		if got := checkLower(t, f, 0, a, m, ir.Scalar(ir.U8, 1), test.zero)[0]; !got.Equal(test.want.Reshape(2, 3)) {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
