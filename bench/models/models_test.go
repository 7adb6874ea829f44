package main

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// bench.test.mjs has the same numbers.
func TestUniformIsTheSameInBothLanguages(t *testing.T) {
	want := []float32{0.1467951536178589, 0.17678749561309814, 0.40826737880706787, 0.8555257320404053}
	for i, w := range want {
		if got := uniform(uint32(i), 1, -1, 1); got != w {
			t.Errorf("value %d is %v, want %v", i, got, w)
		}
	}
}

func TestNamesAreUniqueAndFitPaths(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range models {
		if seen[m.name] || !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(m.name) {
			t.Errorf("bad name %q", m.name)
		}
		seen[m.name] = true
	}
}

func TestGroupsStandForTheirModels(t *testing.T) {
	for _, test := range []struct {
		names []string
		want  int
	}{
		{nil, len(models) - 2},
		{[]string{"all"}, len(models) - 2},
		{[]string{"large"}, 2},
		{[]string{"large-n"}, 1},
		{[]string{"operators", "resnet50"}, 12},
		{[]string{"matmul-64"}, 1},
		{[]string{"operators-n"}, 6},
		{[]string{"resnet50-n"}, 1},
	} {
		got, err := choose(test.names)
		if err != nil || len(got) != test.want {
			t.Errorf("%q: %d models, want %d; %v", test.names, len(got), test.want, err)
		}
	}
	if _, err := choose([]string{"resnet51"}); err == nil {
		t.Error("no error for an unknown model")
	}
}

// decode reads a model that writeTo wrote: the graph, its nodes and its weights.
func decode(t *testing.T, g *graph) (in fields, nodes []fields, weights map[string]fields) {
	t.Helper()
	must := func(b []byte) fields {
		m, err := parse(b)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	var file bytes.Buffer
	if err := g.writeTo(&file); err != nil {
		t.Fatal(err)
	}
	model := must(file.Bytes())
	if got := must(model[modelOpset][0].bytes).number(opsetVersion); got != g.opset {
		t.Errorf("opset %d, want %d", got, g.opset)
	}
	in = must(model[modelGraph][0].bytes)
	for _, f := range in[graphNode] {
		nodes = append(nodes, must(f.bytes))
	}
	weights = map[string]fields{}
	for _, f := range in[graphInit] {
		w := must(f.bytes)
		weights[w.text(tensorName)] = w
	}
	return in, nodes, weights
}

// check reports values that are read before they are computed. It returns the number of floats in
// the weights.
func check(t *testing.T, g *graph) (floats int) {
	t.Helper()
	in, nodes, weights := decode(t, g)
	known := map[string]bool{"": true}
	for _, f := range in[graphIn] {
		v, err := parse(f.bytes)
		if err != nil {
			t.Fatal(err)
		}
		if _, both := weights[v.text(valueName)]; both {
			t.Errorf("%s is an input and a weight", v.text(valueName))
		}
		known[v.text(valueName)] = true
	}
	if len(known) != 2 {
		t.Errorf("%d inputs, want 1", len(known)-1)
	}
	for name, w := range weights {
		known[name] = true
		dims, err := w.varints(tensorDim)
		if err != nil {
			t.Fatal(err)
		}
		count := 1
		for _, d := range dims {
			count *= d
		}
		if w.number(tensorType) == typeFloat {
			if got := len(w.text(tensorRaw)); got != 4*count {
				t.Errorf("%s%v has %d bytes", name, dims, got)
			}
			floats += count
		}
	}
	for _, n := range nodes {
		for _, arg := range n[nodeInput] {
			if !known[string(arg.bytes)] {
				t.Errorf("%s reads %q, which nothing made", n.text(nodeName), arg.bytes)
			}
		}
		for _, result := range n[nodeOutput] {
			known[string(result.bytes)] = true
		}
	}
	for _, f := range in[graphOut] {
		v, err := parse(f.bytes)
		if err != nil || !known[v.text(valueName)] {
			t.Errorf("output %s: %v", v.text(valueName), err)
		}
	}
	return floats
}

func TestBuiltModelsAreWhole(t *testing.T) {
	for _, test := range []struct {
		name   string
		g      *graph
		floats int
	}{
		{"matmul", matmul(3, 4, 5), 20},
		{"conv", conv(layer{4, 6, 9, 3, 2, 2}), 6*2*9 + 6},
		{"mlp", mlp(5, 4, 3), 5*4 + 4 + 4*3 + 3},
		{"cnn", cnn(), 8*25 + 8 + 16*8*25 + 16 + 2560 + 10},
		{"encoder", encoder{2, 3, 8, 2, 16}.graph(), 2*(4*(8*8+8)+(8*16+16)+(16*8+8)+4*8) + 4},
		{"chain", chain(8), 2 * (16*16 + 16 + 32)},
		{"web", web(50), 64 * 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := check(t, test.g); got != test.floats {
				t.Errorf("%d floats, want %d", got, test.floats)
			}
		})
	}
}

