package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// sum writes a model of y = a+b, c = -a and returns its case.
func sum(t *testing.T) (Case, *onnx.Model) {
	t.Helper()
	m := onnxtest.New(17).Input("a", ir.F32, 2).Input("b", ir.F32, 2).Output("y", ir.F32, 2).Output("c", ir.F32, 2).
		Node("sum", "Add", []string{"a", "b"}, []string{"y"}).Node("neg", "Neg", []string{"a"}, []string{"c"})
	c := Case{Name: "sum", Dir: t.TempDir()}
	if err := os.WriteFile(c.model(), m.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := onnx.Open(c.model(), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, src
}

func TestArgumentsAreThoseOfTheFirstReference(t *testing.T) {
	c, src := sum(t)
	if _, err := c.Arguments(src); err == nil {
		t.Error("no error without references")
	}
	for i, set := range []string{"test_data_set_0", "test_data_set_1"} {
		dir := filepath.Join(c.Dir, set)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, file := range map[string]string{"a": "input_0.pb", "b": "input_1.pb"} {
			if err := os.WriteFile(filepath.Join(dir, file), onnxtest.Tensor(name, ir.FloatTensor(ir.F32, float64(i), 7)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	args, err := c.Arguments(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range args {
		if !a.Equal(ir.FloatTensor(ir.F32, 0, 7)) {
			t.Errorf("got %s", a.Type())
		}
	}
	// A stream's first call takes the first frame.
	write(t, filepath.Join(c.Dir, "ref", "frames.bin"), ir.FloatTensor(ir.F32, 1, 2, 3, 4).Bytes())
	write(t, filepath.Join(c.Dir, "ref", "manifest.json"), []byte(`{"cases": [{"name": "s", "kind": "stream", "inputs": {
		"a": {"dtype": "float32", "dims": [2], "frames": 2, "frames_file": "frames.bin"},
		"b": {"dtype": "float32", "dims": [2], "zeros": true}}}]}`))
	if args, err = c.Arguments(src); err != nil {
		t.Fatal(err)
	}
	if !args[0].Equal(ir.FloatTensor(ir.F32, 1, 2)) || !args[1].Equal(ir.FloatTensor(ir.F32, 0, 0)) {
		t.Error("not the first frame and zeros")
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestCompareWithinTolerance(t *testing.T) {
	_, src := sum(t)
	args := []*ir.Tensor{ir.FloatTensor(ir.F32, 1, 2), ir.FloatTensor(ir.F32, 3, 4)}
	want, err := Evaluate(src, args)
	if err != nil {
		t.Fatal(err)
	}
	row := func(v ...float64) *ir.Tensor { return ir.FloatTensor(ir.F32, v...) }
	for _, test := range []struct {
		name string
		got  []*ir.Tensor
		want []*ir.Tensor
		why  string
	}{
		{"equal", []*ir.Tensor{row(4, 6), row(-1, -2)}, want, ""},
		{"rounded", []*ir.Tensor{row(4.0001, 6), row(-1, -2)}, want, ""},
		{"not compared", []*ir.Tensor{row(4, 6), row(7, 7)}, []*ir.Tensor{want[0], nil}, ""},
		{"off", []*ir.Tensor{row(4, 6), row(-1, -2.1)}, want, `output "c": element 1`},
		{"another shape", []*ir.Tensor{row(4), row(-1, -2)}, want, `output "y": f32[1], want f32[2]`},
		{"missing", []*ir.Tensor{nil, row(-1, -2)}, want, `output "y": not a tensor`},
		{"too few", want[:1], want, "1 and 2 outputs"},
	} {
		if why := Compare(src, test.got, test.want); !strings.HasPrefix(why, test.why) || (why == "") != (test.why == "") {
			t.Errorf("%s: %q, want %q", test.name, why, test.why)
		}
	}
}
