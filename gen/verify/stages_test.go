package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

const stageRows, stageWidth, stageLayers = 8, 32, 4

// drawn returns floats that a seed determines.
func drawn(t *testing.T, lo, hi float64, seed uint32, shape ...int) *ir.Tensor {
	t.Helper()
	x, err := draw(ir.F32, shape, lo, hi, seed)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// quantisedNet returns a model of products of matrices of i8, in which an early integer that is off
// by one moves many outputs. If quantised is false, it returns the same model in floats.
func quantisedNet(t *testing.T, quantised bool) *onnxtest.Model {
	m := onnxtest.New(17).Input("x", ir.F32, stageRows, stageWidth).Output("y", ir.F32, stageRows, stageWidth).
		Initializer("scale", ir.FloatTensor(ir.F32, 0.0503).Reshape()).
		Initializer("zero", ir.IntTensor(ir.I8, 3).Reshape()).
		Initializer("step", ir.FloatTensor(ir.F32, 0.0998).Reshape()).
		Initializer("none", ir.IntTensor(ir.I8, 0).Reshape())
	at := "x"
	for i := range stageLayers + 1 {
		name := func(what string) string { return fmt.Sprintf("%s%d", what, i) }
		next := name("d")
		if i == stageLayers {
			next = "y"
		}
		if quantised {
			m.Node(name("/q"), "QuantizeLinear", []string{at, "scale", "zero"}, []string{name("q")}).
				Node(name("/d"), "DequantizeLinear", []string{name("q"), "scale", "zero"}, []string{next})
		} else {
			m.Node(name("/d"), "Tanh", []string{at}, []string{next})
		}
		if i == stageLayers {
			break
		}
		floats := drawn(t, -5.49, 5.49, uint32(i+1), stageWidth, stageWidth)
		w := ir.NewTensor(ir.I8, stageWidth, stageWidth)
		for k := range w.Len() {
			w.SetNumber(k, floats.Float(k))
		}
		m.Initializer(name("w"), w).
			Node(name("/w"), "DequantizeLinear", []string{name("w"), "step", "none"}, []string{name("v")}).
			Node(name("/h"), "MatMul", []string{next, name("v")}, []string{name("h")})
		at = name("h")
	}
	return m
}

// imported returns a model's module.
func imported(t *testing.T, m *onnxtest.Model) *ir.Module {
	t.Helper()
	src, err := onnx.Open(writeCase(t, "net", m.Bytes(), "{}", nil).model(), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src.Module
}

// compiledFor returns what compiles a module, after change made something of it.
func compiledFor(change func(*ir.Module)) func(*ir.Module, bool) (forward, error) {
	return func(m *ir.Module, strict bool) (forward, error) {
		m = m.Clone()
		change(m)
		c, err := gen.FromModule("net", m, gen.Options{Strict: strict})
		if err != nil {
			return nil, err
		}
		return executed(c), nil
	}
}

// nudged returns the evaluator's output for x if one integer of the first quantised value is off by
// one.
func nudged(t *testing.T, s *stages, x *ir.Tensor) *ir.Tensor {
	t.Helper()
	m, err := s.cut(s.cuts[:1])
	if err != nil {
		t.Fatal(err)
	}
	f := m.Func("forward")
	e := &ir.Evaluator{Module: m}
	q := ir.NewTensor(s.cuts[0].Type.DType, stageRows, stageWidth)
	out, err := e.Run(f, []*ir.Tensor{x, q})
	if err == nil {
		out, err = e.Run(f, []*ir.Tensor{x, moved(out[0], stageWidth+7)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return out[1]
}

func TestStages(t *testing.T) {
	right := func(*ir.Module) {}
	m := imported(t, quantisedNet(t, true))
	whole := stagesOf(m, false, compiledFor(right))
	if len(whole.cuts) != stageLayers+1 {
		t.Fatalf("%d quantised values: %v", len(whole.cuts), whole.cuts)
	}
	x := drawn(t, -3, 3, 99, stageRows, stageWidth)
	inputs := []*onnx.Value{{Tensor: x}}
	run, err := whole.compile(m, false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(context.Background(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	near := nudged(t, whole, x)
	far := ir.NewTensor(ir.F32, near.Shape...)
	for i := range far.Len() {
		far.SetFloat(i, -near.Float(i))
	}
	scaled := func(times float64) func(*ir.Module) {
		return func(m *ir.Module) {
			// The scale of the fourth quantised value.
			var quantisers []*ir.Node
			for _, n := range m.Func("forward").Nodes {
				if _, ok := n.Op.(op.QuantizeLinear); ok {
					quantisers = append(quantisers, n)
				}
			}
			n := quantisers[3]
			scale, _ := n.Args[1].ConstValue()
			own := &ir.Value{Name: "own", Type: n.Args[1].Type}
			own.Def = &ir.Node{Op: ir.Constant{Value: ir.Scalar(ir.F32, scale.Float(0)*times)}, Results: []*ir.Value{own}}
			n.Args[1] = own
			f := m.Func("forward")
			f.Nodes = append([]*ir.Node{own.Def}, f.Nodes...)
		}
	}
	for _, c := range []struct {
		name    string
		compile func(*ir.Module)
		want    *ir.Tensor
		why     string // "" for none
	}{
		{"right", right, near, ""},
		{"a stage with almost its scale", scaled(1.01), near, "quantised value"},
		{"a stage with another scale", scaled(1.5), near, "quantised value"},
		{"outputs that no integer off by one explains", right, far, `output "y": `},
		{"a reference of another type", right, ir.NewTensor(ir.F64, stageRows, stageWidth), "of another type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stagesOf(m, false, compiledFor(c.compile))
			w := trialOf(c.want)
			w.name, w.output = "y", 0
			j := &judge{ports: portsOf(m.Func("forward"), nil)}
			if j.check(got[0], w) == "" {
				t.Fatal("the outputs are equal to the reference")
			}
			found, err := s.check(context.Background(), j, inputs, got, []want{w})
			if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Errorf("got %v, want %q", err, c.why)
			}
			if err == nil && (found.cuts != stageLayers+1 || found.integers != found.cuts*stageRows*stageWidth || found.outputs[0].beyond == 0) {
				t.Errorf("got %+v", found)
			}
		})
	}
	w := trialOf(far)
	w.name, w.output = "y", 0
	j := &judge{ports: portsOf(m.Func("forward"), nil)}
	if _, err := whole.check(context.Background(), j, inputs, []*onnx.Value{{Tensor: near}}, []want{w}); err == nil || !strings.Contains(err.Error(), "of the whole model differs from the output of its stage") {
		t.Errorf("outputs that the stages do not make: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := whole.check(ctx, j, inputs, got, []want{w}); !errors.Is(err, errTimeout) {
		t.Errorf("after the time limit: %v", err)
	}
}

// averagedNet returns a model that averages groups of four quantised values, with the same scale
// before and after. A quarter of the averages are ties.
func averagedNet() *onnxtest.Model {
	return onnxtest.New(17).Input("x", ir.F32, 1, 3, 16, 16).Output("y", ir.U8, 1, 3, 8, 8).
		Initializer("scale", ir.FloatTensor(ir.F32, 1.0/64).Reshape()).
		Initializer("zero", ir.IntTensor(ir.U8, 128).Reshape()).
		Node("/q", "QuantizeLinear", []string{"x", "scale", "zero"}, []string{"q"}).
		Node("/d", "DequantizeLinear", []string{"q", "scale", "zero"}, []string{"d"}).
		Node("/pool", "AveragePool", []string{"d"}, []string{"h"}, onnxtest.Attr{Name: "kernel_shape", Value: []int{2, 2}}, onnxtest.Attr{Name: "strides", Value: []int{2, 2}}).
		Node("/r", "QuantizeLinear", []string{"h", "scale", "zero"}, []string{"y"})
}

// Ties may go either way, and explain references in which they went the other one.
func TestTies(t *testing.T) {
	s := stagesOf(imported(t, averagedNet()), false, compiledFor(func(*ir.Module) {}))
	x := drawn(t, -1.9, 1.9, 7, 1, 3, 16, 16)
	turned, err := s.evaluate([]*ir.Tensor{x}, func(_ *ir.Value, integers *ir.Tensor, ties []tie) {
		for _, e := range ties {
			integers.SetInt(e.at, e.other)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	off := ir.NewTensor(ir.U8, 1, 3, 8, 8)
	for i := range off.Len() {
		off.SetInt(i, turned[0].Int(i)+2*int64(i%2))
	}
	inputs := []*onnx.Value{{Tensor: x}}
	run, err := s.compile(s.module, false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(context.Background(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		want *ir.Tensor
		why  string
	}{
		{"ties the other way", turned[0], ""},
		{"more than ties", off, "all ties the other way"},
	} {
		w := trialOf(c.want)
		w.name, w.output = "y", 0
		found, err := s.check(context.Background(), &judge{ports: portsOf(s.module.Func("forward"), nil)}, inputs, got, []want{w})
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) || found.ties < 20 || found.turned == nil {
			t.Errorf("%s: got %v, %v, want %q", c.name, found, err, c.why)
		}
	}
}

// TestByStages asserts that a quantised model passes by stages, and that its note says so. Other
// models, and the evaluator, do not pass by stages.
func TestByStages(t *testing.T) {
	m := quantisedNet(t, true)
	module := imported(t, m)
	x := drawn(t, -3, 3, 99, stageRows, stageWidth)
	near := nudged(t, stagesOf(module, false, nil), x)
	far := ir.NewTensor(ir.F32, stageRows, stageWidth)
	manifest := fmt.Sprintf(`{"cases": [{"name": "a", "inputs": {"x": {"dtype": "float32", "dims": [%[1]d,%[2]d], "file": "x.bin"}}, "outputs": {"y": {"dtype": "float32", "dims": [%[1]d,%[2]d], "file": "y.bin"}}}]}`, stageRows, stageWidth)
	named := func(name string, m *onnxtest.Model, y *ir.Tensor) Case {
		return writeCase(t, name, m.Bytes(), manifest, map[string][]byte{"x.bin": x.Bytes(), "y.bin": y.Bytes()})
	}
	cases := []Case{named("near", m, near), named("far", m, far), named("floats", quantisedNet(t, false), near)}
	for _, mode := range []struct {
		name string
		Mode
		want []string // what the lines begin with
	}{
		{"executed", Executed, []string{
			"PASS near (by stages: 0 of 1280 integers of 5 quantised values off by one; outputs: ",
			`FAIL far: output "y": element 0 [0 0] is `,
			`FAIL floats: output "y": element 0 [0 0] is `,
		}},
		{"evaluated", Evaluated, []string{`FAIL near: output "y": `, `FAIL far: output "y": `, `FAIL floats: output "y": `}},
		{"generated", Generated, []string{
			"PASS near (by stages, run by package exec: 0 of 1280 integers of 5 quantised values off by one; outputs: ",
			`FAIL far: output "y": element 0 [0 0] is `,
			`FAIL floats: output "y": element 0 [0 0] is `,
		}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			if mode.Mode == Generated && testing.Short() {
				t.Skip("builds a program")
			}
			var got []string
			if _, err := Run(cases, Options{Mode: mode.Mode, Report: func(r Result) { got = append(got, r.String()) }}); err != nil {
				t.Fatal(err)
			}
			for i, want := range mode.want {
				staged := strings.Contains(got[i], "by stages")
				if quantises := i < 2; !strings.HasPrefix(got[i], want) || staged != (quantises && mode.Mode != Evaluated) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

func TestOffByOne(t *testing.T) {
	const n = 30000
	want := ir.NewTensor(ir.I8, n)
	with := func(count int, by int64) *ir.Tensor {
		got := ir.NewTensor(ir.I8, n)
		for i := range count {
			got.SetInt(i*7, by)
		}
		return got
	}
	for _, c := range []struct {
		name string
		got  *ir.Tensor
		off  int
		ok   bool
	}{
		{"equal", with(0, 0), 0, true},
		{"as many as allowed", with(3, -1), 3, true},
		{"one more", with(4, 1), 0, false},
		{"by two", with(1, 2), 0, false},
		{"another type", ir.NewTensor(ir.U8, n), 0, false},
		{"another shape", ir.NewTensor(ir.I8, n, 1), 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if off, _, err := offByOne(c.got, want, nil); off != c.off || (err == nil) != c.ok {
				t.Errorf("got %d, %v", off, err)
			}
		})
	}
	if off, _, err := offByOne(ir.IntTensor(ir.I8, 1), ir.IntTensor(ir.I8, 0), nil); off != 1 || err != nil {
		t.Errorf("one of one: got %d, %v", off, err)
	}
	ties := []tie{{0, 1}, {2, -1}, {3, 1}}
	if off, offTies, err := offByOne(ir.IntTensor(ir.I8, 1, 0, -1, -1), ir.NewTensor(ir.I8, 4), ties); off != 1 || offTies != 2 || err != nil {
		t.Errorf("two ties and one that went beyond its neighbours: got %d, %d, %v", off, offTies, err)
	}
}

// Differences count what the reference knows, extremes too.
func TestDistance(t *testing.T) {
	j := &judge{ports: &ports{results: []port{{name: "y", quantum: 0.5}}}}
	w := want{
		name: "y", dtype: ir.F32, shape: []int{4},
		parts: []part{{2, ir.FloatTensor(ir.F32, 1, 1)}},
		stats: &stats{Count: 4, SumSq: 13, Min: 0, Max: 3},
	}
	for _, c := range []struct {
		name  string
		got   *ir.Tensor
		other *ir.Tensor
		want  distance
		ok    bool
	}{
		{"equal", ir.FloatTensor(ir.F32, 1, 0, 1, 3), nil, distance{0, 4, 0}, true},
		{"an element", ir.FloatTensor(ir.F32, 1, 0, 2, 3), nil, distance{1, 4, 2}, true},
		{"an extreme", ir.FloatTensor(ir.F32, 1, 0, 1, 4.5), nil, distance{1, 4, 3}, true},
		{"from another", ir.FloatTensor(ir.F32, 1, 0, 2, 3), ir.FloatTensor(ir.F32, 1, 0, 2, 3), distance{0, 4, 0}, true},
		{"NaNs", ir.FloatTensor(ir.F32, 1, math.NaN(), 1, 3), nil, distance{0, 2, 0}, false},
		{"another shape", ir.FloatTensor(ir.F32, 1), nil, distance{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d, err := j.distance(&onnx.Value{Tensor: c.got}, w, c.other); d != c.want || (err == nil) != c.ok {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
	if (distance{1, 4, 2}).explains(distance{3, 4, 2}) || (distance{1, 4, 2}).explains(distance{1, 4, 4.5}) || !(distance{1, 4, 2}).explains(distance{2, 4, 4}) {
		t.Error("not twice as far at most")
	}
}
