package main

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/examples/digits/hand"
	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/internal/itself"
)

// write writes n drawn digits as MNIST's training set.
func write(t *testing.T, dir string, n int) {
	t.Helper()
	header := func(words ...uint32) (out []byte) {
		for _, w := range words {
			out = binary.BigEndian.AppendUint32(out, w)
		}
		return out
	}
	pixels, labels := header(0x803, uint32(n), 28, 28), header(0x801, uint32(n))
	for i := range n {
		h := hand.New(rand.New(rand.NewPCG(1, uint64(i))))
		h.Size = 40
		digit := i % 10
		var image cnn.Image
		if err := fit.Digit(&image, h.Draw(rune('0'+digit), i)); err != nil {
			t.Fatal(err)
		}
		for _, row := range image {
			for _, ink := range row {
				pixels = append(pixels, byte(255*ink))
			}
		}
		labels = append(labels, byte(digit))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"train-images-idx3-ubyte": pixels, "train-labels-idx1-ubyte": labels} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMain runs main if the test runs itself.
func TestMain(m *testing.M) {
	if os.Getenv("LEARNER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestProgram(t *testing.T) {
	itself.Need(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "mnist"), 320)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func() string {
		cmd := exec.Command(self)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LEARNER=1", "CI=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	first := run()
	for _, want := range []string{"mnist: 10 epochs done after 50 steps", "valid top-3 accuracy", "valid F1 (macro)"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	for _, file := range []string{"digits.safetensors", "runs/mnist/report.html", "runs/mnist/last.safetensors"} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	if again := run(); !strings.Contains(again, "10 epochs done after 50 steps") {
		t.Errorf("the second time it says\n%s", again)
	}
}
