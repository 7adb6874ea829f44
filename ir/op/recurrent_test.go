package op

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// recurrentCase is a layer with the number of its gates, functions and states.
type recurrentCase struct {
	name                     string
	gates, functions, states int
	peepholes                bool
	of                       func(r Recurrent, flag bool) ir.Op
}

var recurrentCases = []recurrentCase{
	{"LSTM", 4, 3, 2, true, func(r Recurrent, flag bool) ir.Op { return LSTM{r, flag} }},
	{"GRU", 3, 2, 1, false, func(r Recurrent, flag bool) ir.Op { return GRU{r, flag} }},
	{"RNN", 1, 1, 1, false, func(r Recurrent, _ bool) ir.Op { return RNN{r} }},
}

// operands returns the types of all operands of a layer.
func (c recurrentCase) operands(d ir.DType, directions int, steps, batch, inputs, hidden dim.Dim) []ir.Type {
	n, rows := dim.Const(directions), hidden.Mul(dim.Const(c.gates))
	all := []ir.Type{
		ir.TensorOf(d, steps, batch, inputs), ir.TensorOf(d, n, rows, inputs), ir.TensorOf(d, n, rows, hidden),
		ir.TensorOf(d, n, rows.Mul(dim.Const(2))), ir.TensorOf(ir.I32, batch),
	}
	for range c.states {
		all = append(all, ir.TensorOf(d, n, batch, hidden))
	}
	if c.peepholes {
		all = append(all, ir.TensorOf(d, n, hidden.Mul(dim.Const(3))))
	}
	return all
}

// plain returns a layer with one function for all gates.
func (c recurrentCase) plain(direction, activation string) ir.Op {
	r := Recurrent{Direction: direction}
	n := c.functions * r.directions()
	r.Activations, r.Alphas, r.Betas = slices.Repeat([]string{activation}, n), make([]float64, n), make([]float64, n)
	return c.of(r, false)
}

func TestRecurrentLayersLower(t *testing.T) {
	names := slices.Sorted(maps.Keys(activations))
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(recurrentCases).Draw(t, "layer")
		d := rapid.SampledFrom([]ir.DType{ir.F32, ir.F64, ir.F16}).Draw(t, "dtype")
		r := Recurrent{Direction: rapid.SampledFrom([]string{"forward", "reverse", "bidirectional"}).Draw(t, "direction")}
		for range c.functions * r.directions() {
			r.Activations = append(r.Activations, rapid.SampledFrom(names).Draw(t, "activation"))
			r.Alphas, r.Betas = append(r.Alphas, 0.5), append(r.Betas, 0.25)
		}
		if rapid.Bool().Draw(t, "clipped") {
			r.Clip = 0.5
		}
		extent := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
		steps, batch, inputs, hidden := extent("steps", 4), extent("batch", 3), extent("inputs", 3), extent("hidden", 5)
		var params []ir.Type
		var args []*ir.Tensor
		used := make([]bool, 0, 8)
		for i, typ := range c.operands(d, r.directions(), dim.Const(steps), dim.Const(batch), dim.Const(inputs), dim.Const(hidden)) {
			used = append(used, i < 3 || rapid.Bool().Draw(t, "given"))
			if !used[i] {
				continue
			}
			shape, _ := typ.Static()
			arg := ir.NewTensor(typ.DType, shape...)
			for k := range arg.Len() {
				if i == recurrentLens {
					arg.SetInt(k, int64(extent("length", steps)))
				} else {
					arg.SetFloat(k, rapid.Float64Range(-1, 1).Draw(t, "number"))
				}
			}
			params, args = append(params, typ), append(args, arg)
		}
		f := buildFunc(t, params, func(b *ir.Builder, p []*ir.Value) []*ir.Value {
			operands := make([]*ir.Value, len(used))
			for i := range operands {
				if used[i] {
					operands[i], p = p[0], p[1:]
				}
			}
			return b.Nodes(c.of(r, rapid.Bool().Draw(t, "flag")), operands...)
		})
		tolerance := map[ir.DType]float64{ir.F64: 1e-12, ir.F32: 1e-5, ir.F16: 1e-2}[d]
		checkLower(t, f, tolerance, args...)
	})
}

