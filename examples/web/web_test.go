package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/internal/browser"
)

// site copies the pages to a folder, and serves the folder. It returns the address and the folder. The copies have no
// models.
func site(t *testing.T) (address, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, pages); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"draw", "photo", "train"} {
		if err := os.RemoveAll(filepath.Join(dir, page, "model")); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(handler(os.DirFS(dir)))
	t.Cleanup(s.Close)
	return s.URL, dir
}

// build runs a command of the go tool. The path after -o is below a folder.
func build(t *testing.T, dir, command string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: builds programs")
	}
	words := strings.Fields(strings.Replace(command, " -o ", " -o "+filepath.ToSlash(dir)+"/", 1))
	if out, err := exec.Command("go", words...).CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", command, err, out)
	}
}

// generates returns the command of the go:generate line in main.go that writes to a path.
func generates(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if command, ok := strings.CutPrefix(line, "//go:generate go "); ok && strings.Contains(command, " -o "+path) {
			return command
		}
	}
	t.Fatalf("no go:generate line writes to %s", path)
	return ""
}

// narrow asserts that a page fits into a window of 360 pixels in width.
func narrow(t *testing.T, p *browser.Page) {
	t.Helper()
	p.Resize(360, 740)
	if got := p.Eval("document.documentElement.scrollWidth"); got != "360" {
		t.Errorf("in a window of 360 pixels, the page has %s", got)
	}
}

// keep writes a screenshot to the folder in BURNGEN_SCREENSHOTS, if there is one.
func keep(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	if dir := os.Getenv("BURNGEN_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), p.Screenshot(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// quiet asserts that a page has had no problems.
func quiet(t *testing.T, p *browser.Page) {
	t.Helper()
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
}

// TestIndex follows the links of the first page. The pages say what to do, as there are no models.
func TestIndex(t *testing.T) {
	address, _ := site(t)
	p := browser.Open(t, address)
	for i, want := range []string{
		"There is no model yet: run go generate ./examples/web.",
		"There is no model yet: examples/web/README.md says how to make one.",
		"There is no program yet: run go generate ./examples/web.",
	} {
		p.Await("document.querySelectorAll('a').length === 3", "1")
		narrow(t, p)
		p.Click(fmt.Sprintf("li:nth-child(%d) a", i+1))
		if got := p.Await("document.querySelector('#status')?.textContent.startsWith('There')", "document.querySelector('#status').textContent"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		narrow(t, p)
		p.Visit(address)
	}
}
