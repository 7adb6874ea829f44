package batch

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/burngen/burngen/internal/itself"
	"github.com/burngen/burngen/runtime/beam/infer"
	"github.com/burngen/burngen/runtime/beam/internal/testmodel"
	"github.com/burngen/burngen/runtime/rt"
)

// sum is a model that returns the sums of the rows of f32[N,3], and their first elements.
type sum struct{}

func (sum) Served() rt.Served {
	return rt.Served{
		Name: "sum",
		Methods: []rt.ServedMethod{
			{
				Name:    "Forward",
				Inputs:  []rt.Port{{Name: "x", DType: "f32", Shape: []string{"N", "3"}}},
				Outputs: []rt.Port{{Name: "sum", DType: "f32", Shape: []string{"N"}}},
				Batch:   "N",
			},
			{
				Name:    "Both",
				Inputs:  []rt.Port{{Name: "x", DType: "f32", Shape: []string{"N", "3"}}},
				Outputs: []rt.Port{{Name: "sum", DType: "f32", Shape: []string{"N"}}, {Name: "first/x", DType: "f32", Shape: []string{"N", "1"}}},
				Batch:   "N",
			},
		},
		Open: func() (any, error) { return &session{}, nil },
	}
}

// session is written as the session of a generated package.
type session struct{}

func (*session) SetContext(context.Context) {}

// dieAfter is the number of calls after which the program kills itself. 0 is never.
var dieAfter, _ = strconv.Atoi(os.Getenv("BATCH_TEST_DIES"))

var calls atomic.Int64

func (*session) Forward(dst *rt.Tensor[float32], x rt.Tensor[float32]) error {
	if n := calls.Add(1); dieAfter > 0 && int(n) > dieAfter {
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		select {}
	}
	n := x.Shape[0]
	dst.Shape, dst.Data = []int{n}, make([]float32, n)
	for i, v := range x.Data {
		dst.Data[i/3] += v
	}
	return nil
}

type both struct {
	Sum, First rt.Tensor[float32]
}

func (s *session) Both(dst *both, x rt.Tensor[float32]) error {
	n := x.Shape[0]
	dst.First.Shape, dst.First.Data = []int{n, 1}, make([]float32, n)
	for i := range n {
		dst.First.Data[i] = x.Data[3*i]
	}
	return s.Forward(&dst.Sum, x)
}

var models = map[string]infer.Model{
	"sum":    infer.Package("sum", func() (sum, error) { return sum{}, nil }),
	"digits": infer.Package("digits", testmodel.Load),
}

// TestMain runs the program of a model instead of tests, if program asks for it.
func TestMain(m *testing.M) {
	if name := os.Getenv("BATCH_TEST_MODEL"); name != "" {
		Main(models[name])
		return
	}
	os.Exit(m.Run())
}

// program runs the program of a model in folder dir, and returns what it writes to standard error.
func program(t *testing.T, dir, model string, dies int, args ...string) (string, error) {
	t.Helper()
	itself.Need(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "BATCH_TEST_MODEL="+model, fmt.Sprint("BATCH_TEST_DIES=", dies))
	var text strings.Builder
	c.Stderr = &text
	err = c.Run()
	return text.String(), err
}

func succeeds(t *testing.T, dir, model string, args ...string) string {
	t.Helper()
	text, err := program(t, dir, model, 0, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
	return text
}

// fails asserts that the program ends with one line that has this text.
func fails(t *testing.T, dir, model, want string, args ...string) {
	t.Helper()
	text, err := program(t, dir, model, 0, args...)
	_, last, whole := strings.Cut(text, " are whole\n")
	if !whole {
		last = text
	}
	if err == nil || strings.Count(last, "\n") != 1 || !strings.Contains(last, want) {
		t.Errorf("%v: %v, %s\nwant %s", args, err, text, want)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// contents returns the files of dir whose names match, with their bytes.
func contents(t *testing.T, dir, pattern string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = string(text)
	}
	return out
}

func rows(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `{"x": [%d, 0.5, -1e1]}`+"\n", i)
	}
	return b.String()
}

