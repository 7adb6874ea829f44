package op

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// evalNode imports a node of com.microsoft and returns its results for args. It also checks its
// lowered form on args.
func evalNode(t tester, op string, results int, a attrs, args ...*ir.Tensor) []*ir.Tensor {
	t.Helper()
	in := make([]ir.Type, len(args))
	for i, x := range args {
		if x != nil {
			in[i] = x.Type()
		}
	}
	f := buildFunc(t, present(in), func(b *ir.Builder, params []*ir.Value) []*ir.Value {
		out, err := importNode(b, op, 1, results, a, withAbsent(in, params)...)
		if err != nil {
			ir.FailWith(err)
		}
		var made []*ir.Value
		for _, v := range out {
			if v != nil {
				made = append(made, v)
			}
		}
		return made
	})
	return checkLower(t, f, 1e-4, presentTensors(args)...)
}

// drawUnit returns an f32 tensor of numbers between -1 and 1.
func drawUnit(t *rapid.T, shape ...int) *ir.Tensor {
	x := drawTensor(t, ir.F32, shape...)
	for i := range x.Len() {
		x.SetFloat(i, x.Float(i)/16)
	}
	return x
}

// rows returns count rows of an axis from one on.
func rows(t tester, x *ir.Tensor, axis, from, count int) *ir.Tensor {
	t.Helper()
	s := wholeSlice(x.Type())
	s.Starts[axis], s.Shape[axis] = dim.Const(from), dim.Const(count)
	out, err := s.Eval([]*ir.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func i32(v ...int64) *ir.Tensor { return ir.IntTensor(ir.I32, v...) }

func TestGroupQueryAttentionStepByStep(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps, heads, shared, depth := rapid.IntRange(1, 5).Draw(r, "steps"), 4, 2, 4
		a := attrs{"num_heads": heads, "kv_num_heads": shared, "do_rotary": 1}
		if rapid.Bool().Draw(r, "window") {
			a["local_window_size"] = 2
		}
		if rapid.Bool().Draw(r, "smooth") {
			a["smooth_softmax"] = 1
		}
		if rapid.Bool().Draw(r, "interleaved") {
			a["rotary_interleaved"] = 1
		}
		q, k, v := drawUnit(r, 1, steps, heads*depth), drawUnit(r, 1, steps, shared*depth), drawUnit(r, 1, steps, shared*depth)
		cos, sin := drawUnit(r, 8, depth/2), drawUnit(r, 8, depth/2)
		n := int64(steps)
		prompt := evalNode(r, "com.microsoft:GroupQueryAttention", 3, a, q, k, v, nil, nil, i32(n-1), i32(n), cos, sin)
		room := steps + rapid.IntRange(0, 2).Draw(r, "room")
		keys, values := ir.NewTensor(ir.F32, 1, shared, room, depth), ir.NewTensor(ir.F32, 1, shared, room, depth)
		for i := range steps {
			out := evalNode(r, "com.microsoft:GroupQueryAttention", 3, a, rows(r, q, 1, i, 1), rows(r, k, 1, i, 1), rows(r, v, 1, i, 1), keys, values, i32(int64(i)), i32(int64(i+1)), cos, sin)
			if want := rows(r, prompt[0], 1, i, 1); !closeTo(out[0], want, 1e-4) {
				r.Fatalf("step %d gives %s, the prompt %s", i, out[0], want)
			}
			keys, values = out[1], out[2]
		}
		for i, cache := range []*ir.Tensor{keys, values} {
			if want := prompt[1+i]; !closeTo(rows(r, cache, 2, 0, steps), want, 1e-5) {
				r.Fatalf("the cache is %s, that of the prompt %s", cache, want)
			}
		}
	})
}

