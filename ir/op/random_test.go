package op

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func TestRandomOperatorsAreReproducible(t *testing.T) {
	build := func() *ir.Func {
		return buildFunc(t, types(t, "f16[3,4]"), func(b *ir.Builder, p []*ir.Value) []*ir.Value {
			shape := attrs{"shape": []int{3, 4}}
			return []*ir.Value{
				mustImport(b, "RandomNormal", 22, shape), mustImport(b, "RandomNormal", 22, shape),
				mustImport(b, "RandomUniform", 1, shape), mustImport(b, "RandomUniformLike", 22, attrs{"dtype": ir.F64}, p[0]),
				mustImport(b, "RandomNormalLike", 22, attrs{"seed": 2.5}, p[0]), mustImport(b, "RandomNormalLike", 22, attrs{"seed": 2.5}, p[0]),
			}
		})
	}
	x := ir.NewTensor(ir.F16, 3, 4)
	first, second := checkLower(t, build(), 0, x), run(t, build(), x)
	for i, y := range first {
		if !y.Equal(second[i]) {
			t.Errorf("result %d is %s and then %s", i, y, second[i])
		}
		for k := range first[:i] {
			if sameSeed := k == 4; y.DType == first[k].DType && y.Equal(first[k]) != sameSeed {
				t.Errorf("results %d and %d: %s and %s", k, i, first[k], y)
			}
		}
	}
	if first[3].DType != ir.F64 || first[4].DType != ir.F16 {
		t.Errorf("types %s and %s", first[3].DType, first[4].DType)
	}
	for n := range build().All() {
		if _, random := n.Op.(interface{ IsRandom() }); !random {
			t.Errorf("%s is not marked", n.Text())
		}
	}
	lowered(t, build())
}

// meanAndVariance returns the mean and the variance of a tensor.
func meanAndVariance(x *ir.Tensor) (mean, variance float64) {
	n := float64(x.Len())
	for i := range x.Len() {
		mean += x.Number(i) / n
		variance += x.Number(i) * x.Number(i) / n
	}
	return mean, variance - mean*mean
}

func TestRandomParameters(t *testing.T) {
	for _, test := range []struct {
		op             ir.Op
		mean, variance float64
	}{
		{RandomNormal{DType: ir.F32, Shape: dim.Consts(200, 100), Mean: 3, Scale: 2, Seed: 9}, 3, 4},
		{RandomUniform{DType: ir.F32, Shape: dim.Consts(200, 100), Low: -1, High: 5, Seed: 9}, 2, 3},
	} {
		y, err := test.op.Eval(nil)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := meanAndVariance(y[0])
		if math.Abs(mean-test.mean) > 0.06 || math.Abs(variance-test.variance) > 0.15 {
			t.Errorf("%s: mean %v, variance %v", ir.OpName(test.op), mean, variance)
		}
	}
}

func TestBernoulli(t *testing.T) {
	f, err := importFunc("Bernoulli", 22, 1, attrs{"dtype": ir.I32}, types(t, "f16[P,N]"))
	if err != nil {
		t.Fatal(err)
	}
	p := ir.NewTensor(ir.F16, 3, 4000)
	for i := range p.Len() {
		p.SetFloat(i, []float64{0, 0.25, 1}[i/4000])
	}
	y := checkLower(t, f, 0, p)[0]
	var count [3]int64
	for i := range y.Len() {
		count[i/4000] += y.Int(i)
	}
	if count[0] != 0 || count[1] < 880 || count[1] > 1120 || count[2] != 4000 {
		t.Errorf("%v of 4000", count)
	}
}

func TestMultinomialLower(t *testing.T) {
	x := ir.FloatTensor(ir.F16, 0, 1, 2, 5, 0, 0).Reshape(2, 3)
	f, err := importFunc("Multinomial", 7, 1, attrs{"sample_size": 50, "dtype": ir.I64, "seed": 1.0}, []ir.Type{x.Type()})
	if err != nil {
		t.Fatal(err)
	}
	y := checkLower(t, f, 0, x)[0]
	for i := range y.Len() {
		if c := y.Int(i); c < 0 || c > 2 {
			t.Fatalf("column %d", c)
		}
	}
	if _, err := importFunc("Multinomial", 22, 1, attrs{"dtype": ir.F32}, []ir.Type{x.Type()}); err == nil {
		t.Error("no error for floats")
	}
}

func TestDropoutInTraining(t *testing.T) {
	const n = 4000
	read := func(types []ir.Type, results int, constants ...*ir.Tensor) *ir.Func {
		f, err := importFunc("Dropout", 22, results, attrs{"seed": 7}, types, constants...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	yes := ir.Scalar(ir.Bool, 1)
	x := ir.NewTensor(ir.F32, n)
	for i := range n {
		x.SetFloat(i, float64(i+1))
	}
	t.Run("drops and scales", func(t *testing.T) {
		out := checkLower(t, read([]ir.Type{x.Type()}, 2, ir.Scalar(ir.F32, 0.25), yes), 1e-6, x)
		kept := 0
		for i := range n {
			want := 0.0
			if out[1].Bool(i) {
				kept++
				want = x.Float(i) / 0.75
			}
			if math.Abs(out[0].Float(i)-want) > 1e-3 {
				t.Fatalf("element %d is %v, want %v", i, out[0].Float(i), want)
			}
		}
		if kept < 2880 || kept > 3120 {
			t.Errorf("%d of %d are kept", kept, n)
		}
	})
	t.Run("everything at ratio 1", func(t *testing.T) {
		y := checkLower(t, read([]ir.Type{x.Type()}, 1, ir.Scalar(ir.F64, 1), yes), 0, x)[0]
		if mean, variance := meanAndVariance(y); mean != 0 || variance != 0 {
			t.Errorf("mean %v, variance %v", mean, variance)
		}
	})
	t.Run("nothing outside training, known when the model runs", func(t *testing.T) {
		f := read([]ir.Type{x.Type(), typed(t, "f32[]"), typed(t, "bool[]")}, 2)
		half := ir.Scalar(ir.F32, 0.5)
		out := run(t, f, x, half, ir.Scalar(ir.Bool, 0))
		if mean, _ := meanAndVariance(out[1]); !out[0].Equal(x) || math.Abs(mean-1) > 1e-9 {
			t.Errorf("%v kept", mean)
		}
		if mean, _ := meanAndVariance(run(t, f, x, half, yes)[1]); math.Abs(mean-0.5) > 0.04 {
			t.Errorf("%v kept in training", mean)
		}
	})
	for name, constants := range map[string][]*ir.Tensor{
		"ratio":         {ir.IntTensor(ir.I32, 1), yes},
		"training_mode": {nil, ir.Scalar(ir.F32, 1)},
	} {
		if _, err := importFunc("Dropout", 22, 1, nil, []ir.Type{x.Type()}, constants...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
