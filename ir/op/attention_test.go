package op

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// everyKey is an attention without a window.
var everyKey = Attention{Scale: 1, Before: -1, After: -1}

func TestAttentionInfer(t *testing.T) {
	causal := Attention{Scale: 1, Before: -1}
	for name, x := range map[string]struct {
		op   ir.Op
		in   []string
		want string // the result's type, or the error
	}{
		"one head for each":             {everyKey, []string{"f32[B,H,S,8]", "f32[B,H,T,8]", "f32[B,H,T,4]"}, "f32[B,H,S,4]"},
		"heads that share":              {causal, []string{"f16[B,6,S,8]", "f16[B,2,T,8]", "f16[B,2,T,8]"}, "f16[B,6,S,8]"},
		"masks repeat":                  {causal, []string{"f32[B,6,3,8]", "f32[B,2,T,8]", "f32[B,2,T,8]", "bool[M,T]"}, "f32[B,6,3,8]"},
		"lengths, starts and sinks":     {causal, []string{"f32[B,2,3,8]", "f32[B,2,T,8]", "f32[B,2,T,8]", "none", "i64[B]", "i64[B]", "f32[2]"}, "f32[B,2,3,8]"},
		"heads that do not share":       {everyKey, []string{"f32[B,6,S,8]", "f32[B,4,T,8]", "f32[B,4,T,8]"}, "6 heads of queries share 4 of keys"},
		"unknown heads":                 {everyKey, []string{"f32[B,H,S,8]", "f32[B,G,T,8]", "f32[B,G,T,8]"}, "heads of queries and keys: cannot prove that H equals G"},
		"more values than keys":         {everyKey, []string{"f32[B,1,S,8]", "f32[B,1,5,8]", "f32[B,1,6,8]"}, "keys and values: 5 is not 6"},
		"keys of other length":          {everyKey, []string{"f32[B,1,S,8]", "f32[B,1,T,7]", "f32[B,1,T,8]"}, "elements of a query and a key: 8 is not 7"},
		"rank 3":                        {everyKey, []string{"f32[1,S,8]", "f32[1,T,8]", "f32[1,T,8]"}, "operand 0 is f32[1,S,8], rank 4 expected"},
		"integers":                      {everyKey, []string{"i32[1,1,1,1]", "i32[1,1,1,1]", "i32[1,1,1,1]"}, "operand 0 is i32, floats expected"},
		"a mask of integers":            {everyKey, []string{"f32[1,1,2,1]", "f32[1,1,2,1]", "f32[1,1,2,1]", "i32[2,2]"}, "the mask is i32, bool or f32 expected"},
		"a mask of more keys":           {everyKey, []string{"f32[1,1,2,1]", "f32[1,1,2,1]", "f32[1,1,2,1]", "bool[2,3]"}, "axis 1 of the mask: 3 is not 2"},
		"a mask of unknown keys":        {everyKey, []string{"f32[1,1,2,1]", "f32[1,1,T,1]", "f32[1,1,T,1]", "bool[2,M]"}, "axis 1 of the mask: cannot prove that M equals T"},
		"a mask that repeats the batch": {everyKey, []string{"f32[1,1,2,1]", "f32[1,1,2,1]", "f32[1,1,2,1]", "bool[B,1,2,2]"}, "axis 0 of the mask: cannot prove that B equals 1"},
		"lengths of another batch":      {everyKey, []string{"f32[2,1,2,1]", "f32[2,1,2,1]", "f32[2,1,2,1]", "none", "i64[3]"}, "elements of operand 4: 3 is not 2"},
		"lengths in 32 bits":            {everyKey, []string{"f32[2,1,2,1]", "f32[2,1,2,1]", "f32[2,1,2,1]", "none", "i32[2]"}, "operand 4 is i32[2], i64[2] expected"},
		"a softmax of integers":         {Attention{Precision: ir.I32}, []string{"f32[2,1,2,1]", "f32[2,1,2,1]", "f32[2,1,2,1]"}, "the softmax is computed in floats"},
		"a negative cap":                {Attention{Softcap: -1}, []string{"f32[2,1,2,1]", "f32[2,1,2,1]", "f32[2,1,2,1]"}, "softcap -1"},
		"linear": {LinearAttention{}, []string{"f32[B,T,4,8]", "f32[B,T,2,8]", "f32[B,T,2,3]", "f32[B,2,8,3]", "none", "f32[B,T,2]"},
			"f32[B,T,4,3]"},
		"linear without heads":      {LinearAttention{}, []string{"f32[B,T,0,8]", "f32[B,T,2,8]", "f32[B,T,2,3]", "f32[B,2,8,3]"}, "0 heads of queries share 2 of keys"},
		"linear with another state": {LinearAttention{}, []string{"f32[B,T,4,8]", "f32[B,T,2,8]", "f32[B,T,2,3]", "f32[B,2,8,4]"}, "axis 3 of operand 3: 4 is not 3"},
		"linear with a rate of rank 4": {LinearAttention{}, []string{"f32[B,T,4,8]", "f32[B,T,2,8]", "f32[B,T,2,3]", "f32[B,2,8,3]", "none", "f32[B,T,2,1]"},
			"operand 5 is f32[B,T,2,1], rank 3 expected"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := x.op.Infer(optionalTypes(t, x.in...))
			got := fmt.Sprint(err)
			if err == nil {
				got = out[0].String()
			}
			if got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}

// optionalTypes reads types. "none" is the type of an absent operand.
func optionalTypes(t *testing.T, text ...string) []ir.Type {
	t.Helper()
	in := make([]ir.Type, len(text))
	for i, s := range text {
		if s != "none" {
			in[i] = types(t, s)[0]
		}
	}
	return in
}

// keysOf returns n keys of one element and their values 1, 10, 100, … Without keys, all keys are 0,
// so that all scores are equal.
func keysOf(n int, keys ...float64) (k, v *ir.Tensor) {
	k, v = ir.NewTensor(ir.F64, 1, 1, n, 1), ir.NewTensor(ir.F64, 1, 1, n, 1)
	for i := range n {
		if len(keys) > 0 {
			k.SetFloat(i, keys[i])
		}
		v.SetFloat(i, math.Pow(10, float64(i)))
	}
	return k, v
}

func TestAttentionEval(t *testing.T) {
	inf := math.Inf(1)
	q := tensorOf(ir.F64, []int{1, 1, 2, 1}, 1, 1)
	k, v := keysOf(4)
	mask := func(bits ...float64) *ir.Tensor { return tensorOf(ir.Bool, []int{len(bits)}, bits...) }
	log3 := math.Log(3)
	apart, _ := keysOf(4, 0, 0, 0, log3)
	for name, c := range map[string]struct {
		op   Attention
		in   []*ir.Tensor
		want []float64
	}{
		"every key":                 {everyKey, []*ir.Tensor{q, k, v}, []float64{1111. / 4, 1111. / 4}},
		"scores weigh":              {everyKey, []*ir.Tensor{q, apart, v}, []float64{3111. / 6, 3111. / 6}},
		"the scale":                 {Attention{Scale: 2, Before: -1, After: -1}, []*ir.Tensor{q, apart, v}, []float64{9111. / 12, 9111. / 12}},
		"the cap":                   {Attention{Scale: 1e9, Softcap: log3, Before: -1, After: -1}, []*ir.Tensor{q, apart, v}, []float64{3111. / 6, 3111. / 6}},
		"no later key":              {Attention{Scale: 1, Before: -1}, []*ir.Tensor{q, k, v}, []float64{1, 11. / 2}},
		"no later key after a past": {Attention{Scale: 1, Before: -1, Past: dim.Const(2)}, []*ir.Tensor{q, k, v}, []float64{111. / 3, 1111. / 4}},
		"a window":                  {Attention{Scale: 1, Before: 1, After: 1, Past: dim.Const(1)}, []*ir.Tensor{q, k, v}, []float64{111. / 3, 1110. / 3}},
		"a window past the keys":    {Attention{Scale: 1, Before: 0, After: 5, Past: dim.Const(3)}, []*ir.Tensor{q, k, v}, []float64{1000, 0}},
		"a boolean mask":            {everyKey, []*ir.Tensor{q, k, v, mask(1, 0, 0, 1)}, []float64{1001. / 2, 1001. / 2}},
		"a mask of every key":       {everyKey, []*ir.Tensor{q, k, v, mask(0, 0, 0, 0)}, []float64{0, 0}},
		"a mask for each query":     {everyKey, []*ir.Tensor{q, k, v, tensorOf(ir.F64, []int{2, 1}, -inf, 5)}, []float64{0, 1111. / 4}},
		"a mask of numbers":         {everyKey, []*ir.Tensor{q, k, v, tensorOf(ir.F64, []int{4}, 0, 0, 0, log3)}, []float64{3111. / 6, 3111. / 6}},
		"a mask within a window":    {Attention{Scale: 1, Before: -1}, []*ir.Tensor{q, k, v, mask(0, 1, 1, 1)}, []float64{0, 10}},
		"lengths":                   {everyKey, []*ir.Tensor{q, k, v, nil, ir.IntTensor(ir.I64, 2)}, []float64{11. / 2, 11. / 2}},
		"a length of none":          {everyKey, []*ir.Tensor{q, k, v, nil, ir.IntTensor(ir.I64, 0)}, []float64{0, 0}},
		"starts":                    {Attention{Scale: 1, Before: -1}, []*ir.Tensor{q, k, v, nil, nil, ir.IntTensor(ir.I64, 1)}, []float64{11. / 2, 111. / 3}},
		"a start before the keys":   {Attention{Scale: 1, Before: -1}, []*ir.Tensor{q, k, v, nil, nil, ir.IntTensor(ir.I64, -1)}, []float64{0, 1}},
		"a sink takes its share":    {everyKey, []*ir.Tensor{q, k, v, nil, nil, nil, tensorOf(ir.F64, []int{1}, 0)}, []float64{1111. / 5, 1111. / 5}},
		"a sink beside no key":      {everyKey, []*ir.Tensor{q, k, v, mask(0, 0, 0, 0), nil, nil, tensorOf(ir.F64, []int{1}, 0)}, []float64{0, 0}},
		"no keys":                   {everyKey, []*ir.Tensor{q, ir.NewTensor(ir.F64, 1, 1, 0, 1), ir.NewTensor(ir.F64, 1, 1, 0, 1)}, []float64{0, 0}},
		"a coarse softmax":          {Attention{Scale: 1, Before: -1, After: -1, Precision: ir.BF16}, []*ir.Tensor{tensorOf(ir.F64, []int{1, 1, 1, 1}, 1), k, v, mask(1, 1, 1, 0)}, []float64{111 * 0.333984375}},
		"the first keys alone":      {Attention{Scale: 1, Before: -1}, []*ir.Tensor{q, k, tensorOf(ir.F64, []int{1, 1, 4, 1}, 1, 3, 5, 7)}, []float64{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			in := make([]ir.Type, len(c.in))
			for i, x := range c.in {
				if x != nil {
					in[i] = x.Type()
				}
			}
			f := buildFunc(t, present(in), func(b *ir.Builder, params []*ir.Value) []*ir.Value {
				return b.Nodes(c.op, withAbsent(in, params)...)
			})
			out := checkLower(t, f, 1e-12, presentTensors(c.in)...)
			if want := tensorOf(ir.F64, out[0].Shape, c.want...); !closeTo(out[0], want, 1e-12) {
				t.Errorf("got %s, want %v", out[0], c.want)
			}
		})
	}
}

// present returns the types of the operands that are there.
func present(in []ir.Type) (out []ir.Type) {
	for _, t := range in {
		if !t.IsZero() {
			out = append(out, t)
		}
	}
	return out
}

// presentTensors is present for operands.
func presentTensors(in []*ir.Tensor) (out []*ir.Tensor) {
	for _, t := range in {
		if t != nil {
			out = append(out, t)
		}
	}
	return out
}

// withAbsent puts parameters in the places of the operands that are there.
func withAbsent(in []ir.Type, params []*ir.Value) []*ir.Value {
	args := make([]*ir.Value, len(in))
	for i, t := range in {
		if !t.IsZero() {
			args[i], params = params[0], params[1:]
		}
	}
	return args
}

func TestAttentionLowers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(r, name) }
		batch, shared, each := draw("batch", 0, 2), draw("shared", 1, 2), draw("each", 1, 3)
		queries, keys, depth, width := draw("queries", 0, 5), draw("keys", 0, 6), draw("depth", 1, 4), draw("width", 0, 4)
		op := Attention{
			Scale: 0.5, Softcap: rapid.SampledFrom([]float64{0, 2}).Draw(r, "cap"), Past: dim.Const(draw("past", 0, 3)),
			Before: draw("before", -1, 2), After: draw("after", -1, 2),
			Precision: rapid.SampledFrom([]ir.DType{ir.Invalid, ir.F32, ir.F64}).Draw(r, "precision"),
		}
		d := rapid.SampledFrom([]ir.DType{ir.F32, ir.F64, ir.F16}).Draw(r, "dtype")
		in := make([]*ir.Tensor, 7)
		in[0] = drawTensor(r, d, batch, shared*each, queries, depth)
		in[1] = drawTensor(r, d, batch, shared, keys, depth)
		in[2] = drawTensor(r, d, batch, shared, keys, width)
		if rapid.Bool().Draw(r, "mask") {
			shape := []int{batch, shared * each, queries, keys}[draw("mask lacks", 0, 3):]
			for i := range shape {
				if rapid.Bool().Draw(r, "mask repeats") {
					shape[i] = 1
				}
			}
			in[3] = drawTensor(r, d, shape...)
			if rapid.Bool().Draw(r, "boolean mask") {
				in[3] = ir.NewTensor(ir.Bool, shape...)
			}
			for i := range in[3].Len() {
				switch out := rapid.Bool().Draw(r, "out"); {
				case in[3].DType == ir.Bool:
					in[3].SetBool(i, !out)
				case out:
					in[3].SetFloat(i, math.Inf(-1))
				}
			}
		}
		for i := 4; i < 6; i++ {
			if rapid.Bool().Draw(r, "a vector") {
				in[i] = ir.NewTensor(ir.I64, batch)
				for j := range batch {
					in[i].SetInt(j, int64(draw("element", -2, keys+1)))
				}
			}
		}
		if rapid.Bool().Draw(r, "sinks") {
			in[6] = drawTensor(r, d, shared*each)
		}
		symbolic := make([]ir.Type, len(in))
		for i, x := range in {
			if x != nil {
				symbolic[i] = x.Type()
			}
		}
		if batch != 1 && keys != 1 && rapid.Bool().Draw(r, "symbols") {
			for i, axis := range map[int]int{0: -1, 1: 2, 2: 2} {
				symbolic[i].Shape[0] = dim.Sym("B")
				if axis >= 0 {
					symbolic[i].Shape[axis] = dim.Sym("T")
				}
			}
		}
		f := buildFunc(t, present(symbolic), func(b *ir.Builder, params []*ir.Value) []*ir.Value {
			return b.Nodes(op, withAbsent(symbolic, params)...)
		})
		tolerance := map[ir.DType]float64{ir.F32: 1e-4, ir.F64: 1e-4, ir.F16: 2e-2}[d]
		checkLower(t, f, tolerance, presentTensors(in)...)
	})
}

