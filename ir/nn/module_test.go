package nn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/runtime/rt"
)

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"QProj": "q_proj", "FC1": "fc1", "LNF": "lnf", "LMHead": "lm_head", "Conv2dA": "conv2d_a", "Layers": "layers",
		"X": "x", "RunningMean": "running_mean", "InProjWeight": "in_proj_weight", "HTTPServer2XL": "http_server2_xl", "A_B": "a_b",
	} {
		if got := nn.Snake(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

type block struct {
	Lin  nn.Linear
	Norm *nn.LayerNorm
}

type base struct{ Scale nn.Param }

type everything struct {
	base   // unexported, and embedded: its fields are the model's
	Embed  nn.Embedding
	Layers []block
	Heads  map[string]nn.Linear
	Pair   [2]nn.Linear          `nn:"features.0"`
	Inner  struct{ A nn.Linear } `nn:"."`
	Not    nn.Linear             `nn:"-"`
	Act    nn.Layer
	Absent *block
	Norm   nn.BatchNorm
	Table  nn.Value
	Count  int
	Names  []string
}

func newEverything() *everything {
	norm := nn.NewLayerNorm(2)
	m := &everything{
		Embed: nn.NewEmbedding(3, 2), Layers: []block{{nn.NewLinear(2, 2), nil}, {nn.NewLinear(2, 2), &norm}},
		Heads: map[string]nn.Linear{"b": nn.NewLinear(2, 1, nn.NoBias), "a": nn.NewLinear(2, 1, nn.NoBias)},
		Pair:  [2]nn.Linear{nn.NewLinear(1, 1, nn.NoBias), nn.NewLinear(1, 1, nn.NoBias)},
		Act:   nn.Activation(nn.ReLU), Norm: nn.NewBatchNorm(2), Table: nn.Ones(2),
	}
	m.Scale = nn.NewParam(nn.Constant(1), 1)
	m.Inner.A = nn.NewLinear(2, 2, nn.NoBias)
	return m
}

func names(m any) []string {
	var out []string
	for _, p := range nn.Params(m) {
		out = append(out, p.Name())
	}
	return out
}

func TestNames(t *testing.T) {
	m := newEverything()
	nn.Name(m)
	want := strings.Fields("scale embed.weight layers.0.lin.weight layers.0.lin.bias layers.1.lin.weight layers.1.lin.bias layers.1.norm.weight layers.1.norm.bias " +
		"heads.a.weight heads.b.weight features.0.0.weight features.0.1.weight a.weight norm.weight norm.bias")
	if got := names(m); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	buffers := nn.Buffers(m)
	if len(buffers) != 2 || buffers[0].Name() != "norm.running_mean" || buffers[1].Name() != "norm.running_var" {
		t.Errorf("%d buffers", len(buffers))
	}
	if n := nn.NumParams(m); n != 1+6+2*6+4+4+2+4+4 {
		t.Errorf("%d elements", n)
	}
}

func TestNamesOfTiedParameters(t *testing.T) {
	type tied struct {
		Head  nn.Linear
		Embed nn.Embedding
	}
	m := &tied{nn.NewLinear(2, 3, nn.NoBias), nn.NewEmbedding(3, 2)}
	m.Head.Weight = m.Embed.Weight.Tied()
	nn.Name(m)
	if got := names(m); !slices.Equal(got, []string{"head.weight"}) {
		t.Errorf("%v", got)
	}
	nn.Assign(m, map[string]nn.Value{"embed.weight": nn.Ones(3, 2)})
	wants(t, m.Head.Weight.Value(), 1, 1, 1, 1, 1, 1)

	l := nn.NewLinear(1, 1, nn.NoBias)
	err := nn.Try(func() { nn.Name([]nn.Linear{l, l}) })
	if err == nil || !strings.HasSuffix(err.Error(), ": 0.weight and 1.weight are one parameter; write .Tied() if they are meant to share it") || !strings.Contains(err.Error(), "module_test.go:") {
		t.Error(err)
	}
	y := l.Forward(l.Forward(nn.Ones(1, 1))) // a layer may be used twice
	if !y.HasData() {
		t.Error("there is no data")
	}
}

func TestNamesRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		model any
		want  string
	}{
		"two of one name": {struct {
			A nn.Linear `nn:"x"`
			B nn.Linear `nn:"x"`
		}{nn.NewLinear(1, 1), nn.NewLinear(1, 1)}, "two parameters are called x.weight"},
		"a layer that is zero": {struct{ Lin nn.Linear }{}, "lin is a zero nn.Linear; use nn.NewLinear"},
		"a norm that is zero":  {struct{ N nn.GroupNorm }{}, "n is a zero nn.GroupNorm; use nn.NewGroupNorm"},
		"nothing":              {nil, "there is no module"},
	} {
		t.Run(name, func(t *testing.T) {
			err := nn.Try(func() { nn.Name(c.model) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestInitialValues asserts that a parameter's initial value follows from the seed and its name.
// The generated program draws the same value.
func TestInitialValues(t *testing.T) {
	defer nn.Seed(0)
	nn.Seed(11)
	a, b := nn.NewLinear(3, 2), nn.NewLinear(3, 2)
	if slices.Equal(a.Weight.Value().Floats(), b.Weight.Value().Floats()) {
		t.Error("layers without names have equal weights")
	}
	m := &struct{ A, B nn.Linear }{a, b}
	nn.Name(m)
	drawn := make([]float32, 6)
	bound := 1 / 1.7320508075688772
	if err := (rt.Init{Kind: rt.InitUniform, A: -bound, B: bound}).Fill(drawn, 11, "b.weight", 2, 3); err != nil {
		t.Fatal(err)
	}
	got := m.B.Weight.Value().Floats()
	for i, x := range drawn {
		if float64(x) != got[i] {
			t.Fatalf("%v, want %v", got, drawn)
		}
	}
	more := &struct{ C, A, B nn.Linear }{nn.NewLinear(1, 1), nn.NewLinear(3, 2), nn.NewLinear(3, 2)}
	nn.Name(more)
	if !slices.Equal(more.B.Weight.Value().Floats(), got) {
		t.Error("another layer changes the weights")
	}
}

func TestInitialisers(t *testing.T) {
	for name, c := range map[string]struct {
		init nn.Init
		want rt.Init
	}{
		"kaiming uniform": {nn.KaimingUniform(1), rt.Init{Kind: rt.InitUniform, A: -0.5, B: 0.5}},
		"kaiming normal":  {nn.KaimingNormal(2), rt.Init{Kind: rt.InitNormal, B: 2 / 3.4641016151377544}},
		"xavier uniform":  {nn.XavierUniform(1), rt.Init{Kind: rt.InitUniform, A: -0.4629100498862757, B: 0.4629100498862757}},
		"xavier normal":   {nn.XavierNormal(1), rt.Init{Kind: rt.InitNormal, B: 0.2672612419124244}},
		"constant":        {nn.Constant(3), rt.Init{Kind: rt.InitConstant, A: 3}},
		"truncated":       {nn.TruncatedNormal(1, 2), rt.Init{Kind: rt.InitTruncated, A: 1, B: 2}},
	} {
		got := c.init([]int{4, 3, 2, 2})
		if d := []float64{got.A - c.want.A, got.B - c.want.B}; got.Kind != c.want.Kind || max(d[0], -d[0]) > 1e-12 || max(d[1], -d[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if err := nn.Try(func() { nn.NewParam(nn.XavierNormal(1), 3) }); err == nil || !strings.Contains(err.Error(), "has no fan") {
		t.Error(err)
	}
}

func TestDetachedAndFrozen(t *testing.T) {
	type pair struct{ A, B nn.Linear }
	m := &pair{nn.NewLinear(2, 2), nn.NewLinear(2, 1)}
	x := nn.Ones(3, 2)
	grads := func(m *pair) []nn.Value {
		return nn.Grad(m.B.Forward(m.A.Forward(x)).Sum(), m.A.Weight.Value(), m.B.Weight.Value(), x)
	}
	if g := grads(m); g[0].Norm(2).Item() == 0 || g[1].Norm(2).Item() == 0 {
		t.Error("there are no gradients")
	}
	d := nn.Detached(m)
	y := d.B.Forward(d.A.Forward(x)).Sum()
	g := nn.Grad(y, m.A.Weight.Value(), m.B.Weight.Value(), x)
	if g[0].Norm(2).Item() != 0 || g[1].Norm(2).Item() != 0 {
		t.Error("detached parameters have gradients")
	}
	if g[2].Norm(2).Item() == 0 {
		t.Error("what a detached module takes has no gradient")
	}
	if m.A.Weight.Value().Detach().Equal(m.A.Weight.Value()).All().Item() != 1 {
		t.Error("a detached value differs")
	}
	e := newEverything()
	if g := nn.Grad(nn.Detached(e).Scale.Value().Sum(), e.Scale.Value())[0]; g.Item() != 0 {
		t.Error("what is embedded is not detached")
	}
	nn.Freeze(m)
	if text := nn.Describe(m); !strings.Contains(text, "weight f32[2,2], frozen") {
		t.Error(text)
	}
}

func TestDescribe(t *testing.T) {
	m := &struct {
		Conv  nn.Conv2d
		Drop  nn.Dropout
		Norm  nn.BatchNorm
		Head  nn.Sequential
		Again nn.Param
		Cache *nn.State
	}{
		Conv: nn.NewConv2d(1, 2, 3, nn.Stride(2), nn.Padding(1, 0)), Drop: nn.Dropout{Rate: 0.25}, Norm: nn.NewBatchNorm(2),
		Head: nn.Sequential{nn.NewLinear(4, 2, nn.NoBias), nn.NewMaxPool2d(2)}, Cache: nn.NewState("f32[N,2]"),
	}
	m.Again = m.Conv.Bias.Tied()
	nn.Name(m)
	want := `struct
  conv: Conv2d{kernel: [3 3], stride: [2 2], padding: [1 0]}
    weight f32[2,1,3,3]
    bias f32[2]
  drop: Dropout{Rate: 0.25}
  norm: BatchNorm
    weight f32[2]
    bias f32[2]
    running_mean f32[2], a buffer
    running_var f32[2], a buffer
  head.0: Linear
    weight f32[2,4]
  head.1: Pool{MaxPool2d, kernel: [2 2], stride: [2 2]}
  again is "conv.bias"
  cache f32[N,2], a state
32 parameters, 4 elements of buffers
`
	if got := nn.Describe(m); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
