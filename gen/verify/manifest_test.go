package verify

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/internal/heap"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// writeCase writes a model and its reference to a new folder.
func writeCase(t *testing.T, name string, model []byte, manifest string, files map[string][]byte) Case {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Join(dir, "ref"), 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(modelFile, model)
	write("ref/manifest.json", []byte(manifest))
	for name, data := range files {
		write("ref/"+name, data)
	}
	return Case{Name: name, Dir: dir}
}

func floats(v ...float32) []byte {
	data, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return data
}

// verifyOne verifies a case in a mode.
func verifyOne(t *testing.T, c Case, o Options) Result {
	t.Helper()
	var got Result
	o.Report = func(r Result) { got = r }
	if _, err := Run([]Case{c}, o); err != nil {
		t.Fatal(err)
	}
	return got
}

// double is y = x + x for x: f32[1,3,1,2].
func double() []byte {
	return onnxtest.New(17).Input("x", ir.F32, 1, 3, 1, 2).Output("y", ir.F32, 1, 3, 1, 2).
		Node("add", "Add", []string{"x", "x"}, []string{"y"}).Bytes()
}

// TestLargeCasesOneByOne asserts that the memory of a large case is released before the next case
// is read, by the interpreters and when packages are generated.
func TestLargeCasesOneByOne(t *testing.T) {
	const n = 2500 // 25 MB of weights, and 50 MB in the evaluator
	w := ir.Splat(ir.Scalar(ir.F32, 0.5), n, n)
	model := onnxtest.New(17).Input("x", ir.F32, 1, n).Output("y", ir.F32, 1, n).Initializer("w", w).
		Node("product", "MatMul", []string{"x", "w"}, []string{"y"}).Bytes()
	const manifest = `{"cases": [{"name": "a", "inputs": {"x": {"dtype": "float32", "dims": [1,2500], "file": "x.bin"}}, "outputs": {"y": {"dtype": "float32", "dims": [1,2500], "file": "x.bin"}}}]}`
	zeros := map[string][]byte{"x.bin": make([]byte, 4*n)}
	var cases []Case
	for _, name := range []string{"a", "b", "c", "d"} {
		cases = append(cases, writeCase(t, name, model, manifest, zeros))
	}
	model = nil
	debug.FreeOSMemory()
	before := heap.Bytes()
	check := func(stage string, done, total int) {
		if now := heap.Bytes(); now > before+40<<20 {
			t.Errorf("%s %d of %d: %d MiB are held, %d before", stage, done, total, now>>20, before>>20)
		}
	}
	for name, mode := range map[string]Mode{"evaluated": Evaluated, "executed": Executed} {
		t.Run(name, func(t *testing.T) {
			sum, err := Run(cases, Options{Mode: mode, Progress: check})
			if err != nil || sum.Passed != len(cases) {
				t.Errorf("%s, error %v", sum, err)
			}
		})
	}
	t.Run("generated", func(t *testing.T) {
		p, err := newProgram(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		v := &verifier{Options: Options{Progress: check, Timeout: time.Hour}, cases: cases}
		if _, _, err := v.generate(p); err != nil {
			t.Fatal(err)
		}
		var linked []string
		for _, k := range p.packages {
			if k.weights == "" {
				linked = append(linked, k.name)
			}
		}
		if diff := cmp.Diff([]string{"case_a", "case_b"}, linked); diff != "" {
			t.Errorf("weights that are linked: %s", diff)
		}
	})
}

func TestManifest(t *testing.T) {
	const dims = `"dtype": "float32", "dims": [1,3,1,2]`
	uniform := make([]float32, 6)
	seed := uint32(5)
	for i := range uniform {
		x := uint32(i) + seed*0x9E3779B9
		x ^= x >> 16
		x *= 0x85ebca6b
		x ^= x >> 13
		x *= 0xc2b2ae35
		x ^= x >> 16
		uniform[i] = 2 * float32(-1+3*float64(x>>8)/16777216)
	}
	for _, c := range []struct {
		name, manifest string
		files          map[string][]byte
		want           string
	}{
		{
			"from a file",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "file": "x.bin"}}, "outputs": {"y": {` + dims + `, "file": "y.bin"}}}]}`,
			map[string][]byte{"x.bin": floats(1, 2, 3, 4, 5, 6), "y.bin": floats(2, 4, 6, 8, 10, 12)},
			"PASS case",
		},
		{
			"wrong",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "file": "x.bin"}}, "outputs": {"y": {` + dims + `, "file": "y.bin"}}}]}`,
			map[string][]byte{"x.bin": floats(1, 2, 3, 4, 5, 6), "y.bin": floats(2, 4, 6, 8, 10, 13)},
			`FAIL case: output "y": element 5 [0 2 0 1] is 12, want 13`,
		},
		{
			"the second of two",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "zeros": true}}, "outputs": {"y": {` + dims + `, "file": "zero.bin"}}},
				{"name": "b", "inputs": {"x": {` + dims + `, "file": "x.bin"}}, "outputs": {"y": {` + dims + `, "file": "zero.bin"}}}]}`,
			map[string][]byte{"x.bin": floats(1, 2, 3, 4, 5, 6), "zero.bin": floats(0, 0, 0, 0, 0, 0)},
			`FAIL case: b: output "y": element 0 [0 0 0 0] is 2, want 0 (6 of 6 differ)`,
		},
		{
			"from a hash",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "gen": {"kind": "murmur3", "lo": -1, "hi": 2, "seed": 5}}}, "outputs": {"y": {` + dims + `, "file": "y.bin"}}}]}`,
			map[string][]byte{"y.bin": floats(uniform...)},
			"PASS case",
		},
		{
			"from a picture",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "image_u8": {"file": "p.u8", "h": 1, "w": 2, "order": "BGR", "layout": "NCHW", "mean": [1,2,3], "scale": [1,0.5,2]}}},
				"outputs": {"y": {` + dims + `, "file": "y.bin"}}}]}`,
			map[string][]byte{"p.u8": {10, 20, 30, 40, 50, 60}, "y.bin": floats(2*29, 2*59, 18, 48, 4*7, 4*37)},
			"PASS case",
		},
		{
			"head, stride and range",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "file": "x.bin"}}, "outputs": {"y": {` + dims + `,
				"head": {"file": "head.bin", "count": 1}, "strided": {"file": "strided.bin", "stride": 4, "count": 2},
				"stats": {"count": 6, "sum": 42, "sumsq": 364, "min": 2, "max": 12, "argmax": 5, "nan": 0}}}}]}`,
			map[string][]byte{"x.bin": floats(1, 2, 3, 4, 5, 6), "head.bin": floats(2), "strided.bin": floats(2, 10)},
			"PASS case",
		},
		{"no reference", `{"cases": [], "load_error": "it cannot be loaded"}`, nil, "RAN case"},
		{
			"outputs that no reference holds",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "zeros": true}}, "outputs": {"y": {"unsupported": "non-tensor output"}}}]}`,
			nil, "RAN case",
		},
		{
			"a short file",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "file": "x.bin"}}, "outputs": {}}]}`,
			map[string][]byte{"x.bin": floats(1)},
			`FAIL case: reference: a: input "x": x.bin: 4 bytes for f32[1,3,1,2]`,
		},
		{
			"a file outside",
			`{"cases": [{"name": "a", "inputs": {"x": {` + dims + `, "file": "../model.onnx"}}, "outputs": {}}]}`,
			nil, `FAIL case: reference: a: input "x": openat ../model.onnx: path escapes from parent`,
		},
		{
			"an input without values",
			`{"cases": [{"name": "a", "inputs": {}, "outputs": {}}]}`,
			nil, `FAIL case: reference: a: no value for the input "x"`,
		},
		{"not JSON", `{`, nil, "FAIL case: reference: manifest.json: unexpected end of JSON input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []Mode{Evaluated, Executed} {
				if got := verifyOne(t, writeCase(t, "case", double(), c.manifest, c.files), Options{Mode: mode}); got.String() != c.want {
					t.Errorf("mode %d: got %q, want %q", mode, got, c.want)
				}
			}
		})
	}
}

