package golden

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/emit"
)

// wholeGoldens are the goldens that show a whole package: one for inference, and one that trains.
// The other goldens show excerpts.
var wholeGoldens = []string{"mlp", "train"}

// excerpter makes excerpts of generated Go files. An excerpt has everything that the compiler
// printed: the schedules, the plan, types of inputs and outputs, and the bundled test. It leaves
// out lines of the skeleton in ../templates that a whole golden has.
type excerpter struct {
	skeleton map[string]bool // names of the skeleton's declarations
	known    map[string]bool // lines of the whole goldens that come of the skeleton
}

func newExcerpter(t *testing.T) *excerpter {
	t.Helper()
	x := &excerpter{map[string]bool{"_": true, "embedded": true}, map[string]bool{"": true}}
	files, err := filepath.Glob("../templates/skeleton/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no skeleton: %v", err)
	}
	for _, name := range files {
		if filepath.Base(name) == "placeholders.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			for _, id := range declares(d) {
				base, _, _ := strings.Cut(id, "_") // variants of a declaration end in _variant
				x.skeleton[base] = true
			}
		}
	}
	for _, name := range wholeGoldens {
		for _, f := range generateGolden(t, name).files {
			if excerpted(f) {
				for _, part := range x.parts(t, f) {
					if part.skeleton {
						for line := range strings.Lines(part.text) {
							x.known[strings.TrimSpace(line)] = true
						}
					}
				}
			}
		}
	}
	return x
}

// excerpted reports whether a file contains lines of the skeleton.
func excerpted(f emit.File) bool {
	return slices.Contains([]string{"model.go", "weights.go", "train.go"}, f.Name)
}

// part is a declaration with the comments and blank lines before it, or the head of a file.
type part struct {
	text     string
	skeleton bool
	first    string // first line of the declaration
}

// parts cuts a file at the ends of its declarations.
func (x *excerpter) parts(t *testing.T, f emit.File) (out []part) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, f.Name, f.Data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	end := fset.Position(file.Name.End()).Offset
	out = append(out, part{text: string(f.Data[:end]), skeleton: true})
	for _, d := range file.Decls {
		start, next := fset.Position(d.Pos()).Offset, fset.Position(d.End()).Offset
		first, _, _ := bytes.Cut(f.Data[start:], []byte("\n"))
		names := declares(d)
		out = append(out, part{
			text:     string(f.Data[end:next]) + "\n",
			skeleton: len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return x.skeleton[name] }) || isMethod(d),
			first:    string(first),
		})
		end = next
	}
	return out
}

// declares returns the names that a declaration declares. Imports declare no names.
func declares(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		names = append(names, d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// isMethod reports whether a declaration is an exported method. The skeleton has such a method for
// each kind, whose name is a placeholder. Schedules are not exported.
func isMethod(d ast.Decl) bool {
	fn, ok := d.(*ast.FuncDecl)
	return ok && fn.Recv != nil && fn.Name.IsExported()
}

// excerpt returns the part of a file that a golden shows. "…" stands for lines that are left out
// within a declaration.
func (x *excerpter) excerpt(t *testing.T, f emit.File) []byte {
	t.Helper()
	var parts []string
	for _, p := range x.parts(t, f) {
		text := p.text
		if p.skeleton {
			text = x.differing(p)
		}
		if text = strings.Trim(text, "\n"); text != "" {
			parts = append(parts, text+"\n")
		}
	}
	return []byte(strings.Join(parts, "\n"))
}

// differing returns the lines of a part that the whole goldens do not have, below the first line of its
// declaration.
func (x *excerpter) differing(p part) string {
	var lines []string
	shown := false
	for line := range strings.Lines(p.text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case !x.known[strings.TrimSpace(line)]:
			lines, shown = append(lines, line), true
		case line == p.first && line != "":
			lines = append(lines, line)
		case len(lines) > 0 && lines[len(lines)-1] != "…":
			lines = append(lines, "…")
		}
	}
	if !shown {
		return ""
	}
	return strings.TrimSuffix(strings.Join(lines, "\n"), "\n…")
}

// TestExcerptsShowTheRest asserts that an excerpt and the lines of the whole goldens are together
// all lines of a package.
func TestExcerptsShowTheRest(t *testing.T) {
	x := newExcerpter(t)
	for _, file := range genGoldens(t) {
		for _, f := range generateGolden(t, goldenName(file)).files {
			if !excerpted(f) {
				continue
			}
			shown := map[string]bool{}
			for line := range strings.Lines(string(x.excerpt(t, f))) {
				shown[strings.TrimSpace(line)] = true
			}
			for line := range strings.Lines(string(f.Data)) {
				if line = strings.TrimSpace(line); !shown[line] && !x.known[line] {
					t.Errorf("%s: %s: nothing shows %q", file, f.Name, line)
				}
			}
		}
	}
}
