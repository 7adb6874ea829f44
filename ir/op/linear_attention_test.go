package op

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
)

func TestLinearAttentionEval(t *testing.T) {
	row := func(v ...float64) *ir.Tensor { return tensorOf(ir.F64, []int{1, len(v), 1, 1}, v...) }
	rate := func(v ...float64) *ir.Tensor { return tensorOf(ir.F64, []int{1, len(v), 1}, v...) }
	q, k, v := row(1, 10, 100), row(1, 2, 3), row(1, 1, 2)
	past := tensorOf(ir.F64, []int{1, 1, 1, 1}, 5)
	for name, c := range map[string]struct {
		in          []*ir.Tensor
		want, state []float64
	}{
		"products add up":               {[]*ir.Tensor{q, k, v, past}, []float64{6, 80, 1400}, []float64{14}},
		"what was is kept in part":      {[]*ir.Tensor{q, k, v, past, row(0.5, 0, 2)}, []float64{3.5, 20, 1000}, []float64{10}},
		"the difference is added":       {[]*ir.Tensor{q, k, v, past, nil, rate(1, 0.5, 0)}, []float64{1, 0, 0}, []float64{0}},
		"the difference to what's kept": {[]*ir.Tensor{q, k, v, past, row(2, 0, 0), rate(0.5, 1, 0)}, []float64{5.5, 20, 0}, []float64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := LinearAttention{}.Eval(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if !closeTo(out[0].Reshape(3), tensorOf(ir.F64, []int{3}, c.want...), 1e-12) || !closeTo(out[1].Reshape(1), tensorOf(ir.F64, []int{1}, c.state...), 1e-12) {
				t.Errorf("got %s and %s, want %v and %v", out[0], out[1], c.want, c.state)
			}
		})
	}
}

func TestLinearAttentionOfSharedHeads(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		batch, steps, shared, depth := 2, 3, 2, rapid.IntRange(1, 3).Draw(r, "depth")
		d := rapid.SampledFrom([]ir.DType{ir.F32, ir.F64, ir.BF16}).Draw(r, "dtype")
		in := []*ir.Tensor{
			drawTensor(r, d, batch, steps, 2*shared, depth), drawTensor(r, d, batch, steps, shared, depth), drawTensor(r, d, batch, steps, shared, 2),
			drawTensor(r, d, batch, shared, depth, 2), drawTensor(r, d, batch, steps, shared, depth), drawTensor(r, d, batch, steps, shared),
		}
		for _, x := range in[1:] {
			for i := range x.Len() {
				x.SetFloat(i, x.Float(i)/32)
			}
		}
		var types []ir.Type
		for _, x := range in {
			types = append(types, x.Type())
		}
		f := nodeFunc(t, LinearAttention{}, types...)
		out := checkLower(t, f, 3e-2, in...)
		// Each head of the queries is what it would be alone.
		for h := range 2 * shared {
			own := make([]*ir.Tensor, len(in))
			for i, x := range in {
				axis, from := 2, h/2
				if i == 0 {
					from = h
				} else if i == 3 {
					axis = 1
				}
				own[i] = rows(r, x, axis, from, 1)
			}
			alone, err := LinearAttention{}.Eval(own)
			if err != nil {
				t.Fatal(err)
			}
			if got := rows(r, out[0], 2, h, 1); !closeTo(got, alone[0], 3e-2) {
				t.Fatalf("head %d is %s, alone %s", h, got, alone[0])
			}
		}
	})
}

func TestLinearAttentionKernel(t *testing.T) {
	lowered(t, nodeFunc(t, LinearAttention{}, types(t, "f32[B,T,4,8]", "f32[B,T,2,8]", "f32[B,T,2,3]", "f32[B,2,8,3]")...))
}

func TestLinearAttentionImport(t *testing.T) {
	x := ir.StaticTensor(ir.F32, 1, 1, 2)
	heads := attrs{"q_num_heads": 1, "kv_num_heads": 1, "update_rule": "gated", "scale": 3.0, "chunk_size": 16}
	f, err := importFunc("LinearAttention", 27, 2, heads, []ir.Type{x, x, x}, nil, ir.FloatTensor(ir.F32, math.Log(0.5)).Reshape(1, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	one := tensorOf(ir.F32, []int{1, 1, 2}, 1, 2)
	out := checkLower(t, f, 1e-6, one, one, one)
	if want := tensorOf(ir.F32, []int{1, 1, 2}, 15, 30); !closeTo(out[0], want, 1e-6) {
		t.Errorf("got %s, want %s", out[0], want)
	}
	for name, c := range map[string]struct {
		attrs attrs
		want  string
	}{
		"a rule without its operand": {attrs{"q_num_heads": 1, "kv_num_heads": 1}, "update_rule gated_delta without operand 4"},
		"an unknown rule":            {attrs{"update_rule": "double"}, `update_rule "double"`},
		"no heads":                   {attrs{"update_rule": "linear"}, "0 heads of 2 elements"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := importFunc("LinearAttention", 27, 2, c.attrs, []ir.Type{x, x, x}); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