func TestKilledAndResumed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.jsonl", rows(0, 7))
	write(t, dir, "b.jsonl", "\n"+rows(7, 9))
	write(t, dir, "empty.jsonl", "")
	command := func(out string) []string {
		return []string{"-in", "*.jsonl", "-out", out, "-batch", "2", "-shard", "3"}
	}
	if text := succeeds(t, dir, "sum", command("whole/part")...); text != "files: 3, items: 9, shards: 4, of which 0 are whole\n" {
		t.Errorf("wrote %q", text)
	}
	want := contents(t, filepath.Join(dir, "whole"), "part-*")
	if len(want) != 4 || want["part-00002-of-00004.jsonl"] != `{"sum":-3.5}`+"\n" || want["part-00003-of-00004.jsonl"] != `{"sum":-2.5}`+"\n"+`{"sum":-1.5}`+"\n" {
		t.Fatalf("wrote %q", want)
	}
	// Two batches of the first shard, and one of the second.
	if text, err := program(t, dir, "sum", 3, command("killed/part")...); err == nil {
		t.Fatalf("the program did not die: %s", text)
	}
	if got := contents(t, filepath.Join(dir, "killed"), "part-*.jsonl"); len(got) == 4 {
		t.Fatal("the program died too late")
	}
	succeeds(t, dir, "sum", command("killed/part")...)
	got := contents(t, filepath.Join(dir, "killed"), "*")
	delete(got, "part.manifest.json")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a run that went on wrote %q, want %q", got, want)
	}
	if text := succeeds(t, dir, "sum", command("killed/part")...); !strings.Contains(text, "of which 4 are whole") {
		t.Errorf("a run that is whole: %q", text)
	}
}

func TestOtherRun(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.jsonl", rows(0, 3))
	args := []string{"-in", "a.jsonl", "-out", "part"}
	succeeds(t, dir, "sum", args...)
	fails(t, dir, "sum", "another run: -shard was 10000", append(args, "-shard", "2")...)
	fails(t, dir, "sum", "another run: -batch was 32", append(args, "-batch", "2")...)
	fails(t, dir, "sum", "another run: the model has changed", append(args, "-method", "Both")...)
	write(t, dir, "a.jsonl", rows(0, 4))
	fails(t, dir, "sum", "another run: a.jsonl has changed; remove", args...)
	write(t, dir, "b.jsonl", rows(0, 3))
	fails(t, dir, "sum", "another run: b.jsonl is not an input there", "-in", "b.jsonl", "-out", "part")
	if err := os.Remove(filepath.Join(dir, "part.manifest.json")); err != nil {
		t.Fatal(err)
	}
	fails(t, dir, "sum", "part-00000-of-00001.jsonl exists, and part.manifest.json does not", args...)
	fails(t, dir, "sum", "there are no such files", "-in", "c*.jsonl", "-out", "part")
	fails(t, dir, "sum", "-out PREFIX are needed", "-in", "a.jsonl")
}

func TestBrokenLine(t *testing.T) {
	dir := t.TempDir()
	for line, want := range map[string]string{
		`{"x": [1, 2]}`:              `input "x"`,
		`{"x": [1, 2, 3]`:            "unexpected end of JSON input",
		`{"x": [1, [2], 3]}`:         "do not have depth 1",
		`{"x": [1, "2", 3]}`:         "is not a number",
		`{"x": [1, {"a": [1]}, 3]}`:  "is not a number",
		`{"x": [1, 1e99, 3]}`:        "1e99 does not fit f32",
		`{"x": null}`:                "do not have depth 1",
		`{"y": [1, 2, 3]}`:           `input "x" is missing`,
		`{"x": [1, 2, 3], "y": 1}`:   `no input "y"`,
		`[1, 2, 3]`:                  "not a JSON object",
		`null`:                       "not a JSON object",
		`{"x": [3e38, 3e38, 0]}`:     `output "sum": JSON does not have +Inf`,
		`{"x": [1, NaN, 3]}`:         "invalid character 'N'",
		`{"x": "` + "\\\"]" + `"}`:   "do not have depth 1",
		strings.Repeat("[", 100_000): "exceeded max depth",
	} {
		l, err := models["sum"].Load()
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "a.jsonl", rows(0, 1)+"\n"+line+"\n"+rows(1, 2))
		path := filepath.Join(dir, "a.jsonl")
		p, err := newPlan(path, filepath.Join(dir, "part"), "", 2, 10, l)
		if err != nil {
			t.Fatal(err)
		}
		f := shardFn{Model: models["sum"], MaxBatch: 2, loaded: l}
		if err := f.compute(t.Context(), p.shards[0]); err == nil || !strings.HasPrefix(err.Error(), path+":3: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s:3 and %s", line, err, path, want)
		}
		if left := contents(t, dir, "part*"); len(left) > 0 {
			t.Errorf("%.60s: left %q", line, left)
		}
	}
	write(t, dir, "a.jsonl", rows(0, 2)+`{"x": 1}`)
	fails(t, dir, "sum", `a.jsonl:3: input "x": the lists do not have depth 1`, "-in", "a.jsonl", "-out", "part")
}

