package emit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// standardImports are the packages of the standard library that generated code may
// import, runtimeImports those of the runtime.
var (
	standardImports = []string{"context", "embed", "math", "sync/atomic", "testing"}
	runtimeImports  = []string{rtPath, keysPath, cpuPath, imagePath}
)

// guard parses the files and checks what no text of a model may change: they
// import nothing but the runtime and the packages of custom operators, they have no
// init function, no cgo, and no directive but the one that embeds the weights.
func guard(files []File, m *Model) error {
	custom, _ := customPackages(m, newNames())
	allowed := slices.Concat(standardImports, runtimeImports, custom)
	embed := "//go:embed " + m.EmbeddedFile
	for _, f := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ParseComments)
		if err != nil {
			return err
		}
		if parsed.Name.Name != m.Package {
			return fmt.Errorf("%s: package %s", f.Name, parsed.Name.Name)
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil || !slices.Contains(allowed, path) {
				return fmt.Errorf("%s: imports %s", f.Name, spec.Path.Value)
			}
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && (fn.Name.Name == "init" || fn.Name.Name == "main") {
				return fmt.Errorf("%s: declares %s", f.Name, fn.Name.Name)
			}
		}
		if parsed.Comments == nil || parsed.Comments[0].List[0].Text != "// "+Header {
			return fmt.Errorf("%s: does not begin with the header", f.Name)
		}
		for _, group := range parsed.Comments {
			for _, c := range group.List {
				if err := plainComment(c.Text); err != nil && !(c.Text == embed && m.EmbeddedFile != "" && f.Name == "weights.go") {
					return fmt.Errorf("%s: %w", f.Name, err)
				}
			}
		}
	}
	return nil
}

// plainComment reports an error for a comment that a tool could take for a
// directive, or that is no printable ASCII.
func plainComment(text string) error {
	body, ok := strings.CutPrefix(text, "//")
	if !ok {
		return fmt.Errorf("comment %q is no line comment", text)
	}
	if body != "" && body[0] != ' ' && body[0] != '\t' {
		return fmt.Errorf("comment %q is a directive", text)
	}
	if strings.HasPrefix(strings.TrimSpace(body), "+build") {
		return fmt.Errorf("comment %q is a build constraint", text)
	}
	for i := range len(body) {
		if (body[i] < ' ' || body[i] > '~') && body[i] != '\t' {
			return fmt.Errorf("comment %q is not plain", text)
		}
	}
	return nil
}
