package golden

import (
	"os"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/pages"
)

// TestREADME asserts three things: the README shows the end of the digits example's schedule as it
// is generated; .ci/run runs the commands of the section "Build and test"; and the README has at
// most 120 lines.
func TestREADME(t *testing.T) {
	readme := readText(t, "../README.md")
	_, schedule, ok := strings.Cut(readText(t, "../examples/digits/model/model.go"), "\nfunc (s *Session) forward(")
	schedule, _, closed := strings.Cut(schedule, "\n}\n")
	if !ok || !closed {
		t.Fatal("the example has no schedule")
	}
	before, rest, ok := strings.Cut(readme, "```go\n\t// ")
	excerpt, after, closed := strings.Cut("\t// "+rest, "```\n")
	if !ok || !closed {
		t.Fatal("the README has no excerpt")
	}
	lines := strings.SplitAfter(schedule+"\n}\n", "\n")
	want := strings.Join(lines[max(0, len(lines)-1-strings.Count(excerpt, "\n")):], "")
	switch {
	case excerpt == want:
	case *update:
		if err := os.WriteFile("../README.md", []byte(before+"```go\n"+want+"```\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the README shows\n%s\nbut the schedule ends with\n%s", excerpt, want)
	}
	if n := strings.Count(readme, "\n"); n > 120 {
		t.Errorf("the README has %d lines; reference belongs into docs", n)
	}
	ci := readText(t, "../.ci/run")
	_, section, _ := strings.Cut(readme, "\n## Build and test\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks, err := pages.Parse(section)
	if err != nil || len(blocks) == 0 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	for _, b := range blocks {
		for _, c := range b.Commands() {
			for command := range strings.SplitSeq(c.Text, " && ") {
				if !strings.Contains(ci, "\nrun "+command+"\n") {
					t.Errorf(".ci/run does not run %q", command)
				}
			}
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