// array3 returns an array of NumPy with this header and these elements.
func array3(header string, elements ...float32) string {
	text := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	text = append(text, header...)
	for _, v := range elements {
		text = binary.LittleEndian.AppendUint32(text, math.Float32bits(v))
	}
	return string(text)
}

func TestArrays(t *testing.T) {
	dir := t.TempDir()
	nan := float32(math.NaN())
	write(t, dir, "a.npy", array3("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }\n", 1, 2, 3, nan, 0, 0, 4, 5, 6))
	succeeds(t, dir, "sum", "-in", "a.npy", "-out", "part", "-shard", "2", "-method", "Both")
	got := contents(t, dir, "part-*")
	header := func(shape string) string {
		text := "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }"
		return text + strings.Repeat(" ", 117-len(text)) + "\n"
	}
	want := map[string]string{
		"part-00000-of-00002.sum.npy":     array3(header("2,"), 6, nan),
		"part-00001-of-00002.sum.npy":     array3(header("1,"), 15),
		"part-00000-of-00002.first_x.npy": array3(header("2, 1"), 1, nan),
		"part-00001-of-00002.first_x.npy": array3(header("1, 1"), 4),
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestBrokenArray(t *testing.T) {
	dir := t.TempDir()
	head := func(descr, order, shape string) string {
		return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }\n"
	}
	l, err := models["sum"].Load()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "not an array", "\x93NUMPY": "not an array", "\x93NUMPY\x01\x00\xff\xff{": "cut off",
		"\x93NUMPY\x02\x00\xff\xff\xff\xff":                                         "the header has 4294967295 bytes",
		array3(head("<f4", "False", "9223372036854775807, 3")):                      "do not fit shape",
		array3(head("<f4", "False", "9223372036854775807, 9223372036854775807")):    "more elements than fit memory",
		array3(head("<f4", "False", "3, 9223372036854775807, 9223372036854775807")): "more elements than fit memory",
		array3(head("<f4", "False", "99999999999999999999, 3")):                     "an extent of",
		array3(head("<f4", "False", "1000000000, 0")):                               "items without elements",
		array3(head("<f4", "False", "")):                                            "has no axis",
		array3(head("<f4", "True", "1, 3"), 1, 2, 3):                                "Fortran",
		array3(head(">f4", "False", "1, 3"), 1, 2, 3):                               "big-endian",
		array3(head("<f4", "False", "1, 3"), 1, 2):                                  "do not fit shape",
		array3(head("<f4", "False", "1, 3"), 1, 2, 3, 4):                            "do not fit shape",
		array3(head("<f4", "False", "1, 3"), 1, 2, 3) + "x":                         "do not fit shape",
		array3(head("|O", "False", "1, 3")):                                         "not a plain array",
		array3(head("<i4", "False", "1, 3"), 1, 2, 3):                               "type i4 and shape [3], want f4 and [3]",
		array3(head("<f4", "False", "1, 2"), 1, 2):                                  "type f4 and shape [2], want f4 and [3]",
		array3(head("<f0", "False", "1, 3")):                                        "items without elements",
	} {
		write(t, dir, "a.npy", text)
		p, err := newPlan(filepath.Join(dir, "a.npy"), filepath.Join(dir, "part"), "", 2, 10, l)
		if err == nil {
			f := shardFn{Model: models["sum"], MaxBatch: 2, loaded: l}
			err = f.compute(t.Context(), p.shards[0])
		}
		if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, "a.npy")+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100q: %v, want %s", text, err, want)
		}
	}
}

// TestDigits compares the program with calls of the package.
func TestDigits(t *testing.T) {
	m, err := testmodel.Load()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var in, want strings.Builder
	for i := range 5 {
		var image testmodel.Image
		fmt.Fprintf(&in, `{"image":[[`)
		for r := range image[0] {
			for c := range image[0][r] {
				image[0][r][c] = float32((i*r+c)%7) / 8
			}
			row := strings.ReplaceAll(fmt.Sprint(image[0][r]), " ", ",")
			in.WriteString(strings.TrimPrefix(","+row, strings.Repeat(",", 1-min(r, 1))))
		}
		in.WriteString("]]}\n")
		logits, err := m.Forward([]testmodel.Image{image})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, v := range logits[0] {
			texts = append(texts, strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
		fmt.Fprintf(&want, `{"logits":[%s]}`+"\n", strings.Join(texts, ","))
	}
	write(t, dir, "a.jsonl", in.String())
	succeeds(t, dir, "digits", "-in", "a.jsonl", "-out", "part", "-batch", "1")
	if got := contents(t, dir, "part-*")["part-00000-of-00001.jsonl"]; got != want.String() {
		t.Errorf("%s\nwant %s", got, want.String())
	}
}
