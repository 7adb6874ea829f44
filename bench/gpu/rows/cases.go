package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/target/gpu/last"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// kase is a case: a function of tensors [rows, columns], with or without its backward pass.
type kase struct {
	name          string
	rows, columns int
	hidden        int // columns of the hidden activations; of decode only
	d             ir.DType
	backward      bool
}

// parse reads a case such as layer_norm:8192x4096:bf16:backward, or decode:1x4096x14336:bf16.
func parse(text string) (kase, error) {
	c := kase{d: ir.BF16}
	parts := strings.Split(text, ":")
	if len(parts) < 2 {
		return c, fmt.Errorf("%q: NAME:ROWSxCOLUMNS expected", text)
	}
	c.name = parts[0]
	if _, ok := functions[c.name]; !ok {
		return c, fmt.Errorf("%q: %q is unknown", text, c.name)
	}
	if _, err := fmt.Sscanf(parts[1], "%dx%d", &c.rows, &c.columns); err != nil {
		return c, fmt.Errorf("%q: %w", text, err)
	}
	if c.name == "decode" {
		if _, err := fmt.Sscanf(parts[1], "%dx%dx%d", &c.rows, &c.columns, &c.hidden); err != nil {
			return c, fmt.Errorf("%q: %w", text, err)
		}
	}
	for _, part := range parts[2:] {
		switch part {
		case "bf16", "f16", "f32":
			c.d, _ = ir.ParseDType(part)
		case "backward":
			c.backward = true
		default:
			return c, fmt.Errorf("%q: %q is unknown", text, part)
		}
	}
	return c, nil
}

func (c kase) String() string {
	text := fmt.Sprintf("%s:%dx%d", c.name, c.rows, c.columns)
	if c.hidden > 0 {
		text += fmt.Sprint("x", c.hidden)
	}
	text += ":" + c.d.String()
	if c.backward {
		text += ":backward"
	}
	return text
}

// function is what a case computes.
type function struct {
	// params are the names of the operands: x, r [rows, columns]; w, b [columns]; labels t [rows] in [0, columns);
	// table e [vocabulary, columns]; ids i [rows] in [0, vocabulary); weights of a layer, a digit: [hidden, columns] if it
	// is even, else [columns, hidden].
	params string
	build  func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value
	// wrt are the operands whose gradients the backward pass computes.
	wrt string
}

const (
	vocabulary = 32000
	// Each character of layers is the name of a weight matrix, in a case that multiplies few rows by all of these
	// matrices. Together they do not fit into a cache.
	layers = "01234567"
)

var functions = map[string]function{
	"gelu_chain": {"xrb", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		return b.Node(op.Add{}, b.Node(op.Gelu{}, b.Node(op.Add{}, in['x'], in['b'])), in['r'])
	}, "xb"},
	"layer_norm": {"xwb", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		return b.Node(op.LayerNormalization{Axis: 1, Epsilon: 1e-5}, in['x'], in['w'], in['b'])
	}, "xwb"},
	"rms_norm": {"xw", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		return b.Node(op.RMSNormalization{Axis: 1, Epsilon: 1e-5}, in['x'], in['w'])
	}, "xw"},
	"softmax": {"x", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		return b.Node(op.Softmax{Axis: 1}, in['x'])
	}, "x"},
	"cross_entropy": {"xt", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		logs := b.Node(op.LogSoftmax{Axis: 1}, in['x'])
		rows := in['x'].Type.Shape[0]
		picked := b.Node(op.GatherElements{Axis: 1}, logs, b.Node(op.Reshape{Shape: []dim.Dim{rows, dim.Const(1)}}, in['t']))
		return b.Node(op.Neg{}, b.Node(op.Reduce{Kind: op.ReduceMean, Axes: []int{0, 1}}, picked))
	}, "x"},
	"sum_rows": {"x", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		return b.Node(op.Reduce{Kind: op.ReduceSum, Axes: []int{1}}, in['x'])
	}, "x"},
	"sum_columns": {"x", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		return b.Node(op.Reduce{Kind: op.ReduceSum, Axes: []int{0}}, in['x'])
	}, "x"},
	"transpose": {"x", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		return b.Node(op.Transpose{Perm: []int{1, 0}}, in['x'])
	}, "x"},
	"decode": {"x" + layers, func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		y := in['x']
		for _, layer := range []byte(layers) {
			y = b.Node(last.MatMulRows{}, y, in[layer])
		}
		return y
	}, ""},
	"embedding": {"ei", func(b *ir.Builder, in map[byte]*ir.Value) *ir.Value {
		return b.Node(op.Gather{Axis: 0}, in['e'], in['i'])
	}, "e"},
}

// limit returns the exclusive upper bound of the integers in an operand.
func (c kase) limit(name string) int {
	if name == "i" {
		return vocabulary
	}
	return c.columns
}

func (c kase) typeOf(param byte) ir.Type {
	switch param {
	case 'w', 'b':
		return ir.StaticTensor(c.d, c.columns)
	case 't', 'i':
		return ir.StaticTensor(ir.I64, c.rows)
	case 'e':
		return ir.StaticTensor(c.d, vocabulary, c.columns)
	}
	if strings.IndexByte(layers, param) >= 0 {
		if (param-'0')%2 == 0 {
			return ir.StaticTensor(c.d, c.hidden, c.columns)
		}
		return ir.StaticTensor(c.d, c.columns, c.hidden)
	}
	return ir.StaticTensor(c.d, c.rows, c.columns)
}

// module returns a module with the function of a case. The function returns y0. With a backward pass it also returns
// the gradients y1, y2, …, and its last parameter is g, the upstream gradient of y0.
func (c kase) module() (*ir.Module, error) {
	fn := functions[c.name]
	f := &ir.Func{Name: pass.Forward}
	var failed error
	err := ir.Try(func() {
		b, in := ir.NewBuilder(f), map[byte]*ir.Value{}
		for _, p := range []byte(fn.params) {
			in[p] = b.Param(string(p), c.typeOf(p))
		}
		y := fn.build(b, in)
		f.Results = []*ir.Value{y}
		if c.backward {
			var wrt []*ir.Value
			for _, p := range []byte(fn.wrt) {
				wrt = append(wrt, in[p])
			}
			var gradients []*ir.Value
			if gradients, failed = grad.Append(b, y, b.Param("g", y.Type), wrt); failed == nil {
				f.Results = append(f.Results, gradients...)
			}
		}
	})
	for i := range f.Results {
		f.ResultNames = append(f.ResultNames, fmt.Sprint("y", i))
	}
	if err == nil {
		err = failed
	}
	return &ir.Module{Funcs: []*ir.Func{f}}, err
}

// least returns the fewest bytes that a case moves: each operand and each result once. It counts only those rows of a
// table that are read.
func (c kase) least(f *ir.Func) int {
	bytes := 0
	for _, v := range slices.Concat(f.Params, f.Results) {
		n, _ := v.Type.Elems().Int()
		if v.Name == "e" {
			n = c.rows * c.columns
		}
		bytes += n * v.Type.DType.Size()
	}
	return bytes
}
