package pages

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is the repository's folder.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// TestPages follows the repository's pages.
func TestPages(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(docs, filepath.Join(root, "README.md")) {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := Parse(string(text))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if testing.Short() {
				t.Skip("-short: builds programs")
			}
			follow(t, name, blocks)
		})
	}
}

var guide = flag.Bool("guide", false, "follow the chapters of docs/guide, which takes minutes")

// TestGuide follows the chapters of the guide, one after the other in the same module. Without -guide it only parses
// them.
func TestGuide(t *testing.T) {
	chapters, err := filepath.Glob(filepath.Join(root, "docs", "guide", "?-*.md"))
	if err != nil || len(chapters) == 0 {
		t.Fatalf("%d chapters, %v", len(chapters), err)
	}
	var pages []string
	var blocks [][]Block
	for _, path := range chapters {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page := "docs/guide/" + filepath.Base(path)
		list, err := Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		pages, blocks = append(pages, page), append(blocks, list)
	}
	if !*guide {
		t.Skip("the chapters are followed with -guide")
	}
	r := newReader(t)
	for i, page := range pages {
		r.page = page
		for _, b := range blocks[i] {
			r.block(b)
		}
		r.vet()
	}
}

// reader follows a page as a user would, in a module of their own.
type reader struct {
	*testing.T
	page, dir string
	printed   string // by the last command
}

// follow tests the blocks of a page in their order.
func follow(t *testing.T, page string, blocks []Block) {
	r := newReader(t)
	r.page = page
	for _, b := range blocks {
		r.block(b)
	}
	r.vet()
}

// newReader returns a reader in a new module.
func newReader(t *testing.T) *reader {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	r := &reader{T: t, dir: t.TempDir()}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("go.sum", string(sum))
	r.write("go.mod", "module example.com\n\ngo 1.26\n\nreplace github.com/burngen/burngen => "+root+"\n")
	return r
}

// vet asserts that all Go code of the module passes go vet.
func (r *reader) vet() {
	r.Helper()
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*", "*.go")); len(files) > 0 {
		r.command(0, r.dir, "go vet ./...", false)
	}
}

func (r *reader) block(b Block) {
	switch b.Kind {
	case Before:
		for line := range strings.Lines(b.Text) {
			line, fails := strings.CutPrefix(strings.TrimSpace(line), "! ")
			if words := strings.Fields(line); len(words) == 3 && words[0] == "fixture" {
				r.fixture(b.Line, words[1], words[2])
			} else if line != "" {
				r.command(b.Line, r.dir, line, fails)
			}
		}
	case Run:
		r.run(b)
	case File:
		r.write(b.Arg, b.Contents())
	case Output:
		r.compare(b.Line, b.Text)
	case Excerpt:
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.Arg)))
		if err != nil {
			r.Errorf("%s:%d: %v", r.page, b.Line, err)
		} else if !strings.Contains(string(text), b.Text) {
			r.Errorf("%s:%d: %s does not hold\n%s", r.page, b.Line, b.Arg, b.Text)
		}
	case Skip:
		r.Logf("%s:%d: not tested: %s", r.page, b.Line, b.Arg)
	default:
		r.Fatalf("%s:%d: unknown kind %q", r.page, b.Line, b.Kind)
	}
}

// created is a command that shows a file.
var created = regexp.MustCompile(`^cat (\S+)$`)

// run runs a block of commands.
func (r *reader) run(b Block) {
	dir := r.dir
	if b.Arg == "in repository" {
		dir = root
		before := tree(r.T, filepath.Join(root, "examples"))
		defer func() {
			if d := cmp.Diff(before, tree(r.T, filepath.Join(root, "examples"))); d != "" {
				r.Errorf("%s:%d: the commands changed files: (-before +after)\n%s", r.page, b.Line, d)
			}
		}()
	}
	commands := b.Commands()
	for i, c := range commands {
		if m := created.FindStringSubmatch(c.Text); m != nil {
			if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
				r.write(m[1], c.Output)
				continue
			}
		}
		r.command(b.Line, dir, c.Text, b.Arg == "fails" && i == len(commands)-1)
		if c.Output != "" {
			r.compare(b.Line, c.Output)
		}
	}
}

// command runs a command line, which has to succeed or to fail.
func (r *reader) command(line int, dir, text string, fails bool) {
	r.Helper()
	c := exec.Command("sh", "-c", text)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "ROOT="+root)
	if dir == r.dir {
		c.Env = append(c.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"), "GOPROXY=off")
	}
	out, err := c.CombinedOutput()
	r.printed = string(out)
	if (err != nil) != fails {
		r.Fatalf("%s:%d: %s: error %v\n%s", r.page, line, text, err, out)
	}
}

// compare compares the last output with what the page shows.
func (r *reader) compare(line int, shown string) {
	r.Helper()
	if !Matches(shown, r.printed) {
		r.Errorf("%s:%d: (-shown +printed)\n%s", r.page, line, cmp.Diff(strings.Split(shown, "\n"), strings.Split(r.printed, "\n")))
	}
}

func (r *reader) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		r.Fatal(err)
	}
}

// fixture writes the fixture of this name to a file.
func (r *reader) fixture(line int, name, path string) {
	r.Helper()
	make := fixtures[name]
	if make == nil {
		r.Fatalf("%s:%d: no fixture %q; there are %q", r.page, line, name, slices.Sorted(maps.Keys(fixtures)))
	}
	r.write(path, string(make()))
}

