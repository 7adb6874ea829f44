package verify

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// stub returns a package with the API of a generated one.
func stub(name, body string) []emit.File {
	return []emit.File{{Name: "model.go", Data: []byte(`package ` + name + `

import "os"

type Model struct{}

func Load() (*Model, error) { return &Model{}, nil }

func (m *Model) Forward(x []float32) ([]float32, error) {
	if x == nil {
		os.Exit(3)
	}
	` + body + `
}
`)}}
}

// What one package does is charged to it alone.
func TestProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	p, err := newProgram(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ name, body string }{
		{"case_good", "return x, nil"},
		{"case_broken", "return y, nil"},
		{"case_panic", "panic(\"on purpose\")"},
		{"case_hang", "for { os.Getpid() }"},
		{"case_exit", "os.Exit(3); return nil, nil"},
		{"case_error", "return nil, os.ErrInvalid"},
		{"case_last", "return x[1:], nil"},
	} {
		if err := p.add(c.name, i, stub(c.name, c.body), true); err != nil {
			t.Fatal(err)
		}
	}
	broken, err := p.build()
	if err != nil {
		t.Fatal(err)
	}
	if len(broken) != 1 || broken[1] != "go build: model.go:13:9: undefined: y" {
		t.Errorf("got %v", broken)
	}
	child := &child{binary: p.Binary()}
	defer child.close()
	port := ports{params: []*ir.Value{{Name: "x", Type: ir.TensorOf(ir.F32, dim.Sym("N"))}}, results: []port{{name: "y", typ: ir.TensorOf(ir.F32, dim.Sym("N"))}}}
	const endless = 2
	ask := func(at int) string {
		limit := time.Minute
		if at == endless {
			limit = time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		out, err := call(ctx, child, at, &port, []*onnx.Value{{Tensor: ir.FloatTensor(ir.F32, 1, 2)}})
		if err != nil {
			return err.Error()
		}
		return strings.TrimSuffix(out[0].Tensor.Type().String()+" "+text(out[0].Tensor, 0), " ")
	}
	for at, want := range []string{
		"f32[2] 1",
		"crashed: panic: on purpose",
		"no result within the time limit",
		"crashed: exit status 3",
		"invalid argument",
		"f32[1] 2",
	} {
		if got := ask(at); got != want {
			t.Errorf("%s: got %q, want %q", p.packages[at].name, got, want)
		}
	}
}

func TestBlame(t *testing.T) {
	got := blame("# verify/case_a\ncase_a/model.go:3:1: wrong\ncase_a/model.go:4:1: more\n# verify/case_b\n./case_b/weights.go:1:1: bad\nother/x.go:1:1: strange\n",
		[]pkg{{name: "case_a"}, {name: "case_b"}, {name: "case_c"}})
	want := map[string]string{"case_a": "model.go:3:1: wrong", "case_b": "weights.go:1:1: bad"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPackageNames(t *testing.T) {
	taken := map[string]bool{}
	for _, c := range [][2]string{{"models/test_abs", "case_test_abs"}, {"b/test_abs", "case_test_abs_2"}, {"Über-net_v2.1", "case__ber_net_v2_1"}, {"x_test", "case_x"}} {
		if got := packageName(c[0], taken); got != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[1])
		}
	}
}

