package audio_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func failed[T any](_ T, err error) error { return err }

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if fmt.Sprint(err) != want {
		t.Errorf("error %q, want %q", fmt.Sprint(err), want)
	}
}

// write writes files below a folder.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// sine returns n samples of a sine of a frequency in Hz.
func sine(n int, frequency, phase float64, rate int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(phase + 2*math.Pi*frequency*float64(i)/float64(rate)))
	}
	return x
}
