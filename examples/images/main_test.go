package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/images/shapes"
	"github.com/burngen/burngen/runtime/rt"
)

// painted returns a folder of n pictures of each shape.
func painted(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	if err := shapes.Paint(dir, n, shapes.Plain); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLearnsShapes(t *testing.T) {
	n, p, least := 60, plan{epochs: 12, rate: 3e-3, seed: 42}, 0.8
	if testing.Short() {
		n, p.epochs, least = 10, 1, 0
	}
	var out bytes.Buffer
	trainer, right, err := p.train(&out, painted(t, n))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	line := regexp.MustCompile(`^epoch +\d+  loss \d+\.\d{4}  accuracy \d+\.\d %$`)
	if len(lines) != p.epochs || !line.MatchString(lines[0]) || right < least {
		t.Errorf("it writes\n%s", &out)
	}
	if err := trainer.Model().Save(filepath.Join(t.TempDir(), "weights.safetensors")); err != nil {
		t.Error(err)
	}
}

// TestTrainingIsRepeatable trains twice, with one thread and with two.
func TestTrainingIsRepeatable(t *testing.T) {
	dir := painted(t, 10)
	var want string
	for _, threads := range []int{1, 2} {
		defer rt.Threads(rt.Threads(threads))
		trainer, _, err := plan{epochs: 1, rate: 1e-3, seed: 7}.train(io.Discard, dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "weights.safetensors")
		if err := trainer.Model().Save(path); err != nil {
			t.Fatal(err)
		}
		weights, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(weights)
		} else if string(weights) != want {
			t.Error("two threads give other weights than one")
		}
	}
}

func TestOtherFolders(t *testing.T) {
	dir := painted(t, 1)
	if err := os.RemoveAll(filepath.Join(dir, "ring")); err != nil {
		t.Fatal(err)
	}
	_, _, err := plan{}.train(io.Discard, dir)
	if want := dir + " has 3 classes: the network in cnn/ has 4"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, _, err := (plan{}).train(io.Discard, t.TempDir()); err == nil {
		t.Error("a folder without classes is accepted")
	}
}
