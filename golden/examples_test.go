package golden

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestExamplesAreFresh runs the go:generate lines of the examples with -check: the committed
// packages must be up to date. Files with a build tag generate packages that are not committed, and so do lines with
// -web.
func TestExamplesAreFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	var files []string
	for _, pattern := range []string{"../examples/*/*.go", "../examples/*/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	lines := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(data), "//go:build gpu\n") {
			continue
		}
		for line := range strings.Lines(string(data)) {
			_, command, ok := strings.Cut(line, "//go:generate go run ")
			args := append([]string{"run"}, words(t, command)...)
			if !ok || !strings.HasSuffix(args[1], "/cmd/burngen") || slices.Contains(args, "-web") {
				continue
			}
			lines++
			c := exec.Command("go", append(args, "-check")...)
			c.Dir = filepath.Dir(file)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: run go generate: %v\n%s", file, err, out)
			}
		}
	}
	if lines == 0 {
		t.Error("no example is generated")
	}
}

// words splits a command as go generate does: at blanks outside of quoted Go strings.
func words(t *testing.T, command string) []string {
	var out []string
	for command = strings.TrimSpace(command); command != ""; command = strings.TrimSpace(command) {
		if command[0] != '"' {
			word, rest, _ := strings.Cut(command, " ")
			out, command = append(out, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(command)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		word, _ := strconv.Unquote(quoted)
		out, command = append(out, word), command[len(quoted):]
	}
	return out
}
