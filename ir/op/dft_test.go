package op

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func TestDFTInfer(t *testing.T) {
	n := dim.Sym("N")
	for name, test := range map[string]struct {
		op   DFT
		in   string
		want string
	}{
		"of a real signal":                     {DFT{Axis: 1, Length: n}, "f32[2,N,1]", "f32[2,N,2]"},
		"one-sided":                            {DFT{Axis: 0, Length: n, OneSided: true}, "f16[N,3,1]", "f16[floor(N/2)+1,3,2]"},
		"inverse of one side":                  {DFT{Axis: 0, Length: dim.Const(6), OneSided: true, Inverse: true}, "f64[4,2]", "f64[6,1]"},
		"longer than the signal":               {DFT{Axis: 0, Length: dim.Const(6)}, "f64[4,2]", "f64[6,2]"},
		"the last axis":                        {DFT{Axis: 1, Length: n}, "f64[4,2]", "axis 1 out of range for 1 axes of a signal"},
		"three parts":                          {DFT{Axis: 0, Length: n}, "f64[4,3]", "the last axis of f64[4,3] has no real and imaginary parts"},
		"one side of a complex signal":         {DFT{Axis: 0, Length: n, OneSided: true}, "f64[4,2]", "onesided with a signal of 2 parts and inverse false"},
		"inverse of one side of a real signal": {DFT{Axis: 0, Length: n, OneSided: true, Inverse: true}, "f64[4,1]", "onesided with a signal of 1 parts and inverse true"},
		"integers":                             {DFT{Axis: 0, Length: n}, "i32[4,1]", "operand 0 is i32, floats expected"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := test.op.Infer(types(t, test.in))
			got := fmt.Sprint(err)
			if err == nil {
				got = out[0].String()
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestDFTUndoesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "length")
		x := drawn(t, ir.F64, -1, 1, 2, n, 3, 1)
		oneSided := rapid.Bool().Draw(t, "one-sided")
		there := DFT{Axis: 1, Length: dim.Const(n), OneSided: oneSided}
		back := there
		back.Inverse = true
		f := buildFunc(t, []ir.Type{x.Type()}, func(b *ir.Builder, p []*ir.Value) []*ir.Value {
			y := b.Node(back, b.Node(there, p[0]))
			return []*ir.Value{sliceAxis(b, y, 3, dim.Dim{}, dim.Const(1))}
		})
		if y := checkLower(t, f, 1e-12, x)[0]; !closeTo(y, x, 1e-12) {
			t.Errorf("%s, want %s", y, x)
		}
	})
}

func TestImportDFT(t *testing.T) {
	x := counted(ir.F32, 2, 5, 3, 1)
	spectrum := counted(ir.F32, 2, 5, 3, 2)
	evaluate := func(t *testing.T, opset int, a attrs, x *ir.Tensor, constants ...*ir.Tensor) *ir.Tensor {
		t.Helper()
		f, err := importFunc("DFT", opset, 1, a, []ir.Type{x.Type()}, constants...)
		if err != nil {
			t.Fatal(err)
		}
		return checkLower(t, f, 1e-5, x)[0]
	}
	t.Run("the axis is 1 before opset 20 and the last of the signal from there on", func(t *testing.T) {
		first, last := evaluate(t, 17, nil, x), evaluate(t, 20, nil, x)
		if want := evaluate(t, 20, nil, x, nil, ints(1).Reshape()); !closeTo(first, want, 0) {
			t.Errorf("%s, want %s", first, want)
		}
		if want := evaluate(t, 17, attrs{"axis": 2}, x); !closeTo(last, want, 0) {
			t.Errorf("%s, want %s", last, want)
		}
	})
	t.Run("an inverse of one side has an even length unless it is given", func(t *testing.T) {
		a := attrs{"axis": 1, "onesided": 1, "inverse": 1}
		if y := evaluate(t, 17, a, spectrum); y.Shape[1] != 8 {
			t.Errorf("shape %v", y.Shape)
		}
		if y := evaluate(t, 17, a, spectrum, ints(9).Reshape()); y.Shape[1] != 9 {
			t.Errorf("shape %v", y.Shape)
		}
	})
	t.Run("the axis may be known only when the model runs", func(t *testing.T) {
		for _, a := range []attrs{{"onesided": 1}, {"inverse": 1}} {
			f := buildFunc(t, types(t, "f32[A,B,C,1]", "i64[]"), func(b *ir.Builder, p []*ir.Value) []*ir.Value {
				out, err := importNode(b, "DFT", 20, 1, a, p[0], nil, p[1])
				if err != nil {
					t.Fatal(err)
				}
				return out
			})
			for _, axis := range []int64{0, 1, 2, -2, -4} {
				at := ints(axis).Reshape()
				want := evaluate(t, 20, a, x, nil, at)
				if got := run(t, f, x, at)[0]; !closeTo(got, want, 1e-6) {
					t.Errorf("axis %d: %s, want %s", axis, got, want)
				}
			}
			for _, axis := range []int64{3, -1} {
				if _, err := tryRun(f, x, ints(axis).Reshape()); err == nil {
					t.Errorf("no error for axis %d", axis)
				}
			}
		}
	})
}

