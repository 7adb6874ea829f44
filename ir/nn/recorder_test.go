package nn_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/nn/record"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// digits is the network of the guide.
type digits struct {
	Conv1, Conv2 nn.Conv2d
	FC1, FC2     nn.Linear
	Drop         nn.Dropout
	classes      int
}

func newDigits() *digits {
	return &digits{
		Conv1: nn.NewConv2d(1, 8, 3), Conv2: nn.NewConv2d(8, 16, 3),
		FC1: nn.NewLinear(16*8*8, 32), FC2: nn.NewLinear(32, 10),
		Drop: nn.Dropout{Rate: 0.5}, classes: 10,
	}
}

func (m *digits) Forward(image nn.Value) (logits nn.Value) {
	x := m.Conv1.Forward(image.Unsqueeze(1))
	x = nn.ReLU(m.Conv2.Forward(m.Drop.Forward(x)))
	x = nn.AdaptiveAvgPool2d(x, 8, 8).Flatten(1, -1)
	return m.FC2.Forward(nn.ReLU(m.Drop.Forward(m.FC1.Forward(x))))
}

func (m *digits) Loss(image, target nn.Value) (loss, logits nn.Value) {
	logits = m.Forward(image)
	return nn.CrossEntropy(logits, target), logits
}

// method returns a marked method of one signature.
func method(name, signature string, params, results string) nn.Method {
	return nn.Method{
		Name: name, Loss: strings.HasSuffix(name, "Loss"), Pos: "model.go:7:1", Signature: func() string { return signature },
		Params: strings.Fields(params), Results: strings.Fields(results),
	}
}

