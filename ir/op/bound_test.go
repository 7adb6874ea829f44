package op

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

func f32s(v ...float64) *ir.Tensor { return ir.FloatTensor(ir.F32, v...) }

// TestOperandsKnownWhenTheModelRuns imports each operator twice: with lists that are inputs of the
// model, and with lists that are constants. Extents, values and, by checkLower, the lowered forms
// must agree. If one form returns an error, so must the other.
func TestOperandsKnownWhenTheModelRuns(t *testing.T) {
	type lists []*ir.Tensor
	x24, x234, cube := "f32[2,4]", "f32[2,3,4]", "f32[2,2,3,4]"
	for _, test := range []struct {
		name    string
		op      string
		opset   int
		attrs   attrs
		x       string
		lists   lists
		results int
	}{
		{"one axis", "ReduceSum", 13, nil, x234, lists{ints(1)}, 1},
		{"axes from the back", "ReduceMax", 18, nil, x234, lists{ints(-1, 0)}, 1},
		{"axes of rank 6", "ReduceSum", 13, nil, "f32[2,1,2,3,1,2]", lists{ints(0, 3, 4)}, 1},
		{"no axes for all", "ReduceMean", 18, nil, x234, lists{ints()}, 1},
		{"no axes for none", "ReduceL2", 18, attrs{"noop_with_empty_axes": 1}, x234, lists{ints()}, 1},
		{"axes that go", "ReduceProd", 18, attrs{"keepdims": 0}, x234, lists{ints(2, 0)}, 1},
		{"axes of i32", "ReduceSumSquare", 18, attrs{"keepdims": 0}, "i32[2,3,4]", lists{ints(1)}, 1},
		{"axes of no elements", "ReduceSum", 13, nil, "f32[2,0,4]", lists{ints(1)}, 1},
		{"other axes of no elements", "ReduceSum", 13, nil, "f32[2,0,4]", lists{ints(0)}, 1},
		{"a mean of integers", "ReduceMean", 18, nil, "i8[2,3,4]", lists{ints(0, 2)}, 1},
		{"the logarithm of a sum", "ReduceLogSumExp", 18, nil, x234, lists{ints(0, 2)}, 1},
		{"an axis beyond the rank", "ReduceSum", 13, nil, x234, lists{ints(3)}, 1},
		{"an axis twice", "ReduceSum", 13, nil, x234, lists{ints(0, -3)}, 1},

		{"an axis", "Squeeze", 13, nil, "f32[2,1,4,1]", lists{ints(1)}, 1},
		{"all axes", "Squeeze", 13, nil, "f32[1,1]", lists{ints(-1, 0)}, 1},
		{"no axis", "Squeeze", 13, nil, x24, lists{ints()}, 1},
		{"an axis of 4", "Squeeze", 13, nil, x24, lists{ints(1)}, 1},
		{"axes out of order", "Unsqueeze", 13, nil, x24, lists{ints(3, 0, -3)}, 1},
		{"an axis of a scalar", "Unsqueeze", 13, nil, "f32[]", lists{ints(0)}, 1},
		{"an axis beyond the result", "Unsqueeze", 13, nil, x24, lists{ints(3)}, 1},

		{"a shape", "Reshape", 14, nil, x234, lists{ints(4, 6)}, 1},
		{"the rest", "Reshape", 14, nil, x234, lists{ints(2, -1, 2)}, 1},
		{"extents as they are", "Reshape", 14, nil, x234, lists{ints(0, 0, -1, 1)}, 1},
		{"zeros", "Reshape", 14, attrs{"allowzero": 1}, "f32[2,0]", lists{ints(0, 7)}, 1},
		{"a scalar", "Reshape", 14, nil, "f32[1,1]", lists{ints()}, 1},
		{"too many elements", "Reshape", 14, nil, x24, lists{ints(3, 3)}, 1},
		{"no rest", "Reshape", 14, nil, x24, lists{ints(3, -1)}, 1},
		{"two rests", "Reshape", 14, nil, x24, lists{ints(-1, -1)}, 1},
		{"a zero beyond the rank", "Reshape", 14, nil, x24, lists{ints(8, 1, 0)}, 1},

		{"bounds", "Slice", 13, nil, x234, lists{ints(0, 1), ints(1, 2)}, 1},
		{"bounds from the back", "Slice", 13, nil, x234, lists{ints(-2), ints(-1), ints(-1)}, 1},
		{"bounds beyond the ends", "Slice", 13, nil, x234, lists{ints(-99, 1), ints(99, 1<<62), ints(2, 0)}, 1},
		{"steps", "Slice", 13, nil, x234, lists{ints(0, 3), ints(3, 0), ints(1, 2), ints(2, -2)}, 1},
		{"all backwards", "Slice", 13, nil, x234, lists{ints(-1), ints(-1 << 63), ints(2), ints(-1)}, 1},
		{"steps of no end", "Slice", 13, nil, x234, lists{ints(1), ints(4), ints(2), ints(1 << 40)}, 1},
		{"steps of rank 5", "Slice", 13, nil, "f32[1,2,2,2,2]", lists{ints(0, 1, 0), ints(1, 0, 2), ints(0, 1, 4), ints(1, -1, 1)}, 1},
		{"nothing", "Slice", 13, nil, x234, lists{ints(3), ints(1), ints(2)}, 1},
		{"of nothing", "Slice", 13, nil, "f32[0,2]", lists{ints(0), ints(5), ints(0), ints(-1)}, 1},
		{"texts", "Slice", 13, nil, "string[2,3]", lists{ints(1), ints(3), ints(1)}, 1},
		{"a step of 0", "Slice", 13, nil, x24, lists{ints(0), ints(1), ints(0), ints(0)}, 1},
		{"an axis twice", "Slice", 13, nil, x24, lists{ints(0, 0), ints(1, 1), ints(0, -2)}, 1},

		{"pads", "Pad", 13, nil, x24, lists{ints(1, 0, 2, 3)}, 1},
		{"pads of rank 5", "Pad", 13, nil, "f32[1,2,1,2,2]", lists{ints(0, 1, 2, -1, 0, 1, 0, 0, 1, 2)}, 1},
		{"pads of a value", "Pad", 13, nil, x24, lists{ints(1, 0, 2, 3), ir.Scalar(ir.F32, 7)}, 1},
		{"pads that cut", "Pad", 13, nil, x24, lists{ints(-1, 2, 1, -3)}, 1},
		{"pads of axes", "Pad", 18, nil, x234, lists{ints(1, 2, 3, 4), nil, ints(-1, 0)}, 1},
		{"the edge", "Pad", 18, attrs{"mode": "edge"}, x24, lists{ints(2, 1, 0, 7)}, 1},
		{"mirrors", "Pad", 18, attrs{"mode": "reflect"}, x24, lists{ints(3, 1, 0, 5)}, 1},
		{"beginning anew", "Pad", 19, attrs{"mode": "wrap"}, x24, lists{ints(3, 1, 0, 9)}, 1},
		{"mirrors of what is left", "Pad", 18, attrs{"mode": "reflect"}, x24, lists{ints(0, -2, 0, 2)}, 1},
		{"pads that cut too much", "Pad", 13, nil, x24, lists{ints(-2, 0, -1, 0)}, 1},
		{"too few pads", "Pad", 13, nil, x24, lists{ints(1, 0, 2)}, 1},

		{"sizes", "Split", 13, attrs{"axis": 1}, x24, lists{ints(1, 0, 3)}, 3},
		{"sizes of more", "Split", 13, attrs{"axis": 1}, x24, lists{ints(1, 4)}, 2},
		{"repeats", "Tile", 13, nil, x24, lists{ints(2, 3)}, 1},
		{"repeats of one axis", "Tile", 1, nil, x24, lists{ir.Scalar(ir.F32, 2), ir.Scalar(ir.F32, 1)}, 1},
		{"no repeats", "Tile", 13, nil, x24, lists{ints(0, 3)}, 1},
		{"a shape", "Expand", 13, nil, "f32[3,1]", lists{ints(2, 1, 4)}, 1},
		{"a shape of 5 for 3", "Expand", 13, nil, "f32[3,1]", lists{ints(5, 1)}, 1},
		{"a depth", "OneHot", 11, nil, "i64[3]", lists{ir.Scalar(ir.F32, 4), f32s(2, 5)}, 1},

		{"the greatest", "TopK", 11, attrs{"axis": 0}, x234, lists{ints(1)}, 2},
		{"the least", "TopK", 11, attrs{"largest": 0}, "u8[2,3,4]", lists{ints(3)}, 2},
		{"more than there are", "TopK", 11, nil, x24, lists{ints(5)}, 2},
		{"larger and smaller", "CenterCropPad", 18, nil, x234, lists{ints(5, 2, 3)}, 1},
		{"an axis", "CenterCropPad", 18, attrs{"axes": []int{-2}}, "string[1,3,2]", lists{ints(2)}, 1},

		{"scales", "Resize", 13, attrs{"mode": "linear"}, cube, lists{nil, f32s(1, 1, 2, 1.5)}, 1},
		{"smaller scales", "Resize", 18, attrs{"mode": "linear", "antialias": 1, "axes": []int{3, 2}}, cube, lists{nil, f32s(0.6, 0.4)}, 1},
		{"scales of cubes", "Resize", 13, attrs{"mode": "cubic", "exclude_outside": 1}, cube, lists{nil, f32s(1, 1, 0.8, 2)}, 1},
		{"scales of the nearest", "Resize", 13, nil, "i64[1,1,3,4]", lists{nil, f32s(1, 1, 2, 0.6)}, 1},
		{"scales of opset 10", "Resize", 10, nil, cube, lists{f32s(1, 1, 2, 0.6)}, 1},
		{"scales of integers", "Upsample", 9, attrs{"mode": "linear"}, "u8[1,1,3,4]", lists{f32s(1, 1, 2, 2)}, 1},
		{"sizes", "Resize", 18, attrs{"mode": "linear", "coordinate_transformation_mode": "align_corners"}, cube, lists{nil, nil, ints(2, 2, 7, 2)}, 1},
		{"sizes of a filter", "Resize", 18, attrs{"mode": "cubic", "antialias": 1, "axes": []int{2, 3}}, cube, lists{nil, nil, ints(2, 3)}, 1},
		{"sizes of a larger box", "Resize", 18, attrs{"keep_aspect_ratio_policy": "not_larger", "axes": []int{2, 3}}, cube, lists{nil, nil, ints(7, 8)}, 1},
		{"sizes of a smaller box", "Resize", 18, attrs{"keep_aspect_ratio_policy": "not_smaller", "axes": []int{2, 3}, "mode": "linear"}, cube, lists{nil, nil, ints(7, 8)}, 1},
		{"a region", "Resize", 13, attrs{"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}, "f32[3,4]", lists{f32s(0.2, -0.5, 1, 0.8), nil, ints(4, 5)}, 1},
		{"a region of scales", "Resize", 18, attrs{"mode": "nearest", "coordinate_transformation_mode": "tf_crop_and_resize", "axes": []int{1}}, "f32[3,4]", lists{f32s(0.3, 1.2), f32s(1.5)}, 1},
		{"a scale of 0", "Resize", 13, nil, "f32[3]", lists{nil, f32s(0)}, 1},
		{"something of nothing", "Resize", 13, nil, "f32[0]", lists{nil, nil, ints(2)}, 1},
	} {
		t.Run(test.op+" "+test.name, func(t *testing.T) {
			x := typed(t, test.x)
			shape, _ := x.Static()
			in := filled(x.DType, shape...)
			f, err := importFunc(test.op, test.opset, test.results, test.attrs, []ir.Type{x}, test.lists...)
			var want []*ir.Tensor
			if err == nil {
				want, err = tryRun(f, in)
			}
			types, args := []ir.Type{x}, []*ir.Tensor{in}
			for _, list := range test.lists {
				if types = append(types, ir.Type{}); list != nil {
					types[len(types)-1], args = list.Type(), append(args, list)
				}
			}
			g, errBound := importBound(test.op, test.opset, test.results, test.attrs, types)
			var got []*ir.Tensor
			if errBound == nil {
				if got, errBound = tryRun(g, args...); errBound == nil {
					checkLower(t, g, 1e-5, args...)
				} else if _, err := tryRun(lowered(t, g), args...); err == nil {
					t.Errorf("error %v, none when lowered", errBound)
				}
			}
			if (err == nil) != (errBound == nil) {
				t.Fatalf("error %v, %v when the model runs", err, errBound)
			}
			for i := range want {
				if !closeTo(got[i], want[i], 1e-6) {
					t.Errorf("result %d is %s, want %s\n%s", i, got[i], want[i], g)
				}
			}
		})
	}
}

// importBound is importFunc whose operands of the zero type are absent.
func importBound(op string, opset, results int, a attrs, types []ir.Type) (*ir.Func, error) {
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		args := make([]*ir.Value, len(types))
		for i, typ := range types {
			if !typ.IsZero() {
				args[i] = b.Param("x", typ)
			}
		}
		out, err := importNode(b, op, opset, results, a, args...)
		if err != nil {
			ir.FailWith(err)
		}
		b.Return(out...)
	})
	for _, r := range f.Results {
		f.ResultNames = append(f.ResultNames, r.Name)
	}
	return f, err
}

// filled returns a tensor of small positive numbers, or of texts. Some of them are equal.
func filled(d ir.DType, shape ...int) *ir.Tensor {
	t := ir.NewTensor(d, shape...)
	for i := range t.Len() {
		if d == ir.String {
			t.SetText(i, strings.Repeat("a", i))
			continue
		}
		t.SetNumber(i, float64((i*7+3)%5+1))
	}
	return t
}