// TestAttentionLowersRepeated repeats the queries, the keys or the values along one of their axes.
func TestAttentionLowersRepeated(t *testing.T) {
	shapes := [][]int{{2, 4, 3, 5}, {2, 2, 6, 5}, {2, 2, 6, 7}}
	for i, name := range []string{"queries", "keys", "values"} {
		for axis := range 4 {
			t.Run(fmt.Sprint(name, " along axis ", axis), func(t *testing.T) {
				in, types := make([]*ir.Tensor, len(shapes)), make([]ir.Type, len(shapes))
				for j, shape := range shapes {
					if j == i {
						shape = slices.Clone(shape)
						shape[axis] = 1
					}
					in[j] = ir.NewTensor(ir.F32, shape...)
					for k := range in[j].Len() {
						in[j].SetFloat(k, math.Sin(float64(k+j)))
					}
					types[j] = in[j].Type()
				}
				f := buildFunc(t, types, func(b *ir.Builder, params []*ir.Value) []*ir.Value {
					params = slices.Clone(params)
					params[i] = b.Node(Expand{Shape: dim.Consts(shapes[i]...)}, params[i])
					return b.Nodes(Attention{Scale: 0.5, Before: -1, After: -1}, params...)
				})
				checkLower(t, f, 1e-5, in...)
			})
		}
	}
}

