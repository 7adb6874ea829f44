package load

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/burngen/burngen/gen/config"
)

type sources struct {
	fset    *token.FileSet
	dir     string
	name    string // name of the package
	files   []*ast.File
	configs *config.Set
	// faults are the mistakes found so far.
	faults scanner.ErrorList
	// marked are the functions with directives, in the order of the files.
	marked []marked
}

type marked struct {
	decl       *ast.FuncDecl
	directives []directive
}

func (s *sources) marks() bool { return len(s.marked) > 0 }

func (s *sources) fault(pos token.Pos, text string) {
	p := s.fset.Position(pos)
	p.Filename = s.relative(p.Filename)
	s.faults.Add(p, text)
}

func (s *sources) faultf(pos token.Pos, format string, args ...any) {
	s.fault(pos, fmt.Sprintf(format, args...))
}

// relative returns a file name relative to the description's folder. It returns the name unchanged if the file is not
// inside this folder.
func (s *sources) relative(file string) string {
	if rel, err := filepath.Rel(s.dir, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

// parse parses the files of the package in a folder, with their directives and configurations. It returns an error for
// invalid syntax, for package main, for several packages, and for a folder without Go files. It adds other mistakes to
// the faults of the result.
func parse(dir string) (*sources, error) {
	s := &sources{fset: token.NewFileSet(), dir: dir, configs: &config.Set{}}
	names, err := goFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := parser.ParseFile(s.fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		var list scanner.ErrorList
		if errors.As(err, &list) {
			for _, e := range list {
				e.Pos.Filename = name
				s.faults.Add(e.Pos, e.Msg)
			}
			continue
		} else if err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
	}
	if err := fromList(s.faults); err != nil {
		return nil, err
	}
	s.name = s.files[0].Name.Name
	for _, f := range s.files {
		switch pkg := f.Name.Name; {
		case pkg == "main":
			s.faultf(f.Name.Pos(), "package main cannot be imported; a description is in a package of its own")
		case pkg != s.name:
			s.faultf(f.Name.Pos(), "packages %s and %s in one folder", s.name, pkg)
		}
	}
	if err := fromList(s.faults); err != nil {
		return nil, err
	}
	s.directives()
	return s, nil
}

// goFiles returns the names of a folder's Go files that are built on this machine. It leaves out tests and the file
// that burngen writes. It returns an error if there is no such file.
func goFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	host := build.Default
	host.GOOS, host.GOARCH = runtime.GOOS, runtime.GOARCH
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == config.File {
			continue
		}
		if ok, err := host.MatchFile(dir, name); ok || err != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no Go files: an ONNX file, or the folder of a description in Go, expected", shownAs(dir))
	}
	return names, nil
}

// directives finds the directives of all files. It stores the marked functions in s.marked, and the
// configurations in s.configs. Misplaced directives become faults.
func (s *sources) directives() {
	var configs []config.Marked
	for _, f := range s.files {
		taken := map[*ast.CommentGroup]bool{}
		of := func(g *ast.CommentGroup, above string) []directive {
			if g == nil || taken[g] {
				return nil
			}
			taken[g] = true
			var fit []directive
			for _, d := range directives(g, s.fault) {
				if words[d.word] != above {
					s.misplaced(d)
				} else if d.word != "module" {
					fit = append(fit, d)
				}
			}
			return fit
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if list := of(d.Doc, "an exported method"); len(list) > 0 {
					s.marked = append(s.marked, marked{d, list})
				}
			case *ast.GenDecl:
				if d.Tok != token.TYPE {
					continue
				}
				for _, spec := range d.Specs {
					t := spec.(*ast.TypeSpec)
					doc := t.Doc
					if doc == nil && len(d.Specs) == 1 {
						doc = d.Doc
					}
					if list := of(doc, "a struct"); len(list) > 0 {
						configs = append(configs, config.Marked{Spec: t, Doc: doc.Text(), Pos: list[0].pos})
					}
				}
			}
		}
		for _, g := range f.Comments {
			if !taken[g] {
				for _, d := range directives(g, s.fault) {
					s.misplaced(d)
				}
			}
		}
	}
	set, faults := config.Read(s.fset, s.files, configs)
	for _, e := range faults {
		e.Pos.Filename = s.relative(e.Pos.Filename)
		s.faults.Add(e.Pos, e.Msg)
	}
	s.configs = set
}

func (s *sources) misplaced(d directive) {
	s.faultf(d.pos, "//burngen:%s belongs above %s", d.word, words[d.word])
}