// TestLimited asserts that a panic of the generator, or a generation that does not end, is a
// failure and not a refusal.
func TestLimited(t *testing.T) {
	if v, err := limited(time.Minute, func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
	_, err := limited(time.Minute, func() (int, error) { panic("odd") })
	if r := refusal("x", err); r.String() != "FAIL x: panic: odd" {
		t.Errorf("got %q", r)
	}
	block := make(chan bool)
	defer close(block)
	_, err = limited(time.Millisecond, func() (int, error) { <-block; return 0, nil })
	if r := refusal("x", err); r.Status != Fail || !errors.Is(err, errTimeout) {
		t.Errorf("got %q", r)
	}
	if r := refusal("x", errors.New("a\nb\nc")); r.String() != "REFUSED x: a (and 2 more)" {
		t.Errorf("got %q", r)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b/one/test_data_set_0/", "a/ref/manifest.json", "a/model.onnx", "b/one/model.onnx", "b/two/model.onnx", "c/d/e/f/model.onnx", "c/d/e/f/ref/manifest.json"} {
		if strings.HasSuffix(name, "/") {
			os.MkdirAll(dir+"/"+name, 0o777)
			continue
		}
		os.MkdirAll(dir+"/"+name[:strings.LastIndexByte(name, '/')], 0o777)
		if err := os.WriteFile(dir+"/"+name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	names := func(path string) string {
		cases, err := Find([]string{path})
		if err != nil {
			return "error"
		}
		var list []string
		for _, c := range cases {
			_, name, _ := strings.Cut("/"+c.Name+" ", "/")
			list = append(list, strings.TrimSpace(name))
		}
		return strings.Join(list, " ")
	}
	base := dir[strings.LastIndexByte(dir, '/')+1:]
	if got, want := names(dir), base+"/a "+base+"/b/one"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := names(dir + "/a"); got != "a" {
		t.Errorf("got %q", got)
	}
	for _, none := range []string{"/missing", "/a/model.onnx", "/c/d/e", "/b/two"} {
		want := "error"
		if none == "/c/d/e" {
			want = "e/f"
		}
		if got := names(dir + none); got != want {
			t.Errorf("%s: got %q, want %q", none, got, want)
		}
	}
}

// Sequences keep their order on the way to a generated package and back.
func TestConvert(t *testing.T) {
	typ := ir.SequenceOf(ir.TensorOf(ir.I64, dim.Sym("N")))
	v := &onnx.Value{Items: []*onnx.Value{{Tensor: ir.IntTensor(ir.I64, 1, 2)}, {Tensor: ir.IntTensor(ir.I64)}}}
	sent := send(v, typ)
	if sent.Kind != harness.Sequence || len(sent.Items) != 2 {
		t.Fatalf("got %+v", sent)
	}
	back, err := receive(sent, typ)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Items {
		if !back.Items[i].Tensor.Equal(v.Items[i].Tensor) {
			t.Errorf("item %d: %v", i, back.Items[i].Tensor)
		}
	}
	if _, err := receive(sent, ir.TensorOf(ir.I64)); err == nil {
		t.Error("a sequence is taken for a tensor")
	}
	texts := words("a", "b")
	back, err = receive(send(&onnx.Value{Tensor: texts}, texts.Type()), texts.Type())
	if err != nil || !back.Tensor.Equal(texts) {
		t.Errorf("got %v, %v", back, err)
	}
	if _, err := receive(send(&onnx.Value{Tensor: texts}, texts.Type()), typ.Elem.With(ir.F32)); err == nil {
		t.Error("strings are taken for numbers")
	}
}

// A model is generated, built and called in each of the three forms.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	forms := map[string]*onnxtest.Model{
		"static":  onnxtest.New(17).Input("x", ir.F32, 2, 3).Output("y", ir.F32, 2, 3),
		"batched": onnxtest.New(17).Input("x", ir.F32, "N", 3).Output("y", ir.F32, "N", 3),
		"dynamic": onnxtest.New(17).Input("x", ir.F32, "N", "C").Output("y", ir.F32, "N", "C"),
	}
	const manifest = `{"cases": [{"name": "a", "inputs": {"x": {"dtype": "float32", "dims": [2,3], "file": "x.bin"}}, "outputs": {"y": {"dtype": "float32", "dims": [2,3], "file": "y.bin"}}}]}`
	var cases []Case
	for _, form := range []string{"static", "batched", "dynamic"} {
		m := forms[form].Node("neg", "Neg", []string{"x"}, []string{"y"})
		cases = append(cases, writeCase(t, form, m.Bytes(), manifest, map[string][]byte{"x.bin": floats(1, 2, 3, 4, 5, 6), "y.bin": floats(-1, -2, -3, -4, -5, -6)}))
	}
	var got []string
	sum, err := Run(cases, Options{Report: func(r Result) { got = append(got, r.String()) }})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"PASS static", "PASS batched", "PASS dynamic"}, got); diff != "" || sum.String() != "3 passed, 0 failed, 0 refused, 0 ran" {
		t.Errorf("%s: %s", sum, diff)
	}
}
