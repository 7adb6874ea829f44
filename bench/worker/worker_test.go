package worker

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/runtime/rt"
)

type (
	fakeModel   struct{ inputs, outputs []string }
	fakeSession struct{ runs int }
)

func load() (*fakeModel, error) { return &fakeModel{outputs: []string{"y"}}, nil }

func (m *fakeModel) meta() (meta rt.Meta) {
	for _, name := range m.outputs {
		meta.Outputs = append(meta.Outputs, rt.Port{Name: name})
	}
	return meta
}

func (*fakeModel) open(rt.Max) (*fakeSession, error) { return &fakeSession{}, nil }

// double is a model with one input and one output, of fixed shapes.
func (s *fakeSession) double(y, x *[2][3]float32) error {
	s.runs++
	for i := range x {
		for j, v := range x[i] {
			y[i][j] = 2 * v
		}
	}
	return nil
}

// sum is a model whose input and output are batches.
func (s *fakeSession) sum(y []float32, x [][3]float32) error {
	if len(y) != len(x) {
		return errors.New("lengths differ")
	}
	for i, v := range x {
		y[i] = v[0] + v[1] + v[2]
	}
	return nil
}

// negate is a model on tensors of any shape.
func (s *fakeSession) negate(y *rt.Tensor[float32], x rt.Tensor[float32]) error {
	if err := y.Resize("negate", x.Shape...); err != nil {
		return err
	}
	for i, v := range x.Data {
		y.Data[i] = -v
	}
	return nil
}

type pairIn struct {
	A *[2]float32
	B rt.Tensor[int64]
}

type pairOut struct {
	Sum   *[2]float32
	Count rt.Tensor[int64]
	Half  rt.Tensor[rt.Float16]
	Map   map[int64]float32
}

// pair is a model with several inputs and outputs.
func (s *fakeSession) pair(y *pairOut, x pairIn) error {
	y.Sum[0], y.Sum[1] = x.A[0]+x.A[1], x.A[1]
	y.Count = rt.Tensor[int64]{Data: []int64{int64(len(x.B.Data))}, Shape: []int{}}
	y.Half = rt.Tensor[rt.Float16]{Data: []rt.Float16{0x3c00}, Shape: []int{1}}
	return nil
}

// single returns the bytes of floats.
func single(values ...float32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// paths writes a file with the tensors. It returns its path, and a path for the outputs.
func paths(t *testing.T, list ...tensors.Tensor) []string {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.bin")
	if err := tensors.Write(in, list); err != nil {
		t.Fatal(err)
	}
	return []string{in, filepath.Join(dir, "out.bin")}
}

func expect(t *testing.T, file string, want ...tensors.Tensor) {
	t.Helper()
	got, err := tensors.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// quiet gives the test an empty standard input and discards its output.
func quiet(t *testing.T) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	in, out := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = null, null
	t.Cleanup(func() { os.Stdin, os.Stdout = in, out; null.Close() })
}

func TestRunsModelsOfEveryForm(t *testing.T) {
	quiet(t)
	square := tensors.Tensor{Name: "x", Type: "float32", Shape: []int{2, 3}, Data: single(1, 2, 3, 4, 5, 6)}
	t.Run("static", func(t *testing.T) {
		args := paths(t, square)
		if err := run(args, load, (*fakeModel).meta, (*fakeModel).open, (*fakeSession).double); err != nil {
			t.Fatal(err)
		}
		expect(t, args[1], tensors.Tensor{Name: "y", Type: "float32", Shape: []int{2, 3}, Data: single(2, 4, 6, 8, 10, 12)})
	})
	t.Run("batches", func(t *testing.T) {
		args := paths(t, square)
		if err := run(args, load, (*fakeModel).meta, (*fakeModel).open, (*fakeSession).sum); err != nil {
			t.Fatal(err)
		}
		expect(t, args[1], tensors.Tensor{Name: "y", Type: "float32", Shape: []int{2}, Data: single(6, 15)})
	})
	t.Run("tensors", func(t *testing.T) {
		args := paths(t, square)
		if err := run(args, load, (*fakeModel).meta, (*fakeModel).open, (*fakeSession).negate); err != nil {
			t.Fatal(err)
		}
		expect(t, args[1], tensors.Tensor{Name: "y", Type: "float32", Shape: []int{2, 3}, Data: single(-1, -2, -3, -4, -5, -6)})
	})
	t.Run("structs", func(t *testing.T) {
		args := paths(t,
			tensors.Tensor{Name: "a", Type: "float32", Shape: []int{2}, Data: single(1, 2)},
			tensors.Tensor{Name: "b", Type: "int64", Shape: []int{3}, Data: make([]byte, 24)})
		load := func() (*fakeModel, error) {
			return &fakeModel{outputs: []string{"sum", "count", "half", "map"}}, nil
		}
		if err := run(args, load, (*fakeModel).meta, (*fakeModel).open, (*fakeSession).pair); err != nil {
			t.Fatal(err)
		}
		expect(t, args[1],
			tensors.Tensor{Name: "sum", Type: "float32", Shape: []int{2}, Data: single(3, 2)},
			tensors.Tensor{Name: "count", Type: "int64", Data: []byte{3, 0, 0, 0, 0, 0, 0, 0}},
			tensors.Tensor{Name: "half", Type: "float16", Shape: []int{1}, Data: []byte{0, 0x3c}},
			tensors.Tensor{Name: "map", Type: tensors.Other})
	})
}

func TestRefusesInputsOfAnotherShape(t *testing.T) {
	for name, list := range map[string][]tensors.Tensor{
		"another shape": {{Name: "x", Type: "float32", Shape: []int{4}, Data: single(1, 2, 3, 4)}},
		"too many":      {{Name: "x", Type: "float32", Shape: []int{1}, Data: single(1)}, {Name: "y", Type: "float32", Shape: []int{1}, Data: single(1)}},
		"none":          {},
	} {
		if err := run(paths(t, list...), load, (*fakeModel).meta, (*fakeModel).open, (*fakeSession).double); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestObeyAnswersWithATimeForEachRun(t *testing.T) {
	var s fakeSession
	var x, y [2][3]float32
	var out strings.Builder
	if err := obey(strings.NewReader("run 3 1\nrun 1 5\n"), &out, func() error { return s.double(&y, &x) }); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 3 || lines[0] != "ready" || s.runs != 8 {
		t.Fatalf("%d runs, said %q", s.runs, lines)
	}
	for i, want := range []int{3, 1} {
		times := strings.Fields(lines[i+1])
		if len(times) != want {
			t.Errorf("%d times, want %d", len(times), want)
		}
		for _, f := range times {
			if ns, err := strconv.ParseFloat(f, 64); err != nil || ns < 0 {
				t.Errorf("time %q", f)
			}
		}
	}
}

func TestObeyStopsAtWhatItDoesNotUnderstand(t *testing.T) {
	for _, line := range []string{"jump 3 1\n", "run\n", "run 3\n", "run 0 1\n", "run -1 1\n", "run 1 0\n"} {
		if err := obey(strings.NewReader(line), new(strings.Builder), func() error { return nil }); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}