func TestAttentionImport(t *testing.T) {
	four := []string{"f32[B,4,S,16]", "f32[B,2,T,16]", "f32[B,2,T,8]"}
	packed := []string{"f32[B,S,64]", "f32[B,T,32]", "f32[B,T,16]"}
	for name, c := range map[string]struct {
		opset   int
		results int
		attrs   attrs
		in      []string
		want    string // the type of the result, the attention or the error
	}{
		"rank 4":               {23, 1, nil, four, "{scale=0.25 before=-1 after=-1} : f32[B,4,S,8]"},
		"causal":               {23, 1, attrs{"is_causal": 1, "scale": 2.0, "softcap": 3.0}, four, "{scale=2 softcap=3 before=-1} : f32[B,4,S,8]"},
		"a scale of zero":      {24, 1, attrs{"scale": 0.0}, four, "{before=-1 after=-1} : f32[B,4,S,8]"},
		"precision":            {24, 1, attrs{"softmax_precision": 11}, four, "{scale=0.25 before=-1 after=-1 precision=f64} : f32[B,4,S,8]"},
		"its own precision":    {24, 1, attrs{"softmax_precision": 1}, four, "{scale=0.25 before=-1 after=-1} : f32[B,4,S,8]"},
		"windows":              {25, 1, attrs{"left_window_size": 2, "right_window_size": 3}, four, "{scale=0.25 before=2 after=3} : f32[B,4,S,8]"},
		"a causal window":      {25, 1, attrs{"left_window_size": 2, "right_window_size": 3, "is_causal": 1}, four, "{scale=0.25 before=2} : f32[B,4,S,8]"},
		"no windows before 25": {24, 1, attrs{"left_window_size": 2}, four, "unknown attribute left_window_size"},
		"rank 3":               {23, 1, attrs{"q_num_heads": 4, "kv_num_heads": 2}, packed, "{scale=0.25 before=-1 after=-1} : f32[B,4,S,8]"},
		"rank 3 without heads": {23, 1, nil, packed, "0 heads of 64 elements"},
		"uneven heads":         {23, 1, attrs{"q_num_heads": 5, "kv_num_heads": 2}, packed, "5 heads of 64 elements"},
		"half a past":          {23, 1, nil, append(four[:3:3], "none", "f32[B,2,P,16]"), "past keys without past values, or past values without keys"},
		"a past":               {23, 3, nil, append(four[:3:3], "none", "f32[B,2,P,16]", "f32[B,2,P,8]"), "{scale=0.25 past=P before=-1 after=-1} : f32[B,4,S,8]"},
		"an unknown stage":     {23, 1, attrs{"qk_matmul_output_mode": 4}, four, "qk_matmul_output_mode 4, 0 to 3 expected"},
		"an unknown precision": {23, 1, attrs{"softmax_precision": 7}, four, "softmax_precision 7 is not a float"},
		"keys of unknown size": {23, 1, nil, []string{"f32[1,1,S,D]", "f32[1,1,T,D]", "f32[1,1,T,8]"}, "the scale depends on D, which is not known before the model runs"},
	} {
		t.Run(name, func(t *testing.T) {
			in := optionalTypes(t, c.in...)
			f := &ir.Func{Name: "f"}
			b := ir.NewBuilder(f)
			got := ""
			err := ir.Try(func() {
				args := make([]*ir.Value, len(in))
				for i, typ := range in {
					if !typ.IsZero() {
						args[i] = b.Param("x", typ)
					}
				}
				out, err := importNode(b, "Attention", c.opset, c.results, c.attrs, args...)
				if err != nil {
					ir.FailWith(err)
				}
				if len(out) != c.results {
					t.Errorf("%d results, want %d", len(out), c.results)
				}
				for n := range f.All() {
					if _, ok := n.Op.(Attention); ok {
						text := n.Text()
						for i, r := range text {
							if r == '{' {
								got = text[i:]
								break
							}
						}
					}
				}
			})
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAttentionScores(t *testing.T) {
	inf := math.Inf(1)
	q := tensorOf(ir.F32, []int{1, 1, 1, 1}, 2)
	k := tensorOf(ir.F32, []int{1, 1, 3, 1}, 0, 1, 1)
	mask := tensorOf(ir.Bool, []int{1, 2}, 1, 1) // the third key is left out
	tanh := math.Tanh(2)
	for stage, want := range [][]float64{
		{0, 2, 2}, {0, tanh, tanh}, {0, tanh, -inf}, {1 / (1 + math.Exp(tanh)), 1 / (1 + math.Exp(-tanh)), 0},
	} {
		t.Run(fmt.Sprint("mode ", stage), func(t *testing.T) {
			f, err := importFunc("Attention", 24, 4, attrs{"softcap": 1.0, "qk_matmul_output_mode": stage}, []ir.Type{q.Type(), k.Type(), k.Type(), mask.Type()})
			if err != nil {
				t.Fatal(err)
			}
			out := checkLower(t, f, 1e-6, q, k, k, mask)
			if !closeTo(out[3], tensorOf(ir.F32, []int{1, 1, 1, 3}, want...), 1e-6) {
				t.Errorf("got %s, want %v", out[3], want)
			}
			if y := 1 / (1 + math.Exp(-tanh)); math.Abs(out[0].Float(0)-y) > 1e-6 {
				t.Errorf("result %s, want %v", out[0], y)
			}
		})
	}
}
