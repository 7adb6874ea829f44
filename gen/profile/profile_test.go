package profile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// model returns a product in a function that is called twice, and a softmax of symbolic height.
func model(t *testing.T) *gen.Model {
	t.Helper()
	m, err := ir.Parse(`
weight w : f32[64,64]

func @forward(%x: f32[N,64]) -> (y: f32[N,64]) {
  %w = load {name="w"} : f32[64,64]
  %h = mat_mul %x, %w : f32[N,64]  // first
  %k = relu %h : f32[N,64]  // kink
  %y = softmax %k {axis=1} : f32[N,64]  // last
  return %y
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	m.Weight("w").Data = make([]byte, 64*64*4)
	g, err := gen.FromModule("model", m, gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestMeasure(t *testing.T) {
	m := model(t)
	inputs, shapes, err := Inputs(m.Forward.IR, nil, map[string]int{"N": 32})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Measure(t.Context(), m, Options{Inputs: inputs, Shapes: shapes, Time: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if p.Calls < 1 || p.Median <= 0 || p.Least > p.Median || p.Read <= 0 {
		t.Errorf("%d calls, median %v, least %v, %v bytes/ns", p.Calls, p.Median, p.Least, p.Read)
	}
	var product *Node
	for i, n := range p.Nodes {
		if strings.Contains(n.Name, "first") {
			product = &p.Nodes[i]
		}
	}
	if product == nil {
		t.Fatalf("no node is called first: %+v", p.Nodes)
	}
	if want := int64(2 * 32 * 64 * 64); product.Flops != want || product.Runs != 1 || product.Time <= 0 {
		t.Errorf("%+v, %d operations expected", *product, want)
	}
	if want := int64(4 * (32*64 + 64*64 + 32*64)); product.Bytes != want {
		t.Errorf("%d bytes, %d expected", product.Bytes, want)
	}
	text := p.Text(0, false)
	for _, name := range []string{"first", "last"} {
		if !strings.Contains(text, name) {
			t.Errorf("%q is not in\n%s", name, text)
		}
	}
}

func TestInputsRefuses(t *testing.T) {
	f := model(t).Forward.IR
	if _, _, err := Inputs(f, nil, map[string]int{"M": 2}); err == nil {
		t.Error("an extent that no input has is taken")
	}
	if _, _, err := Inputs(f, nil, map[string]int{"N": 1 << 40}); err == nil {
		t.Error("a huge input is drawn")
	}
	given := map[string]*ir.Tensor{"x": ir.NewTensor(ir.F32, 7, 64)}
	_, shapes, err := Inputs(f, given, nil)
	if got := fmt.Sprint(shapes); err != nil || got != "[[7 64]]" {
		t.Errorf("shapes %s, error %v", got, err)
	}
}

func sample() *Profile {
	return &Profile{Model: "a <b>", Threads: 2, Level: "avx2", Calls: 11, Median: 3000, Multiply: 100, Read: 10, Nodes: []Node{
		{Name: "one", Op: "conv", Shape: "f32[1]", Time: 1000, Flops: 50_000, Bytes: 1000, Runs: 2, Lost: Lost{Serial: 100, Uneven: 10_000, Wait: 300}},
		{Name: "other <&>\x01", Op: "conv", Shape: "f32[1]", Time: 500, Flops: 50_000, Bytes: 1000, Runs: 1},
		{Name: "copy", Op: "copy", Shape: "f32[2]", Time: 500, Bytes: 4000, Runs: 1},
	}}
}

func TestRows(t *testing.T) {
	rows := sample().Rows(false)
	if len(rows) != 2 || rows[0].Nodes != 3 || rows[0].Time != 1500 || rows[0].Flops != 100_000 {
		t.Errorf("%+v", rows)
	}
	// A difference of more than 2³¹ ns counts on machines of 32 bits too.
	long := &Profile{Nodes: []Node{{Name: "short", Op: "a", Time: time.Second}, {Name: "long", Op: "b", Time: time.Second + 3<<30}}}
	if rows := long.Rows(true); rows[0].Name != "long" {
		t.Error(rows)
	}
	if rows := sample().Rows(true); len(rows) != 3 || rows[0].Name != "one" {
		t.Errorf("each: %+v", rows)
	}
}

func TestText(t *testing.T) {
	text := sample().Text(1, false)
	for _, want := range []string{"one ×3", "67 %", "66.7", "1 more", "2 threads", "      0.1     10.0      0.3  one"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	p := sample()
	p.Threads = 1
	if text := p.Text(1, false); strings.Contains(text, "uneven") {
		t.Errorf("one thread shares:\n%s", text)
	}
}

func TestLost(t *testing.T) {
	s := rt.Sharing{Runs: 1, Workers: 4, Span: 80, Busy: 160, Longest: 70}
	if got, want := lost(100, s, 4), (Lost{Serial: 20, Uneven: 30, Wait: 10}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := lost(100, rt.Sharing{}, 4), (Lost{Serial: 100}); got != want {
		t.Errorf("not shared: %+v, want %+v", got, want)
	}
}

func TestRoofline(t *testing.T) {
	d := xml.NewDecoder(bytes.NewReader(sample().Roofline()))
	circles := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			circles++
		}
	}
	if circles != 1 {
		t.Errorf("%d circles, 1 expected: a row without operations has none", circles)
	}
}