func TestGroupQueryAttentionOfUnevenPasts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		heads, shared, depth, past := 2, 1, 2, 5
		a := attrs{"num_heads": heads, "kv_num_heads": shared}
		q, k, v := drawUnit(r, 2, 1, heads*depth), drawUnit(r, 2, 1, depth), drawUnit(r, 2, 1, depth)
		keys, values := drawUnit(r, 2, shared, past, depth), drawUnit(r, 2, shared, past, depth)
		used := []int{rapid.IntRange(1, past).Draw(r, "first"), rapid.IntRange(1, past).Draw(r, "second")}
		both := evalNode(r, "com.microsoft:GroupQueryAttention", 1, a, q, k, v, keys, values, i32(int64(used[0]), int64(used[1])), i32(int64(past+1)))
		for i, n := range used {
			own := func(x *ir.Tensor) *ir.Tensor { return rows(r, x, 0, i, 1) }
			alone := evalNode(r, "com.microsoft:GroupQueryAttention", 1, a, own(q), own(k), own(v),
				rows(r, own(keys), 2, 0, n), rows(r, own(values), 2, 0, n), i32(int64(n)), i32(int64(n+1)))
			if !closeTo(own(both[0]), alone[0], 1e-4) {
				r.Fatalf("element %d after %d keys is %s, alone %s", i, n, own(both[0]), alone[0])
			}
		}
	})
}

func TestMultiHeadAttentionForms(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		batch, s, keys, heads, depth := 2, 3, rapid.IntRange(1, 4).Draw(r, "keys"), 2, 3
		a := attrs{"num_heads": heads}
		q, k, v := drawUnit(r, batch, s, heads, depth), drawUnit(r, batch, keys, heads, depth), drawUnit(r, batch, keys, heads, depth)
		flat := func(x *ir.Tensor) *ir.Tensor { return x.Reshape(batch, x.Shape[1], heads*depth) }
		stack := func(axis int, parts ...*ir.Tensor) *ir.Tensor {
			out, err := Concat{Axis: axis}.Eval(parts)
			if err != nil {
				r.Fatal(err)
			}
			return out[0]
		}
		lone := func(x *ir.Tensor) *ir.Tensor { return x.Reshape(batch, x.Shape[1], heads, 1, depth) }
		front := func(x *ir.Tensor) *ir.Tensor {
			out, err := Transpose{Perm: []int{0, 2, 1, 3}}.Eval([]*ir.Tensor{x})
			if err != nil {
				r.Fatal(err)
			}
			return out[0]
		}
		forms := map[string][]*ir.Tensor{
			"keys and values packed": {flat(q), stack(3, lone(k), lone(v))},
			"heads in front":         {flat(q), front(k), front(v)},
			"a past and the rest":    {flat(q), flat(rows(r, k, 1, 1, keys-1)), flat(rows(r, v, 1, 1, keys-1)), nil, nil, nil, front(rows(r, k, 1, 0, 1)), front(rows(r, v, 1, 0, 1))},
		}
		if keys == s {
			forms["all packed"] = []*ir.Tensor{stack(3, lone(q), lone(k), lone(v))}
		}
		want := evalNode(r, "com.microsoft:MultiHeadAttention", 1, a, flat(q), flat(k), flat(v))
		for name, args := range forms {
			if got := evalNode(r, "com.microsoft:MultiHeadAttention", 1, a, args...); !closeTo(got[0], want[0], 1e-4) {
				r.Fatalf("%s: %s, want %s", name, got[0], want[0])
			}
		}
	})
}

func TestAttentionMasksOfMicrosoft(t *testing.T) {
	x := tensorOf(ir.F32, []int{2, 3, 1}, 1, 2, 3, 4, 5, 6)
	weights := tensorOf(ir.F32, []int{1, 3}, 0, 0, 1) // equal scores, and x for values
	a := attrs{"num_heads": 1, "mask_filter_value": -1e4}
	for name, c := range map[string]struct {
		mask *ir.Tensor
		want []float64
	}{
		"none":                     {nil, []float64{2, 2, 2, 5, 5, 5}},
		"ends":                     {i32(2, 1), []float64{1.5, 1.5, 1.5, 4, 4, 4}},
		"ends and starts":          {i32(2, 3, 1, 1), []float64{2, 2, 2, 5.5, 5.5, 5.5}},
		"a bit for each key":       {i32(1, 0, 1, 0, 0, 1).Reshape(2, 3), []float64{2, 2, 2, 6, 6, 6}},
		"no key":                   {i32(0, 0, 0, 1, 0, 0).Reshape(2, 3), []float64{2, 2, 2, 4, 4, 4}},
		"a bit for query and key":  {i32(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1).Reshape(2, 3, 3), []float64{1, 2, 3, 4.5, 5.5, 5}},
		"any number above 0 is in": {i32(7, -1, 1, 0, 0, 1).Reshape(2, 3), []float64{2, 2, 2, 6, 6, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			out := evalNode(t, "com.microsoft:Attention", 1, a, x, weights, nil, c.mask)
			if want := tensorOf(ir.F32, x.Shape, c.want...); !closeTo(out[0], want, 1e-5) {
				t.Errorf("got %s, want %s", out[0], want)
			}
		})
	}
}

