package golden

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// valueLine matches the comment above a step: the names of values, some of them in the memory of
// another value, and the model's name for the node.
var valueLine = regexp.MustCompile(`^// ([\w., ]+) = `)

// pictureRow is the row of a buffer in the picture of an arena.
var pictureRow = regexp.MustCompile(`(?m)^//\t(\w+) +\d+-\d+ +[\[|]`)

// definedValue is the beginning of a line of the IR that defines values.
var definedValue = regexp.MustCompile(`(?m)^ +(%[^"=]+) = `)

// isCopy matches a step that copies a value to a result, which is not a value of the IR.
var isCopy = regexp.MustCompile(`\.(Copy\w*|Resize)\(`)

// calledArena matches the memory of a called function, which does not have a variable.
var calledArena = regexp.MustCompile(`Arena(\d|_)*$`)

// namedView matches the variable of a buffer, and captures its name and that of its offset.
var namedView = regexp.MustCompile(`(?m)^\t+(\w+) +:?= rt\.View\[\w+\]\(call\.Arena, [^,\n]*?(\w+)Off\b`)

// TestValuesHaveOneName compares the names of values in all committed generated packages. The names
// in the comment above a step occur in the step and in the IR, and the names in the picture of an
// arena occur in the code. The constant of a buffer's offset ends in the name of its variable.
func TestValuesHaveOneName(t *testing.T) {
	for name, files := range committed(t) {
		values := map[string]bool{}
		for _, m := range definedValue.FindAllStringSubmatch(files[".ir"], -1) {
			for _, v := range strings.Split(m[1], ", ") {
				values[strings.TrimPrefix(v, "%")] = true
			}
		}
		lines, code := 0, ""
		for _, file := range []string{"model.go", "weights.go", "backward.go"} {
			code += files[file]
			lines += checkValueLines(t, name+"/"+file, files[file], values)
		}
		if lines == 0 {
			t.Errorf("%s: no comment names a value", name)
		}
		for _, m := range namedView.FindAllStringSubmatch(code, -1) {
			if variable, offset := m[1], m[2]; offset != variable && !strings.HasSuffix(offset, strings.ToUpper(variable[:1])+variable[1:]) {
				t.Errorf("%s: %s is at %sOff", name, variable, offset)
			}
		}
		for _, row := range pictureRow.FindAllStringSubmatch(files["plan.go"], -1) {
			if !mentions(code, row[1]) && !calledArena.MatchString(row[1]) {
				t.Errorf("%s/plan.go: %s is in a picture and not in the code", name, row[1])
			}
		}
	}
}

// checkValueLines looks for the values that the comments of a file's functions name. They must
// occur in the statements up to the next comment, and among the values of the IR. It returns the
// number of comments that name values.
func checkValueLines(t *testing.T, name, text string, values map[string]bool) int {
	if text == "" {
		return 0
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		inside := slices.DeleteFunc(slices.Clone(file.Comments), func(c *ast.CommentGroup) bool { return c.Pos() < fn.Body.Lbrace || c.End() > fn.End() })
		for i, c := range inside {
			m := valueLine.FindStringSubmatch(c.List[0].Text)
			if m == nil {
				continue
			}
			lines++
			end := fn.End()
			if i+1 < len(inside) {
				end = inside[i+1].Pos()
			}
			step := text[fset.Position(c.End()).Offset:fset.Position(end).Offset]
			for _, item := range strings.Split(m[1], ", ") {
				value, memory, elsewhere := strings.Cut(item, " in ")
				if !elsewhere {
					memory = value
				}
				switch {
				case value == "...":
				case !mentions(step, memory):
					t.Errorf("%s: %s is not in\n%s", fset.Position(c.Pos()), memory, step)
				case !(values[value] && values[memory]) && !isCopy.MatchString(step):
					t.Errorf("%s: %s is not in the IR", fset.Position(c.Pos()), item)
				}
			}
		}
	}
	return lines
}

// mentions reports whether a name stands in a text, not as a part of another.
func mentions(text, name string) bool {
	return regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}

// committed returns the files of all committed generated packages, keyed by package and file name.
// The file of the IR has the key ".ir".
func committed(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, file := range genGoldens(t) {
		files := map[string]string{}
		for _, f := range generateGolden(t, goldenName(file)).files {
			if filepath.Ext(f.Name) == ".ir" {
				files[".ir"] = string(f.Data)
			}
			files[f.Name] = string(f.Data)
		}
		out[file] = files
	}
	found, err := filepath.Glob("../examples/*/*/*.ir")
	more, _ := filepath.Glob("../examples/*/*/*/*.ir")
	if err != nil || len(found) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range append(found, more...) {
		files := map[string]string{}
		for _, name := range []string{filepath.Base(file), "model.go", "weights.go", "backward.go", "plan.go"} {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
			if err != nil && name != "backward.go" {
				t.Fatal(err)
			}
			files[name] = string(data)
		}
		files[".ir"] = files[filepath.Base(file)]
		out[filepath.Dir(file)] = files
	}
	return out
}