// TestLowerBackwardPasses compares the forward and backward passes of layers in training with the
// loops that they are lowered to.
func TestLowerBackwardPasses(t *testing.T) {
	s, n, h := dim.Sym("S"), dim.Sym("N"), dim.Sym("H")
	float := func(shape ...dim.Dim) ir.Type { return ir.TensorOf(ir.F64, shape...) }
	times := func(k int) dim.Dim { return h.Mul(dim.Const(k)) }
	lens, y, state := ir.TensorOf(ir.I32, n), float(s, n, h), float(n, h)
	for name, c := range map[string]struct {
		of       func(reverse, linear bool) ir.Op
		required int
		types    []ir.Type
	}{
		"lstm_trace": {func(reverse, _ bool) ir.Op { return LSTMTrace{reverse} }, 2, []ir.Type{float(s, n, times(4)), float(h, times(4)), lens, state, state}},
		"lstm_grad":  {func(reverse, _ bool) ir.Op { return LSTMGrad{reverse} }, 3, []ir.Type{float(s, n, times(4)), y, float(times(4), h), lens, state, y, state, state}},
		"gru_trace":  {func(reverse, linear bool) ir.Op { return GRUTrace{reverse, linear} }, 3, []ir.Type{float(s, n, times(3)), float(h, times(2)), float(h, h), lens, state}},
		"gru_grad":   {func(reverse, linear bool) ir.Op { return GRUGrad{reverse, linear} }, 5, []ir.Type{float(s, n, times(3)), y, y, float(times(2), h), float(h, h), lens, y, state}},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				values := map[string]int64{}
				for _, sym := range []string{"S", "N", "H"} {
					values[sym] = int64(rapid.IntRange(0, 4).Draw(t, sym))
				}
				var params []ir.Type
				var args []*ir.Tensor
				used := make([]bool, len(c.types))
				for i, typ := range c.types {
					used[i] = i < c.required || rapid.Bool().Draw(t, "given")
					if !used[i] {
						continue
					}
					shape := make([]int, len(typ.Shape))
					for k, d := range typ.Shape {
						v, err := d.Eval(func(sym string) (int64, bool) { return values[sym], true })
						if err != nil {
							t.Fatal(err)
						}
						shape[k] = int(v)
					}
					arg := ir.NewTensor(typ.DType, shape...)
					for k := range arg.Len() {
						if typ.DType == ir.I32 {
							arg.SetInt(k, int64(rapid.IntRange(0, int(values["S"])).Draw(t, "length")))
						} else {
							arg.SetFloat(k, rapid.Float64Range(-1, 1).Draw(t, "number"))
						}
					}
					params, args = append(params, arg.Type()), append(args, arg)
				}
				f := buildFunc(t, params, func(b *ir.Builder, p []*ir.Value) []*ir.Value {
					operands := make([]*ir.Value, len(used))
					for i := range operands {
						if used[i] {
							operands[i], p = p[0], p[1:]
						}
					}
					return b.Nodes(c.of(rapid.Bool().Draw(t, "reverse"), rapid.Bool().Draw(t, "linear")), operands...)
				})
				checkLower(t, f, 1e-12, args...)
			})
		})
	}
}

func TestRecurrentLayersWithSymbols(t *testing.T) {
	s, n := dim.Sym("S"), dim.Sym("N")
	for _, c := range recurrentCases {
		for _, d := range []ir.DType{ir.F32, ir.F64, ir.BF16} {
			for _, direction := range []string{"reverse", "bidirectional"} {
				op := c.plain(direction, "tanh")
				directions := map[string]int{"reverse": 1, "bidirectional": 2}[direction]
				f := nodeFunc(t, op, c.operands(d, directions, s, n, dim.Const(3), dim.Const(20))...)
				want := ir.TensorOf(d, s, dim.Const(directions), n, dim.Const(20))
				if got := f.Results[0].Type; !got.Equal(want) || len(f.Results) != 1+c.states {
					t.Errorf("%s: %d results, the first %s, want %s", c.name, len(f.Results), got, want)
				}
				lowered(t, f)
			}
		}
	}
}