// tree returns the files in a folder and its subfolders, with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"nothing", "# Title\n\ntext\n", ""},
		{"commands", "```\n$ ls\na\n$ pwd\n```\n", "1 run"},
		{"commands elsewhere", "<!-- test: in repository -->\n```\n$ ls\n```\n", "2 run in repository"},
		{"an indented block", "- item\n\n  <!-- test: fails -->\n\n  ```sh\n  $ ls\n  ```\n", "5 run fails"},
		{"a file", "<!-- test: file a/b.go -->\n```go\npackage b\n```\n", "2 file a/b.go"},
		{"a part of a file", "<!-- test: file b.go\npackage b\n\nBLOCK\n-->\n```go\nvar x = 1\n```\n", "6 file b.go"},
		{"all others", "<!-- test: output -->\n```\nx\n```\n<!-- test: excerpt a.go -->\n```go\nx\n```\n<!-- test: skip it is slow -->\n```\n$ x\n```\n<!-- test: before\nls\n-->\n", "2 output; 6 excerpt a.go; 10 skip it is slow; 13 before"},
		{"a block of Go", "```go\npackage b\n```\n", "line 1: no comment says how this block is tested"},
		{"a block of text", "text\n\n```\nprinted\n```\n", "line 3: no comment says how this block is tested"},
		{"an unknown comment", "<!-- test: maybe -->\n```\nx\n```\n", `line 2: unknown comment "maybe"`},
		{"no reason", "<!-- test: skip -->\n```\n$ x\n```\n", `line 2: "skip" wants a path or a reason`},
		{"no path", "<!-- test: file -->\n```go\nx\n```\n", `line 2: "file" wants a path or a reason`},
		{"a comment for another block", "<!-- test: file a.go -->\n```\n$ x\n```\n", `line 2: the block has commands; "file" is for others`},
		{"commands expected", "<!-- test: fails -->\n```\nx\n```\n", `line 2: "fails" is for commands: in repository, or fails`},
		{"no place for the block", "<!-- test: file a.go\npackage a\n-->\n```go\nx\n```\n", "line 4: one line BLOCK expected in the comment"},
		{"no block", "<!-- test: output -->\n\ntext\n", "line 1: the comment has no block"},
		{"no block at the end", "<!-- test: output -->\n", "line 1: the comment has no block"},
		{"no end of a block", "```\n$ ls\n", "line 1: the block does not end"},
		{"no end of a comment", "<!-- test: before\nls\n", "line 1: the comment does not end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks, err := Parse(c.page)
			var list []string
			for _, b := range blocks {
				list = append(list, strings.TrimSpace(fmt.Sprintf("%d %s %s", b.Line, b.Kind, b.Arg)))
			}
			got := strings.Join(list, "; ")
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestContents(t *testing.T) {
	b := Block{Kind: File, Lang: "go", Text: "f() // calls …\nif err != nil { … }\n…\n", Around: "func main() {\nBLOCK\n}\n"}
	want := "func main() {\nf() // calls …\nif err != nil { /* … */ }\n/* … */\n}\n"
	if got := b.Contents(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\n", "a\nb\n", false},
		{"a\n", "b\n", false},
		{"a…c\n", "abc\n", true},
		{"a…c\n", "a\nc\n", false},
		{"…\nc\n", "a\nb\nc\n", true},
		{"a\n…\n", "a\n", true},
		{"(x) in 0.1 s\n", "(x) in 12.5 s\n", true},
		{"in 0.1 s, x\n", "in 0.2 s, x\n", false},
		{"a.c\n", "abc\n", false},
		{"a\n", "a  \r\n", true},
	} {
		if got := Matches(c.shown, c.printed); got != c.want {
			t.Errorf("Matches(%q, %q) = %t", c.shown, c.printed, got)
		}
	}
}

// TestFollowing follows pages whose listings are wrong. It must report them.
func TestFollowing(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: runs commands")
	}
	for name, c := range map[string]struct {
		page string
		ok   bool
	}{
		"right":                    {"```\n$ cat a.txt\nx\ny\n$ cat a.txt\nx\n…\n```\n", true},
		"other output":             {"```\n$ cat a.txt\nx\n$ cat a.txt\nz\n```\n", false},
		"a command that fails":     {"```\n$ false\n```\n", false},
		"a failure":                {"<!-- test: fails -->\n```\n$ true\n$ false\n```\n", true},
		"a failure that is none":   {"<!-- test: fails -->\n```\n$ false\n$ true\n```\n", false},
		"Go that does not compile": {"<!-- test: file a/a.go -->\n```go\npackage a\n\nvar x int = nil\n```\n", false},
		"an excerpt":               {"<!-- test: excerpt go.mod -->\n```\nmodule github.com/burngen/burngen\n```\n", true},
		"no excerpt":               {"<!-- test: excerpt go.mod -->\n```\nmodule example.com/burngen\n```\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(path, []byte(c.page), 0o666); err != nil {
				t.Fatal(err)
			}
			run := exec.Command(os.Args[0], "-test.run=^TestPage$")
			run.Env = append(os.Environ(), pageEnv+"="+path)
			out, err := run.CombinedOutput()
			if (err == nil) != c.ok || !bytes.Contains(out, []byte("TestPage")) && !c.ok {
				t.Errorf("error %v\n%s", err, out)
			}
		})
	}
}

// pageEnv names a page for TestPage, which is run in a process of its own.
const pageEnv = "BURNGEN_TEST_PAGE"

func TestPage(t *testing.T) {
	path := os.Getenv(pageEnv)
	if path == "" {
		t.Skip("run by TestFollowing")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	follow(t, filepath.Base(path), blocks)
}