func recordDigits(t *testing.T) *record.Model {
	t.Helper()
	m, err := nn.Record(func(r *nn.Recorder) {
		m := newDigits()
		r.Model(m)
		r.Method(method("Forward", "(f32[N,28,28]) -> f32[N,10]", "image", "logits"), func(in []nn.Value) []nn.Value {
			return []nn.Value{m.Forward(in[0])}
		})
		r.Method(method("Loss", "(f32[N,28,28], i64[N]) -> (f32[], f32[N,10])", "image target", "loss logits"), func(in []nn.Value) []nn.Value {
			a, b := m.Loss(in[0], in[1])
			return []nn.Value{a, b}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRecord(t *testing.T) {
	m := recordDigits(t)
	var ops []string
	for _, n := range m.Module.Func("loss").Nodes {
		if name := ir.OpName(n.Op); name != "load" {
			ops = append(ops, name)
		}
	}
	if want := "reshape conv dropout conv relu average_pool reshape transpose mat_mul add dropout relu transpose mat_mul add log_softmax check_index reshape gather_elements reshape neg reduce"; strings.Join(ops, " ") != want {
		t.Errorf("%v, want %v", ops, want)
	}
	text := m.Module.String()
	for _, want := range []string{
		"func @forward(%image: f32[N,28,28]) -> (logits: f32[N,10]) {",
		"func @loss(%image: f32[N,28,28], %target: i64[N]) -> (loss: f32[], logits: f32[N,10]) {",
		`load {name="fc2.bias"} : f32[10]`,
		"{rate=0.5 site=1}", "{rate=0.5 site=2}", "recorder_test.go:3",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the module has no %q", want)
		}
	}
	want := record.Weight{Name: "conv1.weight", Init: rt.Init{Kind: rt.InitUniform, A: -1. / 3, B: 1. / 3}, Pos: m.Weights[0].Pos}
	if diff := cmp.Diff(want, m.Weights[0]); diff != "" || !regexp.MustCompile(at(t, `Conv1: nn.NewConv2d(1, 8, 3), Conv2: nn.NewConv2d(8, 16, 3),`)+"$").MatchString(want.Pos) {
		t.Error(diff, want.Pos)
	}
	if len(m.Weights) != 8 || m.Methods[1] != (record.Method{Name: "Loss", Func: "loss", Loss: true, Pos: "model.go:7:1"}) {
		t.Errorf("%d weights, methods %v", len(m.Weights), m.Methods)
	}
	if !strings.HasPrefix(m.Structure, "digits\n  conv1: Conv2d") {
		t.Error(m.Structure)
	}
}

// recordOne records one method of a model.
func recordOne(model any, m nn.Method, f func(in []nn.Value) []nn.Value) (*record.Model, error) {
	return nn.Record(func(r *nn.Recorder) {
		r.Model(model)
		r.Method(m, f)
	})
}

func just(f func(x nn.Value) nn.Value) func([]nn.Value) []nn.Value {
	return func(in []nn.Value) []nn.Value { return []nn.Value{f(in[0])} }
}

func TestRecordRefuses(t *testing.T) {
	vector := method("Forward", "(f32[N,4]) -> f32[N,4]", "x", "y")
	lin := nn.NewLinear(4, 4)
	for name, c := range map[string]struct {
		method nn.Method
		f      func([]nn.Value) []nn.Value
		want   string
	}{
		"another result than declared": {vector, just(func(x nn.Value) nn.Value { return x.Sum(1) }),
			"model.go:7:1: Forward: y is f32[N,1], declared f32[N,4]; it is computed at "},
		"no result":          {vector, just(func(nn.Value) nn.Value { return nn.Value{} }), "model.go:7:1: Forward: result y is the zero nn.Value"},
		"a loss of many":     {method("Loss", "(f32[N,4])", "x", "y"), just(func(x nn.Value) nn.Value { return x }), "model.go:7:1: Loss: a loss is a float scalar, this is f32[N,4]; it is computed at "},
		"a loss of integers": {method("Loss", "(f32[N,4])", "x", "y"), just(func(x nn.Value) nn.Value { return x.Sum().Int() }), "a loss is a float scalar, this is i64[]"},
		"a parameter nobody names": {vector, just(func(x nn.Value) nn.Value { return lin.Forward(x) }),
			"this parameter is used, but no exported fields of the model lead to it, so that it has no name"},
		"elements of inputs": {vector, just(func(x nn.Value) nn.Value { return x.Mul(x.Sum().Item()) }),
			"Item: the value depends on input x, which has no data while the model is recorded; use nn.Where, nn.If or nn.While"},
		"elements of parameters": {vector, just(func(x nn.Value) nn.Value { return x.Mul(nn.NewLinear(1, 1).Weight.Value().Item()) }),
			"Item: the value depends on parameter made at "},
		"numbers of symbols": {vector, just(func(x nn.Value) nn.Value { return x.Mul(x.Dim(0).Int()) }),
			"dimension N is symbolic: it has no number while the model is recorded"},
		"a panic":             {vector, just(func(x nn.Value) nn.Value { return []nn.Value{x}[x.Rank()] }), "panic: runtime error: index out of range [2] with length 1"},
		"two shapes":          {vector, just(func(x nn.Value) nn.Value { return x.Add(nn.Ones(3)) }), "Add: "},
		"no signature":        {method("Forward", "(f32[N", "x", "y"), just(func(x nn.Value) nn.Value { return x }), "model.go:7:1: Forward: "},
		"too many parameters": {method("Forward", "(f32[N])", "x y", "z"), just(func(x nn.Value) nn.Value { return x }), "2 parameters, the signature has 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := recordOne(&struct{}{}, c.method, c.f)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), ".go:") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("all at once", func(t *testing.T) {
		_, err := nn.Record(func(r *nn.Recorder) {
			r.Model(struct{ A nn.Linear }{})
			r.Method(vector, just(func(x nn.Value) nn.Value { return x.Reshape(3) }))
			r.Method(vector, just(func(x nn.Value) nn.Value { return x.MatMul(x) }))
		})
		if err == nil || len(strings.Split(err.Error(), "\n")) != 3 {
			t.Errorf("%v, want three errors", err)
		}
	})
	t.Run("a value of another method", func(t *testing.T) {
		var kept nn.Value
		_, err := nn.Record(func(r *nn.Recorder) {
			r.Model(&struct{}{})
			r.Method(vector, just(func(x nn.Value) nn.Value { kept = x.Exp(); return x }))
			r.Method(method("Again", "(f32[N,4])", "x", "y"), just(func(x nn.Value) nn.Value { return x.Add(kept) }))
		})
		if err == nil || !strings.HasSuffix(err.Error(), ": the value depends on input x, and is used outside of it") || !strings.Contains(err.Error(), "recorder_test.go:") {
			t.Error(err)
		}
	})
	t.Run("endless", func(t *testing.T) {
		defer nn.LimitNodes(1000)()
		_, err := recordOne(&struct{}{}, vector, just(func(x nn.Value) nn.Value {
			for {
				x = x.Neg()
			}
		}))
		if err == nil || !strings.Contains(err.Error(), "Neg: more than 1000 operations") {
			t.Error(err)
		}
	})
}

func TestRecordedConstants(t *testing.T) {
	m := &struct{ Table, Noise nn.Value }{nn.Arange(300).Float(), nn.Normal(0, 1, 300)}
	noise := m.Noise.Floats()
	file, err := recorded(m, []ir.Type{ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(300))}, just(func(x nn.Value) nn.Value {
		return x.Mul(m.Table).Add(m.Noise).Add(nn.Uniform(0, 1, 300))
	}), 1)
	if err != nil {
		t.Fatal(err)
	}
	constants, draws := 0, 0
	for _, n := range file.Module.Func("forward").Nodes {
		if c, ok := n.Op.(ir.Constant); ok && c.Value.Len() == 300 {
			constants++
			if constants == 2 && c.Value.Float(7) != noise[7] {
				t.Error("the constant has other elements")
			}
		}
		if _, ok := n.Op.(op.RandomUniform); ok {
			draws++
		}
	}
	if constants != 2 || draws != 1 || len(file.Weights) != 0 {
		t.Errorf("%d constants, %d draws, %d weights", constants, draws, len(file.Weights))
	}
}

func TestRecordedStates(t *testing.T) {
	m := &struct {
		Cache *nn.State
		Other *nn.State
	}{nn.NewState("f32[N,S,2]"), nn.NewState("f32[2]")}
	f := func(x nn.Value) nn.Value {
		m.Cache.Set(nn.Concat(1, m.Cache.Value(), x))
		return m.Cache.Value().Sum(1)
	}
	got, err := recordOne(m, method("Next", "(f32[N,1,2]) -> f32[N,1,2]", "x", "y"), just(f))
	if err != nil {
		t.Fatal(err)
	}
	want := "func @next(%x: f32[N,1,2], %cache: f32[N,S,2]) -> (y: f32[N,1,2], cache: f32[N,S+1,2]) {"
	if text := got.Module.String(); !strings.HasPrefix(text, want) {
		t.Errorf("%s\nwant %s", text, want)
	}
	if diff := cmp.Diff([]record.State{{Name: "cache", Type: "f32[N,S,2]", Funcs: []string{"next"}}}, got.States); diff != "" {
		t.Error(diff)
	}
	eager := nn.NewState("f32[1,S,2]")
	for i := range 3 {
		eager.Set(nn.Concat(1, eager.Value(), nn.Full(float64(i), 1, 1, 2)))
	}
	wants(t, eager.Value(), 0, 0, 1, 1, 2, 2)
}

func TestRecordedGraphs(t *testing.T) {
	text := `weight w : f32[2,3]
weight mean : f32[3]

func @forward(%x: f32[B,2]) -> (y: f32[B,3]) {
  %w = load {name="w"} : f32[2,3]
  %m = load {name="mean"} : f32[3]
  %p = mat_mul %x, %w : f32[B,3]
  %n = batch_normalization %p, %m, %m, %m, %m {epsilon=1e-05} : f32[B,3]
  return %n
}
`
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	m.Weights[0].Data = ir.FloatTensor(ir.F32, 1, 2, 3, 4, 5, 6).Bytes()
	m.Weights[1].Data = ir.FloatTensor(ir.F32, 1, 1, 1).Bytes()
	net := &struct {
		Body *nn.Graph `nn:"."`
		Head nn.Linear
	}{nn.FromIR(m, nil), nn.NewLinear(3, 2, nn.NoBias)}
	nn.Assign(net, map[string]nn.Value{"head.weight": nn.Of([][]float64{{1, 0, 0}, {0, 1, 1}})})
	f := func(x nn.Value) nn.Value { return net.Head.Forward(net.Body.Forward(x)[0]) }
	wants(t, f(nn.Of([][]float64{{1, 0}})), 1, 5)
	got, err := recordOne(net, method("Forward", "(f32[N,2]) -> f32[N,2]", "x", "y"), just(f))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []record.Weight{
		{Name: "w", Init: rt.Init{Kind: rt.InitGiven}},
		{Name: "mean", Buffer: true, Init: rt.Init{Kind: rt.InitGiven}},
		{Name: "head.weight", Init: got.Weights[2].Init},
	} {
		want.Pos = got.Weights[i].Pos
		if diff := cmp.Diff(want, got.Weights[i]); diff != "" {
			t.Error(diff)
		}
	}
	if err := nn.Try(func() { net.Body.Forward(nn.Ones(1, 3)) }); err == nil || !strings.Contains(err.Error(), "Graph: operand 0 is f32[1,3], input %x is f32[1,2]") {
		t.Error(err)
	}
}

// A recording program, which the tests run in a process of its own.
func TestMain(m *testing.M) {
	describe, ok := programs[os.Getenv("NN_TEST_PROGRAM")]
	if !ok {
		os.Exit(m.Run())
	}
	nn.Main(describe)
}

var programs = map[string]func(*nn.Recorder){
	"good": func(r *nn.Recorder) {
		fmt.Println("printed")
		println("warned")
		describeSum(r, func(x nn.Value) nn.Value { return x.Add(1) })
	},
	"map": func(r *nn.Recorder) {
		terms := map[string]float64{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}
		describeSum(r, func(x nn.Value) nn.Value {
			for _, k := range terms {
				x = x.Add(k)
			}
			return x
		})
	},
	"clock": func(r *nn.Recorder) {
		describeSum(r, func(x nn.Value) nn.Value { return x.Add(float64(time.Now().UnixNano() % 1e6)) })
	},
	"endless": func(r *nn.Recorder) {
		describeSum(r, func(x nn.Value) nn.Value {
			for i := 0; ; i++ {
				if i < 0 {
					return x
				}
			}
		})
	},
	// The compiler gives the jumps of empty loops no line of their own.
	"empty": func(r *nn.Recorder) { describeSum(r, waits) },
	"empty, inlined": func(r *nn.Recorder) {
		describeSum(r, func(x nn.Value) nn.Value {
			turns(x)
			return x
		})
	},
	"wrong": func(r *nn.Recorder) {
		describeSum(r, func(x nn.Value) nn.Value { return x.MatMul(nn.Ones(3, 3)) })
	},
}

//go:noinline
func waits(x nn.Value) nn.Value {
	n := 0
	for n >= 0 {
		n &= 7
	}
	return x
}

func turns(x nn.Value) {
	//lint:ignore SA5002 the recorder has to find the line of such a loop
	for { // turns
	}
}

func describeSum(r *nn.Recorder, f func(nn.Value) nn.Value) {
	r.Model(&struct{}{})
	r.Method(method("Forward", "(f32[N,2])", "x", "y"), just(f))
}

// at returns a pattern of positions in this file. Each text stands for the first line that holds
// only this text.
func at(t *testing.T, texts ...string) string {
	t.Helper()
	const file = "recorder_test.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	lines := strings.Split(string(source), "\n")
	for _, text := range texts {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) == text })
		if i < 0 {
			t.Fatalf("%s has no line %q", file, text)
		}
		numbers = append(numbers, strconv.Itoa(i+1))
	}
	return file + ":(" + strings.Join(numbers, "|") + ")"
}

