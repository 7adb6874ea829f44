package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// folder writes a model that adds two inputs of N×2 and returns its file.
func folder(t *testing.T) string {
	t.Helper()
	m := onnxtest.New(17).Input("a", ir.F32, "N", 2).Input("b", ir.F32, "N", 2).Output("y", ir.F32, "N", 2).
		Node("sum", "Add", []string{"a", "b"}, []string{"y"})
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// refer writes arguments a and b of 1×2 as a reference beside the model at path.
func refer(t *testing.T, path string, a, b *ir.Tensor) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(path), "test_data_set_0")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{"input_0.pb": onnxtest.Tensor("a", a), "input_1.pb": onnxtest.Tensor("b", b)} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func row(v ...float64) *ir.Tensor { return ir.FloatTensor(ir.F32, v...).Reshape(1, len(v)) }

// values returns the elements of the tensors in a file.
func values(t *testing.T, path string, names ...string) (out [][]float64) {
	t.Helper()
	list, err := read(path, names)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		var v []float64
		for i := range x.Len() {
			v = append(v, x.Float(i))
		}
		out = append(out, v)
	}
	return out
}

func TestInputsAreThoseOfReferences(t *testing.T) {
	model, file := folder(t), filepath.Join(t.TempDir(), "in.bin")
	refer(t, model, row(1, 2), row(3, 4))
	got, err := inputs([]string{model, file})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Reference || got.Symbols["N"] != 1 {
		t.Errorf("got %+v", got)
	}
	if v := values(t, file, "a", "b"); !slices.Equal(v[0], []float64{1, 2}) || !slices.Equal(v[1], []float64{3, 4}) {
		t.Errorf("inputs %v", v)
	}
}

func TestInputsRepeatReferencesInLargerBatches(t *testing.T) {
	model, file := folder(t), filepath.Join(t.TempDir(), "in.bin")
	refer(t, model, row(1, 2), row(3, 4))
	for _, flag := range [][]string{{"-batch", "3"}, {"-dim", "N=3"}} {
		if _, err := inputs(append(flag, model, file)); err != nil {
			t.Fatal(err)
		}
		if v := values(t, file, "a"); !slices.Equal(v[0], []float64{1, 2, 1, 2, 1, 2}) {
			t.Errorf("%q: input %v", flag, v)
		}
	}
}

func TestInputsAreDrawnWithoutReferences(t *testing.T) {
	model, file := folder(t), filepath.Join(t.TempDir(), "in.bin")
	got, err := inputs([]string{"-batch", "2", model, file})
	if err != nil {
		t.Fatal(err)
	}
	if got.Reference || got.Symbols["N"] != 2 {
		t.Errorf("got %+v", got)
	}
	// bench.test.mjs has the same numbers.
	if v := values(t, file, "a"); !slices.Equal(v[0], []float64{0.1467951536178589, 0.17678749561309814, 0.40826737880706787, 0.8555257320404053}) {
		t.Errorf("input %v", v[0])
	}
}

func TestDrawsDiffer(t *testing.T) {
	model, file := folder(t), filepath.Join(t.TempDir(), "in.bin")
	var first []float64
	for _, draw := range []string{"0", "1", "2"} {
		if _, err := inputs([]string{"-draw", draw, model, file}); err != nil {
			t.Fatal(err)
		}
		for _, v := range values(t, file, "a", "b") {
			if slices.Contains(first, v[0]) {
				t.Errorf("draw %s repeats %v", draw, v)
			}
			first = append(first, v[0])
		}
	}
}

func TestInputsRefuseWhatTheModelDoesNotHave(t *testing.T) {
	static := filepath.Join(t.TempDir(), "static.onnx")
	m := onnxtest.New(17).Input("a", ir.F32, 1, 2).Output("y", ir.F32, 1, 2).Node("n", "Neg", []string{"a"}, []string{"y"})
	if err := os.WriteFile(static, m.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-dim", "M=3", folder(t)}, `the model's symbols are ["N"]`},
		{[]string{"-batch", "2", static}, "not a symbol"},
	} {
		_, err := inputs(append(test.args, filepath.Join(t.TempDir(), "in.bin")))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.args, err, test.want)
		}
	}
}

func TestRepeatedStartsAgainAlongEachDimension(t *testing.T) {
	x := repeated(ir.IntTensor(ir.I64, 1, 2, 3, 4).Reshape(2, 2), []int{3, 3})
	var got []int64
	for i := range x.Len() {
		got = append(got, x.Int(i))
	}
	if want := []int64{1, 2, 1, 3, 4, 3, 1, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// written writes a file of tensors and returns its path.
func written(t *testing.T, named map[string]*ir.Tensor) string {
	t.Helper()
	var list []tensors.Tensor
	for name, x := range named {
		e, err := encode(name, x)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	path := filepath.Join(t.TempDir(), "tensors.bin")
	if err := tensors.Write(path, list); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestJudge(t *testing.T) {
	model := folder(t)
	in := written(t, map[string]*ir.Tensor{"a": row(1, 2), "b": row(3, 4)})
	for _, test := range []struct {
		name          string
		want, got     *ir.Tensor
		problem, note bool
		rms           float64
	}{
		{"equal", row(4, 6), row(4, 6), false, false, 0},
		{"within rounding", row(4, 6), row(4, 6.001), false, false, 0.001 / 7.2111},
		{"the other side is wrong", row(4, 5), row(4, 6), false, true, 1 / 6.4031},
		{"wrong", row(4, 6), row(4, 5), true, false, 1 / 7.2111},
		{"both are wrong", row(1, 1), row(2, 2), true, false, 1},
		{"another shape", row(4, 6), row(4, 6, 8), true, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := judge([]string{model, in, written(t, map[string]*ir.Tensor{"y": test.want}), written(t, map[string]*ir.Tensor{"y": test.got})})
			if err != nil {
				t.Fatal(err)
			}
			if (v.Problem != "") != test.problem || (v.Note != "") != test.note || v.RMS < test.rms*.99 || v.RMS > test.rms*1.01 {
				t.Errorf("got %+v", v)
			}
		})
	}
	if _, err := judge([]string{model, in, written(t, nil), written(t, nil)}); err == nil {
		t.Error("no error for missing outputs")
	}
}

func TestAccuracyIsAgainstFloat64(t *testing.T) {
	// In float32, 1 + 2⁻³⁰ is 1.
	const small = 1. / (1 << 30)
	m := onnxtest.New(17).Input("a", ir.F32, 2).Output("y", ir.F32, 2).
		Initializer("w", ir.FloatTensor(ir.F32, small, small)).Initializer("to", ir.FloatTensor(ir.F32, 1, 1)).
		Node("one", "Add", []string{"a", "w"}, []string{"s"}).
		Node("cast", "Cast", []string{"s"}, []string{"t"}, onnxtest.Attr{Name: "to", Value: 1}).
		Node("two", "Sub", []string{"t", "to"}, []string{"y"})
	model := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(model, m.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	in := written(t, map[string]*ir.Tensor{"a": ir.FloatTensor(ir.F32, 1, 1)})
	zeros := written(t, map[string]*ir.Tensor{"y": ir.FloatTensor(ir.F32, 0, 0)})
	right := written(t, map[string]*ir.Tensor{"y": ir.FloatTensor(ir.F32, small, small)})
	v, err := judge([]string{"-accuracy", model, in, zeros, right})
	if err != nil {
		t.Fatal(err)
	}
	if want := (accuracy{Want: 1, Got: 0, Strict: 1, Values: 2}); *v.Accuracy != want {
		t.Errorf("accuracy %+v, want %+v", *v.Accuracy, want)
	}
}
