package golden

import (
	"os"
	"strings"
	"testing"
)

// TestREADME asserts that the README shows code as it is generated, the end of
// the digits example's schedule, and that .ci/run runs the README's commands.
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
	ci := readText(t, "../.ci/run")
	_, commands, _ := strings.Cut(readme, "```\n$ ")
	commands, _, _ = strings.Cut(commands, "```")
	for _, line := range strings.Split(strings.TrimSpace(commands), "\n") {
		for _, command := range strings.Split(strings.TrimPrefix(line, "$ "), " && ") {
			if !strings.Contains(ci, "\nrun "+command+"\n") {
				t.Errorf(".ci/run does not run %q", command)
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

// TestREADMEDescription asserts that the README's description and the program that
// trains it are those of a script that runs them.
func TestREADMEDescription(t *testing.T) {
	_, section, ok := strings.Cut(readText(t, "../README.md"), "\n## Describe a model, and train it\n")
	section, _, closed := strings.Cut(section, "\n## ")
	if !ok || !closed {
		t.Fatal("the README has no such section")
	}
	script := readText(t, "../cmd/burngen/testdata/script/describe.txt")
	blocks := strings.Split(section, "```go\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of Go, 2 expected", len(blocks))
	}
	for _, b := range blocks {
		code, _, _ := strings.Cut(b, "```")
		code = strings.TrimSuffix(code, "}\n") // the script goes on
		if !strings.Contains(script, code) {
			t.Errorf("no script has\n%s", code)
		}
	}
}