func TestRecurrentLayersInferErrors(t *testing.T) {
	lstm := recurrentCases[0]
	operands := lstm.operands(ir.F32, 1, dim.Const(2), dim.Const(3), dim.Const(4), dim.Const(5))
	change := func(i int, typ string) []ir.Type {
		in := slices.Clone(operands)
		in[i] = typed(t, typ)
		return in
	}
	for name, test := range map[string]struct {
		op   ir.Op
		in   []ir.Type
		want string
	}{
		"direction":           {LSTM{Recurrent: Recurrent{Direction: "up"}}, operands, `unknown direction "up"`},
		"number of functions": {LSTM{Recurrent: Recurrent{Direction: "forward"}}, operands, "0 activations, 0 alphas, 0 betas: 3 of each expected"},
		"unknown function":    {lstm.plain("forward", "sinus"), operands, `unknown activation "sinus"`},
		"directions of w":     {lstm.plain("bidirectional", "tanh"), operands, "axis 0 of operand 1: 1 is not 2"},
		"rows of w":           {lstm.plain("forward", "tanh"), change(1, "f32[1,19,4]"), "axis 1 of operand 1: 19 is not 20"},
		"lengths of floats":   {lstm.plain("forward", "tanh"), change(4, "f32[3]"), "operand 4 is f32[3], i32[3] expected"},
		"rank of a state":     {lstm.plain("forward", "tanh"), change(5, "f32[3,5]"), "operand 5 is f32[3,5], f32[1,3,5] expected"},
		"integers":            {lstm.plain("forward", "tanh"), change(0, "i32[2,3,4]"), "operand 0 is i32, floats expected"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := test.op.Infer(test.in); err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestRecurrentLengthsAreChecked(t *testing.T) {
	for _, c := range recurrentCases {
		in := make([]*ir.Tensor, 5)
		for i, typ := range c.operands(ir.F32, 1, dim.Const(2), dim.Const(1), dim.Const(1), dim.Const(1))[:5] {
			shape, _ := typ.Static()
			in[i] = ir.NewTensor(typ.DType, shape...)
		}
		in[recurrentLens].SetInt(0, 3)
		if _, err := c.plain("forward", "tanh").Eval(in); err == nil || !strings.Contains(err.Error(), "length 3 of sequence 0") {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

func TestImportRecurrent(t *testing.T) {
	operands := types(t, "f32[S,N,3]", "f32[2,16,3]", "f32[2,16,4]")
	read := func(opset int, a attrs) (*ir.Func, error) { return importFunc("LSTM", opset, 3, a, operands) }
	layer := func(a attrs) LSTM {
		f, err := read(22, a)
		if err != nil {
			t.Fatal(err)
		}
		return f.Nodes[0].Op.(LSTM)
	}
	t.Run("functions take the parameters that they have", func(t *testing.T) {
		op := layer(attrs{
			"direction": "bidirectional", "activations": []string{"Sigmoid", "HardSigmoid", "Elu", "LeakyRelu", "Tanh", "Affine"},
			"activation_alpha": []float64{0.1, 0.3}, "activation_beta": []float64{0.7},
		})
		if want := []float64{0, 0.1, 0.3, 0.01, 0, 1}; !slices.Equal(op.Alphas, want) {
			t.Errorf("alphas %v, want %v", op.Alphas, want)
		}
		if want := []float64{0, 0.7, 0, 0, 0, 0}; !slices.Equal(op.Betas, want) {
			t.Errorf("betas %v, want %v", op.Betas, want)
		}
	})
	t.Run("one direction's functions serve both", func(t *testing.T) {
		op := layer(attrs{"direction": "bidirectional", "activations": []string{"Relu", "Tanh", "Softsign"}})
		if want := []string{"relu", "tanh", "softsign", "relu", "tanh", "softsign"}; !slices.Equal(op.Activations, want) {
			t.Errorf("functions %v, want %v", op.Activations, want)
		}
	})
	for name, test := range map[string]struct {
		opset int
		a     attrs
		want  string
	}{
		"limit":                   {22, attrs{"direction": "bidirectional", "clip": 0.0}, "clip is 0"},
		"layout":                  {14, attrs{"direction": "bidirectional", "layout": 2}, "layout is 2"},
		"layout came at opset 14": {13, attrs{"direction": "bidirectional", "layout": 1}, "unknown attribute layout"},
		"output_sequence went":    {7, attrs{"direction": "bidirectional", "output_sequence": 1}, "unknown attribute output_sequence"},
		"output_sequence":         {1, attrs{"direction": "bidirectional", "output_sequence": 1}, ""},
		"size":                    {7, attrs{"direction": "bidirectional", "hidden_size": 5}, "hidden_size is 5 for weights of 4"},
		"too few functions":       {7, attrs{"direction": "bidirectional", "activations": []string{"Tanh"}}, "1 activations, 6 expected"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(test.opset, test.a)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestImportRecurrentBatchFirst(t *testing.T) {
	w, r := counted(ir.F32, 1, 3, 2), counted(ir.F32, 1, 3, 3)
	for i := range w.Len() {
		w.SetFloat(i, 0.1*w.Float(i))
	}
	for i := range r.Len() {
		r.SetFloat(i, 0.05*r.Float(i))
	}
	x, h := counted(ir.F32, 2, 4, 2), counted(ir.F32, 2, 1, 3)
	read := func(layout int, x, h *ir.Tensor) []*ir.Tensor {
		f, err := importFunc("RNN", 14, 2, attrs{"layout": layout}, []ir.Type{x.Type()}, w, r, nil, nil, h)
		if err != nil {
			t.Fatal(err)
		}
		return run(t, f, x)
	}
	swap := func(x *ir.Tensor, perm ...int) *ir.Tensor {
		y, err := (Transpose{Perm: perm}).Eval([]*ir.Tensor{x})
		if err != nil {
			t.Fatal(err)
		}
		return y[0]
	}
	got := read(1, x, h)
	want := read(0, swap(x, 1, 0, 2), swap(h, 1, 0, 2))
	if y := swap(want[0], 2, 0, 1, 3); !closeTo(got[0], y, 0) {
		t.Errorf("y is %s, want %s", got[0], y)
	}
	if y := swap(want[1], 1, 0, 2); !closeTo(got[1], y, 0) {
		t.Errorf("h is %s, want %s", got[1], y)
	}
}