func TestMainProgram(t *testing.T) {
	for name, want := range map[string]string{
		"good":           "",
		"map":            `recorder_test.go:\d+: the description records differently each time, because of the order of a map, the time or random numbers: %h`,
		"clock":          "the description records differently each time",
		"endless":        at(t, "for i := 0; ; i++ {", "if i < 0 {") + ": still running after 300ms: an endless loop?",
		"empty":          at(t, "for n >= 0 {") + ": still running after 300ms: an endless loop?",
		"empty, inlined": at(t, "turns(x)", "for { // turns") + ": still running after 300ms: an endless loop?",
		"wrong":          `recorder_test.go:\d+: MatMul: inner dimensions: 2 is not 3`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "model.ir")
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "NN_TEST_PROGRAM="+name, nn.OutEnv+"="+file)
			if strings.Contains(want, "endless") {
				c.Env = append(c.Env, nn.LimitEnv+"=300ms")
			}
			var out, errs strings.Builder
			c.Stdout, c.Stderr = &out, &errs
			err := c.Run()
			if want == "" {
				warned := "warned\n" + nn.Between + strings.Repeat("warned\n", nn.Recordings-1) + nn.Between
				if err != nil || out.String() != "printed\n" || errs.String() != warned {
					t.Fatalf("%v: %q, %q", err, out.String(), errs.String())
				}
				f, err := os.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := record.Read(f); err != nil {
					t.Error(err)
				}
				return
			}
			if text := errs.String(); c.ProcessState.ExitCode() != 3 || !regexp.MustCompile(want).MatchString(text) || strings.Count(text, "\n") != 1 {
				t.Errorf("exit %d: %q, want %q", c.ProcessState.ExitCode(), text, want)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("a file is written")
			}
		})
	}
}
