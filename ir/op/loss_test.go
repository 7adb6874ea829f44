package op

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

func TestLosses(t *testing.T) {
	x := ir.FloatTensor(ir.F64, -1, -2, -3, -4, -5, -6).Reshape(2, 3)
	target := ints(2, 0)
	weight := ir.FloatTensor(ir.F64, 0.5, 7, 2)
	for name, test := range map[string]struct {
		a      attrs
		target *ir.Tensor
		weight *ir.Tensor
		want   []float64
	}{
		"none":                       {attrs{"reduction": "none"}, target, nil, []float64{3, 4}},
		"mean":                       {nil, target, nil, []float64{3.5}},
		"sum":                        {attrs{"reduction": "sum"}, target, nil, []float64{7}},
		"weighted mean":              {nil, target, weight, []float64{(3*2 + 4*0.5) / 2.5}},
		"weighted sum":               {attrs{"reduction": "sum"}, target, weight, []float64{8}},
		"ignored class":              {attrs{"ignore_index": 0}, target, nil, []float64{3}},
		"ignored number":             {attrs{"ignore_index": -100, "reduction": "none"}, ints(-100, 1), weight, []float64{0, 35}},
		"everything ignored":         {attrs{"ignore_index": 9}, ints(9, 9), nil, []float64{math.NaN()}},
		"weighted mean, one ignored": {attrs{"ignore_index": 9}, ints(9, 1), weight, []float64{5}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := importFunc("NegativeLogLikelihoodLoss", 22, 1, test.a, []ir.Type{x.Type(), test.target.Type()}, test.weight)
			if err != nil {
				t.Fatal(err)
			}
			got := checkLower(t, f, 1e-12, x, test.target)[0]
			if want := ir.FloatTensor(ir.F64, test.want...).Reshape(got.Shape...); got.Len() != len(test.want) || !closeTo(got, want, 1e-12) {
				t.Errorf("%s, want %v", got, test.want)
			}
		})
	}
	if f, err := importFunc("NegativeLogLikelihoodLoss", 13, 1, nil, []ir.Type{x.Type(), target.Type()}); err != nil {
		t.Error(err)
	} else if _, err := tryRun(f, x, ints(0, 3)); err == nil {
		t.Error("no error for a target that is not a class")
	}
	for want, a := range map[string]attrs{`unknown reduction "max"`: {"reduction": "max"}} {
		if _, err := importFunc("NegativeLogLikelihoodLoss", 13, 1, a, []ir.Type{x.Type(), target.Type()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestSoftmaxCrossEntropyLoss(t *testing.T) {
	scores, target := counted(ir.F32, 2, 3, 2), ints(0, 1, 2, 0).Reshape(2, 2)
	f, err := importFunc("SoftmaxCrossEntropyLoss", 12, 2, attrs{"reduction": "none"}, []ir.Type{typed(t, "f32[N,3,D]"), typed(t, "i64[N,D]")})
	if err != nil {
		t.Fatal(err)
	}
	out := checkLower(t, f, 1e-5, scores, target)
	for n := range 2 {
		for d := range 2 {
			var total float64
			for c := range 3 {
				total += math.Exp(scores.Float(n*6 + c*2 + d))
			}
			c := int(target.Int(n*2 + d))
			want := math.Log(total) - scores.Float(n*6+c*2+d)
			if got := out[0].Float(n*2 + d); math.Abs(got-want) > 1e-5 || math.Abs(out[1].Float(n*6+c*2+d)+want) > 1e-5 {
				t.Errorf("loss %v, logarithm %v, want %v", got, out[1].Float(n*6+c*2+d), want)
			}
		}
	}
	lowered(t, f)
}

func TestOptimizers(t *testing.T) {
	x, y := ir.FloatTensor(ir.F32, 1, -2), ir.Scalar(ir.F64, 3)
	g, h := ir.FloatTensor(ir.F32, 0.5, 1), ir.Scalar(ir.F64, -1)
	state := []*ir.Tensor{ir.FloatTensor(ir.F32, 0.25, 4), ir.Scalar(ir.F64, 9)}
	rate := ir.FloatTensor(ir.F32, 0.125)
	for _, test := range []struct {
		name, op string
		a        attrs
		count    int64
		states   int
		want     []float64 // of the scalar, then its states
	}{
		{"adagrad", "Adagrad", attrs{"norm_coefficient": 2.0, "decay_factor": 0.5, "epsilon": 1.0}, 2, 1,
			[]float64{3 - 0.0625*5/(math.Sqrt(34)+1), 34}},
		{"momentum at first", "Momentum", attrs{"alpha": 0.5, "beta": 0.25, "norm_coefficient": 0.0, "mode": "standard"}, 0, 1,
			[]float64{3 - 0.125*3.5, 3.5}},
		{"momentum later", "Momentum", attrs{"alpha": 0.5, "beta": 0.25, "norm_coefficient": 1.0, "mode": "standard"}, 1, 1,
			[]float64{3 - 0.125*5, 5}},
		{"momentum of Nesterov", "Momentum", attrs{"alpha": 0.5, "beta": 0.25, "norm_coefficient": 0.0, "mode": "nesterov"}, 1, 1,
			[]float64{3 - 0.125*(-1+0.5*4.25), 4.25}},
		{"adam at first", "Adam", attrs{"alpha": 0.5, "beta": 0.75, "epsilon": 1.0}, 0, 2,
			[]float64{3 - 0.125*4/(math.Sqrt(7)+1), 4, 7}},
		{"adam later", "Adam", attrs{"alpha": 0.5, "beta": 0.75, "norm_coefficient_post": 0.25, "norm_coefficient": 1.0}, 2, 2,
			[]float64{0.75 * (3 - 0.125*math.Sqrt(1-0.5625)/0.75*5.5/math.Sqrt(6.75+0.25*4)), 5.5, 7.75}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []*ir.Tensor{rate, ir.IntTensor(ir.I64, test.count).Reshape(), x, y, g, h}
			for range test.states {
				args = append(args, state...)
			}
			params := make([]ir.Type, len(args))
			for i, a := range args {
				params[i] = a.Type()
			}
			f, err := importFunc("ai.onnx.preview.training:"+test.op, 1, 2+2*test.states, test.a, params)
			if err != nil {
				t.Fatal(err)
			}
			out := checkLower(t, f, 1e-5, args...)
			for i, want := range test.want {
				got := out[2*i+1]
				if got.DType != ir.F64 || math.Abs(got.Float(0)-want) > 1e-6 {
					t.Errorf("result %d is %s, want %v", 2*i+1, got, want)
				}
				if v := out[2*i]; v.DType != ir.F32 || v.Len() != 2 {
					t.Errorf("result %d is %s", 2*i, v)
				}
			}
			lowered(t, f)
		})
	}
	for want, types := range map[string][]ir.Type{
		"4 operands: 2 and 3 for each tensor expected": types(t, "f32[]", "i64[]", "f32[]", "f32[]"),
		"operand 0 is f32[2], one number expected":     types(t, "f32[2]", "i64[]", "f32[]", "f32[]", "f32[]"),
	} {
		if _, err := importFunc("ai.onnx.preview.training:Adagrad", 1, 2, nil, types); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestDetAndReverseSequence(t *testing.T) {
	for _, typ := range []string{"f32[N,3,3]", "f64[2,M,M]", "bf16[0,0]"} {
		f := nodeFunc(t, Det{}, typed(t, typ))
		lowered(t, f)
	}
	a := ir.FloatTensor(ir.F16, 0, 2, 3, 1, 1, 2, 3, 4).Reshape(2, 2, 2)
	if y := checkLower(t, nodeFunc(t, Det{}, a.Type()), 0, a)[0]; y.Float(0) != -6 || y.Float(1) != -2 {
		t.Errorf("determinants %s", y)
	}
	if _, err := (Det{}).Infer(types(t, "f32[2,3]")); err == nil {
		t.Error("no error for a matrix that is not square")
	}

	f := nodeFunc(t, ReverseSequence{}, types(t, "string[S,N,2]", "i64[M]")...)
	x := ir.NewTensor(ir.String, 3, 1, 2)
	for i, s := range []string{"a", "b", "c", "d", "e", "f"} {
		x.SetText(i, s)
	}
	var text string
	y := run(t, f, x, ints(2))[0]
	for i := range y.Len() {
		text += y.Text(i)
	}
	if text != "cdabef" {
		t.Errorf("reversed to %s", text)
	}
	if _, err := tryRun(f, x, ints(4)); err == nil {
		t.Error("no error for a length of 4 of 3")
	}
	if _, err := importFunc("ReverseSequence", 10, 1, attrs{"time_axis": 1, "batch_axis": 1}, types(t, "f32[2,2]", "i64[2]")); err == nil {
		t.Error("no error for one axis as both")
	}
	lowered(t, nodeFunc(t, ReverseSequence{BatchFirst: true}, types(t, "string[N,S,2]", "i64[N]")...))
}
