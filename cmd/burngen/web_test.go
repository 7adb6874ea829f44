package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	digits "github.com/burngen/burngen/examples/digits/model"
)

// hasNode reports whether the machine has a version of node that loads a module from a file whose name ends in .js.
func hasNode() bool {
	out, err := exec.Command("node", "--version").Output()
	parts := strings.Split(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if err != nil || len(parts) < 3 {
		return false
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return major == 20 && minor >= 19 || major >= 22
}

// webAnswers is what testdata/web/check.mjs prints.
type webAnswers struct {
	Name, Class    string
	Methods        map[string]struct{ Inputs, Outputs []webPort }
	Shapes         [][]int
	Logits         [][]float32
	Second         []float32
	Passed         int
	Errors, Closed []string
}

type webPort struct {
	Name, Type, Array string
	Shape             []any
}

// TestWeb generates a folder for browsers, bounds its download, and calls the model in node. The answers are those of
// the generated package.
func TestWeb(t *testing.T) {
	if testing.Short() {
		t.Skip("builds generated code")
	}
	dir := t.TempDir()
	flags, run := newFlags(genCommand)
	rest, err := flags.parse([]string{"../../examples/digits/digits.onnx", "-o", dir, "-web"})
	if err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	if err := run(&streams{&out, &problems}, rest); err != nil {
		t.Fatalf("%v\n%s", err, &problems)
	}
	checkDownload(t, dir)
	if !hasNode() {
		t.Skip("there is no node 20.19 or later")
	}
	script := exec.Command("node", "testdata/web/check.mjs", dir)
	var trouble bytes.Buffer
	script.Stderr = &trouble
	text, err := script.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &trouble)
	}
	var got webAnswers
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}

	m, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	var image digits.Image
	for i := range 784 {
		image[0][i/28][i%28] = float32(float64(i%7) / 7)
	}
	want, err := m.Forward([]digits.Image{image})
	if err != nil {
		t.Fatal(err)
	}
	for _, logits := range append(got.Logits, got.Second) {
		if len(logits) != 10 {
			t.Fatalf("%v are not ten logits", logits)
		}
		for k, v := range logits {
			if math.Abs(float64(v-want[0][k])) > 1e-4 {
				t.Errorf("logit %d is %v, want %v", k, v, want[0][k])
			}
		}
	}
	if got.Name != "digits" || got.Class != "Float32Array" || got.Passed != 784 || len(got.Shapes) != 3 || !slices.Equal(got.Shapes[2], []int{2, 10}) {
		t.Errorf("%s", text)
	}
	const ports = `{"Inputs":[{"Name":"image","Type":"f32","Array":"Float32Array","Shape":["N",1,28,28]}],"Outputs":[{"Name":"logits","Type":"f32","Array":"Float32Array","Shape":["N",10]}]}`
	if have, err := json.Marshal(got.Methods["forward"]); err != nil || string(have) != ports {
		t.Errorf("%s\nwant %s", have, ports)
	}
	errors := []string{
		`input "image" is missing`,
		`the inputs are not an object; pass {name: array}`,
		`there is no input "mask"; the inputs are image`,
		`input "image" is not an array; pass a typed array, an array of strings, or {data, shape}`,
		`input "image" is not an array; pass a typed array, an array of strings, or {data, shape}`,
		`input "image": its shape is not an array of at most 32 numbers`,
		`input "image" is Float64Array, want Float32Array for elements of type f32`,
		`input "image" has 783 elements, want a multiple of 784 for shape [N 1 28 28]`,
		`input "image" is Array, want Float32Array for elements of type f32`,
		`input "image" is not an array; pass a typed array, an array of strings, or {data, shape}`,
		`input "image" has shape [1 28 28], want 4 dimensions, [N 1 28 28]`,
		`input "image": dimension 0 of its shape is not an integer`,
		`input "image": shape [-1 1 28 28] has a negative extent`,
		`input "image": shape [4611686018427387904 1 28 28] has more elements than fit memory`,
		`input "image": its shape is not an array of at most 32 numbers`,
		`()=>1 could not be cloned.`,
	}
	if len(got.Errors) != len(errors) {
		t.Fatalf("%q", got.Errors)
	}
	for i, want := range errors {
		if have := strings.ReplaceAll(got.Errors[i], "() => 1", "()=>1"); have != want {
			t.Errorf("%s\nwant %s", have, want)
		}
	}
	if !slices.Equal(got.Closed, []string{"the model is closed", "the model is closed"}) {
		t.Errorf("%q", got.Closed)
	}
}

// maxDownload is the largest size in bytes of what a browser loads for the digits, compressed.
const maxDownload = 1_220_000

// checkDownload bounds the download, and asserts that the program has no path of this machine.
func checkDownload(t *testing.T, dir string) {
	total := 0
	for _, name := range []string{"main.wasm", "kernels.wasm", "worker.js", "burngen.js"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		root, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(root)) || bytes.Contains(data, []byte(os.TempDir()+"/")) {
			t.Errorf("%s names a folder of this machine", name)
		}
		var small bytes.Buffer
		w, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // the level is valid
		w.Write(data)
		w.Close()
		t.Logf("%s: %d bytes, %d compressed", name, len(data), small.Len())
		total += small.Len()
	}
	if total > maxDownload {
		t.Errorf("the download has %d bytes, the limit is %d", total, maxDownload)
	}
}
