package op

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

// checkImport imports a node with operands in, followed by constants. It checks the node's lowered
// form on in, and that the results are want.
func checkImport(t *testing.T, op string, opset int, a attrs, in, constants, want []*ir.Tensor) {
	t.Helper()
	f := imported(t, op, opset, len(want), a, in, constants)
	checkResults(t, checkLower(t, f, 1e-5, in...), want)
}

// imported returns the function of a node of operands and further constant ones.
func imported(t *testing.T, op string, opset, results int, a attrs, in, constants []*ir.Tensor) *ir.Func {
	t.Helper()
	var types []ir.Type
	for _, x := range in {
		types = append(types, x.Type())
	}
	f, err := importFunc(op, opset, results, a, types, constants...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checkResults compares results, to a relative tolerance.
func checkResults(t *testing.T, got, want []*ir.Tensor) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i, w := range want {
		if !closeTo(got[i], w, 1e-5) {
			t.Errorf("result %d is %s, want %s", i, got[i], w)
		}
	}
}

func TestTensorScatterImport(t *testing.T) {
	cache := tensorOf(ir.F32, []int{2, 1, 4, 1}, 0, 1, 2, 3, 4, 5, 6, 7)
	update := tensorOf(ir.F32, []int{2, 1, 2, 1}, 10, 20, 30, 40)
	at := func(v ...int64) *ir.Tensor { return ir.IntTensor(ir.I64, v...) }
	for name, c := range map[string]struct {
		a     attrs
		first *ir.Tensor
		want  []float64
	}{
		"at the front":      {nil, nil, []float64{10, 20, 2, 3, 30, 40, 6, 7}},
		"from a row on":     {attrs{"axis": 2}, at(1, 2), []float64{0, 10, 20, 3, 4, 5, 30, 40}},
		"around the end":    {attrs{"mode": "circular"}, at(3, 6), []float64{20, 1, 2, 10, 4, 5, 30, 40}},
		"along a last axis": {attrs{"mode": "linear", "axis": -2}, at(0, 0), []float64{10, 20, 2, 3, 30, 40, 6, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			checkImport(t, "TensorScatter", 24, c.a, []*ir.Tensor{cache, update}, []*ir.Tensor{c.first}, []*ir.Tensor{tensorOf(ir.F32, cache.Shape, c.want...)})
		})
	}
	t.Run("strings", func(t *testing.T) {
		texts := func(n int, v ...string) *ir.Tensor {
			x := ir.NewTensor(ir.String, 1, n, 1)
			for i, s := range v {
				x.SetText(i, s)
			}
			return x
		}
		checkImport(t, "TensorScatter", 24, nil, []*ir.Tensor{texts(2, "a", "b"), texts(1, "c")}, []*ir.Tensor{at(1)}, []*ir.Tensor{texts(2, "a", "c")})
	})
	t.Run("past the end", func(t *testing.T) {
		f, err := importFunc("TensorScatter", 24, 1, nil, []ir.Type{cache.Type(), update.Type()}, at(3, 0))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tryRun(f, cache, update); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("error %v", err)
		}
	})
	for name, c := range map[string]struct {
		a    attrs
		in   []ir.Type
		want string
	}{
		"the batch is not an axis": {attrs{"axis": 0}, []ir.Type{cache.Type(), update.Type()}, "f32[2,1,2,1] into f32[2,1,4,1] along axis 0"},
		"an unknown mode":          {attrs{"mode": "both"}, []ir.Type{cache.Type(), update.Type()}, `mode "both" is neither linear nor circular`},
		"other extents":            {nil, []ir.Type{cache.Type(), ir.StaticTensor(ir.F32, 2, 2, 1, 1)}, "axis 1 of cache and update: 1 is not 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := importFunc("TensorScatter", 24, 1, c.a, c.in); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestCausalConvWithStateImport(t *testing.T) {
	x := tensorOf(ir.F32, []int{1, 2, 3}, 1, 2, 3, 4, 5, 6)
	weights := tensorOf(ir.F32, []int{2, 1, 2}, 10, 1, 1, 0)
	silu := func(v float64) float64 { return v / (1 + math.Exp(-v)) }
	state := tensorOf(ir.F32, []int{1, 2, 1}, 3, 6)
	for name, c := range map[string]struct {
		a         attrs
		constants []*ir.Tensor
		want      []*ir.Tensor
	}{
		"without a past": {nil, []*ir.Tensor{weights}, []*ir.Tensor{tensorOf(ir.F32, x.Shape, 1, 12, 23, 0, 4, 5), state}},
		"with a bias and a past": {attrs{"activation": "none"}, []*ir.Tensor{weights, tensorOf(ir.F32, []int{2}, 100, 200), tensorOf(ir.F32, []int{1, 2, 1}, 7, 8)},
			[]*ir.Tensor{tensorOf(ir.F32, x.Shape, 171, 112, 123, 208, 204, 205), state}},
		"with an activation": {attrs{"activation": "silu"}, []*ir.Tensor{weights},
			[]*ir.Tensor{tensorOf(ir.F32, x.Shape, silu(1), silu(12), silu(23), 0, silu(4), silu(5)), state}},
		"of one element": {nil, []*ir.Tensor{tensorOf(ir.F32, []int{2, 1, 1}, 2, 3)},
			[]*ir.Tensor{tensorOf(ir.F32, x.Shape, 2, 4, 6, 12, 15, 18), ir.NewTensor(ir.F32, 1, 2, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			f := imported(t, "CausalConvWithState", 27, 2, c.a, []*ir.Tensor{x}, c.constants)
			verifyFunc(t, f)
			checkResults(t, run(t, f, x), c.want)
		})
	}
	t.Run("an unknown activation", func(t *testing.T) {
		_, err := importFunc("CausalConvWithState", 27, 2, attrs{"activation": "relu"}, []ir.Type{x.Type(), weights.Type()})
		if err == nil || err.Error() != `activation "relu"` {
			t.Errorf("error %v", err)
		}
	})
}

func TestRotaryEmbeddingImport(t *testing.T) {
	// A quarter turn makes (x, y) to (−y, x).
	x := tensorOf(ir.F32, []int{1, 1, 4}, 1, 2, 3, 4)
	cos, sin := tensorOf(ir.F32, []int{2, 2}, 1, 1, 0, 0), tensorOf(ir.F32, []int{2, 2}, 0, 0, 1, 1)
	half := func(t *ir.Tensor) *ir.Tensor { return tensorOf(ir.F32, []int{1, 1, 1}, t.Float(2)) }
	last := ir.IntTensor(ir.I64, 1).Reshape(1, 1)
	for name, c := range map[string]struct {
		a         attrs
		x         *ir.Tensor
		constants []*ir.Tensor
		want      []float64
	}{
		"halves":           {attrs{"num_heads": 1}, x, []*ir.Tensor{cos, sin, last}, []float64{-3, -4, 1, 2}},
		"neighbours":       {attrs{"num_heads": 1, "interleaved": 1}, x, []*ir.Tensor{cos, sin, last}, []float64{-2, 1, -4, 3}},
		"rank 4":           {nil, x.Reshape(1, 1, 1, 4), []*ir.Tensor{cos, sin, last}, []float64{-3, -4, 1, 2}},
		"without position": {attrs{"num_heads": 2}, x, []*ir.Tensor{half(cos), half(sin)}, []float64{-2, 1, -4, 3}},
		"in part":          {attrs{"num_heads": 1, "rotary_embedding_dim": 2}, x, []*ir.Tensor{half(cos), half(sin)}, []float64{-2, 1, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			checkImport(t, "RotaryEmbedding", 23, c.a, []*ir.Tensor{c.x}, c.constants, []*ir.Tensor{tensorOf(ir.F32, c.x.Shape, c.want...)})
		})
	}
}

func TestGatedActivationsImport(t *testing.T) {
	x, y := tensorOf(ir.F32, []int{2}, 1, -2), tensorOf(ir.F32, []int{2}, 3, 5)
	swish := func(v, alpha float64) float64 { return v / (1 + math.Exp(-alpha*v)) }
	checkImport(t, "SwiGLU", 28, attrs{"alpha": 0.5}, []*ir.Tensor{x, y}, nil, []*ir.Tensor{tensorOf(ir.F32, []int{2}, 3*swish(1, 0.5), 5*swish(-2, 0.5))})
	checkImport(t, "com.microsoft:BiasSplitGelu", 1, nil, []*ir.Tensor{y.Reshape(1, 1, 2), tensorOf(ir.F32, []int{2}, 1, -4)}, nil,
		[]*ir.Tensor{tensorOf(ir.F32, []int{1, 1, 1}, 4*gelu(1))})
	checkImport(t, "com.microsoft:BiasAdd", 1, nil, []*ir.Tensor{x.Reshape(1, 1, 2), y, y.Reshape(1, 1, 2)}, nil, []*ir.Tensor{tensorOf(ir.F32, []int{1, 1, 2}, 7, 8)})
}

func TestFlexAttentionImport(t *testing.T) {
	q, k := tensorOf(ir.F32, []int{1, 2, 1, 1}, 1, 2), tensorOf(ir.F32, []int{1, 1, 2, 1}, 0, math.Log(3))
	v := tensorOf(ir.F32, []int{1, 1, 2, 1}, 0, 1)
	checkImport(t, "ai.onnx.preview:FlexAttention", 1, attrs{"scale": 1.0, "softmax_precision": 11}, []*ir.Tensor{q, k, v}, nil, []*ir.Tensor{tensorOf(ir.F32, q.Shape, 0.75, 0.9)})
}

func TestGemmaRotaryEmbeddingImport(t *testing.T) {
	angles := tensorOf(ir.F32, []int{1, 1, 2}, 0, math.Pi/2)
	x, across := tensorOf(ir.F32, []int{1, 1, 1, 2}, 1, 2), tensorOf(ir.F32, []int{1, 1, 1, 2}, 3, 4)
	checkImport(t, "com.microsoft:GemmaRotaryEmbedding", 1, nil, []*ir.Tensor{angles, x, across, across, x}, nil,
		[]*ir.Tensor{tensorOf(ir.F32, x.Shape, 1, 4), tensorOf(ir.F32, x.Shape, 3, 2)})
}

func TestSimplifiedLayerNormalizationImport(t *testing.T) {
	x, scale := tensorOf(ir.F32, []int{1, 2}, 3, 4), tensorOf(ir.F32, []int{2}, 1, 10)
	root := math.Sqrt(12.5 + 0.5)
	checkImport(t, "SimplifiedLayerNormalization", 1, attrs{"axis": -1, "epsilon": 0.5, "stash_type": 1}, []*ir.Tensor{x, scale}, nil,
		[]*ir.Tensor{tensorOf(ir.F32, []int{1, 2}, 3/root, 40/root), tensorOf(ir.F32, []int{1, 1}, 1/root)})
}