// A stream feeds outputs back into inputs, call after call.
func TestStream(t *testing.T) {
	model := onnxtest.New(17).Input("x", ir.F32, 2).Input("state", ir.F32, 2).Output("y", ir.F32, 2).Output("next", ir.F32, 2).
		Node("sum", "Add", []string{"x", "state"}, []string{"next"}).
		Node("neg", "Neg", []string{"next"}, []string{"y"}).Bytes()
	manifest := func(last string) string {
		return fmt.Sprintf(`{"cases": [{"name": "stream", "kind": "stream",
			"inputs": {"state": {"dtype": "float32", "dims": [2], "zeros": true}, "x": {"dtype": "float32", "dims": [2], "frames_file": "x.bin", "frames": 3}},
			"outputs": {"y": {"dtype": "float32", "dims": [2], "steps_file": "y.bin", "frames": 3}},
			"state": {"next": "state"}, "final_state": {"next": {"dtype": "float32", "dims": [2], "file": "%s"}}}]}`, last)
	}
	files := map[string][]byte{"x.bin": floats(1, 2, 3, 4, 5, 6), "y.bin": floats(-1, -2, -4, -6, -9, -12), "right.bin": floats(9, 12), "wrong.bin": floats(9, 13)}
	for _, c := range []struct{ last, want string }{
		{"right.bin", "PASS case"},
		{"wrong.bin", `FAIL case: output "next": element 1 [1] is 12, want 13`},
	} {
		if got := verifyOne(t, writeCase(t, "case", model, manifest(c.last), files), Options{Mode: Evaluated}); got.String() != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	files["y.bin"] = floats(-1, -2, -4, -6, -9, -11)
	got := verifyOne(t, writeCase(t, "case", model, manifest("right.bin"), files), Options{Mode: Evaluated})
	if want := `FAIL case: output "y": element 5 [2 1] is -12, want -11`; got.String() != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// -layers compares values between the inputs and the outputs.
func TestLayers(t *testing.T) {
	model := onnxtest.New(17).Input("x", ir.F32, 2).Output("y", ir.F32, 2).
		Node("neg", "Neg", []string{"x"}, []string{"h"}).
		Node("abs", "Abs", []string{"h"}, []string{"y"}).Bytes()
	manifest := `{"cases": [{"name": "a", "inputs": {"x": {"dtype": "float32", "dims": [2], "file": "x.bin"}},
		"outputs": {"h": {"dtype": "float32", "dims": [2], "file": "h.bin"}, "y": {"dtype": "float32", "dims": [2], "file": "y.bin"}}}]}`
	c := writeCase(t, "case", model, manifest, map[string][]byte{"x.bin": floats(1, 2), "h.bin": floats(-1, -3), "y.bin": floats(1, 2)})
	if got := verifyOne(t, c, Options{Mode: Executed}); got.Status != Pass {
		t.Errorf("got %s", got)
	}
	got := verifyOne(t, c, Options{Mode: Executed, Layers: true})
	if want := `FAIL case: output "h": element 1 [1] is -2, want -3`; got.String() != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]float64{"1.5": 1.5, `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1), "null": math.NaN(), `"NaN"`: math.NaN()} {
		var n number
		if err := n.UnmarshalJSON([]byte(text)); err != nil || float64(n) != want && want == want {
			t.Errorf("%s: %v, %v", text, n, err)
		}
	}
	var n number
	if err := n.UnmarshalJSON([]byte(`"much"`)); err == nil || !strings.Contains(err.Error(), "much") {
		t.Errorf("got %v", err)
	}
}

// FuzzManifest reads arbitrary manifests. Reading must end with references that can be compared, or
// with an error.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{
		`{"cases": [{"name": "a", "inputs": {"x": {"dtype": "float32", "dims": [2], "file": "six.bin"}}, "outputs": {"y": {"dtype": "float32", "dims": [6], "file": "six.bin"}}}]}`,
		`{"cases": [{"kind": "stream", "inputs": {"x": {"dtype": "float32", "dims": [2], "frames_file": "six.bin", "frames": 3}}, "outputs": {"y": {"dtype": "float32", "dims": [2], "steps_file": "six.bin"}}, "state": {"y": "x"}}]}`,
		`{"cases": [{"inputs": {"x": {"dtype": "float32", "dims": [1,1,2], "image_u8": {"file": "six.bin", "h": 4611686018427387904, "w": 4}}}}]}`,
		`{"cases": [{"inputs": {"x": {"dtype": "float32", "dims": [4611686018427387904], "zeros": true}}}]}`,
		`{"cases": [{"inputs": {"x": {"dtype": "int8", "dims": [2], "gen": {"kind": "murmur3", "lo": -1e300, "hi": 1e300, "seed": 1}}}, "outputs": {"y": {"dtype": "float32", "dims": [2],
			"head": {"file": "six.bin"}, "strided": {"file": "six.bin", "stride": 9223372036854775807}, "stats": {"count": -1, "sumsq": null, "min": "Infinity"}}}}]}`,
		`{"cases": [{"inputs": {"x": {"dtype": "string", "dims": [1], "strings": ["a"]}}, "outputs": {"y": {"dtype": "string", "dims": [1], "strings": ["b"]}}}]}`,
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "ref"), 0o777); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ref", "six.bin"), floats(1, 2, 3, 4, 5, 6), 0o666); err != nil {
		f.Fatal(err)
	}
	typ := ir.TensorOf(ir.F32, dim.Sym("N"))
	p := &ports{params: []*ir.Value{{Name: "x", Type: typ}}, results: []port{{name: "y", typ: typ}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, "ref", "manifest.json"), data, 0o666); err != nil {
			t.Fatal(err)
		}
		trials, err := manifestTrials(dir, p)
		if err != nil {
			return
		}
		for _, trial := range trials {
			j := &judge{ports: p}
			out, err := trial.run(t.Context(), func(_ context.Context, in []*onnx.Value) ([]*onnx.Value, error) { return in, nil })
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range trial.wants {
				if got, err := out.of(w); err == nil {
					j.check(got, w)
				}
			}
		}
	})
}
