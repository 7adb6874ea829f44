package golden

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// maxStatements is the number of statements that a session's method may have: a call of rt.Enter, a
// check of its error, the end of the call, and a call of the schedule. Arguments that are numbers are stored
// before that.
const maxStatements = 5

// longer matches the causes of a longer method: several results, extents other than the batch, and
// results whose shape is known only while the model runs.
var longer = regexp.MustCompile(`call\.(Results|Extent|Late)\(|, err :?= rt\.[^E]|if len\(`)

// TestMethodsAreShort counts the statements of the methods of sessions, in all committed generated
// packages. What every package does alike is in the runtime.
func TestMethodsAreShort(t *testing.T) {
	counted := 0
	for name, files := range committed(t) {
		for _, f := range functions(t, name, files["model.go"]) {
			if !strings.Contains(f.text, "rt.Enter(") || longer.MatchString(f.text) {
				continue
			}
			counted++
			if f.statements > maxStatements {
				t.Errorf("%s: %s has %d statements:\n%s", name, f.name, f.statements, f.text)
			}
		}
	}
	if counted == 0 {
		t.Error("no method enters the runtime")
	}
}

// maxRepeated is the number of steps that two functions may have in common. Parts that save fewer
// than 12 steps stay where they are.
const maxRepeated = 12

// stepLine matches the comment above a step, and captures what the model calls the node and the type of its
// result: names of values differ between functions.
var stepLine = regexp.MustCompile(`(?m)^\t+// [\w., ]+ = (.*)$`)

// computesGradients matches the names of functions that compute gradients. Long ones are divided into parts with numbers.
var computesGradients = regexp.MustCompile(`^(step|trainForward|backward)\d*$`)

// TestForwardIsPrintedOnce asserts that the functions of a type do not repeat each other's steps,
// in all committed generated packages that train: inference, losses and evaluation share common
// steps. The steps that compute gradients are not compared.
func TestForwardIsPrintedOnce(t *testing.T) {
	shared := 0
	for name, files := range committed(t) {
		schedules := map[string][]function{} // by the type
		for _, file := range []string{"model.go", "backward.go"} {
			for _, f := range functions(t, name, files[file]) {
				if strings.Contains(f.text, "(call *rt.") && !computesGradients.MatchString(f.name) {
					schedules[f.receiver] = append(schedules[f.receiver], f)
				}
			}
		}
		if files["backward.go"] == "" {
			continue
		}
		for _, of := range schedules {
			for i, f := range of {
				for _, g := range of[:i] {
					if n := repeated(f.steps(), g.steps()); n > maxRepeated {
						t.Errorf("%s: %s and %s have %d steps in common", name, f.name, g.name, n)
					}
					if strings.Contains(f.text, "."+g.name+"(") || strings.Contains(g.text, "."+f.name+"(") {
						shared++
					}
				}
			}
		}
	}
	if shared == 0 {
		t.Error("no function calls another one")
	}
}

// steps returns the comments above the steps of a function, without the names of values.
func (f function) steps() (steps []string) {
	for _, m := range stepLine.FindAllStringSubmatch(f.text, -1) {
		steps = append(steps, m[1])
	}
	return steps
}

// repeated returns the length of the longest run that two lists have in common.
func repeated(a, b []string) (longest int) {
	lengths := make([]int, len(b)+1) // of the runs that end before an element of b
	for _, x := range a {
		for j := len(b) - 1; j >= 0; j-- {
			if lengths[j+1] = 0; x == b[j] {
				lengths[j+1] = lengths[j] + 1
			}
			longest = max(longest, lengths[j+1])
		}
	}
	return longest
}

// function is a function or a method of a generated file.
type function struct {
	name, receiver, text string
	statements           int
}

// functions returns the functions of a file, or nil for an empty text.
func functions(t *testing.T, name, text string) (out []function) {
	t.Helper()
	if text == "" {
		return nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		f := function{name: fn.Name.Name, text: text[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset], statements: len(fn.Body.List)}
		if fn.Recv != nil {
			f.receiver = receiver(fn)
		}
		out = append(out, f)
	}
	return out
}