func TestRotaryEmbeddingTurns(t *testing.T) {
	// The product of two turned vectors depends on the distance of their positions alone.
	rapid.Check(t, func(r *rapid.T) {
		pairs, positions := 2, 6
		angles := drawUnit(r, pairs)
		cos, sin := ir.NewTensor(ir.F32, positions, pairs), ir.NewTensor(ir.F32, positions, pairs)
		for p := range positions {
			for i := range pairs {
				at := tensorOf(ir.F64, nil, float64(p)*angles.Float(i))
				c, _ := Cos{}.Eval([]*ir.Tensor{at})
				s, _ := Sin{}.Eval([]*ir.Tensor{at})
				cos.SetFloat(p*pairs+i, c[0].Float(0))
				sin.SetFloat(p*pairs+i, s[0].Float(0))
			}
		}
		a := attrs{"interleaved": rapid.IntRange(0, 1).Draw(r, "interleaved")}
		x := drawUnit(r, 1, 2, 2*pairs)
		product := func(p, q int64) (sum float64) {
			y := evalNode(r, "com.microsoft:RotaryEmbedding", 1, a, x, ir.IntTensor(ir.I64, p, q).Reshape(1, 2), cos, sin)[0]
			for i := range 2 * pairs {
				sum += y.Float(i) * y.Float(2*pairs+i)
			}
			return sum
		}
		if near, far := product(0, 2), product(3, 5); !closeTo(tensorOf(ir.F64, nil, near), tensorOf(ir.F64, nil, far), 1e-4) {
			r.Fatalf("products %v and %v", near, far)
		}
		row := evalNode(r, "com.microsoft:RotaryEmbedding", 1, a, x, ir.IntTensor(ir.I64, 3), cos, sin)
		each := evalNode(r, "com.microsoft:RotaryEmbedding", 1, a, x, ir.IntTensor(ir.I64, 3, 4).Reshape(1, 2), cos, sin)
		if !closeTo(row[0], each[0], 1e-6) {
			r.Fatalf("from position 3 on %s, at 3 and 4 %s", row[0], each[0])
		}
	})
}

func TestSkipNormalizationIsThatOfTheSum(t *testing.T) {
	x, skip := counted(ir.F32, 2, 2, 3), tensorOf(ir.F32, []int{1, 2, 3}, 5, 0, -2, 1, 1, 4)
	scale, bias, offset := tensorOf(ir.F32, []int{3}, 1, 2, 3), tensorOf(ir.F32, []int{3}, 0, 1, 0), tensorOf(ir.F32, []int{3}, 3, 0, 0)
	sum, err := Add{}.Eval([]*ir.Tensor{x, skip})
	if err != nil {
		t.Fatal(err)
	}
	if sum, err = (Add{}).Eval([]*ir.Tensor{sum[0], offset}); err != nil {
		t.Fatal(err)
	}
	a := attrs{"epsilon": 0.25}
	for name, c := range map[string]struct {
		in   []*ir.Tensor
		norm ir.Op
		more []*ir.Tensor
	}{
		"SkipLayerNormalization":           {[]*ir.Tensor{x, skip, scale, bias, offset}, LayerNormalization{Axis: 2, Epsilon: 0.25}, []*ir.Tensor{scale, bias}},
		"SkipSimplifiedLayerNormalization": {[]*ir.Tensor{x, skip, scale, offset}, RMSNormalization{Axis: 2, Epsilon: 0.25}, []*ir.Tensor{scale}},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := c.norm.Eval(append([]*ir.Tensor{sum[0]}, c.more...))
			if err != nil {
				t.Fatal(err)
			}
			out := evalNode(t, "com.microsoft:"+name, 1, a, c.in...)
			if !closeTo(out[0], want[0], 1e-6) {
				t.Errorf("got %s, want %s", out[0], want[0])
			}
		})
	}
}

