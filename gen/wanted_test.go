package gen_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// tied has an embedding that is also its last layer's matrix.
type tied struct {
	Embed     nn.Embedding
	FC        nn.Linear
	Head      nn.Linear
	Positions nn.Buffer
}

func tiedSource(t *testing.T) *gen.Source {
	t.Helper()
	r, err := nn.Record(func(r *nn.Recorder) {
		m := &tied{Embed: nn.NewEmbedding(7, 3), FC: nn.NewLinear(3, 3), Head: nn.NewLinear(3, 7, nn.NoBias), Positions: nn.NewBuffer(0, 3)}
		m.Head.Weight = m.Embed.Weight.Tied()
		r.Model(m)
		r.Method(nn.Method{
			Name: "Forward", Pos: "m.go:1:1", Params: []string{"ids"}, Results: []string{"y"},
			Signature: func() string { return "(i64[N]) -> f32[N,7]" },
		}, func(in []nn.Value) []nn.Value {
			return []nn.Value{m.Head.Forward(m.FC.Forward(m.Embed.Forward(in[0]).Add(m.Positions.Value())))}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	src, err := gen.FromRecord("tied", "m.go", strings.Repeat("0", 64), nil, r)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestWantedOfADescription(t *testing.T) {
	want := []keys.Want{
		{Name: "embed.weight", DType: "f32", Shape: []int{7, 3}, Aliases: []string{"head.weight"}},
		{Name: "fc.weight", DType: "f32", Shape: []int{3, 3}, Layout: keys.OutIn},
		{Name: "fc.bias", DType: "f32", Shape: []int{3}},
		{Name: "positions", DType: "f32", Shape: []int{3}},
	}
	if d := cmp.Diff(want, tiedSource(t).Wanted()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestAliasesOfADescription compiles a description with a file that has the tied weight under both
// names. The generated package lists both names.
func TestAliasesOfADescription(t *testing.T) {
	src := tiedSource(t)
	w := rt.NewWeights()
	for _, x := range []struct {
		name  string
		shape []int
	}{{"embed.weight", []int{7, 3}}, {"head.weight", []int{7, 3}}, {"fc.weight", []int{3, 3}}, {"fc.bias", []int{3}}, {"positions", []int{3}}} {
		n := 1
		for _, d := range x.shape {
			n *= d
		}
		rt.Add(w, x.name, slices.Repeat([]float32{0.5}, n), x.shape...)
	}
	m, err := gen.CompileSource(src, gen.Options{Foreign: &gen.Foreign{File: "w", Weights: w}, Package: "tied"})
	if err != nil {
		t.Fatal(err)
	}
	results, _, err := m.Run([]any{[]int64{2}}, [][]int{{1}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := results[0].([]float32), slices.Repeat([]float32{3}, 7); !slices.Equal(got, want) { // 3·½·(3·½·(½+½)+½)
		t.Errorf("%v, want %v", got, want)
	}
	files, err := m.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name == "weights.go" && !strings.Contains(string(f.Data), `Aliases: []string{"head.weight"}`) {
			t.Errorf("the package knows no alias:\n%s", f.Data)
		}
	}
}

// keeping compiles a model with weights of a file, which may serve in its place.
func keeping(t *testing.T, keep emit.Keep, inPlace bool) (*rt.Weights, *gen.Model, []emit.File) {
	t.Helper()
	w := rt.NewWeights()
	rt.Add(w, "embed.weight", make([]float32, 21), 7, 3)
	rt.Add(w, "fc.weight", slices.Repeat([]float32{0.25}, 9), 3, 3)
	rt.Add(w, "fc.bias", make([]float32, 3), 3)
	rt.Add(w, "positions", make([]float32, 3), 3)
	m, err := gen.CompileSource(tiedSource(t), gen.Options{
		Foreign: &gen.Foreign{File: "hub.safetensors", Weights: w, InPlace: inPlace},
		Package: "tied", WeightsOutside: true, Keep: keep,
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := m.Files()
	if err != nil {
		t.Fatal(err)
	}
	return w, m, files
}

// TestKeepRaw compiles a model that keeps its original weights. If they come from a safetensors
// file with the model's names, the package reads that file. Weights from another kind of file are
// copied.
func TestKeepRaw(t *testing.T) {
	for _, inPlace := range []bool{true, false} {
		w, m, files := keeping(t, emit.KeepRaw, inPlace)
		var written *rt.Weights
		for _, f := range files {
			if f.Name == "tied.safetensors" {
				written = rt.OpenWeights(string(f.Data))
			}
		}
		switch says := strings.Contains(m.Report(), "where they are in hub.safetensors"); {
		case says != inPlace || (written == nil) != inPlace:
			t.Errorf("in place: %v; written: %v; %s", inPlace, written != nil, m.Report())
		case written != nil && !slices.Equal(written.Names(), w.Names()):
			t.Errorf("%v are written, want %v", written.Names(), w.Names())
		}
	}
}

// TestKeepBoth compiles models of few and of many weights. Their files hold the original weights
// and the prepared ones.
func TestKeepBoth(t *testing.T) {
	for _, limit := range []int64{1 << 20, 0} {
		gen.SetLarge(t, limit)
		w, m, files := keeping(t, emit.KeepBoth, true)
		for _, f := range files {
			switch f.Name {
			case "tied.safetensors":
				written := rt.OpenWeights(string(f.Data))
				if err := written.Verify(); err != nil {
					t.Error(err)
				}
				var prepared []string
				for _, name := range written.Names() {
					of, made := strings.CutPrefix(name, "prepared/")
					if made && len(written.Metadata()["burngen.sources:"+name]) == 32 {
						prepared = append(prepared, of)
					}
				}
				own := written.Without("prepared/").Names()
				if !slices.Equal(own, w.Names()) || !slices.Contains(prepared, "fc.weight") {
					t.Errorf("%v are written, and %v prepared", own, prepared)
				}
			case "model_test.go":
				if strings.Contains(string(f.Data), "rt.Sample") == (limit == 0) {
					t.Errorf("more than %d bytes: another sample is expected:\n%s", limit, f.Data)
				}
			}
		}
		if report := m.Report(); !strings.Contains(report, "→ tied.safetensors, beside it") {
			t.Error(report)
		}
	}
}

func TestWantedOfAnImportedModel(t *testing.T) {
	file := onnxtest.New(17).Input("x", ir.F32, 2, 4).Output("z", ir.F32, 2, 4).
		Initializer("a", ir.NewTensor(ir.F32, 4, 4)).
		Initializer("b.weight", ir.NewTensor(ir.F32, 4, 4)).
		Initializer("mask", ir.NewTensor(ir.F32, 2, 4)).
		Initializer("odd.bias", ir.NewTensor(ir.F32, 2, 4)).
		Node("/a", "MatMul", []string{"x", "a"}, []string{"p"}).
		Node("/m", "Add", []string{"p", "mask"}, []string{"q"}).
		Node("/o", "Add", []string{"q", "odd.bias"}, []string{"r"}).
		Node("/b", "Gemm", []string{"r", "b.weight"}, []string{"z"}, onnxtest.Attr{Name: "transB", Value: 1}).Bytes()
	src, err := onnx.Read("model.onnx", file, nil, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := gen.Compile(src, gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, w := range m.Source.Wanted() {
		got[w.Name] = string(w.Layout)
		if w.Optional {
			got[w.Name] += " optional"
		}
	}
	want := map[string]string{"a": "in,out", "b.weight": "out,in", "mask": " optional", "odd.bias": ""}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestSetWeight gives weights of all widths what they had.
func TestSetWeight(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.I8, ir.I4, ir.U4, ir.I2, ir.U2, ir.Bool} {
		before := &ir.Weight{Name: "w", Type: ir.StaticTensor(d, 5)}
		before.Data = make([]byte, 5*max(d.Bits()/8, 1))
		for i := range before.Data {
			before.Data[i] = byte(i % 2)
		}
		if d == ir.I4 || d == ir.I2 {
			before.Data[3] = 0xfe // -2
		}
		w := rt.NewWeights()
		exec.AddWeight(w, before)
		after := &ir.Weight{Name: "w", Type: before.Type}
		exec.SetWeight(after, w)
		if !bytes.Equal(after.Data, before.Data) || w.Err() != nil {
			t.Errorf("%s: %v, want %v", d, after.Data, before.Data)
		}
	}
}
