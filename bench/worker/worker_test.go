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
)

type (
	fakeModel   struct{}
	fakeOptions struct{ Batch int }
	fakeSession struct{ runs int }
)

func load() (*fakeModel, error) { return &fakeModel{}, nil }

func (*fakeModel) open(fakeOptions) (*fakeSession, error) { return &fakeSession{}, nil }

// double is a model whose input and output are single.
func (s *fakeSession) double(y, x *[2][3]float32) error {
	s.runs++
	for i := range x {
		for j, v := range x[i] {
			y[i][j] = 2 * v
		}
	}
	return nil
}

// sum is a model of batches.
func (s *fakeSession) sum(y []float32, x [][3]float32) error {
	if len(y) != len(x) {
		return errors.New("lengths differ")
	}
	for i, v := range x {
		y[i] = v[0] + v[1] + v[2]
	}
	return nil
}

func floats(t *testing.T, values ...float32) (inputs, outputs string) {
	t.Helper()
	var b []byte
	for _, v := range values {
		b = binary.NativeEndian.AppendUint32(b, math.Float32bits(v))
	}
	dir := t.TempDir()
	inputs = filepath.Join(dir, "in.bin")
	if err := os.WriteFile(inputs, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return inputs, filepath.Join(dir, "out.bin")
}

func expect(t *testing.T, file string, want ...float32) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != 4*len(want) {
		t.Fatalf("%d bytes, want %d values", len(b), len(want))
	}
	for i, w := range want {
		if got := math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:])); got != w {
			t.Errorf("output %d is %g, want %g", i, got, w)
		}
	}
}

// quiet gives the test an empty standard input and swallows its output.
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

func TestRunsAStaticModel(t *testing.T) {
	quiet(t)
	in, out := floats(t, 1, 2, 3, 4, 5, 6)
	if err := run([]string{in, out}, load, (*fakeModel).open, (*fakeSession).double); err != nil {
		t.Fatal(err)
	}
	expect(t, out, 2, 4, 6, 8, 10, 12)
}

func TestRunsABatch(t *testing.T) {
	quiet(t)
	in, out := floats(t, 1, 2, 3, 4, 5, 6)
	if err := run([]string{in, out}, load, (*fakeModel).open, (*fakeSession).sum); err != nil {
		t.Fatal(err)
	}
	expect(t, out, 6, 15)
}

func TestRefusesInputsOfAnotherSize(t *testing.T) {
	in, out := floats(t, 1, 2, 3, 4)
	err := run([]string{in, out}, load, (*fakeModel).open, (*fakeSession).double)
	if err == nil || !strings.Contains(err.Error(), "16 bytes of inputs") {
		t.Errorf("error %v", err)
	}
	if err := run([]string{in, out}, load, (*fakeModel).open, (*fakeSession).sum); err == nil {
		t.Error("no error for a batch and a third")
	}
}

func TestObeyAnswersWithATimeForEachRun(t *testing.T) {
	var s fakeSession
	var x, y [2][3]float32
	var out strings.Builder
	if err := obey(strings.NewReader("run 3\nrun 1\n"), &out, func() error { return s.double(&y, &x) }); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 3 || lines[0] != "ready" || s.runs != 4 {
		t.Fatalf("%d runs, said %q", s.runs, lines)
	}
	for i, want := range []int{3, 1} {
		times := strings.Fields(lines[i+1])
		if len(times) != want {
			t.Errorf("%d times, want %d", len(times), want)
		}
		for _, f := range times {
			if ns, err := strconv.Atoi(f); err != nil || ns < 0 {
				t.Errorf("time %q", f)
			}
		}
	}
}

func TestObeyStopsAtWhatItDoesNotUnderstand(t *testing.T) {
	for _, line := range []string{"jump 3\n", "run\n", "run 0\n", "run -1\n"} {
		if err := obey(strings.NewReader(line), new(strings.Builder), func() error { return nil }); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
}