func TestEmbedLayerNormalization(t *testing.T) {
	ids, segments := i32(1, 0).Reshape(1, 2), i32(1, 1).Reshape(1, 2)
	words, places, parts := tensorOf(ir.F32, []int{2, 2}, 1, 2, 3, 4), tensorOf(ir.F32, []int{2, 2}, 10, 0, 0, 20), tensorOf(ir.F32, []int{2, 2}, 0, 0, 0.5, 0)
	scale, bias := tensorOf(ir.F32, []int{2}, 2, 3), tensorOf(ir.F32, []int{2}, 0, 1)
	mask := i32(1, 0).Reshape(1, 2)
	out := evalNode(t, "com.microsoft:EmbedLayerNormalization", 3, attrs{"epsilon": 0.0, "mask_index_type": 1}, ids, segments, words, places, parts, scale, bias, mask)
	for i, want := range []*ir.Tensor{
		tensorOf(ir.F32, []int{1, 2, 2}, 2, -2, -2, 4), i32(1), tensorOf(ir.F32, []int{1, 2, 2}, 13.5, 4, 1.5, 22),
	} {
		if !closeTo(out[i], want, 1e-5) {
			t.Errorf("result %d is %s, want %s", i, out[i], want)
		}
	}
}

func TestRefusedAttentionsOfMicrosoft(t *testing.T) {
	q, cache := ir.StaticTensor(ir.F32, 1, 1, 4), ir.StaticTensor(ir.F32, 1, 1, 2, 4)
	count := ir.StaticTensor(ir.I32, 1)
	heads := func(name string, v any) attrs { return attrs{"num_heads": 1, "kv_num_heads": 1, name: v} }
	for name, c := range map[string]struct {
		op   string
		a    attrs
		in   []ir.Type
		want string
	}{
		"a quantised cache":         {"GroupQueryAttention", heads("k_quant_type", "PER_TENSOR"), []ir.Type{q, q, q, cache, cache, count, count}, "k_quant_type PER_TENSOR is not supported"},
		"a rolling cache":           {"GroupQueryAttention", heads("sliding_window_cache", 1), []ir.Type{q, q, q, cache, cache, count, count}, "sliding_window_cache is not supported"},
		"uneven heads":              {"GroupQueryAttention", attrs{"num_heads": 3, "kv_num_heads": 2}, []ir.Type{q, q, q, cache, cache, count, count}, "3 heads of queries share 2 of keys"},
		"turning without a table":   {"GroupQueryAttention", heads("do_rotary", 1), []ir.Type{q, q, q, cache, cache, count, count}, "operand 7 is not a table of angles"},
		"a cache of another kind":   {"GroupQueryAttention", heads("scale", 1.0), []ir.Type{q, q, q, q, q, count, count}, "the cache is f32[1,1,4] for f32[1,1,1,4]"},
		"keys without values":       {"MultiHeadAttention", attrs{"num_heads": 1}, []ir.Type{q, q}, "values are missing beside f32[1,1,4]"},
		"a mask of rank 4":          {"MultiHeadAttention", attrs{"num_heads": 1}, []ir.Type{q, q, q, ir.StaticTensor(ir.F32, 12), cache}, "the mask is f32[1,1,2,4], rank 1 to 3 expected"},
		"beams":                     {"DecoderMaskedMultiHeadAttention", attrs{"num_heads": 1}, []ir.Type{q, q, q, cache, cache, cache, cache, count, count, cache}, "a cache of several beams is not supported"},
		"heads that do not fit":     {"Attention", attrs{"num_heads": 3}, []ir.Type{q, ir.StaticTensor(ir.F32, 4, 12)}, "3 heads of 4 elements"},
		"sizes that do not add up":  {"Attention", attrs{"num_heads": 1, "qkv_hidden_sizes": []int{4, 4, 5}}, []ir.Type{q, ir.StaticTensor(ir.F32, 4, 12)}, "12 elements are split into [4 4 5]"},
		"angles for more than that": {"RotaryEmbedding", nil, []ir.Type{ir.StaticTensor(ir.F32, 1, 1, 1, 2), ir.StaticTensor(ir.I64, 1, 1), ir.StaticTensor(ir.F32, 5, 2), ir.StaticTensor(ir.F32, 5, 2)}, "4 of 2 elements do not make pairs"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := importFunc("com.microsoft:"+c.op, 1, 1, c.a, c.in); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