func TestWeightsKeepToTheirRange(t *testing.T) {
	g := &graph{}
	g.weight("w", -.5, .25, 1000)
	_, _, weights := decode(t, g)
	low, high := math.Inf(1), math.Inf(-1)
	for raw := []byte(weights["w"].text(tensorRaw)); len(raw) > 0; raw = raw[4:] {
		bits, _ := protowire.ConsumeFixed32(raw)
		v := float64(math.Float32frombits(bits))
		low, high = min(low, v), max(high, v)
	}
	if low < -.5 || low > -.49 || high >= .25 || high < .24 {
		t.Errorf("values from %g to %g", low, high)
	}
}

// residual returns a small copy of a light model: a branch of a convolution and a norm, which is
// added to its input and rectified, and a dense layer. Two weights are constants made by
// ConstantOfShape, one of them followed by a Reshape.
func residual() []byte {
	g := &graph{opset: 9}
	g.input("x", 1, 2, 4, 4)
	for _, v := range []string{"k.shape", "m.shape", "s", "b", "mean", "var"} {
		g.input(v, 2)
	}
	g.ints("k.shape", 2, 2, 3, 3)
	g.ints("m.shape", 1, 5, 32)
	g.ints("flat", 5, 32)
	for _, v := range []string{"s", "b", "mean", "var"} {
		g.weight(v, 1, 1, 2)
	}
	g.node("ConstantOfShape", "k", []string{"k.shape"})
	g.node("ConstantOfShape", "m", []string{"m.shape"})
	g.node("Conv", "c", []string{"x", "k"})
	g.node("BatchNormalization", "n", []string{"c", "s", "b", "mean", "var"})
	g.node("Sum", "sum", []string{"x", "n"})
	g.node("Relu", "r", []string{"sum"})
	g.node("Flatten", "f", []string{"r"})
	g.node("Reshape", "w", []string{"m", "flat"})
	g.node("Gemm", "y", []string{"f", "w"}, attr{"transB", 1})
	g.output("y", 1, 5)
	var file bytes.Buffer
	if err := g.writeTo(&file); err != nil {
		panic(err)
	}
	return file.Bytes()
}

func TestOpenBatchIsASymbolAndKeptByReshapes(t *testing.T) {
	m := model{"tiny", built(encoder{1, 3, 8, 2, 16}.graph)}.opened()
	g, err := m.build("")
	if err != nil || m.name != "tiny-n" {
		t.Fatal(m.name, err)
	}
	in, _, weights := decode(t, g)
	for _, f := range append(in[graphIn], in[graphOut]...) {
		v, err := parse(f.bytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []protowire.Number{valueType, typeTensor, tensorShape, shapeDim} {
			if v, err = parse([]byte(v.text(n))); err != nil {
				t.Fatal(err)
			}
		}
		if v.text(dimNamed) != "N" {
			t.Errorf("the first dimension is %v", v)
		}
	}
	for name, want := range map[string][]int{"split": {0, 3, 2, 4}, "join": {0, 3, 8}} {
		if got, err := weights[name].ints(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if err := matmul(3, 4, 5).openBatch(); err == nil {
		t.Error("no error for a model without a batch")
	}
}

func TestReseedReplacesConstants(t *testing.T) {
	g, err := reseed(residual())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := check(t, g), 2*2*9+5*32+4*2; got != want {
		t.Errorf("%d floats, want %d", got, want)
	}
	_, nodes, weights := decode(t, g)
	for _, n := range nodes {
		if n.text(nodeOp) == "ConstantOfShape" {
			t.Error("a ConstantOfShape is left")
		}
	}
	if _, left := weights["k.shape"]; left {
		t.Error("the shape of a constant is left")
	}
	for name, want := range map[string]struct{ low, high float64 }{
		"k":    {-math.Sqrt(3. / 18), math.Sqrt(3. / 18)},
		"m":    {-math.Sqrt(3. / 32), math.Sqrt(3. / 32)},
		"s":    {.4, .6},
		"b":    {-.1, .1},
		"mean": {-.1, .1},
		"var":  {.75, 1.25},
	} {
		for raw := []byte(weights[name].text(tensorRaw)); len(raw) > 0; raw = raw[4:] {
			bits, _ := protowire.ConsumeFixed32(raw)
			if v := float64(math.Float32frombits(bits)); v < want.low-1e-6 || v > want.high+1e-6 {
				t.Errorf("%s holds %g, outside %g to %g", name, v, want.low, want.high)
			}
		}
	}
}

func TestReseedRefusesBrokenFiles(t *testing.T) {
	whole := residual()
	for _, n := range []int{0, 1, 5, len(whole) / 2, len(whole) - 1} {
		if _, err := reseed(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(whole))
		}
	}
}

func TestLightModelsAreWhole(t *testing.T) {
	corpus := cmp.Or(os.Getenv("BURNGEN_CORPUS"), filepath.Join("..", "..", "..", "shared", "corpus"))
	if _, err := os.Stat(filepath.Join(corpus, "onnx-light")); err != nil {
		t.Skip("no corpus: set BURNGEN_CORPUS")
	}
	for name, want := range map[string]int{"squeezenet": 1235496, "shufflenet": 1420152, "densenet121": 8146152} {
		t.Run(name, func(t *testing.T) {
			g, err := light(corpus, name)
			if err != nil {
				t.Fatal(err)
			}
			if got := check(t, g); got != want {
				t.Errorf("%d floats, want %d", got, want)
			}
		})
	}
}
