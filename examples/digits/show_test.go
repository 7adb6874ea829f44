package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/burngen/burngen/examples/digits/fit"
)

func TestFilesGetATable(t *testing.T) {
	a := answer{name: "seven.png", digit: 7}
	a.probabilities[1], a.probabilities[7] = .25, .75
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := show(f, []answer{a}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	const want = "" +
		"picture    digit      0     1     2     3     4     5     6     7     8     9\n" +
		"seven.png      7    0.0  25.0   0.0   0.0   0.0   0.0   0.0  75.0   0.0   0.0\n"
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestBarsAreAsLongAsTheyAreLikely(t *testing.T) {
	for _, test := range []struct {
		p    float64
		want string
	}{
		{0, "3                             0.0 %"},
		{.5, "3  ████████████              50.0 %"},
		{.015, "3  ▍                          1.5 %"},
		{1, "3  ████████████████████████ 100.0 %"},
	} {
		if got := line(3, test.p); got != test.want {
			t.Errorf("%g: got %q, want %q", test.p, got, test.want)
		}
	}
}

func TestTerminalsGetPicturesAndBars(t *testing.T) {
	a := answer{name: "seven.png", digit: 7}
	a.image[0][0][0] = 1
	var out strings.Builder
	bars(&out, []answer{a})
	lines := strings.Split(out.String(), "\n")
	if want := fit.Side/2 + 2; len(lines) != want {
		t.Fatalf("%d lines, want %d", len(lines), want)
	}
	if !strings.Contains(lines[0], "\x1b[38;5;255;48;5;232m▀") || !strings.Contains(lines[0], a.name) {
		t.Errorf("first line %q", lines[0])
	}
	for i, line := range lines[:fit.Side/2] {
		if n := strings.Count(line, "▀"); n != fit.Side || !utf8.ValidString(line) {
			t.Errorf("line %d has %d pixels", i, n)
		}
	}
}
