package emit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

var (
	// standardImports are the packages of the standard library that generated code may import.
	standardImports = []string{"context", "embed", "errors", "math", "sync/atomic", "testing"}
	// runtimeImports are the packages of the runtime that generated code may import with any
	// target.
	runtimeImports = []string{rtPath, keysPath}
)

// guard checks properties of the generated Go files that no text in a model can change. The files
// import only standardImports, the runtime, the packages of the printer and of custom operators, the
// package of shared weights, and extraImports. They declare neither init nor main, and begin with the
// header. Their comments are line comments of printable ASCII and tabs. The only directives embed the
// weights and the kernels. guard returns an error that describes the first violation.
func guard(files []File, m *emitter, extraImports ...string) error {
	custom, _ := customPackages(m.Model, newNames())
	allowed := slices.Concat(standardImports, runtimeImports, slices.Collect(maps.Keys(m.Printer.Imports())), custom, extraImports)
	if m.Shared != nil {
		allowed = append(allowed, m.Shared.Package)
	}
	embeds := map[string][]string{}
	if m.embeddedFile() != "" {
		embeds["weights.go"] = []string{"//go:embed " + m.embeddedFile()}
	}
	kernels := m.device.files()
	for _, f := range kernels {
		embeds["device.go"] = append(embeds["device.go"], "//go:embed "+f.Name)
	}
	for _, f := range files {
		if slices.ContainsFunc(kernels, func(k File) bool { return k.Name == f.Name }) {
			continue
		}
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
				if err := plainComment(c.Text); err != nil && !slices.Contains(embeds[f.Name], c.Text) {
					return fmt.Errorf("%s: %w", f.Name, err)
				}
			}
		}
	}
	return nil
}

// plainComment returns an error for a comment that a tool could take for a directive, or that is
// not printable ASCII.
func plainComment(text string) error {
	body, ok := strings.CutPrefix(text, "//")
	if !ok {
		return fmt.Errorf("comment %q is not a line comment", text)
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
