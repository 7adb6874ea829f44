package nn_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// A body from a file keeps its names next to the names of a new head.
func TestImportedBody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mlp.onnx")
	if err := os.WriteFile(path, onnxtest.MLP().Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	m := &struct {
		Body *nn.Graph `nn:"."`
		Head nn.Linear
	}{nn.FromIR(onnx.Load(path, onnx.Outputs("a"), onnx.Input("image", "Nx4"))), nn.NewLinear(8, 2)}
	nn.Freeze(m.Body)
	nn.Name(m)
	if got := names(m); !slices.Equal(got, []string{"fc1.weight", "head.weight", "head.bias"}) {
		t.Errorf("%v", got)
	}
	x := nn.Of([][]float64{{1, 2, 3, 4}, {0, -1, 1, 0}})
	f := func(in []nn.Value) []nn.Value { return []nn.Value{m.Head.Forward(m.Body.Forward(in[0])[0])} }
	want := f([]nn.Value{x})
	got, err := recorded(m, []ir.Type{ir.TensorOf(ir.F32, dim.Sym("B"), dim.Const(4))}, f, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Weights[0].Frozen || got.Weights[1].Frozen {
		t.Error("not the body is frozen")
	}
	if y := evaluated(t, got, m, []nn.Value{x})[0]; !y.Equal(tensor(want[0])) {
		t.Errorf("%s, want %v", y, want[0])
	}
	if err := nn.Try(func() { nn.FromIR(onnx.Load("absent.onnx")) }); err == nil {
		t.Error("an absent file is loaded")
	}
}

// Statistics of a batch normalisation may be inputs instead of weights.
func TestImportedStatistics(t *testing.T) {
	f := &ir.Func{Name: "forward"}
	b := ir.NewBuilder(f)
	args := []*ir.Value{b.Param("x", ir.StaticTensor(ir.F32, 1, 2))}
	for _, name := range []string{"scale", "bias", "mean", "variance"} {
		args = append(args, b.Param(name, ir.StaticTensor(ir.F32, 2)))
	}
	b.Return(b.Node(op.BatchNormalization{}, args...))
	g := nn.FromIR(&ir.Module{Funcs: []*ir.Func{f}}, nil)
	y := g.Forward(nn.Of([][]float64{{3, 4}}), nn.Ones(2), nn.Zeros(2), nn.Ones(2), nn.Full(4, 2))[0]
	if got := y.Floats(); !slices.Equal(got, []float64{1, 1.5}) {
		t.Errorf("%v", got)
	}
}

// Whole networks from files give the same as values, and recorded.
func TestImportedNetworks(t *testing.T) {
	for _, name := range []string{"cifar10-pytorch-tutorial", "lstm-loop-tiny", "unity-sorter-attention", "mnist-dynamo-op18", "acasxu-1-1"} {
		t.Run(name, func(t *testing.T) {
			module, err := onnx.Load(corpus.Path(t, "models/"+name+"/model.onnx"))
			if err != nil {
				t.Fatal(err)
			}
			g := nn.FromIR(module, nil)
			fn := module.Func("forward")
			inputs, types, args := []nn.Value{}, []ir.Type{}, []*ir.Tensor{}
			for i, p := range fn.Params {
				typ := p.Type.Subst(func(string) (dim.Dim, bool) { return dim.Const(2), true })
				shape, _ := typ.Static()
				x := ir.NewTensor(typ.DType, shape...)
				for k := range x.Len() {
					x.SetNumber(k, float64((k*7+i)%5)/4)
				}
				inputs = append(inputs, valueOf(x))
				types, args = append(types, p.Type), append(args, x)
			}
			want, err := (&ir.Evaluator{Module: module}).Run(fn, args)
			if err != nil {
				t.Fatal(err)
			}
			got := g.Forward(inputs...)
			for i, w := range want {
				if !tensor(got[i]).Equal(w) {
					t.Errorf("result %d differs as a value", i)
				}
			}
			m, err := recorded(g, types, func(in []nn.Value) []nn.Value { return g.Forward(in...) }, len(want))
			if err != nil {
				t.Fatal(err)
			}
			again, err := (&ir.Evaluator{Module: m.Module}).Run(m.Module.Func("forward"), args)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if !again[i].Equal(w) {
					t.Errorf("result %d differs when it is recorded", i)
				}
			}
		})
	}
}

// What binds extents and what checks them stays in the loop whose turns need it.
func TestImportedChecks(t *testing.T) {
	text := `func @forward(%x: f32[N,4]) -> (y: f32[4]) {
  %zero = constant {value=f32[4](0...)} : f32[4]
  %sum = loop %zero {counted=true trips=N} : f32[4]
    region (%i: i64[], %c: bool[], %s: f32[4]) {
      %row = gather %x, %i : f32[4]
      %flags = greater %row, %s : bool[4]
      %at = non_zero %flags {count="Count"} : i64[1,Count]
      %ones = fill {value=f32[1](2) shape=[Count]} : f32[Count]
      %total = reduce %ones {kind="sum" axes=[0]} : f32[]
      %next = add %s, %total : f32[4]
      return %c, %next
    }
  return %sum
}
`
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	g := nn.FromIR(m, nil)
	x := nn.Of([][]float64{{1, -1, 2, 0}, {5, 5, 0, 0}})
	f := func(in []nn.Value) []nn.Value { return g.Forward(in...) }
	got := f([]nn.Value{x})[0]
	// Two elements of the first row are above 0, and two of the second above 4.
	wants(t, got, 8, 8, 8, 8)
	agrees(t, f, []nn.Value{x}, "f32[B,4]")
}

// valueOf returns a tensor as a value.
func valueOf(x *ir.Tensor) nn.Value {
	numbers := make([]float64, x.Len())
	for i := range numbers {
		numbers[i] = x.Number(i)
	}
	return nn.Of(numbers).Cast(x.DType).Reshape(extentsOf(x.Shape)...)
}

func extentsOf(shape []int) []nn.Extent {
	out := make([]nn.Extent, len(shape))
	for i, n := range shape {
		out[i] = n
	}
	return out
}