func TestImportSTFT(t *testing.T) {
	x, window := counted(ir.F64, 2, 11, 1), ir.FloatTensor(ir.F64, 0.5, 1, 2, 1)
	f, err := importFunc("STFT", 17, 1, nil, []ir.Type{typed(t, "f64[2,L,1]")}, ints(3).Reshape(), window)
	if err != nil {
		t.Fatal(err)
	}
	y := checkLower(t, f, 1e-12, x)[0]
	if fmt.Sprint(y.Shape) != "[2 3 3 2]" {
		t.Fatalf("shape %v", y.Shape)
	}
	for n := range 2 {
		for frame := range 3 {
			line := ir.NewTensor(ir.F64, 4, 1)
			for i := range 4 {
				line.SetFloat(i, x.Float(n*11+frame*3+i)*window.Float(i))
			}
			want, err := (DFT{Length: dim.Const(4), OneSided: true}).Eval([]*ir.Tensor{line})
			if err != nil {
				t.Fatal(err)
			}
			for k := range 6 {
				if got := y.Float((n*3+frame)*6 + k); got != want[0].Float(k) {
					t.Errorf("frame %d: element %d is %v, want %v", frame, k, got, want[0].Float(k))
				}
			}
		}
	}
	for name, test := range map[string]struct {
		constants []*ir.Tensor
		want      string
	}{
		"step":        {[]*ir.Tensor{ints(0).Reshape(), window}, "frame_step is 0"},
		"no length":   {[]*ir.Tensor{ints(1).Reshape()}, "neither frame_length nor a window"},
		"two lengths": {[]*ir.Tensor{ints(1).Reshape(), window, ints(5).Reshape()}, "window and frame_length: 4 is not 5"},
	} {
		_, err := importFunc("STFT", 17, 1, nil, []ir.Type{x.Type()}, test.constants...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", name, err, test.want)
		}
	}
}

func TestWindowFunctions(t *testing.T) {
	for _, name := range []string{"BlackmanWindow", "HammingWindow", "HannWindow"} {
		known, err := importFunc(name, 17, 1, attrs{"periodic": 0}, nil, ints(9).Reshape())
		if err != nil {
			t.Fatal(err)
		}
		y := checkLower(t, known, 1e-6)[0]
		if y.Len() != 9 || y.DType != ir.F32 || y.Float(4) < 0.99 || y.Float(2) != y.Float(6) {
			t.Errorf("%s is %s", name, y)
		}
		for _, d := range []ir.DType{ir.F64, ir.BF16, ir.I32} {
			late, err := importFunc(name, 17, 1, attrs{"periodic": 0, "output_datatype": d}, types(t, "i32[]"))
			if err != nil {
				t.Fatal(err)
			}
			size := ir.IntTensor(ir.I32, 9).Reshape()
			if got := checkLower(t, late, 1e-2, size)[0]; got.DType != d || got.Len() != 9 {
				t.Errorf("%s of %s is %s", name, d, got)
			}
		}
	}
}

func TestMelWeightMatrixImport(t *testing.T) {
	late, err := importFunc("MelWeightMatrix", 17, 1, nil, types(t, "i32[]", "i32[]", "i32[]", "f32[]", "f32[]"))
	if err != nil {
		t.Fatal(err)
	}
	whole := func(v int64) *ir.Tensor { return ir.IntTensor(ir.I32, v).Reshape() }
	y := checkLower(t, late, 1e-6, whole(4), whole(16), whole(8192), ir.Scalar(ir.F32, 0), ir.Scalar(ir.F32, 4096))[0]
	if fmt.Sprint(y.Shape) != "[9 4]" {
		t.Fatalf("shape %v", y.Shape)
	}
	for band := range 4 {
		top := 0.0
		for i := range 9 {
			top = max(top, y.Float(i*4+band))
		}
		if top != 1 {
			t.Errorf("band %d reaches %v", band, top)
		}
	}
}
